"""How much of what an answer should name it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.core import Query, Score
from chunkwise.metrics.claims.answers import NO_ANSWER, Answer
from chunkwise.metrics.claims.fact_search import share_named
from chunkwise.metrics.claims.plain_form import plain_form
from chunkwise.metrics.completeness.facts import NO_FACTS


def answer_completeness(queries: Sequence[Query], answers: Mapping[str, Answer]) -> list[Score]:
    """Share of a question's expected facts that its answer names; an empty answer names none."""
    found = []
    for query in queries:
        answer = answers.get(query.id)
        if not query.facts:
            found.append(Score(None, NO_FACTS))
        elif answer is None:
            found.append(Score(None, NO_ANSWER))
        else:
            found.append(Score(share_named(query.facts, [plain_form(answer.text)])))
    return found
