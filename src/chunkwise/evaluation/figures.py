"""From a score a question to figures with intervals, and to what the file says about every single question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Document, Hit, Passage, Query
from chunkwise.evaluation.judging import JudgeVerdicts
from chunkwise.evaluation.results import Figure, FoundSpan, Missed, QuestionResult
from chunkwise.evaluation.subject import Hits, Subject
from chunkwise.evaluation.verdicts import verdict
from chunkwise.metrics.registry import lower_is_better
from chunkwise.metrics.scorer import ScoreColumn
from chunkwise.stats.intervals import Interval, intervals

Columns = Mapping[str, ScoreColumn]


def figures(columns: Columns, seed: int) -> dict[str, Figure]:
    """One figure a metric, over all questions."""
    count = len(next(iter(columns.values())).values) if columns else 0
    return by_group(columns, {"": range(count)}, seed)[""]


def by_group(
    columns: Columns, groups: Mapping[str, Sequence[int]], seed: int
) -> dict[str, dict[str, Figure]]:
    """The same for every group of questions, in the order of their names."""
    found: dict[str, dict[str, Figure]] = {name: {} for name in sorted(groups)}
    if not columns:
        return found
    table = np.column_stack([column.values for column in columns.values()])
    # Groups of one size are drawn from alike: their columns stand side by side.
    alike: dict[int, list[str]] = {}
    for name in found:
        alike.setdefault(len(groups[name]), []).append(name)
    for names in alike.values():
        rows = np.array([list(groups[name]) for name in names])
        beside = np.hstack(list(table[rows]))
        every = iter(zip(intervals(beside, seed=seed), beside.T, strict=True))
        for name, (metric, column) in product(names, columns.items()):
            interval, values = next(every)
            found[name][metric] = _figure(metric, column, groups[name], interval, values)
    return found


def _figure(
    metric: str,
    column: ScoreColumn,
    rows: Sequence[int],
    interval: Interval | None,
    values: NDArray[np.float64],
) -> Figure:
    missing = np.isnan(values).tolist()
    why = Counter(column.reasons[row] for row, gone in zip(rows, missing, strict=True) if gone)
    unscored = dict(sorted(why.items()))
    if interval is None:
        return Figure(None, scored=0, unscored=unscored)
    scored = len(missing) - sum(missing)
    return Figure(*interval, scored, unscored, verdict(metric, interval.mean))


def types_of(queries: Sequence[Query]) -> dict[str, list[int]]:
    """The questions of every type; one of several types counts in each."""
    found: dict[str, list[int]] = {}
    for number, query in enumerate(queries):
        for type in dict.fromkeys(query.types):
            found.setdefault(type, []).append(number)
    return found


def documents_of(queries: Sequence[Query]) -> dict[str, list[int]]:
    """The questions about every document; one about several counts in each."""
    found: dict[str, list[int]] = {}
    for number, query in enumerate(queries):
        for document in dict.fromkeys(each.doc_id for each in query.references):
            found.setdefault(document, []).append(number)
    return found


_SHOWN = 400
"""Characters of a missed passage that are kept."""

Spans = list[tuple[int, int]]


def missed(
    query: Query, hits: Sequence[Hit], further: Sequence[Hit], documents: dict[str, Document]
) -> tuple[Missed, ...]:
    """The parts of the references that no hit covers; `further` are hits down to where was searched, best first."""
    found: dict[Passage, Missed] = {}
    for reference in query.references:
        held = [_rest(place, hits) for place in reference.places]
        least = min(range(len(held)), key=lambda at: _share(reference.places[at], held[at]))
        for start, end in held[least]:
            place = Passage(reference.places[least].doc_id, start, end)
            document = documents.get(place.doc_id)
            text = document.text[start : min(end, start + _SHOWN)] if document else ""
            if document is None or text.strip():
                found.setdefault(place, Missed(place, text, _rank(place, further)))
    return tuple(found.values())


def _rest(place: Passage, hits: Sequence[Hit]) -> Spans:
    """The parts of a place outside the hits."""
    own = sorted(span for hit in hits if hit.doc_id == place.doc_id for span in hit.spans)
    left: Spans = []
    at = place.start
    for start, end in own:
        if start > at:
            left.append((at, min(start, place.end)))
        at = max(at, end)
        if at >= place.end:
            return left
    return [*left, (at, place.end)]


def _share(place: Passage, left: Spans) -> float:
    return sum(end - start for start, end in left) / max(place.end - place.start, 1)


def _rank(place: Passage, further: Sequence[Hit]) -> int | None:
    """The rank down to which the hits together hold half of the place."""
    own = [hit for hit in further if hit.doc_id == place.doc_id and hit.start < place.end]
    size, seen = place.end - place.start, []
    for hit in own:
        if hit.end > place.start:
            seen.append(hit)
            if 2 * sum(end - start for start, end in _rest(place, seen)) <= size:
                return hit.rank
    return None


_DIGITS = 6
"""Of a hit's score: the last ones depend on the machine."""


def question_results(
    subject: Subject,
    queries: Sequence[Query],
    shown: Hits,
    further: Mapping[int, Sequence[Hit]],
    columns: Mapping[str, ScoreColumn],
    verdicts: JudgeVerdicts,
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


def worst_of(columns: Mapping[str, ScoreColumn], objective: str, most: int) -> list[int]:
    """The questions with the worst scores, the worst first; those with a full score are not bad."""
    if objective not in columns:
        return []
    lower = lower_is_better(objective)
    # From 1, which is best, down.
    scores = [1 - value if lower else value for value in columns[objective].values.tolist()]
    bad = [number for number, score in enumerate(scores) if score < 1]
    return sorted(bad, key=lambda number: (scores[number], number))[:most]


def _value(column: ScoreColumn, number: int) -> float | None:
    value = float(column.values[number])
    return None if math.isnan(value) else value


def _verdict(value: float | None) -> bool | None:
    return None if value is None else value >= 0.5


def _found(hit: Hit, relevant: Mapping[str, bool | None]) -> FoundSpan:
    score = float(f"{hit.score:.{_DIGITS}g}")
    place = hit.doc_id, hit.start, hit.end
    return FoundSpan(*place, hit.rank, score, hit.token_count, relevant, hit.summary)
