"""Pairs of passages of different documents that speak of the same rare things."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations

import numpy as np

from chunkwise.generating.ground import Ground, SourcePassage

_COMMON = 8
"""Passages; a term that more of them have ties nothing together."""
_SHARED = 2
"""Rare terms that two passages must share."""
_OF_ONE = 3
"""Pairs of the same two documents for each round through all."""

Pair = tuple[SourcePassage, SourcePassage]


def pairs(ground: Ground) -> list[Pair]:
    """Those that share most first, no passage twice; pairs of the same two documents are kept apart."""
    shared, rarity = _shared(ground)
    order = sorted(
        (key for key, count in shared.items() if count >= _SHARED),
        key=lambda key: (-rarity[key], key),
    )
    used: set[int] = set()
    times: Counter[tuple[int, int]] = Counter()
    found: list[tuple[int, Pair]] = []
    for one, other in order:
        if one in used or other in used:
            continue
        used |= {one, other}
        first, second = ground.passages[one], ground.passages[other]
        documents = (first.at, second.at)
        found.append((times[documents] // _OF_ONE, (first, second)))
        times[documents] += 1
    return [pair for _, pair in sorted(found, key=lambda each: each[0])]


def _shared(ground: Ground) -> tuple[Counter[tuple[int, int]], Counter[tuple[int, int]]]:
    """Of every two passages of different documents, the rare terms they share: how many, how rare."""
    having: defaultdict[int, list[int]] = defaultdict(list)
    for passage in ground.passages:
        terms = ground.terms_of(passage)
        frequency = ground.frequencies(terms)
        for term in terms[(frequency > 1) & (frequency <= _COMMON)].tolist():
            having[term].append(passage.number)
    count: Counter[tuple[int, int]] = Counter()
    rarity: Counter[tuple[int, int]] = Counter()
    for numbers in having.values():
        worth = int(1000 * np.log1p(len(ground.passages) / len(numbers)))
        for one, other in combinations(numbers, 2):
            if ground.passages[one].at != ground.passages[other].at:
                count[one, other] += 1
                rarity[one, other] += worth
    return count, rarity
