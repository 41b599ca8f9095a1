"""Whether benchmark results are as new as the code, and whether only benchmark pages state speeds.

Stale pages are listed, which is not an error: no commit can renew every page. A part names its commit in its line of
date and machine, and it is stale if a later commit touched a package that it measures. A speed in README.md or docs/
is an error: it isn't renewed with its page, so link to the page instead.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from benchmarks.machine import ROOT, git

UNKNOWN, STALE = "commit unknown", "older than its code"

MEASURED = {
    "accuracy.md": {
        "Sentence ends": "text",
        "Main text of HTML pages": "documents/formats/html",
        "Headings and sections of text, markup and HTML": "documents/formats text/blocks",
        "PDF: headings, sections, reading order": "documents/formats/pdf text/blocks",
        "Answer correctness by words": "metrics/answers metrics/claims",
        "Claims checked against a passage": "metrics/claims models/rerank",
        "Extractive answers": "answering models/rerank",
    },
    "chunking.md": {"": "chunkers documents text"},
    "contextual.md": {"": "chunkers metrics models retrieval"},
    "engines.md": {"": "retrieval"},
    "evaluation.md": {
        "Published values of the Chroma report": "metrics/spans",
        "Scoring spans": "metrics",
        "Intervals and tests": "stats",
    },
    "graph.md": {
        "": "models retrieval/graph retrieval/multiscale text",
    },
    "models.md": {"": "models retrieval/multiscale text"},
    "retrieval.md": {"": "chunkers models retrieval text"},
    "scale.md": {"": "base/ray_workers.py chunkers documents retrieval"},
    "search.md": {
        "": "retrieval",
        "Keyword search (BM25)": "retrieval/bm25.py text/terms.py",
        "Exact vector search": "retrieval/local",
        "Multi-scale retrieval": "retrieval/multiscale text/terms.py",
        "Embedding": "models",
    },
    "studio.md": {"": "studio"},
    "torture.md": {"": "chunkers documents evaluation retrieval text tuning"},
    "tuning.md": {
        "": "tuning",
        "A hundred configurations": "models/embed retrieval tuning",
    },
    "watch.md": {"": "stats tracking"},
}
"""Page → part → packages under src/chunkwise; the part "" stands for all parts of the page that are not named."""

_MEASURED_AT = re.compile(r"^- \d{4}-\d\d-\d\d(?:.*?, commit (?P<commit>[0-9a-f]+))?", re.M)


_AMOUNT = r"(?:\d[\d.,]*|two|three|four|five|six|eight|ten|twenty|a hundred|several|many)"
_SPEED = re.compile(
    rf"""
    \d\ ?[kMG]?B/s                                                          # 12 MB/s
    | \d[\d.,]*k?(?:\ \w+)?(?:/s|\ (?:a|per)\ second)\b                    # 70 tokens/s, 26 a second
    | {_AMOUNT}(?:×|x|\ times)\ (?:as\ (?:fast|slow|quick|long)|the\ speed|faster|slower|quicker)
    | \d\ ?(?:ms|milliseconds)\b | \bin\ milliseconds\b                     # 12 ms per question
    | \btenths?\ of\ a\ second\b
    | \bin\ \d[\d.,]*\ ?(?:s|seconds)\b                                    # the list in 29 seconds
    | \d\ ?(?:s|seconds)\ for\b                                            # 23 seconds for
    """,
    re.VERBOSE | re.IGNORECASE,
)
_FENCE = re.compile(r"^ *```.*?^ *```", re.M | re.S)
"""Output of commands, which `make docs` renews."""


def speeds(page: str) -> list[tuple[int, str]]:
    """Each statement of a speed outside code blocks, with its line number."""
    prose = _FENCE.sub(lambda block: "\n" * block[0].count("\n"), page)
    return [(prose.count("\n", 0, each.start()) + 1, each[0]) for each in _SPEED.finditer(prose)]


def stated_speeds(root: Path) -> list[str]:
    """A line for each that README.md and the pages of docs/ state."""
    pages = [root / "README.md", *sorted((root / "docs").glob("[!b]*/*.md"))]
    return [
        f"{page.relative_to(root)}:{line}: '{said}' is a speed; link to the page in docs/benchmarks instead"
        for page in pages
        for line, said in speeds(page.read_text(encoding="utf-8"))
    ]


def parts(page: str) -> dict[str, list[str]]:
    """The commits that each part names, "" for one that has none; the lines on top go by the page's title."""
    found = {}
    for section in re.split(r"^## ", page, flags=re.M):
        heading = section.partition("\n")[0].strip("# ")
        found[heading] = [match["commit"] or "" for match in _MEASURED_AT.finditer(section)]
    return {part: commits for part, commits in found.items() if commits} or {
        next(iter(found)): [""]
    }


def verdicts(root: Path, page: str) -> dict[str, str]:
    """By part: why it may be stale, or nothing."""
    declared = MEASURED[page]
    text = (root / "docs/benchmarks" / page).read_text(encoding="utf-8")
    found = {}
    for part, commits in parts(text).items():
        packages = declared.get(part) or declared.get("") or " ".join(declared.values())
        if not all(git(root, "rev-parse", "--verify", f"{each}^{{commit}}") for each in commits):
            found[part] = UNKNOWN
        else:
            found[part] = "" if all(_is_fresh(root, each, packages) for each in commits) else STALE
    return found


def _is_fresh(root: Path, commit: str, packages: str) -> bool:
    """Whether no commit since then touched the packages."""
    paths = [f"src/chunkwise/{each}" for each in packages.split()]
    return not git(root, "rev-list", "-1", f"{commit}..HEAD", "--", *paths)


def report(root: Path) -> list[str]:
    """One line for each page that has such parts."""
    if git(root, "rev-parse", "--is-shallow-repository") != "false":
        return ["benchmarks: not compared with the code, the clone has no history"]
    lines = []
    for page in sorted(MEASURED):
        by_part = verdicts(root, page)
        for reason in sorted({*by_part.values()} - {""}):
            stale = [part for part, why in by_part.items() if why == reason]
            which = "" if stale == list(by_part) else f": {'; '.join(stale)}"
            lines.append(f"docs/benchmarks/{page}: {reason}{which}")
    return lines or ["benchmarks: every page is as new as its code"]


if __name__ == "__main__":
    print(*report(ROOT), sep="\n")
    sys.exit("\n".join(stated_speeds(ROOT)) or 0)
