"""A query, what is known about its answer, and what a metric says about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import shown

if TYPE_CHECKING:
    from chunkwise.core.hit import Hit


class Passage(NamedTuple):
    """A span of a document that is named by its id."""

    doc_id: str
    start: int
    end: int

    def overlaps(self, other: Passage | Reference | Hit) -> bool:
        """Whether both have a character in common."""
        low, high = max(self.start, other.start), min(self.end, other.end)
        return self.doc_id == other.doc_id and low < high


@dataclass(frozen=True, slots=True)
class Reference:
    """A span, or one of several alternative spans, that answers a part of a question."""

    doc_id: str
    start: int
    end: int
    alternatives: tuple[Passage, ...] = ()
    """Equivalent spans: covering one of them covers the reference."""

    def __post_init__(self) -> None:
        if not isinstance(self.doc_id, str):
            raise InvalidParameter(
                f"the doc_id of a reference is {shown(self.doc_id)}; expected a str: the id of a document"
            )
        of = f"the reference to {self.doc_id!r}"
        for name in ("start", "end"):
            if type(given := getattr(self, name)) is not int:
                object.__setattr__(self, name, _whole_number(f"the {name} of {of}", given))
        if self.alternatives:
            _keep_tuple(self, "alternatives", Passage, of)

    @property
    def places(self) -> tuple[Passage, ...]:
        """The span and its alternatives."""
        return (Passage(self.doc_id, self.start, self.end), *self.alternatives)


class Fact(NamedTuple):
    """A fact that a complete answer states, in any of its spellings."""

    text: str
    aliases: tuple[str, ...] = ()


class Label(NamedTuple):
    """A person's relevance label of a span for a question."""

    doc_id: str
    start: int
    end: int
    relevant: bool
    grade: int | None = None
    """How well it answers, from 0 (not at all) to 3 (wholly); None: the judge gave only yes or no."""


@dataclass(frozen=True, slots=True)
class Query:
    """A test question with an id and its references.

    Example:
        >>> chunkwise.Query("q1", "Who approves leave?")
    """

    id: str
    text: str
    references: tuple[Reference, ...] = ()
    answer: str | None = None
    facts: tuple[Fact, ...] = ()
    types: tuple[str, ...] = ()
    """Question types, which reports group by."""
    labels: tuple[Label, ...] = ()
    split: str = ""
    """validation, test or empty."""

    def __post_init__(self) -> None:
        of = f"the question {shown(self.id)}"
        for name in ("id", "text"):
            if not isinstance(given := getattr(self, name), str):
                example = f": {str(given)!r}" if isinstance(given, int) else ""
                raise InvalidParameter(
                    f"the {name} of {of} is {shown(given)}; expected a str{example}"
                )
        for name, kind in _KEPT:
            if getattr(self, name) != ():
                _keep_tuple(self, name, kind, of)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


_KEPT: tuple[tuple[str, type], ...] = (
    ("references", Reference),
    ("facts", Fact),
    ("types", str),
    ("labels", Label),
)


def _keep_tuple(value: object, name: str, kind: type, of: str) -> None:
    """A list becomes a tuple; what holds anything else than values of this class is refused."""
    given = getattr(value, name)
    if type(given) is not tuple:
        if isinstance(given, str | tuple | Mapping) or not isinstance(given, Iterable):
            raise InvalidParameter(
                f"the {name} of {of} is {shown(given)}; expected a tuple of {kind.__name__}: (…,)"
            )
        given = tuple(given)
        object.__setattr__(value, name, given)
    for each in given:
        if not isinstance(each, kind):
            raise InvalidParameter(
                f"the {name} of {of} has {shown(each)}; expected {kind.__name__}"
            )


def _whole_number(what: str, given: object) -> int:
    try:
        return index(given)  # type: ignore[arg-type]  # of NumPy, for one
    except TypeError:
        raise InvalidParameter(
            f"{what} is {shown(given)}; expected an integer: an offset in the document's text"
        ) from None


@dataclass(frozen=True, slots=True)
class Score:
    """A value, or the reason why there is none."""

    value: float | None
    reason: str = ""
    """Why it is unscored, else empty."""
