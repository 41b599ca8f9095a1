"""Finding terms, and BM25 for another chunking of texts whose terms are known, against bm25s from the start."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import bm25s
import numpy as np
import Stemmer
from numpy.typing import NDArray

from benchmarks import corpora
from benchmarks.tables import table
from chunkwise.chunkers import get_strategy
from chunkwise.core import Document
from chunkwise.retrieval.bm25 import Bm25, TermTable
from chunkwise.text import terms as text_terms
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.terms import (
    TermCounts,
    Terms,
    counts_in_spans,
    document_terms,
    join_counts,
    query_terms,
)

_ROUNDS = 3
_SECOND = "sentences(max_tokens=200, overlap=0)"
"""The chunking that comes after the first one: by now the terms of the documents are known."""
_QUESTIONS = 200


class Row(NamedTuple):
    """One thing measured, what it is held against and whether that will do."""

    what: str
    found: float
    unit: str
    bar: str
    met: bool


def measure() -> list[Row]:
    """Seconds are wall clock, the best of some rounds; contenders take turns."""
    contracts = _documents("cuad")
    found = [
        _speed("terms of books", _documents("books")),
        _speed("terms of contracts", contracts),
    ]
    return [*found, *_second_chunking(contracts)]


def _documents(name: str) -> list[Document]:
    if not corpora.available(name):
        text = corpora.prose(4 * corpora.MEGABYTE)
        size = 50_000
        return [Document(str(at), text[at : at + size]) for at in range(0, len(text), size)]
    with (corpora.SHARED / name / "corpus.jsonl").open(encoding="utf-8") as lines:
        values = map(json.loads, lines)
        return [Document(value["doc_id"], value["text"]) for value in values]


def _speed(what: str, documents: Sequence[Document]) -> Row:
    def find() -> None:
        text_terms._reader.cache_clear()  # as if no text had been read before
        for document in documents:
            document_terms(Analyzed(document))

    megabytes = sum(len(document.text.encode()) for document in documents) / corpora.MEGABYTE
    rate = megabytes / min(_seconds(find) for _ in range(_ROUNDS))
    return Row(what, rate, "MB/s", "at least 5", rate >= 5)


def _second_chunking(documents: Sequence[Document]) -> list[Row]:
    strategy = get_strategy(_SECOND)
    chunks = [list(strategy.chunks(document)) for document in documents]
    spans = [
        np.array([(chunk.start, chunk.end) for chunk in some]).reshape(-1, 2) for some in chunks
    ]
    texts = [chunk.text for some in chunks for chunk in some]
    terms = [document_terms(Analyzed(document), "en") for document in documents]
    ours, fresh = [], []
    for _ in range(_ROUNDS):
        ours.append(_seconds(lambda: TermTable.of(_counts(terms, spans))))
        fresh.append(_seconds(lambda: _fresh(texts)))
    ratio = min(fresh) / min(ours)
    told = f"{len(texts):,} chunks of contracts"
    return [
        Row(f"BM25 of {told}, terms known", min(ours), "s", "", True),
        Row(f"bm25s of {told}, its own terms", min(fresh), "s", "", True),
        Row("bm25s / chunkwise", ratio, "×", "at least 10", ratio >= 10),
        _agreement(_counts(terms, spans), documents),
    ]


def _counts(terms: Sequence[Terms], spans: Sequence[NDArray[np.int64]]) -> TermCounts:
    return join_counts(
        [
            counts_in_spans(own, span[:, 0], span[:, 1])
            for own, span in zip(terms, spans, strict=True)
        ]
    )


def _fresh(texts: list[str]) -> None:
    stemmer = Stemmer.Stemmer("english")
    tokens = bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)
    bm25s.BM25(k1=1.5, b=0.75, method="lucene").index(tokens, show_progress=False)


def _agreement(counts: TermCounts, documents: Sequence[Document]) -> Row:
    """Scores of questions made of the documents' own sentences, bm25s given our terms."""
    found = TermTable.of(counts)
    number = found.hashes.searchsorted(counts.term)
    bounds = counts.first[1:-1]
    ids = [
        np.repeat(term, times).tolist()
        for term, times in zip(
            np.split(number, bounds), np.split(counts.times, bounds), strict=True
        )
    ]
    vocabulary = {str(term): place for place, term in enumerate(found.hashes.tolist())}
    other = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
    other.index((ids, vocabulary), show_progress=False)
    asked = [
        query_terms(documents[n % len(documents)].text[1000:1100], ["en"])
        for n in range(_QUESTIONS)
    ]
    # A word cut in two at the edge of the stretch may be no term of the index.
    asked = [query[found.find(query) >= 0] for query in asked]
    worst = 0.0
    for query, ours in zip(asked, Bm25(found).scores(asked), strict=True):
        if len(query):
            theirs = other.get_scores_from_ids(found.find(query).tolist())
            worst = max(worst, float(np.abs(ours - theirs).max() / max(theirs.max(), 1.0)))
    return Row("largest relative difference of scores", worst, "", "at most 1e-5", worst <= 1e-5)


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def run() -> str:
    """The rows as a Markdown table."""
    shown = [
        (row.what, f"{row.found:.3g} {row.unit}".strip(), row.bar, _verdict(row))
        for row in measure()
    ]
    return table(("", "found", "bar", ""), shown)


def _verdict(row: Row) -> str:
    if not row.bar:
        return ""
    return "met" if row.met else "**missed**"


def main() -> None:
    print(run())


if __name__ == "__main__":
    main()
