"""Is everything there? By the facts a complete answer names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.core import Hit, Query, Score
from chunkwise.metrics.claims.fact_search import PlainHits, share_named
from chunkwise.metrics.claims.plain_form import plain_form

NO_FACTS = "no expected facts"


def facts(
    queries: Sequence[Query],
    hits: Sequence[Sequence[Hit]],
    answers: Mapping[str, str] | None = None,
) -> list[Score]:
    """Share of a question's facts that are named in its answer, where there is one, else in its hits.

    `answers` are texts by the id of the question. A fact is named when one of its spellings stands in the text, word
    by word: case, punctuation and the writing of numbers do not count, and 5 does not stand in 15. Hits that touch or
    overlap are read as one text; a word or a number cut at the edge of a hit is not read.
    """
    plain = PlainHits()
    found = []
    for query, own in zip(queries, hits, strict=True):
        if not query.facts:
            found.append(Score(None, NO_FACTS))
            continue
        answer = (answers or {}).get(query.id)
        texts = plain(own) if answer is None else [plain_form(answer)]
        found.append(Score(share_named(query.facts, texts)))
    return found
