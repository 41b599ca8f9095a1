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
    messages = [f"worse by {counted(len(gate.failing), 'metric')}"] if gate.failing else []
    if gate.no_new_zero and gate.new_zeros:
        messages.append(counted(len(gate.new_zeros), "new zero"))
    return Headline(f"Failed: {', '.join(messages)}", "bad")


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
        words += f"; {counted(check.lost, 'question')} no longer scored"
    return Badge(words, _LEVELS.get(check.verdict, "tie"))


def _method(gate: Gate) -> str:
    tested = (
        f"{counted(gate.questions, 'question')}, paired; intervals and p-values are "
        f"Holm-corrected over {counted(gate.tests, 'test')}"
    )
    if not gate.margin:
        return f"{tested}; fails: significantly worse"
    margin = as_set(gate.margin)
    return (
        f"{tested}; fails: significantly worse, by more than {margin}; equivalent: within "
        f"±{margin} by two one-sided tests"
    )


def _questions(gate: Gate) -> Iterator[Section]:
    if gate.new_zeros:
        what = "a break" if gate.no_new_zero else "informational"
        title = f"{counted(len(gate.new_zeros), 'question')} that fell to 0 ({what})"
        rows = [
            (zero.metric, zero.before, zero.after, zero.text, zero.id)
            for zero in gate.new_zeros[:_ZEROS_MOST]
        ]
        yield _moved(title, rows)
    for changed in gate.changed:
        for words, changes in (("got worse", changed.worse), ("got better", changed.better)):
            if changes:
                title = f"{changed.metric} of {changed.run}: questions that {words}"
                rows = [
                    (changed.metric, change.first, change.second, change.text, change.id)
                    for change in changes
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
