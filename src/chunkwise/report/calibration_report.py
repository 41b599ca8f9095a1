"""The report of a calibration: judges beside each other, what each costs, and where it is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chunkwise.base.wording import counted, format_estimate, format_number, from_to, thousands
from chunkwise.evaluation.calibrate import CalibrationRun, Disagreement, KnownPairs
from chunkwise.evaluation.judge_calibrations import WEAK, Cost
from chunkwise.models.llm.cost import NO_PRICE, tokens_words
from chunkwise.records.json import plain
from chunkwise.report.report import (
    Column,
    Estimate,
    Excerpt,
    Headline,
    Level,
    Note,
    Report,
    ReportPart,
    Section,
    TextRun,
    Value,
    ValueTable,
)
from chunkwise.stats.intervals import Interval

_EXCERPT = 200


def calibration_report(
    measured: Sequence[CalibrationRun], pairs: KnownPairs, *, show: int = 4
) -> Report:
    """Build the report of a calibration; `show`: passages that each judge got wrong."""
    relevant = sum(map(sum, pairs.is_relevant))
    what = "human labels" if pairs.against == "labels" else "gold spans"
    subtitle = (
        f"Compared with {what}: {counted(relevant, 'relevant passage')} and "
        f"{thousands(len(pairs) - relevant)} "
        f"irrelevant, from {counted(len(pairs.queries), 'question')}"
    )
    parts: list[ReportPart] = [_headline(measured), _table(measured)]
    if pairs.against == "spans":
        parts.append(
            Note(
                f"Irrelevant: the best BM25 hits without a reference (chunked by "
                f"{pairs.strategy}). Presumed irrelevant, not reviewed."
            )
        )
    if pairs.disagreed:
        parts.append(Note(f"{counted(pairs.disagreed, 'passage')} skipped: labelers disagree."))
    for run in measured:
        parts += [*_notes(run), _square(run), *_wrong(run, show)]
    return Report("Judges", tuple(parts), "calibration", subtitle)


def warning_of(measured: CalibrationRun) -> str:
    """What must be said beside every figure of this judge; empty: nothing."""
    known, weak = measured.calibration, measured.of_the_judge.weakness
    warnings = []
    if measured.error and known.confusion.scored:
        had = f"{thousands(known.confusion.scored)} of {counted(known.verdicts, 'verdict')}"
        warnings.append(f"incomplete, scores are from {had}: {measured.error}")
    elif measured.error:
        warnings.append(f"this judge failed, so it has no scores: {measured.error}")
    if weak:
        warnings.append(
            f"this judge is too weak for these questions ({weak}): don't rely on its scores"
        )
    return "; ".join(warnings)


def _headline(measured: Sequence[CalibrationRun]) -> Headline:
    known = [run.calibration for run in measured if run.calibration.kappa is not None]
    if not known:
        return Headline("No judge returned verdicts to compare.", "bad")
    best = max(known, key=lambda calibration: calibration.kappa.mean if calibration.kappa else -2.0)
    assert best.kappa is not None
    level: Level = "good" if best.kappa.low >= WEAK else "tie" if best.kappa.mean >= WEAK else "bad"
    verb = " agrees best" if len(measured) > 1 else ""
    return Headline(f"{best.name}{verb}: Cohen’s κ {_kappa(best.kappa)}.", level)


def _kappa(interval: Interval) -> str:
    return format_estimate(*interval, "number")


def _table(measured: Sequence[CalibrationRun]) -> ValueTable:
    columns = (
        Column("judge"), Column("κ", 'number'), Column("right", "score", is_drawn=True), Column("missed", 'share'),
        Column("false alarms", 'share'), Column("unscored", 'count'), Column("$ per 1,000", 'number'),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    best_first = sorted(
        measured, key=lambda run: -run.calibration.kappa.mean if run.calibration.kappa else 2.0
    )
    for run in best_first:
        known = run.calibration
        money = known.cost.money if known.cost else None
        rows.append(
            (
                known.name,
                format_number(known.kappa.mean, "number") if known.kappa else None,
                Estimate(*known.accuracy) if known.accuracy else None,
                known.missed.mean if known.missed else None,
                known.false_alarms.mean if known.false_alarms else None,
                sum(known.unscored.values()),
                None if money is None else format_number(money, "money").removeprefix("$"),
            )
        )
    return ValueTable(columns, tuple(rows))


def _square(measured: CalibrationRun) -> ValueTable:
    known = measured.calibration
    counts = known.confusion
    columns = (Column(""), Column("called relevant", "count"), Column("called irrelevant", "count"))
    rows = (
        ("relevant", counts.relevant_as_relevant, counts.relevant_as_irrelevant),
        ("irrelevant", counts.irrelevant_as_relevant, counts.irrelevant_as_irrelevant),
    )
    return ValueTable(columns, rows, f"{known.name}: {known.judge}", detail=True)


def _notes(measured: CalibrationRun) -> Iterator[Note]:
    known = measured.calibration
    warning = warning_of(measured)
    if warning:
        yield Note(f"{known.name}: {warning}", is_warning=True)
    elif known.kappa is not None and known.kappa.low < WEAK:
        low = format_number(known.kappa.low, "number")
        yield Note(f"{known.name}: κ may be as low as {low}; use more verdicts (-n)")
    kept = f"{counted(measured.kept, 'verdict')} from the cache" if measured.kept else ""
    if known.cost is None:
        yield Note(f"{known.name}: unknown cost: {kept or 'no verdicts'}", detail=True)
    else:
        words = verdict_cost_words(known.cost) + (f" ({kept})" if kept else "")
        yield Note(f"{known.name}: 1,000 verdicts take {words}")
    for why, count in sorted(known.unscored.items(), key=lambda item: -item[1])[:5]:
        yield Note(f"{known.name}: {thousands(count)} unscored: {why}", detail=True)
    yield from _threshold(measured)


def verdict_cost_words(cost: Cost) -> str:
    """Calls, tokens, money, minutes."""
    parts = []
    if cost.calls:
        parts.append(counted(cost.calls, "call"))
        parts.append(tokens_words(cost.prompt_tokens, cost.output_tokens))
    if cost.money is None:
        parts.append(NO_PRICE)
    else:
        parts.append(format_number(cost.money, "money") if cost.money else "no money")
    if cost.minutes is not None:
        parts.append(format_number(60 * cost.minutes, "seconds"))
    return ", ".join(parts)


def _threshold(measured: CalibrationRun) -> Iterator[Note]:
    best, kappa = measured.threshold, measured.calibration.kappa
    if best is None or kappa is None:
        return
    sentence = (
        f"best threshold here: {best.value!r}, with κ {format_number(best.kappa, 'number')} "
        f"instead of {format_number(kappa.mean, 'number')}"
    )
    elsewhere = best.kappa_elsewhere
    if elsewhere is not None:
        sentence += f"; chosen on half of the questions, {format_number(elsewhere, 'number')} on the other half"
    # A line drawn through chance looks well where it was drawn.
    if best.kappa <= kappa.mean or (elsewhere is not None and elsewhere < max(WEAK, kappa.mean)):
        yield Note(f"{sentence}: keep the current one")
    else:
        yield Note(f"{sentence}. To use it: --similarity-threshold {best.value!r}")


def _wrong(measured: CalibrationRun, show: int) -> Iterator[Section]:
    shown = measured.disagreements[:show]
    if shown:
        total = thousands(len(measured.disagreements))
        title = f"Where {measured.calibration.name} is wrong, {len(shown)} of {total}"
        yield Section(title, tuple(map(_disagreement, shown)))


def _disagreement(wrong: Disagreement) -> Excerpt:
    said = "relevant, called irrelevant" if wrong.is_relevant else "irrelevant, called relevant"
    near = "" if wrong.cosine is None else f" · cosine {format_number(wrong.cosine, 'number')}"
    place = f"{said}{near} · {wrong.doc_id} {from_to(wrong.start, wrong.end)}"
    text = " ".join(wrong.text.split())[:_EXCERPT]
    return Excerpt((TextRun(text),), wrong.question, place, "bad")


def calibration_json(measured: Sequence[CalibrationRun], pairs: KnownPairs) -> dict[str, Any]:
    """What `--json` prints: what was compared with what, then a row a judge, with every passage it got wrong."""
    judges = [
        {
            **plain(run.calibration), "verdicts": run.calibration.verdicts, "kept": run.kept,
            "warning": warning_of(run), "error": run.error,
            "best_threshold": run.threshold and run.threshold._asdict(), "disagreements": run.disagreements,
        }
        for run in measured
    ]  # fmt: skip
    relevant = sum(map(sum, pairs.is_relevant))
    return {
        "against": pairs.against, "question_set": pairs.question_set, "questions": len(pairs.queries),
        "passages": len(pairs), "relevant": relevant, "irrelevant": len(pairs) - relevant,
        "irrelevant_is_presumed": pairs.against == "spans", "cut_by": pairs.strategy,
        "left_out_for_disagreement": pairs.disagreed, "judges": judges,
    }  # fmt: skip
