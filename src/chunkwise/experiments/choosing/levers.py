"""How much each choice moves the objective, all others held: often it is not the splitter."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from chunkwise import spec
from chunkwise.experiments.choosing.field import Field
from chunkwise.experiments.choosing.fit import is_several
from chunkwise.experiments.choosing.main_effect import Member, comparable, effects
from chunkwise.experiments.choosing.twins import late_twins
from chunkwise.experiments.outcome import Outcome
from chunkwise.experiments.tuning import Level, Lever
from chunkwise.stats.detectable import FEWEST
from chunkwise.stats.resamples import RESAMPLES, resampled_means
from chunkwise.stats.student import LEVEL, student
from chunkwise.stats.table import Table, mean

LEVERS = (
    "boundaries", "size", "overlap", "context", "neighbours", "one size or several", "retriever", "weights",
)  # fmt: skip


def levers(field: Field) -> tuple[Lever, ...]:
    """Main effects on the questions that choose, the largest first; only levers with levels to compare."""
    twins = late_twins(field.outcomes)
    columns = [at for at in range(len(field.outcomes)) if at not in twins]
    columns = [at for at in columns if not np.isnan(field.scores[field.validation, at]).any()]
    scores = field.scores[field.validation]
    given = {name for at in columns for name in field.outcomes[at].configuration.levers}
    names = [*LEVERS, *sorted(given.difference(LEVERS))]
    members = {name: _members(field, name, columns) for name in names}
    found = {name: _Effect.of(own, scores) for name, own in members.items() if own}
    if not found or len(scores) < 2:
        return ()
    widths = _widths([effect.own for effect in found.values()], field.seed)
    moved = [
        _lever(name, effect, width, field)
        for (name, effect), width in zip(found.items(), widths, strict=True)
    ]
    return tuple(sorted(moved, key=lambda each: -each.effect))


def _members(field: Field, name: str, columns: Sequence[int]) -> list[Member]:
    members = []
    for column in columns:
        outcome = field.outcomes[column]
        values = outcome.configuration.levers
        if name == "one size or several":
            several = "several" if is_several(outcome) else "one"
            members.append(Member(column, _made_of(outcome), values.get(name, several)))
        elif name in values:
            # A strategy that knows no overlap has none.
            all_of_it = {"overlap": "none", **values}.items()
            rest = frozenset((key, value) for key, value in all_of_it if key != name)
            members.append(Member(column, (rest, is_several(outcome)), values[name]))
    return comparable(members)


def _made_of(outcome: Outcome) -> Hashable:
    """What is searched with: several sizes have no chunks, so they are held against all chunkings searched alike."""
    name, values = spec.parse(outcome.configuration.retriever)
    if not is_several(outcome):
        return name
    weights = {"words": values.get("words", 1), "dense": values.get("dense", 0.5)}
    if not weights["dense"]:
        return "bm25"
    return "hybrid" if weights["words"] else "dense"


class _Effect(NamedTuple):
    own: Table
    """Questions × levels: what each level adds."""
    levels: list[Level]

    @classmethod
    def of(cls, members: Sequence[Member], scores: Table) -> _Effect:
        counts = Counter(member.level for member in members)
        own = effects(members, list(counts), scores)
        adds = {level: mean(column) for level, column in zip(counts, own.T, strict=True)}
        reach = mean(np.array([mean(scores[:, member.column]) for member in members]))
        base = reach - sum(count * adds[level] for level, count in counts.items()) / len(members)
        return cls(own, [Level(level, base + adds[level], counts[level]) for level in counts])


def _lever(name: str, effect: _Effect, width: float, field: Field) -> Lever:
    levels = sorted(effect.levels, key=lambda level: -field.sign * level.mean)
    apart = abs(levels[0].mean - levels[-1].mean)
    return Lever(
        name, tuple(levels), apart, apart - width, apart + width,
        moves=apart > width and len(effect.own) >= FEWEST,
    )  # fmt: skip


def _widths(own: Sequence[Table], seed: int) -> list[float]:
    """How far the difference of any two levels may be off, in 19 resamples of 20; one a lever.

    Of any two: which are best and worst is seen on the same questions, and of many levels two always lie apart.
    """
    table = np.hstack(own)
    middle = np.array([mean(column) for column in table.T])
    means = resampled_means(table, seed=seed, resamples=RESAMPLES, together=True) - middle
    count = len(table)
    # Resamples of few questions spread too little (Hesterberg 2015).
    few = math.sqrt(count / (count - 1)) * student(LEVEL, count - 1) / LEVEL
    found = []
    for part in np.split(means, np.cumsum([each.shape[1] for each in own])[:-1], axis=1):
        off = float(np.quantile(part.max(axis=1) - part.min(axis=1), 0.95))
        found.append(float(f"{off * few:.12g}"))
    return found
