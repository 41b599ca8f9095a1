"""Who is run again with vectors of its own: the best of those with late ones, and what they are held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chunkwise.evaluation.direction import lower_is_better
from chunkwise.experiments.configuration import Configuration
from chunkwise.experiments.outcome import Outcome


def finalists(
    outcomes: Sequence[Outcome], splits: Sequence[str], objective: str, most: int = 5
) -> list[Configuration]:
    """The best `most` on the validation questions, and the common defaults, each with every chunk embedded by itself.

    Several sizes at once have no chunks to embed: they are not among them.
    """
    late = [each for each in outcomes if _is_late(each)]
    means = [_mean(each, splits, objective) for each in late]
    scored = [at for at, mean in enumerate(means) if mean is not None]
    sign = 1 if lower_is_better(objective) else -1
    best = sorted(scored, key=lambda at: (sign * (means[at] or 0.0), at))[:most]
    chosen = [late[at].configuration for at in best]
    if chosen:
        chosen += [
            each.configuration
            for each in late
            if each.configuration.baseline and each.configuration not in chosen
        ]
    return [replace(each, vectors="own") for each in chosen]


def _is_late(outcome: Outcome) -> bool:
    configuration = outcome.configuration
    return bool(configuration.strategy) and configuration.vectors == "late" and not outcome.error


def _mean(outcome: Outcome, splits: Sequence[str], objective: str) -> float | None:
    scores = zip(outcome.scores.get(objective, ()), splits, strict=False)
    chosen = [score for score, split in scores if split == "validation" and score is not None]
    return sum(chosen) / len(chosen) if chosen else None
