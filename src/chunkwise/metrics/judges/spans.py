"""Relevance by the references of a question."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Hit, Query, Score
from chunkwise.metrics.spans.relevance import relevant_hits
from chunkwise.metrics.spans.tables import Gold, HitTable

NO_REFERENCES = "no references"


class SpanJudge:
    """Relevant is a hit that covers enough of any place of a reference, or lies wholly inside one."""

    name = "spans"

    def __init__(self, threshold: float = 0.5) -> None:
        if not 0 < threshold <= 1:
            raise InvalidParameter(
                f"relevance_threshold is {threshold}; it is a share of a reference, over 0 and at most 1"
            )
        self.threshold = threshold

    def judge(self, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]) -> list[list[Score]]:
        """One score a hit, in the order of the hits."""
        ids = dict.fromkeys(hit.doc_id for own in hits for hit in own)
        numbers = {id: number for number, id in enumerate(ids)}
        found = HitTable.of(hits, numbers)
        texts = {hit.doc_id: hit.document.text for own in hits for hit in own}
        gold = Gold.of(queries, numbers, texts)
        relevant = relevant_hits(gold, found, self.threshold).tolist()
        scores = []
        for query, own, first in zip(queries, hits, found.first[:-1].tolist(), strict=True):
            if not query.references:
                scores.append([Score(None, NO_REFERENCES)] * len(own))
                continue
            # The table has them by rank; hits of several sizes come in reading order.
            by_rank = sorted(range(len(own)), key=lambda at: own[at].rank)
            verdict = dict(zip(by_rank, relevant[first : first + len(own)], strict=True))
            scores.append([Score(float(verdict[at])) for at in range(len(own))])
        return scores
