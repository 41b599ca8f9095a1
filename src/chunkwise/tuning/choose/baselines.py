"""The common defaults, and what is chosen held against them."""

from __future__ import annotations

from chunkwise.evaluation.comparison import NO_DIFFERENCE
from chunkwise.stats.intervals import Interval
from chunkwise.stats.paired import holm, holm_shares, paired_differences
from chunkwise.stats.table import mean
from chunkwise.tuning.choose.score_table import ScoreTable
from chunkwise.tuning.sweep_result import BaselineComparison


def compare_with_baselines(score_table: ScoreTable, chosen: int) -> tuple[BaselineComparison, ...]:
    """Each default with the retriever that suits it best on validation; p and interval after Holm over the defaults.

    Empty without test questions; a choice that is a default is not held against that one, however it is searched.
    """
    own = score_table.outcomes[chosen].configuration.baseline
    columns = {name: at for name, at in baseline_columns(score_table).items() if name != own}
    first, second = (
        score_table.scores[score_table.test][:, at]
        for at in (list(columns.values()), [chosen] * len(columns))
    )
    alone = [each for each in paired_differences(first, second) if each is not None]
    if len(alone) < len(columns):
        return ()
    p = [each.p for each in alone]
    wide = paired_differences(first, second, outside=holm_shares(p))
    return tuple(
        BaselineComparison(
            name, score_table.outcomes[column].configuration.key, *each.difference, adjusted,
            _words(each.difference, score_table.sign),
        )
        for (name, column), adjusted, each in zip(columns.items(), holm(p), wide, strict=True)
        if each is not None
    )  # fmt: skip


def baseline_columns(score_table: ScoreTable) -> dict[str, int]:
    """By name, in the order of the plan; of each the column of the retriever that suits it best on validation.

    Of equally good ones the last, which mixes words and vectors: the stronger one to be held against.
    """
    found: dict[str, int] = {}
    means = {}
    for column in score_table.entrants:
        name = score_table.outcomes[column].configuration.baseline
        if not name:
            continue
        means[column] = mean(score_table.better(score_table.validation, [column])[:, 0])
        if name not in found or means[column] >= means[found[name]]:
            found[name] = column
    return found


def _words(difference: Interval, sign: float) -> str:
    """What the interval says, which after Holm's correction is what p says."""
    if not difference.leaves_out_zero:
        return NO_DIFFERENCE
    return "better" if sign * difference.mean > 0 else "worse"
