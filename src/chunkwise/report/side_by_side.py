"""The choice of a sweep and a common default side by side: every question with what each retrieved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from chunkwise.base.wording import counted
from chunkwise.core import Document, Passage
from chunkwise.evaluation.results import FoundSpan, QuestionResult, Results
from chunkwise.metrics.metric import CutCounts
from chunkwise.report.evaluation_report import missed_excerpt
from chunkwise.report.report import (
    Column,
    Excerpt,
    Note,
    ReportPart,
    Section,
    TextRun,
    Value,
    ValueTable,
)
from chunkwise.report.sanitize import few_lines
from chunkwise.report.tuning_figures import SweepFigures

_MOST_QUESTIONS, _MOST_HITS, _MOST_MISSED = 200, 5, 3
_AROUND = 160
"""Characters kept before and behind gold text."""
_OPENING, _OPENING_LINES = 220, 3
"""Shown of a hit without any."""
_MOST_GOLD = 1200


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The choice, then the default it is compared with."""

    names: tuple[str, str]
    results: tuple[Results, Results]
    documents: Mapping[str, Document]
    gold: Mapping[str, tuple[Passage, ...]]
    """By the id of the question."""

    @property
    def cuts(self) -> dict[str, CutCounts]:
        """Boundary issues with examples, by the name of the side."""
        sides = zip(self.names, self.results, strict=True)
        return {name: results.cuts for name, results in sides if results.cuts is not None}


def question_section(both: SideBySide, figures: SweepFigures) -> Iterator[Section]:
    """Each question with what both retrieved and missed, the worst of the choice first."""
    objective = figures.objective
    theirs = {question.id: question for question in both.results[1].questions}
    pairs = [(ours, theirs[ours.id]) for ours in both.results[0].questions if ours.id in theirs]
    pairs.sort(key=lambda pair: _rank(pair[0], objective))
    if not pairs:
        return
    rows, details = [], []
    for pair in pairs[:_MOST_QUESTIONS]:
        rows.append(_question_row(*pair, objective))
        details.append(_question_details(both, *pair))
    columns = (
        Column("choice", figures.kind), Column("default", figures.kind), Column("difference", figures.change),
        Column("the choice", is_filter=True), Column("question"),
    )  # fmt: skip
    more = len(pairs) - len(rows)
    notes = [Note(f"{counted(more, 'more question')} with better scores")] if more else []
    table = ValueTable(columns, tuple(rows), noun="question", details=tuple(details))
    lead = f"The choice next to {both.names[1]}, worst first; gold text is marked."
    yield Section("Questions", (table, *notes), lead, detail=True)


def _rank(question: QuestionResult, objective: str) -> tuple[bool, float]:
    score = question.scores.get(objective)
    return score is None, score or 0.0


def _question_row(
    ours: QuestionResult, theirs: QuestionResult, objective: str
) -> tuple[Value, ...]:
    first, second = (question.scores.get(objective) for question in (ours, theirs))
    difference = None if first is None or second is None else first - second
    word = "" if difference is None else "lower" if difference < 0 else "higher" if difference else "same"  # fmt: skip
    tags = (word, "finds nothing" if first is not None and first <= 0 else "")
    return first, second, difference, tuple(filter(None, tags)), ours.text


def _question_details(
    both: SideBySide, ours: QuestionResult, theirs: QuestionResult
) -> tuple[ReportPart, ...]:
    gold = both.gold.get(ours.id, ())
    sides = tuple(
        Section(name, tuple(_retrieved(question, gold, both.documents)))
        for name, question in zip(both.names, (ours, theirs), strict=True)
    )
    return (Note(ours.id), Section("", sides, is_beside=True))


def _retrieved(
    question: QuestionResult, gold: Iterable[Passage], documents: Mapping[str, Document]
) -> Iterator[ReportPart]:
    if not question.hits:
        yield Note("No hits.")
    for hit in question.hits[:_MOST_HITS]:
        yield _hit(hit, gold, documents)
    if len(question.hits) > _MOST_HITS:
        yield Note(counted(len(question.hits) - _MOST_HITS, "more hit"))
    if question.missed:
        yield Section("Missed", tuple(map(missed_excerpt, question.missed[:_MOST_MISSED])))


def _hit(hit: FoundSpan, gold: Iterable[Passage], documents: Mapping[str, Document]) -> Excerpt:
    # A summary is text of its own: gold between its first place and its last may lie in none of them.
    inside = [
        (place.start, place.end)
        for place in gold
        if place.doc_id == hit.doc_id
        and place.start < hit.end
        and hit.start < place.end
        and not hit.summary
    ]
    runs: tuple[TextRun, ...] = ()
    if hit.summary:
        runs = marked_text(hit.summary, 0, len(hit.summary), ())
    elif document := documents.get(hit.doc_id):
        runs = marked_text(document.text, hit.start, hit.end, inside)
    place = f"{hit.rank}. {hit.start:,}–{hit.end:,}"
    place += " · contains gold text" if inside else " · a summary" if hit.summary else ""
    return Excerpt(runs, hit.doc_id, place, "good" if inside else "")


def marked_text(
    text: str, start: int, end: int, gold: Iterable[tuple[int, int]]
) -> tuple[TextRun, ...]:
    """`text[start:end]` with the gold text marked; what lies far from any gold is left out."""
    start, end = max(start, 0), min(end, len(text))
    inside = _merged((max(low, start), min(high, end)) for low, high in gold)
    if not inside:
        return (TextRun(few_lines(text[start:end], _OPENING, _OPENING_LINES)),)
    runs, at = [], start
    for low, high in inside:
        runs.append(TextRun(_gap(text, at, low, is_first=at == start)))
        cut = min(high, low + _MOST_GOLD)
        runs.append(TextRun(text[low:cut] + (" …" if cut < high else ""), "gold"))
        at = high
    tail = min(end, at + _AROUND)
    runs.append(TextRun(text[at:tail] + (" …" if tail < end else "")))
    return tuple(run for run in runs if run.text)


def _gap(text: str, start: int, end: int, *, is_first: bool) -> str:
    """Between two gold texts, or before the first."""
    if end - start <= 2 * _AROUND:
        return text[start:end]
    before = "" if is_first else text[start : start + _AROUND]
    return f"{before} … {text[end - _AROUND : end]}"


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if low >= high:
            continue
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged
