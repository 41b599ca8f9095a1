"""What README and docs show of the program, made by it: output of commands, and the pages of the API and the commands.

`<!-- output: COMMAND -->` owns the block that follows it, `<!-- output (4): COMMAND -->` that of one that ends with 4;
`<!-- file: NAME.py -->` is a file that commands may name. `docs/api.md` and `docs/commands.md` are written whole.

A command may end in `2>/dev/null` and `| head -N`, as in a shell: a page shows how an output begins. `<!-- table:
NAME -->` owns the table that follows it, which is made of what metrics declare.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType

from api_page import api_page
from commands_page import commands_page
from pictures import take_pictures

import chunkwise
from chunkwise.cli import progress
from chunkwise.evaluation.verdicts_and_advice import fitting
from chunkwise.metrics.metric import NEEDS, Targets
from chunkwise.metrics.registry import key_questions, known_metrics

ROOT = Path(__file__).resolve().parents[1]
WHOLE = {"api.md": api_page, "commands.md": commands_page}
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("[!b]*/*.md"))]
BLOCK = re.compile(
    r"(<!-- output(?: \((?P<status>\d)\))?: (?P<command>.+?) -->\n```\w*\n)(?P<shown>.*?)(?P<end>^```$)",
    re.M | re.S,
)
FILE = re.compile(r"<!-- file: (?P<name>\w+\.py) -->\n```\w*\n(?P<text>.*?)^```$", re.M | re.S)
TABLE = re.compile(r"(<!-- table: (?P<name>\w+) -->\n)(?P<shown>(?:\|.*\n)*)")
HEAD = re.compile(r"(?P<quiet> 2>/dev/null)?(?: \| head -(?P<lines>\d+))?$")
SECONDS = re.compile(r"\b\d+\.\d s$", re.M)
"""How long a command took differs from run to run; nobody should read it here."""

QUESTIONS = "--test-queries questions.json --retriever bm25 --metrics retrieval,completeness"
WITHIN = "--test-queries questions.json --retriever bm25 --budget 1000 --metrics recall@1000t,completeness"
"""As `scripts/demo.py` measures."""
SETTING = (
    # Words alone: vectors differ in the last digits from one kind of processor to another.
    "chunkwise index handbook --into kb --vectors none --quiet",
    f"chunkwise evaluate handbook {QUESTIONS} -s recursive -o before.json --quiet",
    f"chunkwise evaluate handbook {QUESTIONS} -s structure -o after.json --quiet",
    f'chunkwise evaluate handbook {WITHIN} -s "sentences(max_tokens=1024, overlap=200)" -qo default.json',
    f"chunkwise evaluate handbook {WITHIN} -s structure -qo recommended.json",
    f"chunkwise monitor handbook {WITHIN} --history runs.db --quiet",
)
"""What pages may take for granted beside the folder `handbook` and the file `questions.json`."""


def run(command: str, folder: Path, status: int = 0) -> str:
    """What the command prints, as a user sees it in a terminal of 96 columns."""
    head = HEAD.search(command)
    words = shlex.split(HEAD.sub("", command))
    program = [sys.executable, "-m", "chunkwise"] if words[0] == "chunkwise" else [sys.executable]
    environment = {**os.environ, "COLUMNS": "96", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    environment[progress.VARIABLE] = (
        "inf"  # how far it is, a slow machine would say and a fast one not
    )
    done = subprocess.run(
        [*program, *words[1:]],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if head and head["quiet"] else subprocess.STDOUT,
        text=True,
        timeout=600,  # ends what hangs
    )
    if done.returncode != status:
        sys.exit(f"{command} ended with {done.returncode}:\n{done.stdout}")
    shown = SECONDS.sub("… s", done.stdout.replace("python -m chunkwise", "chunkwise"))
    lines = [line.rstrip() for line in shown.strip("\n").splitlines()]
    return "\n".join(lines[: int(head["lines"]) if head and head["lines"] else None]) + "\n"


def run_all(
    commands: Iterable[str], folder: Path, statuses: Mapping[str, int] = MappingProxyType({})
) -> dict[str, str]:
    """What each prints, several at a time: none of them changes what another reads."""
    wanted = list(dict.fromkeys(commands))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda each: run(each, folder, statuses.get(each, 0)), wanted)
        return dict(zip(wanted, found, strict=True))


def renewed(page: str, printed: Mapping[str, str]) -> str:
    """The page with every block's output and every table made anew."""
    page = BLOCK.sub(lambda m: m.group(1) + printed[m["command"]] + m["end"], page)
    return TABLE.sub(lambda m: m.group(1) + TABLES[m["name"]](), page)


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """In Markdown."""
    lines = [list(heads), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(each)} |\n".replace("|  |", "| |") for each in lines)


def all_metrics() -> str:
    """Every metric of ours with what it declares."""
    return table(
        ("metric", "definition", "better", "needs"),
        (
            (
                f"`{each.name}`{_AT[each.at]}", each.help, each.better,
                ", ".join(NEEDS[need] for need in each.needs),
            )
            for each in known_metrics().values()
        ),
    )  # fmt: skip


_AT = {"none": "", "hits": "@k", "hits or tokens": "@k, @Nt"}


def targets() -> str:
    """From where on figures are good."""
    return table(
        ("", "good", "excellent"),
        (
            (f"`{each.name}`", *(_target(each.targets, aim) for aim in each.targets))
            for each in key_questions().values()
        ),
    )


def _target(targets: Targets, target: float) -> str:
    return f"under {target:.0%}" if targets.lower_is_better else f"over {target:.2f}"


def remedies() -> str:
    """What usually causes a figure that is not good, and what to try."""
    return table(
        ("below good", "common causes", "try"),
        (
            (f"`{each.name}`", *map(str, fitting(each.remedy, {})))
            for each in key_questions().values()
        ),
    )


TABLES = {"metrics": all_metrics, "targets": targets, "remedies": remedies}


def renew_whole(check: bool) -> list[Path]:
    """The pages that are written whole and differ from the code."""
    stale = []
    for name, make in WHOLE.items():
        page, text = ROOT / "docs" / name, make()
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            stale.append(page.relative_to(ROOT))
            if not check:
                page.write_text(text, encoding="utf-8")
    return stale


def main() -> None:
    check = "--check" in sys.argv[1:]
    stale = renew_whole(check)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        package = Path(chunkwise.__file__).parent
        shutil.copytree(package / "corpus", folder / "handbook")
        shutil.copyfile(package / "corpus_questions.json", folder / "questions.json")
        run_all(SETTING, folder)
        pages = {page: page.read_text(encoding="utf-8") for page in PAGES}
        shown = [match for text in pages.values() for match in BLOCK.finditer(text)]
        for text in pages.values():
            for file in FILE.finditer(text):
                (folder / file["name"]).write_text(file["text"], encoding="utf-8")
        statuses = {match["command"]: int(match["status"] or 0) for match in shown}
        printed = run_all(statuses, folder, statuses)
        for page, before in pages.items():
            after = renewed(before, printed)
            if after != before:
                stale.append(page.relative_to(ROOT))
                if not check:
                    page.write_text(after, encoding="utf-8")
        if not check and shutil.which("chromium"):
            shutil.copy(ROOT / "tests" / "golden" / "files" / "bridge.pdf", folder)
            take_pictures(folder, run_all)
    if check and stale:
        sys.exit(f"what the program made is stale in {', '.join(map(str, stale))}; run: make docs")
    print(f"docs: {len(PAGES)} pages, {'all fresh' if not stale else f'{len(stale)} renewed'}")


if __name__ == "__main__":
    main()
