"""What a profile says, as frozen values: the keys of its JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass

from chunkwise.base.repr_html import drawn
from chunkwise.base.wording import counted
from chunkwise.records.json import json_text

VERSION = 1
"""Of the JSON: goes up when a key changes its meaning or disappears."""

FITS = (100, 200, 400, 800)
"""Chunk sizes, in tokens, whose fit is told."""

OVERSIZED = (100, 200)
"""A sentence with more tokens than this is oversized, or very much so."""


@dataclass(frozen=True, slots=True)
class SizeBin:
    """How many sizes lie above `above` and at or below `up_to` tokens; None: no upper end."""

    above: int
    up_to: int | None
    count: int


@dataclass(frozen=True, slots=True)
class SizeSummary:
    """Sizes in tokens."""

    count: int
    total: int
    mean: float
    median: int
    p95: int
    longest: int
    histogram: tuple[SizeBin, ...] = ()


@dataclass(frozen=True, slots=True)
class PassagePlace:
    """A passage by name: where it stands and how it starts."""

    document: str
    start: int
    """Offset in code points."""
    tokens: int
    section: str = ""
    """Path of headings; empty: outside any section."""
    text: str = ""
    """Its first 80 characters, whitespace collapsed."""


@dataclass(frozen=True, slots=True)
class Oversized:
    """Sentences too long for small chunks."""

    over_100: int
    over_200: int
    share_over_100: float
    """Of all sentences."""
    share_over_200: float
    examples: tuple[PassagePlace, ...]
    """The three longest."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """A passage that is in the corpus more than once."""

    count: int
    tokens: int
    """Of one copy."""
    text: str
    places: tuple[PassagePlace, ...]
    """The first three."""


@dataclass(frozen=True, slots=True)
class Repeats:
    """Paragraphs and sentences of at least 8 words that occur more than once in the whole corpus."""

    passages: int
    """Distinct passages; a sentence of a repeated paragraph is not told again."""
    copies: int
    """Their occurrences in this group."""
    token_share: float
    """Tokens of these occurrences among the tokens of the group."""
    examples: tuple[Repeat, ...]
    complete: bool = True
    """False: the corpus has more passages than are compared, the first ones were."""


@dataclass(frozen=True, slots=True)
class DocumentGroup:
    """Documents that share a folder or a format, or all of them."""

    name: str
    documents: int
    empty_documents: int
    documents_with_headings: int
    characters: int
    tokens: int
    languages: dict[str, int]
    """Documents by language, most frequent first; source code is "code: python"."""
    formats: dict[str, int]
    """Documents by format."""
    lengths: SizeSummary
    """Documents."""
    sections: SizeSummary
    """From one heading to the next; text without headings is one section."""
    longest_section: PassagePlace | None
    fits: dict[int, float]
    """Share of sections that fit whole into so many tokens."""
    sentences: SizeSummary
    """Of prose: paragraphs and list items."""
    paragraphs: SizeSummary
    lists: SizeSummary
    tables: SizeSummary
    code: SizeSummary
    """Blocks of code, and source files."""
    oversized: Oversized
    repeats: Repeats

    @property
    def spoken(self) -> dict[str, int]:
        """Documents by the languages of people: without source code."""
        return {name: n for name, n in self.languages.items() if name.split(":")[0] != "code"}

    def share(self, sizes: SizeSummary) -> float:
        """Tokens in blocks of one kind among all tokens."""
        return sizes.total / self.tokens if self.tokens else 0.0


@dataclass(frozen=True, slots=True, repr=False)
class Profile:
    """Sizes, sections, languages and duplicates of a corpus."""

    tokenizer: str
    total: DocumentGroup
    folders: tuple[DocumentGroup, ...]
    """By top-level folder of the document id, "." for none; most tokens first."""
    formats: tuple[DocumentGroup, ...]
    notes: tuple[str, ...]
    """What is unusual in it."""

    def to_dict(self) -> dict[str, object]:
        """JSON-ready: the fields' names, and the version of this form."""
        return {"kind": "chunkwise profile", "version": VERSION, **json.loads(json_text(self))}

    def __repr__(self) -> str:
        """Its size."""
        total = self.total
        return f"<Profile {counted(total.documents, 'document')}, {counted(total.tokens, 'token')}>"

    def _repr_html_(self) -> str:
        return drawn(self)


PREVIEW = 80


def preview(text: str, start: int, end: int) -> str:
    """The first 80 characters of a passage, white space collapsed."""
    return " ".join(text[start : min(end, start + 4 * PREVIEW)].split())[:PREVIEW]
