"""What the choice does not say, as far as it is known."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from chunkwise.core import Query
from chunkwise.evaluation.comparing.comparison import NO_DIFFERENCE
from chunkwise.experiments.choosing.easy import FEW, fits_nearly_all
from chunkwise.experiments.choosing.findings import Findings
from chunkwise.experiments.choosing.price import amount
from chunkwise.experiments.choosing.words import figure, listed, several
from chunkwise.experiments.outcome import Outcome
from chunkwise.experiments.planning.plan import Plan
from chunkwise.experiments.sweep import Sweep

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
    tokens = amount(found.field.outcomes[found.chosen], "document_tokens")
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
        yield f"Only {several(chose, 'question')} could choose: {shows}. {FEW} or more are needed."
    if not judged:
        yield (
            "There are no test questions: the figures are from the questions that chose, and are likely too high. "
            "Nothing is held against the common defaults."
        )
    elif judged < FEW:
        yield f"Only {several(judged, 'question')} could judge the choice: its intervals are wide."
    yield from without_references(found.queries)


def _of_the_choice(found: Findings) -> Iterator[str]:
    field = len(found.field.entrants)
    if found.tied > max(2, field // 4):
        needed = found.ties.needed
        more = f"; about {needed:,} would separate the first two" if needed else ""
        yield (
            f"{found.tied} of {field} configurations that may be chosen cannot be told apart on "
            f"{several(found.ties.questions, 'question')}{more}."
        )
    level = [each.baseline for each in found.against if each.words == NO_DIFFERENCE]
    if level:
        yield f"The choice is not shown to be better than {listed(level)} on the test questions."
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
        said += f"; with vectors of its own the choice has {figure(reached)}"
    if "kendall_tau" in found.agreement:
        count = several(int(found.agreement["configurations"]), "configuration")
        tau = found.agreement["kendall_tau"]
        said += f"; both rank {count} alike with Kendall's tau {tau:.2f} (1: the same order)"
    yield f"{said}."


def without_references(queries: Sequence[Query]) -> Iterator[str]:
    """Questions that no measure over spans can score."""
    count = sum(not query.references for query in queries)
    if count:
        yield f"{several(count, 'question')} without references: no score, and no part in the choice."


def not_run(sweep: Sweep, plan: Plan, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """What failed, and what the time did not reach."""
    failed = [outcome for outcome in outcomes if outcome.error and not outcome.waits]
    if failed:
        names = [f"{each.configuration.label} ({each.error})" for each in failed[:_NAMED]]
        more = f" and {len(failed) - _NAMED} more" if len(failed) > _NAMED else ""
        yield f"{several(len(failed), 'configuration')} failed: {'; '.join(names)}{more}."
    known = {outcome.configuration.key for outcome in outcomes if not outcome.waits}
    wanted = {each.key for each in plan.configurations}
    wanted |= {outcome.configuration.key for outcome in outcomes}
    missing = len(wanted - known)
    if missing:
        why = "the time was up" if sweep.seconds is not None else "the sweep was stopped"
        yield (
            f"{missing} of {several(len(wanted), 'configuration')} were not run: {why}. "
            "The same command goes on with them."
        )
