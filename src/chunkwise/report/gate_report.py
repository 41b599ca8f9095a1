"""The report of a gate: whether a run may take the place of another, and which questions changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chunkwise.base.wording import as_set, counted
from chunkwise.evaluation.gate import NO_SCORES, Gate, GateCheck
from chunkwise.report.comparison_report import change_of, score_of
from chunkwise.report.report import (
    Badge,
    Column,
    Headline,
    Level,
    Note,
    Report,
    ReportPart,
    Section,
    ValueTable,
)

_ZEROS_MOST = 50
"""Questions: a comment on GitHub has a limit of its own."""
_LEVELS: dict[str, Level] = {"worse": "bad", "better": "good"}


def gate_report(gate: Gate) -> Report:
    """Build what is posted on a pull request."""
    parts: list[ReportPart] = [
        _headline(gate),
        *(Note(reason, is_warning=True) for reason in gate.not_comparable),
        *(
            Note(f"{chr(ord('a') + at % 26)} ({'after' if at else 'before'}): {label}")
            for at, label in enumerate(gate.labels)
        ),
    ]
    if gate.checks:
        parts.append(_checks(gate.checks))
    if gate.left_out:
        parts.append(Note(f"Left out, {NO_SCORES}: {', '.join(gate.left_out)}"))
    parts += [Note(_method(gate)), *_questions(gate)]
    return Report("chunkwise compare", tuple(parts), "gate")


def _headline(gate: Gate) -> Headline:
    if gate.outcome == "not comparable":
        return Headline("Not comparable", "bad")
    if gate.outcome == "passed":
        return Headline("Passed", "good")
    told = [f"worse by {counted(len(gate.failing), 'metric')}"] if gate.failing else []
    if gate.no_new_zero and gate.new_zeros:
        told.append(counted(len(gate.new_zeros), "new zero"))
    return Headline(f"Failed: {', '.join(told)}", "bad")


def _checks(checks: Iterable[GateCheck]) -> ValueTable:
    columns = (
        Column("metric", "code"), Column("run"), Column("before", "score"), Column("after", "score"),
        Column("difference", "change"), Column("p", "p"), Column("verdict"),
    )  # fmt: skip
    rows = tuple(
        (
            check.metric,
            check.run,
            score_of(check.metric, check.before),
            score_of(check.metric, check.after),
            change_of(check.metric, check.tested.corrected if check.tested else check.difference),
            check.tested.adjusted if check.tested else None,
            _verdict(check),
        )
        for check in checks
    )
    return ValueTable(columns, rows, noun="metric")


def _verdict(check: GateCheck) -> Badge:
    words: str = check.verdict
    if check.verdict == "equivalent":
        words = f"equivalent within {as_set(check.margin)}"
    if check.lost:
        words += f"; {counted(check.lost, 'question')} without a score now"
    return Badge(words, _LEVELS.get(check.verdict, "tie"))


def _method(gate: Gate) -> str:
    tested = (
        f"{counted(gate.questions, 'question')}, paired; interval and p after Holm’s correction over "
        f"{counted(gate.tests, 'test')}"
    )
    if not gate.margin:
        return f"{tested}; fails: shown to be worse"
    margin = as_set(gate.margin)
    return (
        f"{tested}; fails: shown to be worse and by more than {margin}; equivalent: two one-sided tests show less than "
        f"{margin} either way"
    )


def _questions(gate: Gate) -> Iterator[Section]:
    if gate.new_zeros:
        what = "a break" if gate.no_new_zero else "told, not asked for"
        title = f"{counted(len(gate.new_zeros), 'question')} with nothing found any more ({what})"
        rows = [
            (each.metric, each.before, each.after, each.text, each.id)
            for each in gate.new_zeros[:_ZEROS_MOST]
        ]
        yield _moved(title, rows)
    for changed in gate.changed:
        for words, changes in (("got worse", changed.worse), ("got better", changed.better)):
            if changes:
                title = f"{changed.metric} of {changed.run}: questions that {words}"
                rows = [
                    (changed.metric, each.first, each.second, each.text, each.id)
                    for each in changes
                ]
                yield _moved(title, rows)


def _moved(title: str, questions: Iterable[tuple[str, float, float | None, str, str]]) -> Section:
    columns = (
        Column("metric", "code"), Column("before", "score"), Column("after", "score"), Column("question"),
        Column("id", "code"),
    )  # fmt: skip
    rows = tuple(
        (metric, score_of(metric, before), None if after is None else score_of(metric, after), text, id)
        for metric, before, after, text, id in questions
    )  # fmt: skip
    return Section(title, (ValueTable(columns, rows),), is_folded=True)
