"""What the file of results says about every single question."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from chunkwise.core import Hit, Query
from chunkwise.evaluation.direction import lower_is_better
from chunkwise.evaluation.results import FoundSpan, QuestionResult
from chunkwise.evaluation.scores.column import Column
from chunkwise.evaluation.scores.judging import Verdicts
from chunkwise.evaluation.scores.missed import missed
from chunkwise.evaluation.subjects.asking import Hits
from chunkwise.evaluation.subjects.subject import Subject

_DIGITS = 6
"""Of a hit's score: the last ones depend on the machine."""


def question_results(
    subject: Subject,
    queries: Sequence[Query],
    shown: Hits,
    further: Mapping[int, Sequence[Hit]],
    columns: Mapping[str, Column],
    verdicts: Verdicts,
) -> tuple[QuestionResult, ...]:
    """`further` are the hits of a question down to where was searched, by its number."""
    documents = {document.id: document for document in subject.documents}
    return tuple(
        QuestionResult(
            query.id,
            query.text,
            query.types,
            tuple(dict.fromkeys(each.doc_id for each in query.references)),
            {name: _value(column, number) for name, column in columns.items()},
            {name: why for name, column in columns.items() if (why := column.reasons[number])},
            tuple(
                _found(hit, {judge: _verdict(own[number][at].value) for judge, own in verdicts.items()})
                for at, hit in enumerate(hits)
            ),
            missed(query, hits, further.get(number, hits), documents),
            sum(hit.token_count for hit in hits),
        )
        for number, (query, hits) in enumerate(zip(queries, shown, strict=True))
    )  # fmt: skip


def worst_of(columns: Mapping[str, Column], objective: str, most: int) -> list[int]:
    """The questions with the worst scores, the worst first; those with a full score are not bad."""
    if objective not in columns:
        return []
    lower = lower_is_better(objective)
    # From 1, which is best, down.
    scores = [1 - value if lower else value for value in columns[objective].values.tolist()]
    bad = [number for number, score in enumerate(scores) if score < 1]
    return sorted(bad, key=lambda number: (scores[number], number))[:most]


def _value(column: Column, number: int) -> float | None:
    value = float(column.values[number])
    return None if math.isnan(value) else value


def _verdict(value: float | None) -> bool | None:
    return None if value is None else value >= 0.5


def _found(hit: Hit, relevant: Mapping[str, bool | None]) -> FoundSpan:
    score = float(f"{hit.score:.{_DIGITS}g}")
    place = hit.doc_id, hit.start, hit.end
    return FoundSpan(*place, hit.rank, score, hit.token_count, relevant, hit.summary)
