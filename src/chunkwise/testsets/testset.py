"""Questions as a file has them and as they are after reading."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from chunkwise.base.wording import counted, thousands
from chunkwise.core import Label, Passage, Query, Reference, Span

Origin = Literal["people", "generated", "reviewed"]
"""Who wrote a question: people, or a program, and then whether somebody accepted it as it is."""
PassageRole = Literal["reference", "alternative", "label"]


@dataclass(frozen=True, slots=True)
class GivenPassage:
    """A passage of a question as its file gives it: a place, a text to be found, a chunk, or where it begins."""

    role: PassageRole
    name: str
    """`reference 2`, for messages."""
    document: str = ""
    """As the file calls it; empty: it does not say."""
    span: Span | None = None
    """Where the file says it is; None: to be found."""
    text: str = ""
    """What the file says stands there; empty: it does not say."""
    start: int | None = None
    """Where it begins, where nothing else is said of it."""
    chunk: str = ""
    """The id of the chunk it is."""
    relevant: bool = False
    grade: int | None = None
    """Of a label."""

    @property
    def places(self) -> tuple[Passage, ...]:
        """The stated place, if there is one."""
        return () if self.span is None else (Passage(self.document, *self.span),)


def given_references(
    references: Iterable[Sequence[Passage]], texts: Sequence[str] = ()
) -> Iterator[GivenPassage]:
    """Passages for references given by their places, each with its alternatives; `texts` stand at the first places."""
    for number, places in enumerate(references):
        name = f"reference {number + 1}"
        for other, (document, start, end) in enumerate(places):
            text = texts[number] if texts and not other else ""
            role: PassageRole = "alternative" if other else "reference"
            named = alternative_name(name, other) if other else name
            yield GivenPassage(role, named, document, Span(start, end), text)


def alternative_name(reference: str, number: int) -> str:
    """Name an alternative in messages."""
    return f"{reference}, alternative {number}"


def placed_query(
    question: Query, placed: Iterable[tuple[GivenPassage, Sequence[Passage]]]
) -> Query:
    """The question with the places of its passages; labels count at every place of their text."""
    references: list[dict[Passage, None]] = []
    labels: list[Label] = []
    for passage, places in placed:
        if passage.role == "label":
            labels += [Label(*place, passage.relevant, passage.grade) for place in places]
        elif passage.role == "reference":
            references.append(dict.fromkeys(places))
        elif references[-1]:
            references[-1].update(dict.fromkeys(places))
    return replace(
        question,
        references=tuple(
            Reference(*first, tuple(others)) for first, *others in filter(None, references)
        ),
        labels=tuple(dict.fromkeys(labels)),
    )


@dataclass(frozen=True, slots=True)
class Draft:
    """A question as a file has it, before its passages are found."""

    where: str
    """File and line (or entry), for messages."""
    question: Query
    """Without references and labels."""
    passages: tuple[GivenPassage, ...] = ()
    """In the order of the file; alternatives follow their reference, labels come last."""
    unread: tuple[str, ...] = ()
    """Its fields that nobody reads."""
    origin: Origin = "people"

    @property
    def query(self) -> Query:
        """The question with the places that the file states, unchecked."""
        return placed_query(self.question, ((passage, passage.places) for passage in self.passages))

    @property
    def names_texts(self) -> bool:
        """Whether there is more in it than the query has room for: what stands at places, or is to be found."""
        return any(passage.text or passage.span is None for passage in self.passages)


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
    origins: Mapping[str, Origin] = field(default_factory=dict, compare=False)
    """By id, who wrote it, where that was not people."""
    where: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """By id, where in its file each question stands."""

    def about(self, asked: Iterable[Query]) -> dict[str, str | int]:
        """What a result says of the questions that were asked: how many, and how many of them a program wrote."""
        origins = [self.origins.get(query.id, "people") for query in asked]
        counts = {
            "generated": len(origins) - origins.count("people"),
            "reviewed": origins.count("reviewed"),
        }
        told = {name: count for name, count in counts.items() if count}
        return {"file": self.name, "hash": self.hash, "count": len(origins), **told}

    def __len__(self) -> int:
        return len(self.queries)


class QuestionCounts(NamedTuple):
    """Questions of a result, as `TestSet.about` says."""

    total: int = 0
    generated: int = 0
    reviewed: int = 0

    @classmethod
    def of(cls, about: object) -> QuestionCounts:
        given = about if isinstance(about, Mapping) else {}
        counts = (given.get(name) for name in ("count", "generated", "reviewed"))
        return cls(*(count if isinstance(count, int) else 0 for count in counts))

    @property
    def grade(self) -> Grade:
        people = self.total - self.generated
        if people >= CONFIRMING:
            return "confirmed"
        return "reviewed" if people + self.reviewed >= REVIEWED else "early"

    @property
    def is_unreviewed(self) -> bool:
        """Whether a program wrote too many of them to fail anything by what they say."""
        return self.generated > 0 and self.grade == "early"

    @property
    def note(self) -> str:
        """A warning for whoever reads a result; empty: people wrote the questions."""
        if not self.generated:
            return ""
        some = f"{thousands(self.generated)} of {counted(self.total, 'question')}"
        made = "All questions" if self.generated == self.total else some
        return f"{made} were generated; real questions are often harder"


Grade = Literal["early", "reviewed", "confirmed"]
"""How far what questions say can be trusted, by who wrote them."""
CONFIRMING, REVIEWED = 50, 25
"""Questions of people that confirm a result; questions of people, or accepted by one, that make it more than early."""
GRADES: Mapping[Grade, str] = {
    "early": "◔ early estimate", "reviewed": "◑ reviewed", "confirmed": "● confirmed",
}  # fmt: skip


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


def shown_quote(text: str) -> str:
    """A passage for a message: on one line, cut in the middle where it is long."""
    line = " ".join(text.split())
    if len(line) > 80:
        line = f"{line[:54]} … {line[-26:]}"
    return f'"{line}"'
