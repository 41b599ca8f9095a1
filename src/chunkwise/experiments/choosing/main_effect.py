"""What a level of a lever is worth, from configurations that differ in that lever alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from chunkwise.stats.table import Table

_DIGITS = 12
"""Of effects: beyond them they depend on the order of adding up."""


class Member(NamedTuple):
    """A configuration as one lever sees it."""

    column: int
    group: Hashable
    """Everything but the lever: members of one group differ in the lever alone."""
    level: str


def comparable(members: Sequence[Member]) -> list[Member]:
    """Those that others of another level can be held against, all levels linked with each other.

    Levels are linked when a group has both. Where they fall apart into several sets, the one with most members stays:
    between sets nothing can be said.
    """
    levels: defaultdict[Hashable, set[str]] = defaultdict(set)
    for member in members:
        levels[member.group].add(member.level)
    linked = [member for member in members if len(levels[member.group]) > 1]
    sets: list[set[str]] = []
    for own in levels.values():
        if len(own) > 1:
            touched = [each for each in sets if each & own]
            sets = [each for each in sets if not each & own] + [own.union(*touched)]
    counts = [sum(member.level in each for member in linked) for each in sets]
    if not counts:
        return []
    largest = sets[counts.index(max(counts))]
    return [member for member in linked if member.level in largest]


def effects(members: Sequence[Member], levels: Sequence[str], scores: Table) -> Table:
    """Questions × levels: what each level adds, by least squares over levels and groups; they add up to 0.

    Of two levels with one configuration each a group, the difference is the plain mean over the groups.
    """
    groups = {group: at for at, group in enumerate(dict.fromkeys(each.group for each in members))}
    of = np.array([groups[member.group] for member in members])
    # Each member minus the mean of its group: what is left of scores and levels is the lever alone.
    belongs = (of[:, None] == np.arange(len(groups))).astype(np.float64)
    centred = np.eye(len(members)) - belongs @ (belongs / belongs.sum(axis=0)).T
    numbers = {level: at for at, level in enumerate(levels)}
    has = np.zeros((len(members), len(levels)))
    has[np.arange(len(members)), [numbers[member.level] for member in members]] = 1.0
    # Levels add up to nothing in every group, so one direction is empty but for rounding: it must not count.
    weights = np.linalg.pinv(centred @ has, rcond=1e-9) @ centred
    own = scores[:, [member.column for member in members]]
    return np.round(own @ weights.T, _DIGITS) + 0.0
