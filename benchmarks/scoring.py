"""How long scoring takes: every measure over spans and rankings, for many questions and a large index."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from benchmarks.tables import table
from chunkwise.core import Document
from chunkwise.metrics.registry import MetricAt, known_metrics, parse
from chunkwise.metrics.scorer import span_scores
from chunkwise.metrics.span_tables import Chunking, Gold, HitTable
from chunkwise.metrics.spans.span_metric import SpanMetric
from chunkwise.metrics.token_budget import TokenCut

BAR = 10.0
_ROUNDS = 3
_DOCUMENTS = 2_000
_STEP = 700
"""Characters from one chunk to the next: an overlap of 100."""
_CHUNK = 800
_TOKENS = (120, 200)
"""Of a chunk, at least and below."""
_BUDGET = "recall@1000t"


class Scoring(NamedTuple):
    """Seconds are wall clock, the best of some rounds."""

    questions: int
    depth: int
    chunks: int
    measures: int
    together: float
    alone: dict[str, float]


def _names() -> list[str]:
    return [name for name, each in known_metrics().items() if isinstance(each, SpanMetric)]


def measure(questions: int = 10_000, depth: int = 20, chunks: int = 1_000_000) -> Scoring:
    """Half of the hits near the references, half anywhere; two references a question, every third repeated."""
    rng = np.random.default_rng(20240229)
    chunking = _chunking(rng, chunks)
    gold = _gold(rng, questions, chunks)
    found = _found(rng, gold, chunking, depth)
    documents = _texts(chunks)
    wanted = [parse(name, k=5) for name in (*_names(), _BUDGET)]

    def seconds(some: list[MetricAt]) -> float:
        cut = TokenCut(documents)  # nothing is tokenized yet
        began = time.perf_counter()
        span_scores(some, gold, found, chunking, cut)
        return time.perf_counter() - began

    together = min(seconds(wanted) for _ in range(_ROUNDS))
    alone = {each.label: seconds([each]) for each in wanted}
    return Scoring(questions, depth, chunks, len(wanted), together, alone)


def _chunking(rng: np.random.Generator, chunks: int) -> Chunking:
    number = np.arange(chunks)
    document, place = np.divmod(number, chunks // _DOCUMENTS)
    start = place * _STEP
    return Chunking(document, start, start + _CHUNK, rng.integers(*_TOKENS, chunks))


def _texts(chunks: int) -> list[Document]:
    text = "The lamp is lit at dusk, and it burns till dawn. "
    length = chunks // _DOCUMENTS * _STEP + _CHUNK
    whole = (text * (length // len(text) + 1))[:length]
    return [Document(str(number), whole) for number in range(_DOCUMENTS)]


def _gold(rng: np.random.Generator, questions: int, chunks: int) -> Gold:
    references = 2 * questions
    repeated = np.arange(references) % 3 == 0
    places = references + int(repeated.sum())
    reference = np.sort(np.concatenate((np.arange(references), np.flatnonzero(repeated))))
    start = rng.integers(0, chunks // _DOCUMENTS * _STEP, places)
    return Gold(
        questions,
        np.repeat(np.arange(questions), 2),
        reference,
        rng.integers(0, _DOCUMENTS, places),
        start,
        start + rng.integers(50, 600, places),
    )


def _found(rng: np.random.Generator, gold: Gold, chunking: Chunking, depth: int) -> HitTable:
    chunks = len(chunking.start)
    chosen = rng.integers(0, chunks, (gold.questions, depth))
    first = np.flatnonzero(np.diff(gold.reference, prepend=-1))[::2]  # a place of each question
    a_document = chunks // _DOCUMENTS
    near = gold.document[first] * a_document + gold.start[first] // _STEP
    around = near[:, None] + np.arange(depth // 2) - depth // 4
    chosen[:, ::2] = np.clip(around, 0, chunks - 1)
    flat = chosen.reshape(-1)
    bounds = np.arange(gold.questions + 1) * depth
    columns = (chunking.document, chunking.start, chunking.end, chunking.tokens)
    return HitTable(bounds, *(column[flat] for column in columns))


def run() -> str:
    """All measures at once, and the slowest by themselves, as Markdown."""
    found = measure()
    slowest = sorted(found.alone.items(), key=lambda each: -each[1])[:6]
    rows = [[f"all {found.measures}", f"{found.together:.2f}"]]
    rows += [[f"{label} alone", f"{seconds:.2f}"] for label, seconds in slowest]
    verdict = "met" if found.together < BAR else "**missed**"
    return "\n".join([
        f"{found.questions:,} questions × {found.depth} hits over {found.chunks:,} overlapping chunks, "
        "two references per question; including the tokenization of hits truncated by a budget.\n",
        table(["measures", "s"], rows),
        "",
        f"- every measure in under {BAR:.0f} s: {verdict}",
        "",
    ])  # fmt: skip


if __name__ == "__main__":
    print(run())
