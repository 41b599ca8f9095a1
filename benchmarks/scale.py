"""Memory and time of large inputs: one long document, many documents, processes and a Ray cluster."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

import chunkwise  # noqa: E402
from benchmarks.page import write_page  # noqa: E402
from benchmarks.tables import table  # noqa: E402
from benchmarks.watched import Watched, watched  # noqa: E402

LONG, MANY, SHARED_OUT = (100, 300), (50, 200), 20
"""Megabytes of one document, of many documents, and of those that processes share."""
HEADS = ["peak of all processes (MB)", "without mapped files (MB)", "CPU time (s)", "time (s)"]


def _parts(megabytes: float) -> Iterator[str]:
    """Markdown documents made of the sections of the sample corpus in a seeded order."""
    texts = sorted((Path(chunkwise.__file__).parent / "corpus").rglob("*.md"))
    sections = [
        section.lstrip("# ").strip()
        for path in texts
        for section in path.read_text(encoding="utf-8").split("\n## ")
        if len(section) > 200
    ]
    chance, size, number = random.Random(7), 0, 0
    while size < megabytes * 1e6:
        chosen = chance.sample(sections, min(12, len(sections)))
        text = f"# Part {number}\n\n" + "".join(f"## {section}\n\n" for section in chosen)
        yield text
        size, number = size + len(text.encode()), number + 1


@contextmanager
def _folders(megabytes: float, *, long: bool) -> Iterator[tuple[Path, Path]]:
    """Documents, and an empty place for output."""
    with tempfile.TemporaryDirectory() as place:
        docs = Path(place) / "docs"
        docs.mkdir()
        if long:
            with (docs / "long.md").open("w", encoding="utf-8") as file:
                file.writelines(_parts(megabytes))
        else:
            for number, text in enumerate(_parts(megabytes)):
                (docs / f"{number:06}.md").write_text(text, encoding="utf-8")
        yield docs, Path(place)


def _run(*words: object) -> Watched:
    print(*words, file=sys.stderr, flush=True)
    return watched([sys.executable, "-m", "chunkwise", *map(str, words), "-q"], every=0.25)


def _row(name: str, used: Watched) -> list[str]:
    memory = used.memory
    figures = (memory.together, memory.own, used.processor, used.clock)
    return [name, *(f"{figure:,.0f}" for figure in figures)]


def _chunk_and_index(sizes: tuple[int, ...], *, long: bool) -> str:
    rows = []
    for megabytes in sizes:
        with _folders(megabytes, long=long) as (docs, place):
            rows.append(_row(f"chunk, {megabytes} MB", _run("chunk", docs, "-o", place / "chunks")))
            index = _run("index", docs, "--into", place / "kb", "-e", "none")
            rows.append(_row(f"index, {megabytes} MB", index))
    return table(["", *HEADS], rows)


def long_document() -> str:
    return "\n".join([
        "One Markdown file, chunked by the default strategy into a dataset, and indexed for keyword search.\n",
        _chunk_and_index(LONG, long=True), "",
    ])  # fmt: skip


def many_documents() -> str:
    return "\n".join([
        "Documents of about 12 kB, otherwise the same.\n",
        _chunk_and_index(MANY, long=False), "",
    ])  # fmt: skip


def workers() -> str:
    rows = []
    ways = {"`-j 1`": ("-j", 1), "`-j 2`": ("-j", 2), "`--engine ray`": ("--engine", "ray")}
    with _folders(SHARED_OUT, long=False) as (docs, place):
        files = []
        for number, (name, words) in enumerate(ways.items()):
            output = place / str(number)
            rows.append(_row(name, _run("chunk", docs, "-o", output, *words)))
            files.append([path.read_bytes() for path in sorted(output.glob("*.parquet"))])
    equal = "equal" if all(content == files[0] for content in files) else "**different**"
    return "\n".join([
        f"{SHARED_OUT} MB of such documents chunked by one process, by two, and by a Ray cluster started on this"
        f" machine (its workers aren't child processes, so their CPU time is missing). All outputs are {equal}.\n",
        table(["", *HEADS], rows), "",
    ])  # fmt: skip


PARTS: dict[str, tuple[str, Callable[[], str]]] = {
    "long": ("One long document", long_document),
    "many": ("Many documents", many_documents),
    "workers": ("Several processes and Ray", workers),
}

if __name__ == "__main__":
    write_page("Scale", "scale.md", PARTS, __doc__, argparse.ArgumentParser(add_help=False))
