"""Find phrases that our style rules out: in docs and the texts of the code, or with --staged in a commit's new lines.

Option help and public docstrings are in docs/commands.md and docs/api.md; errors and messages are string literals.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

Line = tuple[str, int, str]

BANNED = {  # what is written: what to write instead
    r"\bby words (alone|only)\b|\bwords (alone|only)\b|\bsearch by words\b|\bword search\b": "keyword search (BM25)",
    r"\b(is|are|was|were|be) told\b": "prints, reports, logs, warns",
    r"\b(is|are|was|were) said\b|\bsays so\b": "is reported, prints a warning",
    r"\bhand(s|ed|ing)? out\b|\bhanded over\b": "return",
    r"\banew\b": "rebuild, again",
    r"\bthe usual (one|chunks|sweep|form|search|settings)\b|\bas usual\b": "the default",
    r"\bseveral sizes\b|\bsizes at once\b": "multi-scale",
    r"\bstands? (in|at|on|beside|behind|there|for|around|under|only)\b|\bstood\b": "is in, is stored in, appears in",
    r"(?<!\b[Tt]here )\b(is|are) no (?!longer|(more|better|worse|less)\b)(?=[a-z])": "is not a, are not",
    r"\b(seconds?|tokens?|lines?|calls?|vectors?) an? (second|minute|question|token|call|run|file|document)\b": "per",
    r"(?:^|[.;:] )(Whoever|Who (has|wants|reads|asks|comes))\b": "you, the caller, the second process",
    r"(?:^|[.] )What (is|are|was|were|cannot|can|takes|stands|fits|holds|comes|goes)\b(?![^.]*\?)": "name the thing",
    r", too(?=[.,;:)]| *$)": "also, before the verb",
    r"\bpassed over\b": "skipped",
    r"\btaken in\b|\btakes? in\b": "import",
    r"\bgo(es)? on\b": "continue, resume",
    r"\bof (its|their|your) own(?= *([.,;:)]|$|(that|which|in|to|of)\b))|\bof (yours|ours)\b": "your own, custom",
    r"\bfigures?\b(?! \d)": "metric, score, result",
    r"\bthe house\b|\bthe rooms?\b": "architecture, package",
    r"\bfurniture\b": "boilerplate",
    r"\bwhite space\b": "whitespace",
    r"\bin (8|4|32) bits\b": "8-bit, quantized",
    r"\bseldom shown\b|\bno difference shown\b": "not statistically significant, inconclusive",
    r"\bthe processor\b": "CPU",
    r"\bin brackets\b": "in parentheses",
}


ROOT = Path(__file__).resolve().parents[1]
DOCS = ("*.md", "docs/*.md", "docs/[!b]*/*.md")
QUOTES = {  # what is searched for or tried out, not written by us
    "documents/formats/xml.py", "report/draw_chart.py", "testkit/hostile.py", "testsets/generate/definitions.py",
    "testsets/generate/source_passages.py", "testsets/generate/two_hop_questions.py",
}  # fmt: skip


def literals(path: Path) -> Iterator[Line]:
    """Texts of more than one word in a module, without docstrings; values that are filled in are an x."""
    tree = ast.parse(path.read_text("utf-8"))
    passed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    name = str(path.relative_to(ROOT))
    for node in ast.walk(tree):
        if id(node) in passed:
            continue
        if isinstance(node, ast.JoinedStr):
            passed.update(map(id, node.values))
            parts = (part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
            text = "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if " " in text:
            yield name, node.lineno, text


def everything() -> Iterator[Line]:
    """Every page but those of benchmarks, and every module but those of `QUOTES`."""
    for pattern in DOCS:
        for page in sorted(ROOT.glob(pattern)):
            yield from whole(str(page))
    package = ROOT / "src" / "chunkwise"
    for module in sorted(package.rglob("*.py")):
        if str(module.relative_to(package)) not in QUOTES:
            yield from literals(module)


def whole(path: str) -> Iterator[Line]:
    """Lines of a file; code of Markdown is left out."""
    text = Path(path).read_text("utf-8")
    text = re.sub(r"```.*?```", lambda block: "\n" * block[0].count("\n"), text, flags=re.DOTALL)
    for number, line in enumerate(text.split("\n"), 1):
        yield path, number, line


def staged() -> Iterator[Line]:
    """Lines that the next commit adds to Markdown."""
    diff = subprocess.run(
        ["git", "diff", "--cached", "--unified=0", "--", "*.md"], capture_output=True, text=True, check=True
    ).stdout  # fmt: skip
    path, number, is_code = "", 0, False
    for line in diff.splitlines():
        if line.startswith("+++ "):
            path, is_code = line.removeprefix("+++ b/"), False
        elif start := re.match(r"@@ .* \+(\d+)", line):
            number = int(start[1])
        elif line.startswith("+"):
            is_code ^= line.startswith("+```")
            if not is_code:
                yield path, number, line[1:]
            number += 1


def main() -> int:
    lines = staged() if sys.argv[1:] == ["--staged"] else everything()
    found = 0
    for path, number, line in lines:
        prose = re.sub(r"`[^`]*`", "`x`", line)
        for pattern, instead in BANNED.items():
            for match in re.finditer(pattern, prose):
                found += 1
                print(f"{path}:{number}: {match[0].strip()!r}: write {instead}")
    return min(found, 1)


if __name__ == "__main__":
    sys.exit(main())
