"""How well strategies that cut by meaning find where one paragraph ends and another begins, all marks taken away."""

from __future__ import annotations

import json
import random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import corpora
from benchmarks.tables import table
from chunkwise import Document
from chunkwise.chunkers.semantic import SemanticChunker, border_similarity
from chunkwise.ext import get_strategy
from chunkwise.text.analyzed import Analyzed

SPECS = (
    "semantic", "semantic(min_tokens=0)", "semantic(threshold=0.4)", "semantic(method=percentile)",
    "semantic(method=deviation)", "semantic(method=gradient)", "semantic(vectors=late, method=gradient)", "cluster",
    "sentences(max_tokens=200, overlap=0)",
)  # fmt: skip
KINDS = ("different articles", "one article")
_PARAGRAPHS = 8


class Joined(NamedTuple):
    """Paragraphs put together with a space, and where each but the first starts."""

    document: Analyzed
    borders: set[int]


def documents(kind: str, count: int = 30) -> list[Joined]:
    """The same in every run; the data is `squad_distractors`."""
    path = corpora.SHARED / "squad_distractors" / "corpus.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    articles = [
        [text.strip() for text in json.loads(line)["text"].split("\n") if len(text) > 200]
        for line in lines
    ]
    rng = random.Random(3)
    made = []
    for number in range(count):
        if kind == KINDS[0]:
            parts = [rng.choice(article) for article in rng.sample(articles, _PARAGRAPHS)]
        else:
            article = rng.choice(articles)
            first = rng.randrange(max(1, len(article) - _PARAGRAPHS))
            parts = article[first : first + _PARAGRAPHS]
        ends = np.cumsum([len(part) + 1 for part in parts]).tolist()
        analyzed = Analyzed(Document(f"{kind} {number}", " ".join(parts)))
        made.append(Joined(analyzed, set(ends[:-1])))
    return made


def f1(spec: str, joined: list[Joined]) -> float:
    """Mean over the documents."""
    strategy, found = get_strategy(spec), []
    for document, borders in joined:
        cuts = {chunk.start for chunk in strategy.chunks(document)} - {0}
        found.append(2 * len(cuts & borders) / (len(cuts) + len(borders)))
    return float(np.mean(found))


def precision(vectors: str, buffer: int, joined: list[Joined]) -> float:
    """Average precision of the similarities: 1 where every border is less alike than every other place."""
    reader = SemanticChunker(vectors=vectors)
    alike: list[float] = []
    border: list[bool] = []
    for document, borders in joined:
        units = reader.units(document)
        alike += border_similarity(reader.unit_vectors(document, units), buffer).tolist()
        border += [start in borders for start in units[1:].tolist()]
    right: NDArray[np.bool_] = np.array(border)[np.argsort(alike, kind="stable")]
    among = np.cumsum(right) / np.arange(1, len(right) + 1)
    return float(among[right].mean())


def run() -> str:
    """The tables as Markdown."""
    joined = {kind: documents(kind) for kind in KINDS}
    rows = [[f"`{spec}`", *(f"{f1(spec, joined[kind]):.2f}" for kind in KINDS)] for spec in SPECS]
    ways = [("own", 0), ("own", 1), ("own", 2), ("late", 0), ("late", 1)]
    deeper = [
        [f"{vectors}, buffer {buffer}", *(f"{precision(vectors, buffer, joined[kind]):.2f}" for kind in KINDS)]
        for vectors, buffer in ways
    ]  # fmt: skip
    return "\n".join([
        "Topic boundaries (F1):\n", table(["strategy", *KINDS], rows), "",
        "Average precision of the similarities:\n", table(["vectors", *KINDS], deeper), "",
    ])  # fmt: skip


if __name__ == "__main__":
    print(run())
