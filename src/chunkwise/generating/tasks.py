"""What is asked for, one after the other: a kind of question and the passages it is to be about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from chunkwise.generating.ground import Ground, SourcePassage
from chunkwise.generating.pairing import pairs
from chunkwise.generating.question_types import Kind, turns
from chunkwise.generating.spreading import spread

_ROUNDS = 3
"""Questions about one passage, each of another kind."""


@dataclass(frozen=True, slots=True)
class Task:
    """One question to be written."""

    kind: Kind
    passages: tuple[SourcePassage, ...]


def tasks(ground: Ground, shares: Mapping[Kind, float], seed: int = 0) -> Iterator[Task]:
    """As many as the passages give, the best first; the same for the same seed."""
    order = spread(ground.passages, seed)
    used: Counter[int] = Counter()
    asked: set[tuple[Kind, int]] = set()
    for round in range(_ROUNDS):
        lines = {kind: _line(kind, ground, order, round) for kind in shares}
        for kind in turns(shares):
            if kind not in lines:
                if not lines:
                    break
                continue
            for passages in lines[kind]:
                first = passages[0].number
                if (kind, first) not in asked and all(
                    used[each.number] <= round for each in passages
                ):
                    used.update(each.number for each in passages)
                    asked.add((kind, first))
                    yield Task(kind, passages)
                    break
            else:
                del lines[kind]


def _line(
    kind: Kind, ground: Ground, order: list[SourcePassage], round: int
) -> Iterator[tuple[SourcePassage, ...]]:
    """Passages that suit a kind of question."""
    if kind == "cross-document":
        return iter(pairs(ground) if not round else ())
    return ((each,) for each in order if _suits(kind, each))


def _suits(kind: Kind, passage: SourcePassage) -> bool:
    if kind == "numeric":
        return passage.has_numbers
    if kind == "list":
        return passage.has_list or passage.text.count(",") > 3
    return True
