"""What can be said when no question can choose: cuts and costs, and that this is no proof."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from chunkwise.core import Query
from chunkwise.evaluation.results import Figure, Json
from chunkwise.experiments.choosing.caveats import not_run, without_references
from chunkwise.experiments.choosing.price import amount
from chunkwise.experiments.choosing.words import several
from chunkwise.experiments.outcome import Outcome
from chunkwise.experiments.planning.plan import Plan
from chunkwise.experiments.sweep import Sweep
from chunkwise.experiments.tuning import Standing, Tuning


def unasked(
    outcomes: Sequence[Outcome],
    queries: Sequence[Query],
    splits: tuple[str, ...],
    sweep: Sweep,
    plan: Plan,
    asked: Mapping[str, Json],
) -> Tuning:
    """Nothing is chosen; standings come by the share of chunks with boundary issues, then by storage and chunks."""
    ran = sorted((outcome for outcome in outcomes if not outcome.error), key=_hurt)
    nothing = Figure(None)
    return Tuning(
        plan=asked,
        versions={},
        data={},
        objective=sweep.objective,
        chosen="",
        sentence=_sentence(ran, queries),
        standings=tuple(
            Standing(
                outcome.configuration.key, outcome.configuration.label, nothing, None,
                tied=False, best_share=0.0, pareto=False, aside="no question can choose",
            )
            for outcome in ran
        ),
        against=(),
        levers=(),
        parts=(),
        fit=None,
        agreement={},
        caveats=(
            *_unknown(queries),
            *without_references(queries),
            *not_run(sweep, plan, outcomes),
        ),
        questions=tuple(query.id for query in queries),
        splits=splits,
        outcomes=tuple(outcomes),
    )  # fmt: skip


def issue_share(outcome: Outcome) -> float | None:
    """Of the chunks, those with at least one boundary issue; None: there are no chunks."""
    hurt, chunks = outcome.boundary_issues.get("chunks_with_issues"), amount(outcome, "chunks")
    return None if hurt is None or not 0 < chunks < math.inf else hurt / chunks


def _hurt(outcome: Outcome) -> tuple[float, float, float]:
    share = issue_share(outcome)
    costs = amount(outcome, "storage"), amount(outcome, "chunks")
    return (math.inf if share is None else share, *costs)


def _sentence(ran: Sequence[Outcome], queries: Sequence[Query]) -> str:
    why = "without questions" if not queries else "no question that chooses has a score"
    said = f"Nothing can be recommended: {why}, it is not known what would be found."
    share = issue_share(ran[0]) if ran else None
    if share is None:
        return said
    strategy = ran[0].configuration.strategy
    return f"{said} Fewest cuts hurt with {strategy}: {100 * share:.1f} % of its chunks have a boundary issue."


def _unknown(queries: Sequence[Query]) -> tuple[str, ...]:
    if queries:
        return (
            f"{several(len(queries), 'question')} and not one score among those that choose: "
            "chunkwise testset check FILE DOCUMENTS says what is wrong with them.",
        )
    return (
        "Without questions it cannot be known what a search finds, which retriever suits, or whether any "
        "configuration is better than a common default; clean cuts and low costs do not tell.",
        "Write 30 questions or more, each with the passage that answers it, or have them made: chunkwise testset "
        "generate DOCUMENTS -o FILE; then chunkwise tune DOCUMENTS --test-queries FILE. "
        "chunkwise testset check FILE DOCUMENTS finds mistakes in them, chunkwise testset review FILE shows them.",
    )
