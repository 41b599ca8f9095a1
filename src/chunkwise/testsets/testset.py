"""Questions as a file has them and as they are after reading."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from chunkwise.base.wording import counted, thousands
from chunkwise.core import Passage, Query


class Quote(NamedTuple):
    """A passage without a beginning and an end: its text, the chunk it is, or where it begins, to be found."""

    text: str
    document: str = ""
    """The document it is said to stand in, by whatever name; empty: any."""
    start: int | None = None
    """Where it begins, of a passage without a text."""
    chunk: str = ""
    """The id of the chunk that it is, of a passage without a text."""


class LabelledQuote(NamedTuple):
    """A passage given as text that a person has judged."""

    quote: Quote
    relevant: bool
    grade: int | None = None


class AlternativeQuote(NamedTuple):
    """What stands in for a reference, where it or the reference is to be found by its text."""

    of: int
    """The position of the reference: those with a place first, then the quotes."""
    number: int
    """Its own among the alternatives of the reference, from 1."""
    quote: Quote
    place: Passage | None = None
    """Where the file says it stands."""


class PassagePosition(NamedTuple):
    """Where a passage stands among those of its question."""

    position: int
    name: str
    """What messages call it: `reference 2`."""


class UnreadField(NamedTuple):
    """A field of a record that nobody asked for."""

    name: str
    meant: str = ""
    """The field that is read, was missed, and is spelled almost like it."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A question as a file has it, before its passages are found."""

    where: str
    """File and line (or entry), for messages."""
    query: Query
    """Its references and labels name documents as the file does; offsets are not checked yet."""
    quotes: tuple[Quote, ...] = ()
    """Each becomes a reference when it is found."""
    texts: tuple[str, ...] = ()
    """What the file says stands at each of the query's references, in their order; empty: it does not say."""
    alternative_texts: tuple[tuple[str, ...], ...] = ()
    """The same of the alternatives of each reference, where the file says something of any."""
    alternative_quotes: tuple[AlternativeQuote, ...] = ()
    """The alternatives that the query's references have no room for."""
    labelled_quotes: tuple[LabelledQuote, ...] = ()
    """Each becomes a label at every place where it is found."""
    label_texts: tuple[str, ...] = ()
    """What the file says stands at each of the query's labels; empty: it does not say."""
    spots: tuple[PassagePosition, ...] = ()
    """Of each reference, then of each quote; empty: they stand in this order, each kind counted from 1."""
    label_spots: tuple[PassagePosition, ...] = ()
    """Of each label, then of each labelled quote; empty: they stand in this order."""
    mended: tuple[str, ...] = ()
    """What the file has wrong and could be read all the same, a line each."""
    unread: tuple[UnreadField, ...] = ()
    is_generated: bool = False
    """Whether the record says that a program made it."""

    @property
    def names_texts(self) -> bool:
        """Whether there is more in it than the query has room for: what stands at places, or is to be found."""
        return any(
            (
                self.quotes,
                self.texts,
                self.alternative_texts,
                self.alternative_quotes,
                self.labelled_quotes,
                self.label_texts,
            )
        )


class Unreadable(NamedTuple):
    """An entry of a file that is no question."""

    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class TestSet:
    """Questions whose references are places in known documents."""

    __test__ = False  # the name is ours, not pytest's

    queries: tuple[Query, ...]
    name: str = ""
    hash: str = ""
    """SHA-256 of what the file says, in a form that does not depend on its layout."""
    unplaced: Mapping[str, Draft] = field(default_factory=dict, compare=False, repr=False)
    """Without documents: by id, the drafts of those questions that name texts, to be written as they came."""
    generated: frozenset[str] = field(default=frozenset(), compare=False)
    """The ids of questions that a program made."""

    def about(self, asked: Iterable[Query]) -> dict[str, str | int]:
        """What a result says of the questions that were asked; `generated` only where there are such."""
        ids = [query.id for query in asked]
        made = sum(id in self.generated for id in ids)
        told = {"generated": made} if made else {}
        return {"file": self.name, "hash": self.hash, "count": len(ids), **told}

    def __len__(self) -> int:
        return len(self.queries)


def generated_note(about: object) -> str:
    """A warning for whoever reads a result, from what `TestSet.about` says; empty: people wrote the questions."""
    made, every = (
        (about.get("generated"), about.get("count")) if isinstance(about, Mapping) else (0, 0)
    )
    if not isinstance(made, int) or not isinstance(every, int) or not made:
        return ""
    return (
        f"generated by a program: {thousands(made)} of {counted(every, 'question')}; people's questions are "
        "often harder"
    )


def hash_of(queries: Iterable[Query]) -> str:
    """SHA-256 of what is asked and where the answers are, however the file was written."""
    digest = hashlib.sha256()
    for query in queries:
        said = [
            query.id, query.text, query.answer, query.split, query.types, query.facts,
            [reference.places for reference in query.references], query.labels,
        ]  # fmt: skip
        digest.update(json.dumps(said, ensure_ascii=True, separators=(",", ":")).encode())
        digest.update(b"\n")
    return digest.hexdigest()


def shown_quote(text: str, most: int = 80) -> str:
    """A passage for a message: on one line, cut in the middle where it is long."""
    line = " ".join(text.split())
    if len(line) > most:
        line = f"{line[: most - most // 3]} … {line[-(most // 3) :]}"
    return f'"{line}"'
