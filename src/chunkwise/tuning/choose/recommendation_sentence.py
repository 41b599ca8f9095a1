"""The recommendation in plain words, with its figures, and what it does not say."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from chunkwise.base.wording import (
    all_listed,
    counted,
    format_estimate,
    format_interval,
    format_number,
    one_or_many,
    percent,
    points,
    thousands,
)
from chunkwise.core import Query
from chunkwise.evaluation.cost import cost_amount
from chunkwise.metrics.registry import format_score
from chunkwise.stats.paired import Ties
from chunkwise.tuning.choose.score_table import SHORT, ScoreTable
from chunkwise.tuning.plan.grid import YOUR_INDEX
from chunkwise.tuning.plan.plan import Plan
from chunkwise.tuning.sweep import Configuration, Sweep, fits_nearly_all
from chunkwise.tuning.sweep_result import (
    BaselineComparison,
    NestedJudgment,
    Outcome,
    Standing,
)
from chunkwise.tuning.validation import FEW


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """Before there is a sentence about it."""

    sweep: Sweep
    plan: Plan
    outcomes: Sequence[Outcome]
    queries: Sequence[Query]
    score_table: ScoreTable
    ties: Ties
    chosen: int
    """Column of the score table."""
    standings: tuple[Standing, ...]
    against: tuple[BaselineComparison, ...]
    detectable: float | None
    nested: NestedJudgment | None = None

    @property
    def configuration(self) -> Configuration:
        """The one recommended."""
        return self.score_table.outcomes[self.chosen].configuration

    @property
    def standing(self) -> Standing:
        """That of the one recommended."""
        return self.of(self.configuration)

    def of(self, configuration: Configuration) -> Standing:
        return next(standing for standing in self.standings if standing.key == configuration.key)

    @property
    def tied(self) -> int:
        """How many cannot be told from the best, the best included."""
        return sum(self.ties.tied)


_NAMED = 3


def caveats(findings: Findings) -> tuple[str, ...]:
    """What weighs most comes first."""
    return (
        *_of_the_budget(findings),
        *_of_questions(findings),
        *_of_the_choice(findings),
        *_of_vectors(findings),
        *_of_the_race(findings),
        *not_run(findings.sweep, findings.plan, findings.outcomes),
    )


def _of_the_budget(findings: Findings) -> Iterator[str]:
    tokens = cost_amount(findings.score_table.outcomes[findings.chosen].cost, "document_tokens")
    line = fits_nearly_all(findings.sweep.objective, tokens) if math.isfinite(tokens) else ""
    if line:
        yield f"{line}."


def _of_questions(findings: Findings) -> Iterator[str]:
    chose, judged = len(findings.score_table.validation), len(findings.score_table.test)
    if chose < FEW and not findings.score_table.is_unreviewed:
        least = findings.detectable
        shows = (
            "no difference can be significant"
            if least is None
            else f"differences under {points(least)} are rarely significant"
        )
        yield f"Only {counted(chose, 'validation question')}: {shows}. Use {FEW} or more."
    if not judged and findings.nested is None:
        yield (
            "No held-out questions: the scores are in-sample and likely too high, and nothing is "
            "compared with the common defaults."
        )
    elif judged and judged < FEW:
        yield f"Only {counted(judged, 'test question')}: the intervals are wide."
    yield from without_references(findings.queries)


def _of_the_choice(findings: Findings) -> Iterator[str]:
    if findings.score_table.is_unreviewed:
        return
    entrants = len(findings.score_table.entrants)
    if findings.tied > max(2, entrants // 4):
        needed = findings.ties.needed
        more = f"; about {thousands(needed)} questions would separate the top two" if needed else ""
        yield (
            f"{thousands(findings.tied)} of {counted(entrants, 'configuration')} are tied on the "
            f"{counted(findings.ties.questions, 'question')}; {_picked(findings)}{more}."
        )
    for comparison in findings.against:
        if comparison.words == "worse":
            yield f"{comparison.baseline} is significantly better on {_held_out(findings)}."


def _held_out(findings: Findings) -> str:
    return "held-out questions" if findings.nested else "the test questions"


def _of_vectors(findings: Findings) -> Iterator[str]:
    columns = findings.score_table.entrants
    if all(findings.score_table.outcomes[at].configuration.vectors != "late" for at in columns):
        return
    yield "Vector scores use one pass for all chunkings."


def _of_the_race(findings: Findings) -> Iterator[str]:
    dropped = [outcome for outcome in findings.outcomes if outcome.dropped]
    if dropped:
        were = one_or_many(len(dropped), "was", "were")
        yield (
            f"{counted(len(dropped), 'configuration')} {were} dropped early: "
            f"{dropped[0].configuration.label} was {dropped[0].dropped}."
        )


def without_references(queries: Sequence[Query]) -> Iterator[str]:
    """Questions that no measure over spans can score."""
    count = sum(not query.references for query in queries)
    if count:
        yield f"{counted(count, 'question')} without references: not scored."


def not_run(sweep: Sweep, plan: Plan, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """What failed, and what the time did not reach."""
    failed = [outcome for outcome in outcomes if outcome.error and not outcome.waits]
    if failed:
        names = [f"{item.configuration.label} ({item.error})" for item in failed[:_NAMED]]
        more = f" and {thousands(len(failed) - _NAMED)} more" if len(failed) > _NAMED else ""
        yield f"{counted(len(failed), 'configuration')} failed: {'; '.join(names)}{more}."
    known = {outcome.configuration.key for outcome in outcomes if not outcome.waits}
    wanted = {configuration.key for configuration in plan.configurations}
    wanted |= {outcome.configuration.key for outcome in outcomes}
    missing = len(wanted - known)
    if missing:
        yield (
            f"{thousands(missing)} of {counted(len(wanted), 'configuration')} not run: the time limit of "
            f"{format_number(sweep.time, 'seconds')} was reached. {_untried(plan, known)}"
            "Run the same command again to resume."
        )


def _untried(plan: Plan, known: Collection[str]) -> str:
    """The strategies and retrievers that nothing was tried of, then the strategies that some sizes were tried of."""
    tried: dict[tuple[str, str], set[bool]] = {}
    for configuration in plan.configurations:
        for lever in ("boundaries", "retriever"):
            if name := configuration.levers.get(lever):
                tried.setdefault((lever, name), set()).add(configuration.key in known)
    of_none = [name for (_, name), has in tried.items() if has == {False}]
    of_some = [
        name for (lever, name), has in tried.items() if len(has) > 1 and lever == "boundaries"
    ]
    return (f"Not tried: {all_listed(of_none)}. " if of_none else "") + (
        f"Tried in part: {all_listed(of_some)}. " if of_some else ""
    )


def sentence(findings: Findings) -> str:
    """What to use, what it reaches on test questions, what that is against the common defaults, and why this one."""
    if findings.score_table.is_unreviewed:
        return _expected(findings)
    return f"{_opening(findings)}{_reached(findings)}{_compared(findings)}. {_meeting(findings)}{_why(findings)}"


def _expected(findings: Findings) -> str:
    """Where people asked or accepted too few questions: what public question sets let expect."""
    chosen = findings.configuration
    if chosen.baseline == YOUR_INDEX:
        return f"Keep {YOUR_INDEX}: public datasets show no gain of a point or more over it."
    if chosen.baseline:
        return f"Keep your default, such as {_default(chosen)}: nearly everything is found with any configuration."
    return f"Use {chosen.label}, based on results on public datasets; scores on generated questions don't count."


def _opening(findings: Findings) -> str:
    label = findings.configuration.label
    is_own = bool(findings.sweep.pipeline) or any(
        outcome.configuration.baseline == YOUR_INDEX for outcome in findings.outcomes
    )
    default = "" if is_own else "your default, such as "
    if findings.configuration.baseline:
        kept = label if findings.sweep.pipeline else _default(findings.configuration)
        return (
            f"Keep {default}{kept}: nothing tried is significantly better. "
            f"{'' if findings.nested else 'It has '}"
        )
    unbeaten = [
        comparison.baseline for comparison in findings.against if comparison.words != "better"
    ]
    if unbeaten:
        return (
            f"Keep {default}{all_listed(unbeaten)}: nothing is significantly better on "
            f"{_held_out(findings)}. "
            f"If you have none yet, use {label}: {'' if findings.nested else 'it has '}"
        )
    return f"Use {label}: {'' if findings.nested else 'it has '}"


def _default(configuration: Configuration) -> str:
    return f"{configuration.baseline} · {configuration.retriever}"


def _reached(findings: Findings) -> str:
    if findings.nested is not None:
        judged = findings.nested.figure
        line = format_score(findings.sweep.objective, judged.mean, judged.low, judged.high)
        return (
            f"{findings.sweep.objective} {line} on held-out questions "
            f"({counted(judged.scored, 'question')}, nested cross-validation)"
        )
    test = findings.standing.test
    if test is None or test.mean is None:
        chose = findings.standing.validation
        line = format_score(findings.sweep.objective, chose.mean, chose.low, chose.high)
        count = counted(chose.scored, "question")
        return f"{findings.sweep.objective} {line} on {count} (in-sample)"
    line = format_score(findings.sweep.objective, test.mean, test.low, test.high)
    return f"{findings.sweep.objective} {line} on {counted(test.scored, 'test question')}"


def _compared(findings: Findings) -> str:
    texts = [
        _against(comparison, _searched(findings, comparison), findings.score_table.lower)
        for comparison in findings.against
    ]
    return f", {all_listed(texts)}" if texts else ""


def _searched(findings: Findings, comparison: BaselineComparison) -> str:
    """The default with the retriever that it is searched with."""
    outcomes = (outcome.configuration for outcome in findings.score_table.outcomes)
    retriever = next(
        configuration.retriever for configuration in outcomes if configuration.key == comparison.key
    )
    return (
        comparison.baseline if findings.sweep.pipeline else f"{comparison.baseline} · {retriever}"
    )


def _against(comparison: BaselineComparison, name: str, lower: bool) -> str:
    sign = -1.0 if lower else 1.0
    low, high = sorted((sign * comparison.low, sign * comparison.high))
    gain = sign * comparison.difference
    if comparison.words == "better":
        return f"{_unsigned(gain, low, high)} better than {name}"
    if comparison.words == "worse":
        return f"{_unsigned(-gain, -high, -low)} worse than {name}"
    ends = format_interval(low, high, "change")
    return f"{format_number(gain, 'change')} ({ends}, inconclusive) against {name}"


def _unsigned(gain: float, low: float, high: float) -> str:
    """An amount whose direction a word tells."""
    return format_estimate(gain, low, high, "change").removeprefix("+")


def none_meets(score_table: ScoreTable) -> str:
    """That every configuration falls short of the means that a choice must have, and which comes nearest."""
    columns = score_table.entrants
    means = [
        np.nan_to_num(np.nanmean(scores[score_table.validation][:, columns], axis=0))
        for _, _, scores in score_table.least
    ]
    lacking = [row[1] - own for row, own in zip(score_table.least, means, strict=True)]
    nearest = int(np.argmin(np.max(lacking, axis=0)))
    reached = [
        f"{row[0]} {format_score(row[0], float(own[nearest]))}"
        for row, own in zip(score_table.least, means, strict=True)
    ]
    return (
        f"No recommendation: no configuration has {_asked(score_table)}. "
        f"{score_table.outcomes[columns[nearest]].configuration.label} comes closest: "
        f"{all_listed(reached)}. Lower the minimum, or try other sizes and retrievers."
    )


def _asked(score_table: ScoreTable) -> str:
    return all_listed(
        [f"{name} of at least {format_score(name, least)}" for name, least, _ in score_table.least]
    )


def _meeting(findings: Findings) -> str:
    """How many have the means that a choice must have; empty: none are asked for."""
    table = findings.score_table
    if not table.least:
        return ""
    meeting, short = len(table.entrants), sum(item.endswith(SHORT) for item in table.aside.values())
    have = one_or_many(meeting, "has", "have")
    return f"{thousands(meeting)} of {counted(meeting + short, 'configuration')} {have} {_asked(table)}. "


def _why(findings: Findings) -> str:
    kind = "question" if findings.nested else "validation question"
    chose = counted(findings.ties.questions, kind)
    entrants = len(findings.score_table.entrants)
    on_these = ""
    if findings.nested:
        own = format_score(findings.sweep.objective, findings.standing.validation.mean)
        on_these = f" In-sample score on the {chose}: {own} (optimistic)."
    if entrants == 1:
        return f"It is the only candidate.{on_these}"
    if findings.tied == 1 and findings.standing.tied:
        return f"It is the best of {thousands(entrants)} on {chose}; all others are significantly worse.{on_these}"
    return (
        f"{thousands(findings.tied)} of {counted(entrants, 'configuration')} are tied with the "
        f"best on {chose}; {_picked(findings)}.{on_these}"
    )


def _picked(findings: Findings) -> str:
    if findings.sweep.pipeline:
        return "it has the highest expected score"
    return (
        "of those expected within a point of the best, less a standard error, chosen by fewest "
        "boundary issues, then by cost"
    )


def recommended_unasked(label: str) -> str:
    """Of a sweep without questions, based on results on public datasets."""
    return (
        f"Use {label}, based on results on public datasets; no questions could be generated from "
        f"these documents, so nothing was measured on them."
    )


def nothing_recommended(cleanest: tuple[str, float | None], queries: Sequence[Query]) -> str:
    """Of a sweep without scores, with the strategy of the fewest boundary issues and their share of its chunks."""
    strategy, share = cleanest
    why = "no questions" if not queries else "no validation question is scored"
    text = f"No recommendation: {why}."
    if share is None:
        return text
    return f"{text} Cleanest chunk boundaries: {strategy}, with issues in {percent(share)} of its chunks."


def not_known(queries: Sequence[Query]) -> tuple[str, ...]:
    """What a sweep without scores cannot tell, and what to do."""
    if queries:
        return (
            f"{counted(len(queries), 'question')}, none scored; to find out why: chunkwise "
            f"testset check FILE DOCUMENTS",
        )
    return (
        "Retrieval can't be measured without questions.",
        "Write at least 30 questions with the passages that answer them, then: chunkwise tune "
        "DOCUMENTS -Q FILE",
    )
