"""What a page needs besides figures to show questions and cuts: texts, hits and spans of the choice and a default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from chunkwise.core import Passage
from chunkwise.evaluation.results import Cuts, Missed


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A stretch of a document that was handed on."""

    doc_id: str
    start: int
    end: int
    rank: int
    summary: str = ""
    """What a summary says; it stands for places between `start` and `end`."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What one configuration found for a question."""

    score: float | None
    """The objective; None: unscored."""
    hits: tuple[Retrieved, ...]
    missed: tuple[Missed, ...] = ()
    """Of the gold text, with the rank at which it stands further down."""


@dataclass(frozen=True, slots=True)
class ExploredQuestion:
    """One question, asked of both."""

    id: str
    text: str
    gold: tuple[Passage, ...]
    chosen: Answered
    baseline: Answered


@dataclass(frozen=True, slots=True)
class CutDocument:
    """One document with the chunks of both, as offsets into its text."""

    doc_id: str
    chosen: tuple[tuple[int, int], ...]
    baseline: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Explorer:
    """The page takes of the texts what it shows, and no more than it has room for."""

    chosen: str
    """What the choice is called."""
    baseline: str
    """What the default it is held against is called."""
    questions: tuple[ExploredQuestion, ...]
    """The worst of the choice first; some 200 are enough."""
    texts: Mapping[str, str]
    """Whole documents by id; hits of documents that are not here are shown without text."""
    documents: tuple[CutDocument, ...] = ()
    cuts: Mapping[str, Cuts] = field(default_factory=dict)
    """Boundary issues with examples, by the name of the configuration."""
