"""The recommendation in plain words, with its figures, and what it does not say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chunkwise.base.wording import all_listed, counted, points_between, with_interval
from chunkwise.core import Query
from chunkwise.evaluation.comparison import NO_DIFFERENCE
from chunkwise.stats.paired import Ties
from chunkwise.tuning.choose.score_table import ScoreTable
from chunkwise.tuning.plan.plan import Plan
from chunkwise.tuning.sweep import Configuration, Sweep, budget_of
from chunkwise.tuning.sweep_result import BaselineComparison, Outcome, Standing, cost_amount

FEW = 30
"""Questions that choose; of fewer it is said what they can show."""
_MUCH = 1 / 3
"""Of the documents: with more of them in the budget, the choice matters little."""
_SMALLER = (2000, 1000, 500, 250, 100, 50, 25)


def fits_nearly_all(objective: str, tokens: float) -> str:
    """That the objective's budget holds much of documents of so many tokens; empty: it does not."""
    budget = budget_of(objective)
    if budget is None or not 0 < tokens * _MUCH <= budget:
        return ""
    share = min(budget / tokens, 1.0)
    # A tenth of the documents leaves room to be wrong.
    other = next((each for each in _SMALLER if each <= tokens / 10), None)
    advice = (
        f"try --objective {objective.partition('@')[0]}@{other}t"
        if other is not None
        else "more documents are needed to choose by"
    )
    return (
        f"{counted(budget, 'token')} are {100 * share:.0f} % of these documents: "
        f"{'nearly everything' if share >= 0.6 else 'much'} is found, whatever is chosen; {advice}"
    )


def few_choose(chose: int, all_of_them: int) -> str:
    """Said before anything is run; empty: enough of the questions choose."""
    if not all_of_them or chose >= FEW:
        return ""
    return (
        f"only {chose:,} of {counted(all_of_them, 'question')} can choose, "
        "and so few show large differences alone: "
        f"{FEW} or more are needed"
    )


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """Before there is a sentence about it."""

    sweep: Sweep
    plan: Plan
    outcomes: Sequence[Outcome]
    queries: Sequence[Query]
    field: ScoreTable
    ties: Ties
    chosen: int
    """Column of the field."""
    standings: tuple[Standing, ...]
    against: tuple[BaselineComparison, ...]
    agreement: Mapping[str, float]
    detectable: float | None

    @property
    def configuration(self) -> Configuration:
        """The one recommended."""
        return self.field.outcomes[self.chosen].configuration

    @property
    def standing(self) -> Standing:
        """That of the one recommended."""
        return self.of(self.configuration)

    def of(self, configuration: Configuration) -> Standing:
        return next(each for each in self.standings if each.key == configuration.key)

    @property
    def tied(self) -> int:
        """How many cannot be told from the best, the best included."""
        return sum(self.ties.tied)


_NAMED = 3


def caveats(found: Findings) -> tuple[str, ...]:
    """What weighs most comes first."""
    return (
        *_of_the_budget(found),
        *_of_questions(found),
        *_of_the_choice(found),
        *_of_vectors(found),
        *not_run(found.sweep, found.plan, found.outcomes),
    )


def _of_the_budget(found: Findings) -> Iterator[str]:
    tokens = cost_amount(found.field.outcomes[found.chosen], "document_tokens")
    told = fits_nearly_all(found.sweep.objective, tokens) if math.isfinite(tokens) else ""
    if told:
        yield f"{told}."


def _of_questions(found: Findings) -> Iterator[str]:
    chose, judged = len(found.field.validation), len(found.field.test)
    if chose < FEW:
        least = found.detectable
        shows = (
            "no difference can be shown with them"
            if least is None
            else f"differences under about {100 * least:.0f} points cannot be shown with them"
        )
        yield f"Only {counted(chose, 'question')} could choose: {shows}. {FEW} or more are needed."
    if not judged:
        yield (
            "There are no test questions: the figures are from the questions that chose, and are likely too high. "
            "Nothing is held against the common defaults."
        )
    elif judged < FEW:
        yield f"Only {counted(judged, 'question')} could judge the choice: its intervals are wide."
    yield from without_references(found.queries)


def _of_the_choice(found: Findings) -> Iterator[str]:
    field = len(found.field.entrants)
    if found.tied > max(2, field // 4):
        needed = found.ties.needed
        more = f"; about {needed:,} would separate the first two" if needed else ""
        yield (
            f"{found.tied} of {field} configurations that may be chosen cannot be told apart on "
            f"{counted(found.ties.questions, 'question')}{more}."
        )
    level = [each.baseline for each in found.against if each.words == NO_DIFFERENCE]
    if level:
        yield f"The choice is not shown to be better than {all_listed(level)} on the test questions."
    for each in found.against:
        if each.words == "worse":
            yield f"On the test questions {each.baseline} is better than the choice."


def _of_vectors(found: Findings) -> Iterator[str]:
    columns = found.field.entrants
    if all(found.field.outcomes[at].configuration.vectors != "late" for at in columns):
        return
    said = "Figures of vectors are those of late vectors, from one pass over each document"
    own = replace(found.configuration, vectors="own")
    if any(outcome.configuration == own for outcome in found.field.outcomes):
        standing = found.of(own)
        reached = standing.test if standing.test and standing.test.scored else standing.validation
        said += f"; with vectors of its own the choice has {with_interval(reached.mean, reached.low, reached.high)}"
    if "kendall_tau" in found.agreement:
        count = counted(int(found.agreement["configurations"]), "configuration")
        tau = found.agreement["kendall_tau"]
        said += f"; both rank {count} alike with Kendall's tau {tau:.2f} (1: the same order)"
    yield f"{said}."


def without_references(queries: Sequence[Query]) -> Iterator[str]:
    """Questions that no measure over spans can score."""
    count = sum(not query.references for query in queries)
    if count:
        yield f"{counted(count, 'question')} without references: no score, and no part in the choice."


def not_run(sweep: Sweep, plan: Plan, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """What failed, and what the time did not reach."""
    failed = [outcome for outcome in outcomes if outcome.error and not outcome.waits]
    if failed:
        names = [f"{each.configuration.label} ({each.error})" for each in failed[:_NAMED]]
        more = f" and {len(failed) - _NAMED} more" if len(failed) > _NAMED else ""
        yield f"{counted(len(failed), 'configuration')} failed: {'; '.join(names)}{more}."
    known = {outcome.configuration.key for outcome in outcomes if not outcome.waits}
    wanted = {each.key for each in plan.configurations}
    wanted |= {outcome.configuration.key for outcome in outcomes}
    missing = len(wanted - known)
    if missing:
        why = "the time was up" if sweep.seconds is not None else "the sweep was stopped"
        yield (
            f"{missing} of {counted(len(wanted), 'configuration')} were not run: {why}. "
            "The same command goes on with them."
        )


def sentence(found: Findings) -> str:
    """What to use, what it reaches on test questions, what that is against the common defaults, and why this one."""
    return f"{_opening(found)}{_reached(found)}{_compared(found)}. {_why(found)}"


def _opening(found: Findings) -> str:
    label = found.configuration.label
    if found.configuration.baseline:
        return (
            f"Nothing tried is shown to beat the common default {found.configuration.baseline}, which is the choice: "
            f"stay with {label}. It has "
        )
    if found.against and all(each.words != "better" for each in found.against):
        names = all_listed([each.baseline for each in found.against])
        return (
            f"Nothing is shown to beat the common defaults ({names}) on the test questions. "
            f"Of what was tried, {label} is the choice: it has "
        )
    return f"Use {label}: it has "


def _reached(found: Findings) -> str:
    test = found.standing.test
    if test is None or test.mean is None:
        chose = found.standing.validation
        told = with_interval(chose.mean, chose.low, chose.high)
        count = counted(chose.scored, "question")
        return f"{found.sweep.objective} {told} on the {count} that chose it"
    told = with_interval(test.mean, test.low, test.high)
    return f"{found.sweep.objective} {told} on {counted(test.scored, 'test question')}"


def _compared(found: Findings) -> str:
    said = [_against(each, _searched(found, each), found.field.lower) for each in found.against]
    return f", {all_listed(said)}" if said else ""


def _searched(found: Findings, each: BaselineComparison) -> str:
    """The default with the retriever that it is held against with."""
    outcomes = (outcome.configuration for outcome in found.field.outcomes)
    retriever = next(own.retriever for own in outcomes if own.key == each.key)
    return f"{each.baseline} · {retriever}"


def _against(each: BaselineComparison, name: str, lower: bool) -> str:
    sign = -1.0 if lower else 1.0
    low, high = sorted((sign * each.low, sign * each.high))
    gain, between = sign * each.difference, points_between(low, high)
    if each.words == "better":
        return f"{100 * gain:.1f} points ({between}) better than {name}"
    if each.words == "worse":
        return f"{-100 * gain:.1f} points ({points_between(-high, -low)}) worse than {name}"
    return f"{100 * gain:+.1f} points ({between}, no difference shown) against {name}"


def _why(found: Findings) -> str:
    chose = counted(found.ties.questions, "validation question")
    field = len(found.field.entrants)
    if field == 1:
        return "It is the only configuration that could be chosen."
    if found.tied == 1:
        return f"It is the best of {field} on {chose}, and all others are shown to be worse."
    return (
        f"Of {counted(field, 'configuration')} that may be chosen, {found.tied} are not shown to be worse than the "
        f"best on {chose}; of those within a point of the best this is the cheapest, and the best of those that cost "
        "as little."
    )
