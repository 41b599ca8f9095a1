"""A question on its way into the test set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from chunkwise.core import Fact, Passage, Query, Reference
from chunkwise.testsets.generate.question_types import QuestionType
from chunkwise.testsets.generate.source_passages import SourcePassage
from chunkwise.text.terms.terms import text_terms


@dataclass(frozen=True, slots=True)
class ProposedQuestion:
    """What was written about some passages: nothing of it is believed yet."""

    kind: QuestionType
    passages: tuple[SourcePassage, ...]
    question: str
    answer: str
    facts: tuple[str, ...]
    quotes: tuple[str, ...]

    @classmethod
    def of(
        cls, kind: QuestionType, passages: tuple[SourcePassage, ...], value: Mapping[str, Any]
    ) -> ProposedQuestion:
        """From a model's answer of the form asked for."""
        return cls(
            kind,
            passages,
            on_one_line(value["question"]),
            on_one_line(value["answer"]),
            tuple(dict.fromkeys(filter(None, map(on_one_line, value["facts"])))),
            tuple(quote for quote in dict.fromkeys(value["quotes"]) if quote.strip()),
        )

    @property
    def language(self) -> str:
        """What words are read in: that of the first document."""
        return self.passages[0].language


@dataclass(frozen=True, slots=True)
class Candidate:
    """A draft whose quotes stand in the documents."""

    draft: ProposedQuestion
    references: tuple[Reference, ...]
    evidence: tuple[str, ...]
    """The text of each reference."""

    @property
    def question(self) -> str:
        return self.draft.question

    @property
    def answer(self) -> str:
        return self.draft.answer

    @property
    def language(self) -> str:
        return self.draft.language

    @property
    def id(self) -> str:
        """The same in every run."""
        return question_id(self.question, [reference.places[0] for reference in self.references])

    def query(self, facts: Sequence[str], types: Sequence[str]) -> Query:
        return Query(
            self.id,
            self.question,
            self.references,
            self.answer,
            tuple(Fact(each) for each in facts),
            tuple(types),
        )


def question_id(question: str, places: Sequence[Passage]) -> str:
    """By what is asked and where the answer stands."""
    said = repr((question, list(places))).encode("utf-8", "surrogatepass")
    return f"q-{blake2b(said, digest_size=5).hexdigest()}"


def words_in(text: str, language: str) -> frozenset[int]:
    """The content terms of a text, each once."""
    return frozenset(text_terms(text, language).hash.tolist())


def on_one_line(text: str) -> str:
    """Without line breaks and characters that do more than show."""
    shown = (each if each.isprintable() else " " for each in text)
    return " ".join("".join(shown).split())
