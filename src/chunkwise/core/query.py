"""A query, what is known about its answer, and what a metric says about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple


class Passage(NamedTuple):
    """A place in a document that is known by its id."""

    doc_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reference:
    """A place that holds something a question asks for."""

    doc_id: str
    start: int
    end: int
    alternatives: tuple[Passage, ...] = ()
    """Places that say the same: covering any of them is covering the reference."""

    @property
    def places(self) -> tuple[Passage, ...]:
        """The place itself, then its alternatives."""
        return (Passage(self.doc_id, self.start, self.end), *self.alternatives)


class Fact(NamedTuple):
    """Something a complete answer names, in any of its spellings."""

    text: str
    aliases: tuple[str, ...] = ()


class Label(NamedTuple):
    """What a person said about a place as an answer to a question."""

    doc_id: str
    start: int
    end: int
    relevant: bool
    grade: int | None = None
    """How well it answers, from 0 (not at all) to 3 (wholly); None: only whether it does was said."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question with an id that results can be joined by, and what is known about its answer."""

    id: str
    text: str
    references: tuple[Reference, ...] = ()
    answer: str | None = None
    facts: tuple[Fact, ...] = ()
    types: tuple[str, ...] = ()
    """What kind of question it is, in words of its author: tables are made by them."""
    labels: tuple[Label, ...] = ()
    split: str = ""
    """validation or test; empty: not split."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Score:
    """A figure, or the reason why there is none: unscored is a state, not a number."""

    value: float | None
    reason: str = ""
    """Why it is unscored; empty where it is scored."""
