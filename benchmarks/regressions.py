"""Whether chunkwise has become slower or larger: each operation beside a loop of fixed work, against speed.json.

An operation's figure is its CPU time divided by that of the loop, the least of several rounds on both sides, so that
a faster machine or a busy one shows the same. Texts are generated, so that no data is needed.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from time import process_time
from typing import NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy is imported

import numpy as np

import chunkwise
from benchmarks import corpora
from benchmarks.random_vectors import RandomVectors
from benchmarks.tables import table
from chunkwise.models.embed.pretrained import minilm
from chunkwise.models.weights.catalog import MINILM
from chunkwise.models.weights.installed import model_status

COMMITTED = Path(__file__).with_name("speed.json")
"""By processor: operation → CPU time / CPU time of the loop, or megabytes."""
MOST, MOST_ELSEWHERE = 0.15, 0.5
"""A larger change is reported. On another processor of the architecture, ratios to the loop differ by up to a third."""
ROUNDS = 5
RETRIES = 5
"""How often an operation that seems slower is measured again."""
SLOWER, FASTER = "slower or larger", "faster or smaller"
PEAK = "peak memory, MB: "
_PACKAGE = Path(chunkwise.__file__).parent
_TEXT = corpora.generated_prose(100_000)
_QUESTIONS = _PACKAGE / "corpus_questions.json"
_PLAN = """[sweep]
source = "{source}"
queries = "{questions}"
embedder = "none"
[[sweep.chunkers]]
strategy = ["sentences", "structure"]
max_tokens = [200, 400]
[sweep.retrieval]
retriever = "bm25"
"""

Operations = dict[str, Callable[[], object]]


def cut(text: str, format: str, strategy: str, **parameters: object) -> None:
    """Chunks and their texts, of a document that nothing is known of yet."""
    document = chunkwise.Document("x.py", text, format=format)
    for chunk in chunkwise.ext.get_strategy(strategy, **parameters).chunks(document):
        chunk.text  # noqa: B018


def written_plan(folder: Path) -> Path:
    plan = folder / "sweep.toml"
    plan.write_text(_PLAN.format(source=_PACKAGE / "corpus", questions=_QUESTIONS), "utf-8")
    return plan


def operations(folder: Path) -> Operations:
    """By their names, ready to run; what they need is made here, which is not measured."""
    text, markdown = corpora.generated_prose(400_000), corpora.generated_markdown(400_000)
    code = corpora.generated_code(200_000)
    documents = [
        chunkwise.Document(f"d{number}", text[20_000 * number :][:20_000]) for number in range(10)
    ]
    asked = [text[start:][:80] for start in range(0, 200_000, 2_000)]
    vectors = RandomVectors()
    keywords = chunkwise.index(documents, embedder="none", graph=True)
    hybrid = chunkwise.index(documents, embedder=vectors)
    handbook = chunkwise.index(_PACKAGE / "corpus", embedder="none")
    kept = chunkwise.index(documents, embedder="none", into=folder / "kept")
    versions = count()

    def update() -> None:
        last = chunkwise.Document("d9", f"Version {next(versions)}. {documents[9].text}")
        kept.update([*documents[:9], last])

    found: Operations = {
        "chunk text: characters": partial(cut, text * 20, "text", "characters"),
        "chunk text: words": partial(cut, text, "text", "words"),
        "chunk text: tokens": partial(cut, text, "text", "tokens"),
        "chunk text: recursive": partial(cut, text, "text", "recursive"),
        "chunk text: recursive, overlap": partial(cut, text, "text", "recursive", overlap=100),
        "chunk text: sentences": partial(cut, text, "text", "sentences"),
        "chunk text: paragraphs": partial(cut, text, "text", "paragraphs"),
        "chunk text: parent_child": partial(cut, text, "text", "parent_child"),
        "chunk text: semantic": partial(cut, text, "text", "semantic", model=vectors),
        "chunk text: cluster": partial(cut, text, "text", "cluster", model=vectors),
        "chunk Markdown: recursive": partial(cut, markdown, "markdown", "recursive"),
        "chunk Markdown: sentences": partial(cut, markdown, "markdown", "sentences"),
        "chunk Markdown: sections": partial(cut, markdown, "markdown", "sections"),
        "chunk Markdown: structure": partial(cut, markdown, "markdown", "structure"),
        "chunk code: code": partial(cut, code, "code", "code"),
        "chunk code: recursive": partial(cut, code, "code", "recursive"),
        "index: BM25": partial(chunkwise.index, documents, embedder="none"),
        "index: BM25 and vectors": partial(chunkwise.index, documents, embedder=vectors),
        "index: graph": partial(chunkwise.index, documents[:4], embedder="none", graph=True),
        "update an index": update,
        "search: bm25": partial(keywords.search, asked, retriever="bm25"),
        "search: dense": partial(hybrid.search, asked, retriever="dense"),
        "search: hybrid": partial(hybrid.search, asked, retriever="hybrid"),
        "search: multiscale, BM25 only": partial(keywords.search, asked[:20], budget=1000),
        "search: multiscale": partial(hybrid.search, asked[:20], budget=1000),
        "search: graph": partial(keywords.search, asked[:20], retriever="graph"),
        "evaluate": partial(chunkwise.evaluate, handbook, _QUESTIONS, metrics="recall,precision,iou,ndcg"),
        "tune": partial(chunkwise.tune, written_plan(folder)),
    }  # fmt: skip
    if model_status(MINILM).state == "here":  # nothing is downloaded
        passages = [document.text[:400] for document in documents]
        found["embed: minilm"] = partial(minilm(threads=1).embed, passages)
    return found


def loop() -> None:
    """Fixed work of the kinds that chunkwise does: arrays, search in texts, Python code."""
    numbers = np.arange(120_000, dtype=np.int64) * 7919 % 99_991
    ordered = np.sort(numbers)
    np.cumsum(np.bincount(np.searchsorted(ordered, numbers)))
    square = numbers[:65_536].reshape(256, 256) / 7
    (square @ square.T).argsort(axis=1)
    words = [match[0] for match in re.finditer(r"\w+", _TEXT)]
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + len(word)
    _TEXT.replace("e", "é").lower().split(" ")
    assert _TEXT.find("\0") < 0
    total = 0
    for number in range(60_000):
        total += number & 7


def measure(operations: Operations, rounds: int, best: dict[str, tuple[float, float]]) -> None:
    """The least CPU time of each operation, and of the loop right before it, is noted in `best`."""
    for _ in range(rounds):
        for name, operation in operations.items():
            times = cpu_seconds(loop), cpu_seconds(operation)
            loops, own = best.get(name, times)
            best[name] = min(loops, times[0]), min(own, times[1])


def cpu_seconds(operation: Callable[[], object]) -> float:
    gc.collect()
    began = process_time()
    operation()
    return process_time() - began


_CHILD = """
import atexit, runpy
def peak():
    print(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
atexit.register(peak)
runpy.run_module("chunkwise", run_name="__main__")
"""
"""A command in a process of its own, which prints the most memory it ever had as its last line."""


def peaks() -> dict[str, float]:
    """Megabytes of each command at its largest; none where the system has no /proc."""
    if not Path("/proc/self/status").exists():
        return {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        book, index = folder / "book.txt", folder / "kb"
        book.write_text(corpora.generated_prose(4_000_000), encoding="utf-8")
        commands: dict[str, list[str | Path]] = {
            "chunk": ["chunk", book, "-o", folder / "chunks.jsonl"],
            "index": ["index", book, "--into", index, "--embedder", "none"],
            "search": ["search", index, "the quiet harbour", "--budget", "1000"],
            "tune": ["tune", written_plan(folder), "-o", folder / "sweep"],
        }
        return {f"{PEAK}{name}": peak(command) for name, command in commands.items()}


def peak(command: Sequence[str | Path]) -> float:
    arguments = [sys.executable, "-c", _CHILD, *map(str, command)]
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return int(done.stdout.splitlines()[-1]) / 1000


class Change(NamedTuple):
    name: str
    before: float | None
    now: float | None
    most: float = MOST

    @property
    def share(self) -> float:
        return self.now / self.before - 1 if self.now and self.before else 0.0

    @property
    def verdict(self) -> str:
        if not (self.now and self.before):
            return "new" if self.now else "not measured"
        return SLOWER if self.share > self.most else FASTER if self.share < -self.most else ""

    def cells(self) -> list[str]:
        shown = [f"{value:.3g}" if value else "–" for value in (self.before, self.now)]
        return [self.name, *shown, f"{self.share:+.0%}", self.verdict]


def compare(
    before: Mapping[str, float], now: Mapping[str, float], most: float = MOST
) -> list[Change]:
    """Every operation that was measured before or is now."""
    return [Change(name, before.get(name), now.get(name), most) for name in {**now, **before}]


def processor() -> str:
    """The architecture and, on Linux, the model of the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text("utf-8") if cpuinfo.exists() else ""
    model = re.search(r"^(?:model name|CPU part)\s*:\s*(.+)$", text, re.MULTILINE)
    return f"{platform.machine()} {model[1]}" if model else platform.machine()


def measure_all(before: Mapping[str, float], rounds: int, most: float = MOST) -> dict[str, float]:
    """All operations and peaks; those that seem slower are repeated, since the machine may have been busy."""
    best: dict[str, tuple[float, float]] = {}
    now: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        again = known = operations(Path(folder))
        for _ in range(1 + RETRIES):
            measure(again, rounds, best)
            now = {name: own / loops for name, (loops, own) in best.items()} | peaks()
            slower = {each.name for each in compare(before, now, most) if each.verdict == SLOWER}
            if not slower:
                break
            again = {name: operation for name, operation in known.items() if name in slower}
    return now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--renew", action="store_true", help="write the committed file")
    renew = parser.parse_args().renew
    os.environ["CHUNKWISE_CACHE"] = "off"  # nothing is measured that was only looked up
    committed: dict[str, dict[str, float]] = json.loads(COMMITTED.read_text(encoding="utf-8"))
    machine = processor()
    like = [name for name in committed if name.split()[0] == platform.machine()]
    before = committed.get(machine if machine in committed else "".join(like[:1]), {})
    most = MOST if machine in committed else MOST_ELSEWHERE
    # All later runs depend on figures that are renewed.
    now = measure_all(before, 3 * ROUNDS if renew else ROUNDS, most)
    changes = compare(before, now, most)
    print(f"CPU time as a multiple of a fixed loop's, and peak memory, on {machine}\n")
    print(table(["", "before", "now", "change", ""], [each.cells() for each in changes]), "\n")
    if renew:
        committed[machine] = {name: float(f"{value:.3g}") for name, value in now.items()}
        COMMITTED.write_text(json.dumps(committed, indent=2) + "\n", encoding="utf-8")
        print(f"written to {COMMITTED.name}")
        return
    if machine not in committed:
        print("no figures of this processor yet; write them with: make speed RENEW=1")
    for verdict in (FASTER, SLOWER):
        for each in changes:
            if each.verdict == verdict:
                print(f"{verdict}: {each.name}, {each.share:+.0%}")
    verdicts = {each.verdict for each in changes}
    if FASTER in verdicts:
        print("renew the figures with: make speed RENEW=1")
    if SLOWER in verdicts:
        sys.exit(1)


if __name__ == "__main__":
    main()
