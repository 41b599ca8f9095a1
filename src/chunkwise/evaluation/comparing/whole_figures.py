"""Figures of whole runs, side by side: what the chunks are like and what they cost."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.evaluation.results import Results

CONTEXT = "context tokens a question"
_SAME = "context_tokens"
"""What an index calls it among its costs."""


def whole_figures(runs: Sequence[Results]) -> dict[str, tuple[float | None, ...]]:
    """By name, one a run; None: this run has none. They are no means over questions, so nothing is tested."""
    columns = [_figures(run) for run in runs]
    names = dict.fromkeys(name for column in columns for name in column)
    return {name: tuple(column.get(name) for column in columns) for name in names}


def _figures(run: Results) -> dict[str, float]:
    asked = {name for question in run.questions for name in question.scores}
    found = {
        name: figure.mean
        for name, figure in run.summary.items()
        if figure.mean is not None and figure.low is None and name not in asked
    }
    for name, value in run.cost.items():
        if name != _SAME and isinstance(value, int | float) and not isinstance(value, bool):
            found[name] = float(value)
    if run.questions:
        tokens = sum(question.context_tokens for question in run.questions)
        found[CONTEXT] = tokens / len(run.questions)
    return found
