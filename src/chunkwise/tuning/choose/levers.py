"""How much each choice moves the objective, all others held, and which weights of several sizes do best."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base import spec
from chunkwise.base.wording import points
from chunkwise.retrieval.retrievers import get_retriever
from chunkwise.stats.intervals import OUTSIDE, RESAMPLES, ScoreMatrix, mean
from chunkwise.stats.paired import FEWEST
from chunkwise.tuning.choose.priors_and_shrinkage import is_multiscale, searched_by
from chunkwise.tuning.choose.score_table import ScoreTable
from chunkwise.tuning.sweep_result import Lever, LeverLevel, WeightFit

MULTISCALE = "multiscale"


def weight_fit(score_table: ScoreTable, expected: NDArray[np.float64]) -> WeightFit | None:
    """Of several sizes at once the weights that most is expected of, the usual ones where others are not ahead of
    them; None: not tried.
    """
    variants = [
        (at, column)
        for at, column in enumerate(score_table.entrants)
        if is_multiscale(score_table.outcomes[column].configuration.retriever)
    ]
    if not variants:
        return None
    names = [score_table.outcomes[column].configuration.retriever for _, column in variants]
    tried = tuple(
        (name, mean(score_table.scores[score_table.validation, column]))
        for name, (_, column) in zip(names, variants, strict=True)
    )
    hopes = [float(expected[at]) for at, _ in variants]
    usual = _usual(names)
    best = max(range(len(names)), key=lambda at: (hopes[at], at == usual))
    if len(names) == 1:
        return WeightFit(tried, names[0], f"only {names[0]} was tried")
    if best == usual:
        why = f"none of {len(names) - 1} others has a higher expected score"
    else:
        apart = points(hopes[best] - hopes[usual])
        why = f"{names[best]} is expected to score {apart} higher than {names[usual]}"
    return WeightFit(tried, names[best], why)


def _usual(names: Sequence[str]) -> int:
    """The variant with the default weights; where that was not tried, the first."""
    usual = get_retriever(MULTISCALE)
    known = (at for at, name in enumerate(names) if _same(name, usual))
    return next(known, 0)


def _same(name: str, usual: object) -> bool:
    return not spec.parse(name)[1] or get_retriever(name) == usual


_DIGITS = 12
"""Of effects: beyond them they depend on the order of adding up."""
_SURE = 1 - OUTSIDE
_CELLS = 1 << 21
"""Numbers drawn at a time."""
_MANY = 20
"""Questions: a lever that changed as many is known to change some."""


class LeverMember(NamedTuple):
    """A configuration as one lever sees it."""

    column: int
    group: Hashable
    """Everything but the lever: members of one group differ in the lever alone."""
    level: str


def comparable(members: Sequence[LeverMember]) -> list[LeverMember]:
    """Those that others of another level can be compared with, all levels linked with each other.

    Levels are linked when a group has both. Where they fall apart into several sets, the one with most members stays:
    between sets nothing can be said.
    """
    levels: defaultdict[Hashable, set[str]] = defaultdict(set)
    for member in members:
        levels[member.group].add(member.level)
    linked = [member for member in members if len(levels[member.group]) > 1]
    sets: list[set[str]] = []
    for level in levels.values():
        if len(level) > 1:
            touched = [group for group in sets if group & level]
            sets = [group for group in sets if not group & level] + [level.union(*touched)]
    counts = [sum(member.level in group for member in linked) for group in sets]
    if not counts:
        return []
    largest = sets[counts.index(max(counts))]
    return [member for member in linked if member.level in largest]


def main_effects(
    members: Sequence[LeverMember], levels: Sequence[str], scores: ScoreMatrix
) -> ScoreMatrix:
    """Questions × levels: what each level adds, by least squares over levels and groups; they add up to 0.

    Of two levels with one configuration each a group, the difference is the plain mean over the groups.
    """
    groups = {
        group: at
        for at, group in enumerate(dict.fromkeys(lever_member.group for lever_member in members))
    }
    of = np.array([groups[member.group] for member in members])
    # Each member minus the mean of its group: what is left of scores and levels is the lever alone.
    belongs = (of[:, None] == np.arange(len(groups))).astype(np.float64)
    centered = np.eye(len(members)) - belongs @ (belongs / belongs.sum(axis=0)).T
    numbers = {level: at for at, level in enumerate(levels)}
    has = np.zeros((len(members), len(levels)))
    has[np.arange(len(members)), [numbers[member.level] for member in members]] = 1.0
    # Levels add up to nothing in every group, so one direction is empty but for rounding: it must not count.
    weights = np.linalg.pinv(centered @ has, rcond=1e-9) @ centered
    own = scores[:, [member.column for member in members]]
    return np.round(own @ weights.T, _DIGITS) + 0.0


LEVERS = (
    "boundaries", "size", "overlap", "context", "neighbors", "one size or multi-scale", "retriever", "weights",
)  # fmt: skip


_VARIED = {
    "k1": "usual",
    "b": "usual",
    "embedder": "usual",
    "reranker": "none",
    "token vectors": "none",
}
"""Levers that only variations of the best have, and what all others have of them."""


def levers(score_table: ScoreTable) -> tuple[Lever, ...]:
    """Main effects on the questions that choose, the largest first; only levers with levels to compare."""
    scores = score_table.scores[score_table.validation]
    columns = np.flatnonzero(~np.isnan(scores).any(axis=0)).tolist()
    varied = {name for at in columns for name in score_table.outcomes[at].configuration.levers}
    names = [*LEVERS, *sorted(varied.difference(LEVERS))]
    members = {name: _members(score_table, name, columns) for name in names}
    result = {name: _Effect.of(own, scores) for name, own in members.items() if own}
    if not result or len(scores) < 2:
        return ()
    reach = max(float(np.ptp(np.append(scores[:, columns], 0.0))), 1e-9)
    widths = _widths([effect.own for effect in result.values()], reach, score_table.seed)
    moved = [
        _lever(name, effect, width, score_table)
        for (name, effect), width in zip(result.items(), widths, strict=True)
    ]
    return tuple(sorted(moved, key=lambda item: -item.effect))


def _members(score_table: ScoreTable, name: str, columns: Sequence[int]) -> list[LeverMember]:
    members = []
    for column in columns:
        outcome = score_table.outcomes[column]
        values = outcome.configuration.levers
        if name == "one size or multi-scale":
            several = "several" if is_multiscale(outcome.configuration.retriever) else "one"
            members.append(
                LeverMember(
                    column, searched_by(outcome.configuration.retriever), values.get(name, several)
                )
            )
        elif name in values or name in _VARIED:
            # A strategy that knows no overlap has none.
            whole = {"overlap": "none", **_VARIED, **values}
            rest = frozenset((key, value) for key, value in whole.items() if key != name)
            members.append(
                LeverMember(
                    column, (rest, is_multiscale(outcome.configuration.retriever)), whole[name]
                )
            )
    return comparable(members)


class _Effect(NamedTuple):
    own: ScoreMatrix
    """Questions × levels: what each level adds."""
    levels: list[LeverLevel]

    @classmethod
    def of(cls, members: Sequence[LeverMember], scores: ScoreMatrix) -> _Effect:
        counts = Counter(member.level for member in members)
        own = main_effects(members, list(counts), scores)
        adds = {level: mean(column) for level, column in zip(counts, own.T, strict=True)}
        reach = mean(np.array([mean(scores[:, member.column]) for member in members]))
        base = reach - sum(count * adds[level] for level, count in counts.items()) / len(members)
        return cls(own, [LeverLevel(level, base + adds[level], counts[level]) for level in counts])


def _lever(name: str, effect: _Effect, width: float, score_table: ScoreTable) -> Lever:
    levels = sorted(effect.levels, key=lambda level: -score_table.sign * level.mean)
    apart = abs(levels[0].mean - levels[-1].mean)
    return Lever(
        name, tuple(levels), apart, apart - width, apart + width,
        moves=apart > width and len(effect.own) >= FEWEST,
    )  # fmt: skip


def _widths(own: Sequence[ScoreMatrix], reach: float, seed: int) -> list[float]:
    """How far the difference of any two levels of any lever may be off, all of them together in 19 draws of 20.

    Of any two: which are best and worst is seen on the same questions, and of many levels two always lie apart. Of
    any lever: of many levers one always seems to move something. Questions are weighted at random, with one more that
    was not seen and on which two levels are half as far apart as two runs can be; where the lever changed few
    questions, as far.
    """
    off = np.concatenate(
        [
            np.column_stack([_off(array, draws[:, :-1], draws[:, -1], reach) for array in own])
            for draws in _draws(len(own[0]), seed)
        ]
    )
    usual = np.quantile(off, _SURE, axis=0)
    together = float(np.quantile((off / usual).max(axis=1), _SURE))
    return [float(f"{together * each:.10g}") for each in usual.tolist()]


def _draws(questions: int, seed: int) -> Iterator[ScoreMatrix]:
    """Weights of all questions and of the one that was not seen, some draws at a time; each adds up to 1."""
    rng = np.random.default_rng(seed)
    block = max(1, min(RESAMPLES, _CELLS // (questions + 1)))
    for done in range(0, RESAMPLES, block):
        drawn = rng.standard_exponential((min(block, RESAMPLES - done), questions + 1))
        yield drawn / drawn.sum(axis=1, keepdims=True)


def _off(
    own: ScoreMatrix, draws: ScoreMatrix, unseen: NDArray[np.float64], reach: float
) -> NDArray[np.float64]:
    """In each draw, how far the difference of two levels is from the one seen, at most."""
    # The largest effect seen does not rule out a larger one. The furthest two of many levels are compared, which is
    # caution enough for half of the reach: with all of it not even a lever that moves much is shown, with none one
    # sweep of noise in 15 shows one.
    apart = reach / 2 if (own.min(axis=1) < own.max(axis=1)).sum() >= _MANY else reach
    middle = np.array([mean(column) for column in own.T])
    means = draws @ (own - middle)
    # The question that was not seen says the opposite of what was.
    beside = apart + float(middle.max() - middle.min())
    result: NDArray[np.float64] = means.max(axis=1) - means.min(axis=1) + unseen * beside
    return result
