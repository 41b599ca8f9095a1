"""Who says that a hit is relevant without a language model: human labels, gold spans, an embedder's similarity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Hit, HitPlace, Label, Passage, Query, Score
from chunkwise.metrics.span_tables import Gold, HitTable
from chunkwise.metrics.spans.ranking import relevant_hits
from chunkwise.models import DEFAULT, get_embedder
from chunkwise.models.embed.embedder import Embedder, Kind

NOT_LABELLED = "not labeled"
DISAGREE = "labelers disagree"

LEAST = 0.5
"""Intersection over union from which a hit and a labeled place are the same to a reader."""
NEAR = 1e-6
"""Cosines so far under a threshold reach it: rounding must not decide."""


class LabelJudge:
    """A hit takes people's rating of its place; of several people the majority decides.

    A place says something about a hit that is about the same (`LEAST`) or lies inside it. A hit that holds a whole
    passage rated relevant is relevant; that a passage in it is irrelevant says nothing about the rest of it.
    """

    name = "labels"

    def judge(self, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]) -> list[list[Score]]:
        """One score a hit, in the order of the hits."""
        result = []
        for query, own in zip(queries, hits, strict=True):
            places = balance_by_place(query.labels)
            result.append([_verdict(places, hit) for hit in own])
        return result


def balance_by_place(labels: Sequence[Label]) -> dict[Passage, int]:
    """By place, how many more people call it relevant than not."""
    result: dict[Passage, int] = {}
    for label in labels:
        place = Passage(label.doc_id, label.start, label.end)
        result[place] = result.get(place, 0) + (1 if label.relevant else -1)
    return result


def _verdict(places: Mapping[Passage, int], hit: Hit) -> Score:
    own = hit.places
    very = places.get(Passage(own[0].doc_id, own[0].start, own[0].end)) if len(own) == 1 else None
    if very is not None:
        return _score(very)
    inside = [balance for place, balance in places.items() if _is_inside(place, own)]
    if any(balance > 0 for balance in inside):
        return Score(1.0)
    near = {place: closeness for place in places if (closeness := _closeness(place, own))}
    if near:
        closest = max(near.values())
        return _score(sum(places[place] for place in near if near[place] == closest))
    return Score(None, DISAGREE if 0 in inside else NOT_LABELLED)


def says_something(place: Passage, hit: Hit) -> bool:
    """Whether the label of a place is one of a hit: it lies in it, is about the same, or holds it."""
    own = hit.places
    return _is_inside(place, own) or _closeness(place, own) is not None


def _is_inside(place: Passage, places: Sequence[HitPlace]) -> bool:
    return any(
        hit_place.doc_id == place.doc_id
        and hit_place.start <= place.start < place.end <= hit_place.end
        for hit_place in places
    )


def _score(balance: int) -> Score:
    return Score(float(balance > 0)) if balance else Score(None, DISAGREE)


def _closeness(place: Passage, held: Sequence[HitPlace]) -> tuple[int, float] | None:
    """Shared characters, then their share of both together; None where the place says nothing about the hit."""
    shared = sum(
        max(0, min(place.end, hit_place.end) - max(place.start, hit_place.start))
        for hit_place in held
        if hit_place.doc_id == place.doc_id
    )
    if shared <= 0:
        return None
    own = sum(hit_place.end - hit_place.start for hit_place in held)
    ratio = shared / (own + place.end - place.start - shared)
    return (shared, ratio) if ratio >= LEAST or shared == own else None


NO_REFERENCES = "no references"


class SpanJudge:
    """Relevant is a hit that covers enough of any place of a reference, or lies wholly inside one."""

    name = "spans"

    def __init__(self, threshold: float = 0.5) -> None:
        if not 0 < threshold <= 1:
            raise InvalidParameter(
                f"relevance_threshold is {threshold}; expected a share above 0 and up to 1"
            )
        self.threshold = threshold

    def judge(self, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]) -> list[list[Score]]:
        """One score a hit, in the order of the hits."""
        texts = {
            place.doc_id: place.document.text
            for group in hits
            for hit in group
            for place in hit.places
        }
        numbers = {id: number for number, id in enumerate(texts)}
        table = HitTable.of(hits, numbers)
        gold = Gold.of(queries, numbers, texts)
        relevant = relevant_hits(gold, table, self.threshold).tolist()
        scores = []
        for query, own, first in zip(queries, hits, table.first[:-1].tolist(), strict=True):
            if not query.references:
                scores.append([Score(None, NO_REFERENCES)] * len(own))
                continue
            # The table has them by rank; hits of several sizes come in reading order.
            by_rank = sorted(range(len(own)), key=lambda at: own[at].rank)
            verdict = dict(zip(by_rank, relevant[first : first + len(own)], strict=True))
            scores.append([Score(float(verdict[at])) for at in range(len(own))])
        return scores


NO_WORDS = "no words to compare"
NO_VECTOR = "the model returned no vector"


class SimilarityJudge:
    """Relevant is a hit whose cosine with the question reaches the threshold; made for comparison, it is no truth."""

    name = "similarity"

    def __init__(self, embedder: str | Embedder = DEFAULT, threshold: float = 0.7) -> None:
        if not -1 <= threshold <= 1:
            raise InvalidParameter(
                f"similarity_threshold is {threshold}; expected a cosine between -1 and 1, such "
                "as 0.7"
            )
        self.threshold = threshold
        self._embedder = embedder

    def judge(self, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]) -> list[list[Score]]:
        """One score a hit, in the order of the hits; every text is embedded once, all together."""
        pairs = [
            (query.text, hit.text) for query, own in zip(queries, hits, strict=True) for hit in own
        ]
        near = iter(cosine_scores(pairs, get_embedder(self._embedder)))
        return [[self._verdict(next(near)) for _ in group] for group in hits]

    def _verdict(self, near: Score) -> Score:
        if near.value is None:
            return near
        return Score(float(near.value >= self.threshold - NEAR))


def cosine_scores(pairs: Sequence[tuple[str, str]], embedder: Embedder) -> list[Score]:
    """The cosine of each question and passage, or why there is none; every text is embedded once, all together."""
    if not pairs:
        return []
    asked = _vectors([question for question, _ in pairs], embedder, "query")
    passages = _vectors([passage for _, passage in pairs], embedder, "passage")
    cosines = np.einsum("ij,ij->i", asked, passages)
    known = (asked != 0).any(axis=1) & (passages != 0).any(axis=1)
    return [
        Score(None, NO_VECTOR)
        if math.isnan(cosine)
        else Score(cosine)
        if has_words
        else Score(None, NO_WORDS)
        for cosine, has_words in zip(cosines.tolist(), known.tolist(), strict=True)
    ]


def _vectors(texts: Sequence[str], embedder: Embedder, kind: Kind) -> NDArray[np.float64]:
    """One row a text, of length 1; zeros for a text without words, NaN where the model failed."""
    row = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    values = np.zeros((len(row), embedder.dimensions))
    worded = [text for text in row if text.strip()]  # some models refuse an empty text
    if worded:
        values[[row[text] for text in worded]] = embedder.embed(worded, kind)
    values[~np.isfinite(values).all(axis=1)] = np.nan
    length = np.linalg.norm(values, axis=1, keepdims=True)
    unit: NDArray[np.float64] = values / np.where(length == 0, 1, length)
    return unit[[row[text] for text in texts]]
