"""The order in which passages are asked about: spread over documents by their size, and over sections within them."""

from __future__ import annotations

import heapq
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from chunkwise.generating.ground import SourcePassage

T = TypeVar("T")


def spread(passages: Sequence[SourcePassage], seed: int = 0) -> list[SourcePassage]:
    """All of them: every document has a turn before one has a second, then turns go by size.

    Within a document its sections take turns, each with its weightiest passage first.
    """
    documents: defaultdict[int, list[SourcePassage]] = defaultdict(list)
    for passage in passages:
        documents[passage.at].append(passage)
    chance = random.Random(seed)
    lines = {at: iter(_by_section(own, chance)) for at, own in documents.items()}
    sizes = {at: sum(len(each.text) for each in own) for at, own in documents.items()}
    return [passage for _, passage in by_size(lines, sizes)]


def by_size(lines: Mapping[int, Iterator[T]], sizes: Mapping[int, int]) -> Iterator[tuple[int, T]]:
    """What all lines have, each with the number of its line: one of every line, then by the lines' sizes."""
    # Highest averages: after k turns a line waits until its size over k + 1 is the largest.
    waiting = [(-1, -float(sizes[at]), at, 1) for at in lines]
    heapq.heapify(waiting)
    while waiting:
        _, _, at, turn = heapq.heappop(waiting)
        for found in islice(lines[at], 1):
            yield at, found
            heapq.heappush(waiting, (0, -sizes[at] / (turn + 1), at, turn + 1))


def _by_section(passages: Sequence[SourcePassage], chance: random.Random) -> list[SourcePassage]:
    sections: defaultdict[int, list[SourcePassage]] = defaultdict(list)
    for passage in passages:
        sections[passage.section].append(passage)
    lines = [sorted(own, key=lambda each: (-each.weight, each.start)) for own in sections.values()]
    # Weighty sections first, but not the same ones for every seed.
    lines.sort(key=lambda own: -own[0].weight * chance.uniform(0.8, 1.25))
    depth = max(map(len, lines), default=0)
    return [own[turn] for turn in range(depth) for own in lines if turn < len(own)]
