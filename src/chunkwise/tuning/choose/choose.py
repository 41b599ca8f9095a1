"""From outcomes to a proven choice: what most is expected of, judged on questions that had no part in it."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from chunkwise.core import Document, Query
from chunkwise.evaluation.comparison_result import NO_DIFFERENCE
from chunkwise.evaluation.cost import cost_amount, running_cost
from chunkwise.evaluation.results import Figure, Json
from chunkwise.metrics.registry import metric_of
from chunkwise.records.json import json_text
from chunkwise.stats.intervals import Interval, intervals, mean
from chunkwise.stats.paired import Ties, detectable, holm, holm_shares, paired_differences, ties
from chunkwise.testsets.testset import REVIEWED, Origin
from chunkwise.tuning.choose.corpus_parts import corpus_parts, small_parts
from chunkwise.tuning.choose.levers import levers, weight_fit
from chunkwise.tuning.choose.priors_and_shrinkage import (
    NO_PRIOR,
    Expectation,
    Means,
    expectation,
    public_priors,
)
from chunkwise.tuning.choose.recommendation_sentence import (
    Findings,
    caveats,
    none_meets,
    not_known,
    not_run,
    nothing_recommended,
    recommended_unasked,
    sentence,
    without_references,
)
from chunkwise.tuning.choose.score_table import (
    ScoreTable,
    score_table_of,
)
from chunkwise.tuning.plan.grid import YOUR_INDEX
from chunkwise.tuning.plan.plan import VARIED, Plan
from chunkwise.tuning.sweep import Configuration, Sweep, budget_of, fits_nearly_all
from chunkwise.tuning.sweep_result import (
    BaselineComparison,
    NestedJudgment,
    Outcome,
    Standing,
    SweepResult,
)
from chunkwise.tuning.validation import (
    FOLDS,
    REPEATS,
    TEST,
    UNREVIEWED,
    VALIDATION,
    HeldOut,
    Rows,
    held_out,
)


def compare_with_baselines(
    score_table: ScoreTable, chosen: int, left_out: HeldOut | None = None
) -> tuple[BaselineComparison, ...]:
    """Each default with the retriever that suits it best on validation; p and interval after Holm over the defaults.

    On the test questions; without these, on the folds that had no part in choosing, neither the choice nor the
    default's retriever. A choice that is a default is not compared with that one, however it is searched.
    """
    own = score_table.outcomes[chosen].configuration.baseline
    defaults = baseline_columns(score_table)
    columns = {name: at for name, at in defaults.items() if name != own}
    if left_out is None:
        judged = score_table.scores[score_table.test]
        first, second = (judged[:, at] for at in (list(columns.values()), [chosen] * len(columns)))
    else:
        places = [1 + at for at, name in enumerate(defaults) if name != own]
        first, second = (left_out.scores[:, at] for at in (places, [0] * len(columns)))
    alone = [
        difference for difference in paired_differences(first, second) if difference is not None
    ]
    if len(alone) < len(columns):
        return ()
    p = [row.p for row in alone]
    wide = paired_differences(first, second, outside=holm_shares(p))
    return tuple(
        BaselineComparison(
            name, score_table.outcomes[column].configuration.key, *row.difference, adjusted,
            _words(row.difference, score_table.sign),
        )
        for (name, column), adjusted, row in zip(columns.items(), holm(p), wide, strict=True)
        if row is not None
    )  # fmt: skip


def baseline_columns(score_table: ScoreTable) -> dict[str, int]:
    """By name, in the order of the plan; of each the column of the retriever that suits it best on validation.

    Of equally good ones the last, which mixes words and vectors: the stronger one to be compared with.
    """
    columns: dict[str, int] = {}
    means = {}
    for column in score_table.entrants:
        name = score_table.outcomes[column].configuration.baseline
        if not name:
            continue
        means[column] = mean(score_table.better(score_table.validation, [column])[:, 0])
        if name not in columns or means[column] >= means[columns[name]]:
            columns[name] = column
    return columns


def _words(difference: Interval, sign: float) -> str:
    """What the interval says, which after Holm's correction is what p says."""
    if not difference.leaves_out_zero:
        return NO_DIFFERENCE
    return "better" if sign * difference.mean > 0 else "worse"


def pareto_front(values: ArrayLike) -> list[bool]:
    """Rows × figures of which more is better: whether no other row is as good in all and better in one."""
    table = np.asarray(values, dtype=np.float64)
    as_good = (table[:, None, :] >= table[None, :, :]).all(axis=2)
    better = (table[:, None, :] > table[None, :, :]).any(axis=2)
    beaten = np.asarray((as_good & better).any(axis=0))
    return [not each for each in beaten.tolist()]


def ranked_standings(
    score_table: ScoreTable,
    ties: Ties,
    queries: Sequence[Query],
    expected: Means,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> tuple[Standing, ...]:
    """The best on validation first.

    A shrunk mean may lie beyond the best score there can be: it is shown within the `bounds` of the objective.
    """
    low, high = bounds
    validation = _figures(score_table, VALIDATION, queries)
    test = _figures(score_table, TEST, queries) if TEST in score_table.splits else None
    entrants = {column: at for at, column in enumerate(score_table.entrants)}
    efficient = _efficient(score_table, ties)

    def standing(column: int) -> Standing:
        outcome, at = score_table.outcomes[column], entrants.get(column)
        return Standing(
            outcome.configuration.key,
            outcome.configuration.label,
            validation[column],
            test[column] if test else None,
            tied=at is not None and ties.tied[at],
            best_share=0.0 if at is None else ties.best_share[at],
            pareto=at is not None and efficient[at],
            aside=score_table.aside.get(column, ""),
            expected=None
            if at is None
            else min(max(score_table.sign * float(expected[at]), low), high) + 0.0,
        )

    def order(column: int) -> tuple[float, int]:
        return -score_table.sign * (validation[column].mean or 0.0), column

    return tuple(map(standing, sorted(range(len(score_table.outcomes)), key=order)))


def _figures(score_table: ScoreTable, side: str, queries: Sequence[Query]) -> list[Figure]:
    rows = [row for row, item in enumerate(score_table.splits) if item == side]
    table = score_table.scores[rows]
    figures = []
    for column, interval in zip(table.T, intervals(table), strict=True):
        missing = np.isnan(column)
        why = Counter(
            "not scored" if queries[row].references else "no references"
            for row, gone in zip(rows, missing.tolist(), strict=True)
            if gone
        )
        scored = int((~missing).sum())
        if interval is None:
            figures.append(Figure(None, unscored=dict(sorted(why.items()))))
        else:
            figures.append(Figure(*interval, scored, dict(sorted(why.items()))))
    return figures


def _efficient(score_table: ScoreTable, ties: Ties) -> list[bool]:
    # Within a budget all read as much: what they leave of it is no saving to be chosen for.
    names = ("storage",) if score_table.budget else ("storage", "context_tokens")
    costs = [
        [-cost_amount(score_table.outcomes[column].cost, name) for name in names]
        for column in score_table.entrants
    ]
    return pareto_front(np.column_stack([ties.means, costs]))


def result_without_scores(
    outcomes: Sequence[Outcome],
    queries: Sequence[Query],
    splits: tuple[str, ...],
    sweep: Sweep,
    plan: Plan,
    requested: Mapping[str, Json],
) -> SweepResult:
    """Nothing is chosen; standings come by the share of chunks with boundary issues, then by storage and chunks."""
    ran = sorted((outcome for outcome in outcomes if not outcome.error), key=_hurt)
    cleanest = (ran[0].configuration.strategy, issue_share(ran[0])) if ran else ("", None)
    chosen = _by_prior(ran, sweep) if sweep.prior and not queries else None
    nothing = Figure(None)
    return SweepResult(
        plan=requested,
        objective=sweep.objective,
        chosen=chosen.key if chosen else "",
        sentence=recommended_unasked(chosen.label)
        if chosen
        else nothing_recommended(cleanest, queries),
        standings=tuple(
            Standing(
                outcome.configuration.key, outcome.configuration.label, nothing, None,
                tied=False, best_share=0.0, pareto=False, aside="no validation questions",
            )
            for outcome in ran
        ),
        caveats=(
            *(() if chosen else not_known(queries)),
            *without_references(queries),
            *not_run(sweep, plan, outcomes),
        ),
        questions=tuple(query.id for query in queries),
        splits=splits,
        outcomes=tuple(outcomes),
    )  # fmt: skip


def _by_prior(ran: Sequence[Outcome], sweep: Sweep) -> Configuration | None:
    """What public question sets favor of what ran, where nobody asks."""
    nobody = np.zeros(0, dtype=np.intp)
    table = ScoreTable(
        tuple(ran), np.zeros((0, len(ran))), False, (), nobody, nobody, budget_of(sweep.objective), {}, sweep.seed
    )  # fmt: skip
    expected = expected_scores(table, sweep) if ran else None
    if expected is None or not expected.prior:
        return None
    return ran[recommended_column(table, expected)].configuration


def issue_share(outcome: Outcome) -> float | None:
    """Of the chunks, those with at least one boundary issue; None: there are no chunks."""
    hurt, chunks = (
        outcome.boundary_issues.get("chunks_with_issues"),
        cost_amount(outcome.cost, "chunks"),
    )
    return None if hurt is None or not 0 < chunks < math.inf else hurt / chunks


def _hurt(outcome: Outcome) -> tuple[float, float, float]:
    share = issue_share(outcome)
    costs = cost_amount(outcome.cost, "storage"), cost_amount(outcome.cost, "chunks")
    return (math.inf if share is None else share, *costs)


NEAR = 0.01
"""How far below what most is expected of the choice may be. Tied is not equal: the cheapest of many that few questions
cannot tell apart gave away twice as much on test questions."""
SAME_CUTS = 0.05
"""Shares of chunks with a boundary issue this much apart are the same."""
SAME_PRICE = 0.05
"""Prices this much apart, as a share of the lower, are the same: what trailing spaces cost must not decide."""


def recommended_column(score_table: ScoreTable, expected: Expectation) -> int:
    """The column of the one to use, of those within a point of what most is expected of, cautiously.

    Left out are those of which less is expected than of a common default, then those that cut clearly worse than the
    best of the others: what is found as well is read and quoted better from whole sentences, and those with a reranker,
    token vectors or contexts of a language model where others do without. Of the rest it is the cheapest.

    Cheapest by storage × context tokens (the budget, where the objective has one); among those that cost the same
    what most is expected of, then the fewest tokens embedded, the fewest chunks, and the first of the plan. A common
    default that is among these is recommended when it is cheaper.
    """
    means = expected.cautious
    outcomes = [score_table.outcomes[column] for column in score_table.entrants]
    least = float(means.max()) - NEAR
    defaults = [at for at, outcome in enumerate(outcomes) if outcome.configuration.baseline]
    least = max([least, *(float(means[at]) for at in defaults)]) - 1e-12
    near = _well_cut(score_table, np.flatnonzero(means >= least).tolist())
    # Reading a hundred chunks for every question is a price that no table of sizes shows, nor is a vector a token.
    near = [at for at in near if not outcomes[at].configuration.reads_more] or near
    prices = {at: running_cost(outcomes[at].cost, score_table.budget) for at in near}
    most = min(prices.values()) * (1 + SAME_PRICE)
    cheap = [at for at in near if prices[at] <= most]
    # A model that reads the documents is a cost, too, where nothing else tells two apart.
    costs = {
        at: [cost_amount(outcomes[at].cost, name) for name in ("tokens_embedded", "chunks")]
        for at in cheap
    }
    return score_table.entrants[min(cheap, key=lambda at: (-float(means[at]), *costs[at], at))]


def _best_default(score_table: ScoreTable, expected: Means) -> int | None:
    """The column of the common default that most is expected of, of equals the last."""
    at = [
        at
        for at, column in enumerate(score_table.entrants)
        if score_table.outcomes[column].configuration.baseline
    ]
    best = max(reversed(at), key=lambda one: float(expected[one]), default=None)
    return None if best is None else score_table.entrants[best]


def _well_cut(score_table: ScoreTable, tied: list[int]) -> list[int]:
    """Those with few boundary issues; several sizes at once cut nothing beforehand and stay."""
    shares = {at: issue_share(score_table.outcomes[score_table.entrants[at]]) for at in tied}
    known = [share for share in shares.values() if share is not None]
    if not known:
        return tied
    most = min(known) + SAME_CUTS + 1e-12
    return [at for at, share in shares.items() if share is None or share <= most]


def left_out_scores(score_table: ScoreTable, unlimited: ScoreTable, sweep: Sweep) -> HeldOut | None:
    """Of what all but a fold choose, and of each default with the retriever that suits it best there.

    A fold looks by itself at what falls short of the means that a choice must have, in the `unlimited` table; where
    everything does, it takes part in what does not on all questions (`score_table`).
    """
    rows = score_table.validation

    def chosen_by(some: Rows) -> list[int]:
        part = _without_others_variations(replace(unlimited, validation=rows[some]))
        met = part.meeting()
        if not met.entrants:
            met = replace(score_table, validation=rows[some])
        return [
            recommended_column(met, expected_scores(met, sweep)),
            *baseline_columns(part).values(),
        ]

    return held_out(score_table.scores[rows], chosen_by, score_table.seed)


def _without_others_variations(score_table: ScoreTable) -> ScoreTable:
    """Only variations of what is among the best here: those of others were tried because other questions said so."""
    outcomes = score_table.outcomes
    varied = [at for at in score_table.entrants if outcomes[at].configuration.varies]
    if not varied:
        return score_table
    planned = [at for at in score_table.entrants if not outcomes[at].configuration.varies]
    means = score_table.better(score_table.validation, planned).mean(axis=0)
    order = [
        planned[at] for at in sorted(range(len(planned)), key=lambda at: (-float(means[at]), at))
    ]
    configurations = [outcomes[at].configuration for at in order]
    chunked = [configuration for configuration in configurations if configuration.strategy][:VARIED]
    several = [configuration for configuration in configurations if not configuration.strategy][:1]
    best = {configuration.key for configuration in (*chunked, *several)}
    gone = [at for at in varied if outcomes[at].configuration.varies not in best]
    return replace(score_table, aside={**score_table.aside, **dict.fromkeys(gone, "not tried")})


def expected_scores(score_table: ScoreTable, sweep: Sweep) -> Expectation:
    """Of every entrant, from the questions that decide and the prior of the sweep's objective."""
    configurations = [score_table.outcomes[at].configuration for at in score_table.entrants]
    scores = score_table.better(score_table.deciding_rows, score_table.entrants)
    asked = score_table.better(score_table.validation, score_table.entrants)
    level = asked.mean() if asked.size else 0.0
    prior = public_priors().get(sweep.objective, NO_PRIOR) if sweep.prior else NO_PRIOR
    return expectation(scores, configurations, prior, float(level))


def _nested(score_table: ScoreTable, left_out: HeldOut) -> NestedJudgment:
    scores = left_out.scores[:, 0]
    interval = intervals(scores[:, None])[0]
    assert interval is not None  # every question that chooses has a score
    shares = tuple(
        (score_table.outcomes[at].configuration.label, share) for at, share in left_out.chosen.items()
    )  # fmt: skip
    many = len(scores) > FOLDS
    return NestedJudgment(
        Figure(*interval, len(scores)), min(FOLDS, len(scores)), REPEATS if many else 1, shares
    )


def choose(
    outcomes: Sequence[Outcome],
    queries: Sequence[Query],
    splits: tuple[str, ...],
    sweep: Sweep,
    plan: Plan,
    documents: Sequence[Document],
    origins: Mapping[str, Origin] | None = None,
) -> SweepResult:
    """The cheapest of those that most is expected of, and what is known about it.

    Configurations that failed take no part. Where no question is kept back to judge, folds of those that choose are.
    `versions`, hashes of the data and `timing` are the caller's to add.
    """
    requested = _requested_plan(sweep, plan, outcomes)
    generated = {id for id, origin in (origins or {}).items() if origin == "generated"}
    deciding = frozenset(row for row, query in enumerate(queries) if query.id not in generated)
    accepted = sum(splits[row] == VALIDATION for row in deciding)
    if generated and sweep.prior and accepted >= REVIEWED:
        splits = tuple(side if row in deciding else UNREVIEWED for row, side in enumerate(splits))
        generated = set()
    unlimited = score_table_of(
        outcomes, splits, sweep, deciding if generated and sweep.prior else None
    )
    if unlimited is None:
        return result_without_scores(outcomes, queries, splits, sweep, plan, requested)
    meeting = unlimited.meeting()
    score_table = meeting if meeting.entrants else unlimited
    tied = ties(
        score_table.better(score_table.validation, score_table.entrants), seed=score_table.seed
    )
    assert tied is not None  # every entrant has a score on these questions
    expected = expected_scores(score_table, sweep)
    chosen = recommended_column(score_table, expected)
    objective = metric_of(sweep.objective)
    standings = ranked_standings(
        score_table, tied, queries, expected.means, *([objective.bounds] if objective else [])
    )
    default = _best_default(score_table, expected.means)
    if score_table.is_unreviewed and default is not None:
        tokens = cost_amount(score_table.outcomes[chosen].cost, "document_tokens")
        gain = np.diff([expected.means[score_table.entrants.index(at)] for at in (default, chosen)])
        is_own = score_table.outcomes[default].configuration.baseline == YOUR_INDEX
        if fits_nearly_all(sweep.objective, tokens) or (is_own and float(gain[0]) <= NEAR):
            chosen = default
    left_out = None if len(score_table.test) else left_out_scores(score_table, unlimited, sweep)
    nested = None if left_out is None else _nested(score_table, left_out)
    against = compare_with_baselines(unlimited, chosen, left_out)
    least_detectable = _detectable(score_table, tied)
    findings = Findings(
        sweep,
        plan,
        outcomes,
        queries,
        score_table,
        tied,
        chosen,
        standings,
        against,
        least_detectable,
        nested,
    )
    result = SweepResult(
        plan=requested,
        objective=sweep.objective,
        chosen=score_table.outcomes[chosen].configuration.key,
        sentence=sentence(findings),
        standings=standings,
        against=against,
        levers=levers(score_table),
        parts=corpus_parts(score_table, chosen, queries, documents),
        fit=weight_fit(score_table, expected.means),
        caveats=caveats(findings) if meeting.entrants else tuple(not_run(sweep, plan, outcomes)),
        questions=tuple(query.id for query in queries),
        splits=splits,
        outcomes=tuple(outcomes),
        detectable=least_detectable,
        needed=tied.needed,
        small_parts=small_parts(score_table, queries, documents),
        nested=nested,
        prior=expected.prior,
        prior_questions=expected.prior_questions,
    )
    return result if meeting.entrants else _without_choice(result, unlimited)


def _without_choice(result: SweepResult, unlimited: ScoreTable) -> SweepResult:
    """Every configuration falls short of what is asked for: the figures stand, and none is recommended."""
    aside = unlimited.meeting().aside
    why = {unlimited.outcomes[at].configuration.key: reason for at, reason in aside.items()}
    return replace(
        result, chosen="", sentence=none_meets(unlimited), against=(), nested=None, fit=None,
        standings=tuple(
            replace(standing, tied=False, pareto=False, aside=why[standing.key], expected=None)
            for standing in result.standings
        ),
    )  # fmt: skip


def _requested_plan(sweep: Sweep, plan: Plan, outcomes: Sequence[Outcome]) -> dict[str, Json]:
    """The sweep as it was asked for, and what came of it, as plain JSON."""
    return {
        "sweep": json.loads(json_text(sweep)),
        "left_out": [{"what": row.what, "why": row.why} for row in plan.left_out],
        "configurations": len(plan.configurations),
        "failed": sum(bool(outcome.error) and not outcome.waits for outcome in outcomes),
        "not_run": sum(outcome.waits for outcome in outcomes),
    }


def _detectable(score_table: ScoreTable, tied: Ties) -> float | None:
    """By the spread that differences to the best usually have."""
    scores = score_table.better(score_table.validation, score_table.entrants)
    best = np.repeat(scores[:, [tied.best]], scores.shape[1], axis=1)
    pairs = [
        difference for difference in paired_differences(best, scores) if difference is not None
    ]
    usual = [pair for pair in pairs if pair.spread]
    if not usual:
        return None
    spread, reach = (
        float(np.median([getattr(row, name) for row in usual])) for name in ("spread", "reach")
    )
    return detectable(spread, len(scores), reach)
