"""A search for spans of any length that fill a budget."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.place import Place
from chunkwise.retrieval.retrievers import SpanRetriever
from chunkwise.retrieval.retrievers.questions import Questions
from chunkwise.retrieval.searching.budget import fill
from chunkwise.retrieval.searching.reader import Reader
from chunkwise.retrieval.searching.wanted import DEFAULT_BUDGET, Wanted

_TRIES = 4


def search_spans(
    reader: Reader, questions: Questions, retriever: SpanRetriever, wanted: Wanted, only: Filter
) -> list[list[Place]]:
    """One list a question, in the order the retriever shows them."""
    budget = wanted.budget or DEFAULT_BUDGET
    answers: list[list[Place]] = [[] for _ in questions.texts]
    waiting = dict.fromkeys(range(len(questions)), budget)
    for _ in range(_TRIES):
        again: dict[int, int] = {}
        for allowed in sorted(set(waiting.values())):
            some = [at for at, its in waiting.items() if its == allowed]
            found = retriever.spans(reader.source, questions.some(some), allowed, only)
            for at, places in zip(some, found, strict=True):
                answers[at] = places = _most(_told(reader, places), wanted.count)
                # Tokens of sentences add up only nearly: a text by itself may have one more.
                over = _size(reader, places) - budget
                if over > 0 and allowed > over:
                    again[at] = allowed - over
        waiting = again
        if not waiting:
            break
    return [
        places if _size(reader, places) <= budget else fill(reader, places, budget).places
        for places in answers
    ]


def _told(reader: Reader, places: Sequence[Place]) -> list[Place]:
    """Without the white space behind them, and without those that are a brace, a fence or a rule alone."""
    kept = []
    for place in places:
        text = reader.text(place.document)[place.start : place.end].rstrip()
        if any(map(str.isalnum, text)):
            kept.append(place._replace(end=place.start + len(text)))
    return kept


def _size(reader: Reader, places: Sequence[Place]) -> int:
    return sum(reader.count(place.document, place.start, place.end) for place in places)


def _most(places: list[Place], count: int | None) -> list[Place]:
    """The best of them, shown in the same order."""
    if count is None or len(places) <= count:
        return places
    order = sorted(range(len(places)), key=lambda at: (-places[at].score, at))
    return [places[at] for at in sorted(order[:count])]
