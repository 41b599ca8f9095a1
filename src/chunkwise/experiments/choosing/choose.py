"""From outcomes to a proven choice: chosen on validation questions, judged on test questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from chunkwise.core import Document, Query
from chunkwise.evaluation.files.json_values import json_text
from chunkwise.evaluation.results import Json
from chunkwise.experiments.choosing.against import against
from chunkwise.experiments.choosing.caveats import caveats
from chunkwise.experiments.choosing.field import Field, field_of
from chunkwise.experiments.choosing.findings import Findings
from chunkwise.experiments.choosing.fit import Fitted, fitted
from chunkwise.experiments.choosing.levers import levers
from chunkwise.experiments.choosing.parts import parts, small_parts
from chunkwise.experiments.choosing.recommended import recommended
from chunkwise.experiments.choosing.sentence import sentence
from chunkwise.experiments.choosing.standings import places
from chunkwise.experiments.choosing.twins import agreement, late_twins
from chunkwise.experiments.choosing.unasked import unasked
from chunkwise.experiments.outcome import Outcome
from chunkwise.experiments.planning.plan import Plan
from chunkwise.experiments.sweep import Sweep
from chunkwise.experiments.tuning import Tuning
from chunkwise.stats.detectable import detectable
from chunkwise.stats.paired import differences
from chunkwise.stats.table import spread
from chunkwise.stats.ties import Ties, ties


def choose(
    outcomes: Sequence[Outcome],
    queries: Sequence[Query],
    splits: tuple[str, ...],
    sweep: Sweep,
    plan: Plan,
    documents: Sequence[Document],
) -> Tuning:
    """The cheapest of those that are as good as the best on validation questions, and what is known about it.

    Configurations that failed take no part. One with vectors of its own is listed beside the same with late vectors
    and not chosen from. Of several sizes at once the fitted weights take part and the others are listed. `versions`,
    hashes of the data and `timing` are the caller's to add.
    """
    asked = _asked(sweep, plan, outcomes)
    field = field_of(outcomes, splits, sweep)
    if field is None:
        return unasked(outcomes, queries, splits, sweep, plan, asked)
    fit = fitted(field)
    if fit is not None:
        field = _without(field, fit)
    found = ties(field.better(field.validation, field.entrants), seed=field.seed)
    assert found is not None  # every entrant has a score on these questions
    chosen = recommended(field, found)
    standings = tuple(place.standing for place in places(field, found, queries))
    held = against(field, chosen)
    agreed = agreement(late_twins(field.outcomes), field.scores[field.validation])
    least = _detectable(field, found)
    findings = Findings(
        sweep, plan, outcomes, queries, field, found, chosen, standings, held, agreed, least
    )
    return Tuning(
        plan=asked,
        versions={},
        data={},
        objective=sweep.objective,
        chosen=field.outcomes[chosen].configuration.key,
        sentence=sentence(findings),
        standings=standings,
        against=held,
        levers=levers(field),
        parts=parts(field, chosen, queries, documents),
        fit=fit.fit if fit else None,
        agreement=agreed,
        caveats=caveats(findings),
        questions=tuple(query.id for query in queries),
        splits=splits,
        outcomes=tuple(outcomes),
        detectable=least,
        needed=found.needed,
        small_parts=small_parts(field, queries, documents),
    )


def _asked(sweep: Sweep, plan: Plan, outcomes: Sequence[Outcome]) -> dict[str, Json]:
    """The sweep as it was asked for, and what came of it, as plain JSON."""
    found: dict[str, Json] = {
        "sweep": json.loads(json_text(sweep)),
        "left_out": [{"what": each.what, "why": each.why} for each in plan.left_out],
        "configurations": len(plan.configurations),
        "failed": sum(bool(outcome.error) and not outcome.waits for outcome in outcomes),
        "not_run": sum(outcome.waits for outcome in outcomes),
    }
    return found


def _without(field: Field, fit: Fitted) -> Field:
    """Only the weights that were kept take part."""
    why = f"other weights of the same; those of {fit.fit.kept} were kept"
    return replace(field, aside={**field.aside, **dict.fromkeys(fit.others, why)})


def _detectable(field: Field, found: Ties) -> float | None:
    """By the spread that differences to the best usually have."""
    scores = field.better(field.validation, field.entrants)
    apart = differences(np.repeat(scores[:, [found.best]], scores.shape[1], axis=1), scores)
    spreads = [spread(column) for column in apart.T]
    usual = [each for each in spreads if each]
    return detectable(float(np.median(usual)), len(scores)) if usual else None
