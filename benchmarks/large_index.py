"""Ten million chunks in a folder, made and searched by the commands themselves: docs/benchmarks/scale.md.

    python -m benchmarks.large_index built --chunks 10000000 --folder /somewhere/large [--vectors] [--save]
    python -m benchmarks.large_index asked --folder /somewhere/large/kb     # an index that was kept

Chunks are twelve words that stand side by side in the sample corpus, in another order; with `--vectors` each has 384
numbers by `benchmarks.word_vectors`, which no model could be waited for. Memory is looked at all the time, apart what
a process has of its own and pages of files that it has mapped, which the system takes back when others want them.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import chunkwise
from benchmarks.watched import watched
from chunkwise.base.own_files import INDEX_FILE

_CHUNK_WORDS, _CHUNKS_A_DOCUMENT = 12, 2_000
_QUESTIONS = ("who approves annual leave", "expense report of a journey", "password")


def _short_chunks(folder: Path, chunks: int) -> None:
    """Paragraphs of twelve words that stand side by side in the sample corpus, in another order."""
    texts = sorted((Path(chunkwise.__file__).parent / "corpus").rglob("*.md"))
    words = np.array(
        [word for path in texts for word in path.read_text().split() if word.isalpha()]
    )
    rng = np.random.default_rng(7)
    for number in range(-(-chunks // _CHUNKS_A_DOCUMENT)):
        count = min(_CHUNKS_A_DOCUMENT, chunks - number * _CHUNKS_A_DOCUMENT)
        first = rng.integers(0, len(words) - _CHUNK_WORDS, count)
        places = first[:, None] + rng.permuted(np.tile(np.arange(_CHUNK_WORDS), (count, 1)), axis=1)
        path = folder / f"{number // 500:03}" / f"{number:06}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n\n".join(map(" ".join, words[places].tolist())) + "\n")


def _environment(folder: Path) -> dict[str, str]:
    """In which `word_vectors` is an embedder by name, as of an installed package, and no vector is kept twice."""
    package = folder / "word_vectors-1.dist-info"
    package.mkdir(exist_ok=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: word-vectors\nVersion: 1\n")
    (package / "entry_points.txt").write_text(
        "[chunkwise.embedders]\nword_vectors = benchmarks.word_vectors:WordVectors\n"
    )
    here = str(Path(__file__).parent.parent)
    known = os.environ.get("PYTHONPATH", "")
    # A home that cannot be is said once and done without: the cache would be as large as the index.
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((here, str(folder), known)),
        "CHUNKWISE_CACHE": "off",
    }


def built(chunks: int, folder: Path, *, vectors: bool, keep: bool) -> None:
    """An index of so many short chunks, and questions to it."""
    docs, kb = folder / "docs", folder / "kb"
    docs.mkdir(parents=True)
    _short_chunks(docs, chunks)
    command = [sys.executable, "-m", "chunkwise", "index", str(docs), "--into", str(kb), "-q"]
    command += ["-s", f"words(max_words={_CHUNK_WORDS})", "-j", "1"]
    command += (
        ["--vectors", "own", "--embedder", "word_vectors"] if vectors else ["--vectors", "none"]
    )
    made = watched(command, environment=_environment(folder))
    size = sum(path.stat().st_size for path in kb.rglob("*") if path.is_file())
    print(f"{chunk_count(kb):,} chunks, {size / 1e9:.1f} GB: {made}", flush=True)
    shutil.rmtree(docs)
    asked(kb)
    if not keep:
        shutil.rmtree(kb)


class _Told(NamedTuple):
    """What a process that answers questions says of one."""

    clock: float
    processor: float
    hits: list[tuple[str, float]]


def asked(kb: Path) -> None:
    """Questions by the command, each in a process of its own: no file in memory, then what that left there."""
    environment = _environment(kb.parent)
    settings = json.loads((kb / INDEX_FILE).read_text())["settings"]
    retrievers = ("bm25",) if settings["vectors"] == "none" else ("bm25", "dense", "hybrid")
    for retriever in retrievers:
        for question in _QUESTIONS:
            command = [sys.executable, "-m", "chunkwise", "search", str(kb), question, "--json"]
            command += ["--retriever", retriever, "-k", "10"]
            for state in ("cold", "warm"):
                if state == "cold":
                    _forget(kb)
                seen = watched(command, 0.05, environment=environment)
                print(f"{retriever} {question!r}, {state}: {seen}", flush=True)
    for retriever in retrievers:
        told = _in_one_process(kb, retriever, environment)
        for each in told:
            best = ", ".join(f"{score:.6f}" for _, score in each.hits[:2])
            print(
                f"{retriever}, open index: {each.clock:.2f} s, {each.processor:.2f} s of CPU time; {best}"
            )


def _forget(kb: Path) -> None:
    """The system is told that nobody will want the pages of these files."""
    for path in kb.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _in_one_process(kb: Path, retriever: str, environment: dict[str, str]) -> list[_Told]:
    command = [sys.executable, "-m", "benchmarks.large_index", "open", "--folder", str(kb)]
    done = subprocess.run(
        [*command, "--retriever", retriever], capture_output=True, text=True, env=environment
    )
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    return [_Told(*json.loads(line)) for line in done.stdout.splitlines()]


def opened(kb: Path, retriever: str) -> None:
    """The questions one after the other to an index that stays open."""
    index = chunkwise.open_index(kb)
    for question in _QUESTIONS:
        began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF)
        hits = index.search(question, k=10, retriever=retriever)
        clock, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_SELF)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found = [(f"{hit.document.id} {hit.start}", float(hit.score)) for hit in hits]
        print(json.dumps(_Told(clock, used, found)))


def chunk_count(kb: Path) -> int:
    """Of an index in a folder."""
    return chunkwise.open_index(kb).source.chunk_count


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("what", choices=["built", "asked", "open"])
    reader.add_argument("--chunks", type=int, default=10_000_000)
    reader.add_argument("--folder", type=Path)
    reader.add_argument("--retriever", default="bm25")
    reader.add_argument("--vectors", action="store_true")
    reader.add_argument("--save", action="store_true")
    given = reader.parse_args()
    if given.folder is None and given.what != "built":
        reader.error(f"{given.what} needs --folder: that of an index")
    if given.what == "built":
        with tempfile.TemporaryDirectory() as place:
            folder = given.folder or Path(place)
            built(given.chunks, folder, vectors=given.vectors, keep=given.save)
    elif given.what == "asked":
        asked(given.folder)
    else:
        opened(given.folder, given.retriever)


if __name__ == "__main__":
    main()
