"""What every retriever keeps to: chunks or spans of the index, best first, and the same whoever asks beside one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from chunkwise.base.errors import BrokenContract
from chunkwise.base.wording import counted
from chunkwise.core import Document
from chunkwise.retrieval.filters import EVERYTHING, Filter
from chunkwise.retrieval.indexes import Index
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.retrievers import ChunkRetriever, Retriever, get_retriever
from chunkwise.retrieval.searchable import CandidateSpan, QueryBatch
from chunkwise.testkit.sample_run import HashedWords, sample_index, sample_queries

_DEPTHS = (1, 3, 1000)
_BUDGET = 60
_ONE = Filter(documents=("leave.md",))


def check_retriever(
    retriever: str | Retriever,
    documents: Iterable[Document] = (),
    queries: Iterable[str] = (),
    *,
    tolerance: float = 1e-5,
) -> None:
    """Hold a retriever to the contract on hostile questions and on yours; raise `BrokenContract` at the first breach.

    `tolerance` is how far a score may move when a question is asked among others.
    """
    made = get_retriever(retriever)
    name = retriever if isinstance(retriever, str) else type(retriever).__name__
    index = sample_index(list(documents))
    texts = [*(query.text for query in sample_queries() if query.text.strip()), *queries]
    check = (
        _CheckedChunks(name, made, index, tolerance) if isinstance(made, ChunkRetriever) else None
    )
    if check is not None:
        check.rankings(texts)
    else:
        _check_spans(name, made, index, texts)
    for hits in index.search(texts, budget=_BUDGET, retriever=made):
        if sum(hit.token_count for hit in hits) > _BUDGET:
            raise BrokenContract(
                f"{name}: a search within {counted(_BUDGET, 'token')} returned more"
            )


class _CheckedChunks:
    def __init__(
        self, name: str, retriever: ChunkRetriever, index: Index, tolerance: float
    ) -> None:
        self.name = name
        self.retriever = retriever
        self.index = index
        self.tolerance = tolerance

    def rankings(self, texts: Sequence[str]) -> None:
        deepest = self._rank(texts, _DEPTHS[-1])
        for depth in _DEPTHS:
            for text, given, whole in zip(texts, self._rank(texts, depth), deepest, strict=True):
                self._same(text, given, whole.first(depth), f"for the best {depth}")
        alone = [self._rank([text], _DEPTHS[-1])[0] for text in texts]
        backwards = self._rank(texts[::-1], _DEPTHS[-1])[::-1]
        for how, others in (("alone", alone), ("in the opposite order", backwards)):
            for text, given, other in zip(texts, deepest, others, strict=True):
                self._same(text, given, other, how)
        if self._rank([], 5):
            raise BrokenContract(f"{self.name}: returned rankings without questions")
        self._rank(texts, _DEPTHS[-1], _ONE)
        if len(self._rank(texts, _DEPTHS[-1], Filter(documents=("nowhere",)))[0].numbers):
            raise BrokenContract(
                f"{self.name}: returned chunks of documents excluded by the filter"
            )

    def _rank(self, texts: Sequence[str], depth: int, only: Filter = EVERYTHING) -> list[Ranking]:
        source = self.index.source
        result = self.retriever.rank(source, _batch(self.index, texts), depth, only)
        if len(result) != len(texts):
            raise BrokenContract(
                f"{self.name}: gave {counted(len(result), 'ranking')} for "
                f"{counted(len(texts), 'question')}"
            )
        for text, ranking in zip(texts, result, strict=True):
            if problem := self._problem(ranking, depth, only):
                raise BrokenContract(f"{self.name}: for {text[:60]!r} {problem}")
        return list(result)

    def _problem(self, ranking: Ranking, depth: int, only: Filter) -> str:
        numbers, scores = np.asarray(ranking.numbers), np.asarray(ranking.scores)
        if numbers.dtype != np.int64 or scores.dtype != np.float32 or numbers.shape != scores.shape:
            return (
                f"it returned numbers as {numbers.dtype} {numbers.shape}, scores as "
                f"{scores.dtype} {scores.shape}; expected int64 and float32 of equal length"
            )
        if len(numbers) > depth:
            return f"it returned {counted(len(numbers), 'chunk')}; expected {depth}"
        if not np.isfinite(scores).all() or (np.diff(scores) > 0).any():
            return f"its scores aren't finite and descending: {scores[:5]}"
        if len(np.unique(numbers)) < len(numbers):
            return "it returned a chunk twice"
        count = self.index.source.chunk_count
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < count:
            return f"it returned chunk number {numbers.max()} of {counted(count, 'chunk')}"
        for chunk in self.index.source.chunks(numbers.tolist()):
            if not only.takes_document(self.index.source.document(chunk.document).id):
                return "it returned a chunk of a document excluded by the filter"
        return ""

    def _same(self, text: str, given: Ranking, other: Ranking, how: str) -> None:
        """Chunks may change places where their scores are the same but for the rounding of a sum."""
        if len(given.numbers) != len(other.numbers) or (
            np.abs(given.scores - other.scores).max(initial=0) > self.tolerance
        ):
            raise BrokenContract(f"{self.name}: {text[:60]!r} has another ranking {how}")
        moved = given.numbers != other.numbers
        by_number = dict(zip(other.numbers.tolist(), other.scores.tolist(), strict=True))
        for number, score in zip(given.numbers[moved].tolist(), given.scores[moved], strict=True):
            last = float(other.scores[-1])
            if abs(by_number.get(number, last) - float(score)) > self.tolerance:
                raise BrokenContract(f"{self.name}: {text[:60]!r} has other chunks {how}")


def _batch(index: Index, texts: Sequence[str]) -> QueryBatch:
    return QueryBatch(texts, index.settings, HashedWords)


def _check_spans(name: str, retriever: Retriever, index: Index, texts: Sequence[str]) -> None:
    assert not isinstance(retriever, ChunkRetriever)

    def spans(some: Sequence[str], only: Filter = EVERYTHING) -> list[list[CandidateSpan]]:
        result = retriever.spans(index.source, _batch(index, some), _BUDGET, only)
        if len(result) != len(some):
            raise BrokenContract(
                f"{name}: returned spans for {counted(len(result), 'question')}; expected "
                f"{len(some)}"
            )
        for text, own in zip(some, result, strict=True):
            if problem := _span_problem(index, own, only):
                raise BrokenContract(f"{name}: for {text[:60]!r} {problem}")
        return [list(group) for group in result]

    def places(found: list[list[CandidateSpan]]) -> list[list[tuple[int, int, int]]]:
        return [[(row.document, row.start, row.end) for row in group] for group in found]

    together = places(spans(texts))
    alone = [places(spans([text]))[0] for text in texts]
    for how, others in (
        ("alone", alone),
        ("in the opposite order", places(spans(texts[::-1]))[::-1]),
    ):
        for text, own, other in zip(texts, together, others, strict=True):
            if own != other:
                raise BrokenContract(f"{name}: {text[:60]!r} has other spans {how}")
    if spans([]):
        raise BrokenContract(f"{name}: returned spans without questions")
    spans(texts, _ONE)


def _span_problem(index: Index, spans: Sequence[CandidateSpan], only: Filter) -> str:
    ends: dict[int, list[tuple[int, int]]] = {}
    for span in spans:
        if not 0 <= span.document < len(index):
            return f"it returned a span of document {span.document} of {len(index)}"
        document = index.source.document(span.document)
        if not 0 <= span.start < span.end <= len(document.text):
            return f"[{span.start}:{span.end}] is not a span of {document.id!r}"
        if not np.isfinite(span.score):
            return f"a span has the score {span.score}"
        if not only.takes_document(document.id):
            return "it returned a span of a document excluded by the filter"
        ends.setdefault(span.document, []).append((span.start, span.end))
    for own in ends.values():
        own.sort()
        if any(start < end for (_, end), (start, _) in pairwise(own)):
            return "its spans overlap"
    return ""
