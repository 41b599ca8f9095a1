"""Gold text that a question missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chunkwise.evaluation.results import Missed


@dataclass(frozen=True, slots=True)
class MissedPassage:
    """Gold text that no hit covers."""

    doc_id: str
    start: int
    end: int
    text: str
    rank: int | None
    """Where it stands further down; None: not among the hits that were looked at."""

    @property
    def goes_on(self) -> bool:
        """Whether the text is only its beginning."""
        return self.end - self.start > len(self.text)


def missed_passages(missed: Sequence[Missed]) -> tuple[MissedPassage, ...]:
    return tuple(MissedPassage(*piece.passage, piece.text, piece.rank) for piece in missed)
