"""Places that may answer a question without gold: by its words and how near to each other they stand.

No index and no retriever is asked: what will be judged must not have chosen what it is judged by. A stretch of
sentences scores by the rarity of the different words it holds, divided by how far apart they stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from chunkwise.core import Passage
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.terms import document_terms, query_terms

REACH = 400
"""Characters within which words stand together."""
_DOCUMENTS = 200
"""With the most words of the question; the others are not looked into any closer."""


@dataclass(frozen=True, slots=True)
class FoundEvidence:
    """Sentences that hold words of the question near each other."""

    place: Passage
    text: str
    words: int
    """Different words of the question in it."""
    score: float


def find_evidence(
    question: str, documents: Iterable[Analyzed], most: int = 20
) -> list[FoundEvidence]:
    """The best places first; no two overlap."""
    found: list[tuple[Analyzed, np.ndarray[tuple[int], np.dtype[np.int64]], list[int]]] = []
    holds: dict[int, int] = {}
    wanted: dict[str, list[int]] = {}
    count = 0
    for analyzed in documents:
        count += 1
        terms = document_terms(analyzed)
        if terms.language not in wanted:
            asked = query_terms(question, (terms.language,)).tolist()
            wanted[terms.language] = list(dict.fromkeys(asked))
        own = wanted[terms.language]
        at = np.flatnonzero(np.isin(terms.hash, np.array(own, np.uint64)))
        hashes = terms.hash[at].tolist()
        for each in set(hashes):
            holds[each] = holds.get(each, 0) + 1
        if len(at):
            found.append((analyzed, terms.start[at], hashes))
    weight = {term: log(1 + count / times) for term, times in holds.items()}
    found.sort(key=lambda each: -sum(weight[term] for term in set(each[2])))
    places = [
        made
        for analyzed, starts, hashes in found[:_DOCUMENTS]
        for made in _stretches(analyzed, starts.tolist(), hashes, weight)
    ]
    best: list[FoundEvidence] = []
    for each in sorted(places, key=lambda each: (-each.score, each.place)):
        if not any(_overlap(each.place, other.place) for other in best):
            best.append(each)
            if len(best) == most:
                break
    return best


def _stretches(
    analyzed: Analyzed, starts: Sequence[int], hashes: Sequence[int], weight: dict[int, float]
) -> Iterable[FoundEvidence]:
    """From every word on, those that stand within reach of it, as whole sentences."""
    text = analyzed.document.text
    edges = [*analyzed.sentences.tolist(), len(text)]
    bounds = np.array(edges, np.int64)
    last = 0
    seen: set[tuple[int, int]] = set()
    for first, start in enumerate(starts):
        last = max(last, first)
        while last + 1 < len(starts) and starts[last + 1] - start <= REACH:
            last += 1
        together = set(hashes[first : last + 1])
        spread = starts[last] - start
        low = edges[max(int(bounds.searchsorted(start, "right")) - 1, 0)]
        high = edges[min(int(bounds.searchsorted(starts[last], "right")), len(edges) - 1)]
        own = text[low:high]
        low, high = low + len(own) - len(own.lstrip()), low + len(own.rstrip())
        if low < high and (low, high) not in seen:
            seen.add((low, high))
            score = sum(weight[each] for each in together) / (1 + spread / REACH)
            yield FoundEvidence(
                Passage(analyzed.document.id, low, high),
                text[low:high],
                len(together),
                round(score, 6),
            )


def _overlap(one: Passage, other: Passage) -> bool:
    return one.doc_id == other.doc_id and one.start < other.end and one.end > other.start
