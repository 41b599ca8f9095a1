"""Whether a sweep can tell anything at all: budgets that nearly all of the corpus fits into, too few questions."""

from __future__ import annotations

from chunkwise.experiments.choosing.words import several
from chunkwise.experiments.objective_budget import budget_of

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
        f"{several(budget, 'token')} are {100 * share:.0f} % of these documents: "
        f"{'nearly everything' if share >= 0.6 else 'much'} is found, whatever is chosen; {advice}"
    )


def few_choose(chose: int, all_of_them: int) -> str:
    """Said before anything is run; empty: enough of the questions choose."""
    if not all_of_them or chose >= FEW:
        return ""
    return (
        f"only {chose:,} of {several(all_of_them, 'question')} can choose, and so few show large differences alone: "
        f"{FEW} or more are needed"
    )
