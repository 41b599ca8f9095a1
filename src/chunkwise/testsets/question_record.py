"""One question as people write it in JSON, whatever its fields are called; what nobody reads is told."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches

from chunkwise.base import wording
from chunkwise.base.wording import counted
from chunkwise.chunkers.chunk_offsets import stated_id, stated_place
from chunkwise.core import Fact, Query, Span
from chunkwise.records.fields import WrongField, label_of, listed, shown
from chunkwise.records.json import without_half_characters
from chunkwise.records.read import Row, Shape, json_rows, opened
from chunkwise.testsets.check import Problem
from chunkwise.testsets.testset import (
    Draft,
    GivenPassage,
    Origin,
    PassageRole,
    Unreadable,
    alternative_name,
)

_ALIKE = 0.85
_SHORTEST = 5
"""Characters; shorter names are alike by accident."""
_NAMED = 12


LIST_FIELDS = (
    "queries", "questions", "tests", "test_cases", "test_queries", "examples", "samples", "items",
    "entries", "data", "testset", "test_set", "results",
)  # fmt: skip
"""What the list of questions is called in an object."""
_SHAPE = Shape(LIST_FIELDS, by_id=True, alone=("query", "question", "text"), what="questions")

ID = ("query_id", "id", "_id", "qid", "question_id")
TEXT = ("query", "question", "user_input", "text")
_REFERENCES = ("references", "reference_spans", "relevant_spans", "spans", "evidence", "snippets")
_QUOTES = (
    "relevant_text", "relevant_texts", "relevant_passage", "relevant_passages", "relevant",
    "passage", "passages", "quote", "quotes", "reference_text", "reference_texts",
)  # fmt: skip
_CONTEXTS = ("reference_contexts", "reference_context", "context")
"""Passages, too, as other tools call them; only texts are taken, and only where none of ours is there."""
_ANSWER = (
    "expected_answer", "reference_answer", "ground_truth", "gold_answer", "gt_answer", "answer",
    "answers", "ground_truths",
)  # fmt: skip
_FACTS = ("facts", "expected", "expected_facts", "expected_entities", "entities", "key_facts")
TYPES = ("types", "type", "tags", "tag", "question_type", "query_type", "category", "categories")
_LABELS = ("labels", "ratings", "judgments", "judgments")

OWN_FIELDS = frozenset((*_REFERENCES, *_QUOTES, *_FACTS, *_LABELS)) - {"snippets"}
"""A record with one of these is ours, whatever else it has; LegalBench-RAG has snippets."""
_DOCUMENT = (
    "doc_id", "document_id", "docid", "document", "doc", "file", "filename", "file_name", "path",
)  # fmt: skip
_START = ("start", "start_index", "start_char", "start_offset", "begin")
_END = ("end", "end_index", "end_char", "end_offset")
_QUOTED = ("text", "quote", "passage", "content")
_FACT = ("fact", "text", "entity", "name", "value")
_ALIASES = ("aliases", "alias", "alternatives", "synonyms")
_RELEVANT = ("relevant", "label", "relevance", "rating", "score", "is_relevant")
_GRADE = ("grade",)
_KNOWN = frozenset(
    (
        *ID, *TEXT, *_REFERENCES, *_QUOTES, *_CONTEXTS, *_ANSWER, *_FACTS, *TYPES, *_LABELS, *_DOCUMENT, "contexts",
        "reference", "alt_references", "same_text_elsewhere", "split", "generated", "review", "pool", "is_impossible",
        "unanswerable", "answerable", "is_answerable",
    )
)  # fmt: skip
"""Every field of a question that is read; `review` and `pool` are for people."""


def unread_problems(counts: Counter[str], file: str) -> Iterator[Problem]:
    """A line for each field of a file that is a slip of a known one, and one for all other fields nobody reads."""
    others = []
    for name, count in counts.most_common():
        asked = counted(count, "question")
        if len(name) >= _SHORTEST and (meant := get_close_matches(name, _KNOWN, 1, _ALIKE)):
            text = f"unknown field {name!r} ({asked}); did you mean {meant[0]!r}?"
            yield Problem("misspelled_field", file, "", text)
        else:
            others.append(f"{name!r} ({asked})")
    if others:
        listed_ones = wording.listed(others, _NAMED)
        yield Problem("unread_fields", file, "", f"unknown fields: {listed_ones}")


_LONGEST_NAME = 500
"""A document's name is shorter; what is longer is its text."""


def question_rows(name: str, *, plain: bool = False) -> Iterator[Row]:
    """The rows of a file of questions, `-` for standard input; `plain` takes lines of text, too."""
    with opened(name) as handle:
        for row in json_rows(handle, name, _SHAPE._replace(plain=plain)):
            if row.key is not None:  # questions by their ids
                record = row.value if isinstance(row.value, dict) else {"query": row.value}
                row = row._replace(value={"query_id": row.key, **record})
            yield row


def draft_of(
    value: object, number: int, where: str, *, question_alone: bool = False
) -> Draft | Unreadable:
    """The question of an entry; `number` is its id where it has none.

    `question_alone` looks at nothing but its text and id, so that nothing else can be wrong.
    """
    try:
        if isinstance(value, str):
            return Draft(where, Query(str(number), without_half_characters(value)))
        if not isinstance(value, dict):
            raise WrongField("neither a question nor a record with one")
        record = _Question(value)
        question = record.question(number)
        return Draft(where, question) if question_alone else record.draft(question, where)
    except WrongField as error:
        return Unreadable(where, str(error))


class _Fields:
    """Values under their names in lower case; of two names that differ in case alone, the first."""

    def __init__(self, record: Mapping[str, object]) -> None:
        self.values: dict[str, object] = {}
        for name, value in record.items():
            # NaN is what some tools write for what is missing.
            if value is not None and value == value:
                self.values.setdefault(name.strip().lower(), value)

    def get(self, names: tuple[str, ...]) -> object:
        """The value under the first of the usual names, None where there is none."""
        return next((self.values[name] for name in names if name in self.values), None)

    def document(self, *more: str) -> str:
        value = self.get((*_DOCUMENT, *more))
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        is_name = isinstance(value, str) and len(value) <= _LONGEST_NAME and "\n" not in value
        return without_half_characters(str(value)) if is_name else ""


class _Question(_Fields):
    """A record that holds a question."""

    def question(self, number: int) -> Query:
        text = self.get(TEXT)
        if not isinstance(text, str):
            raise WrongField(
                f"no question text among {listed(self.values)}; expected a field {', '.join(TEXT)}"
            )
        return Query(id_of(self.get(ID), number), label_of(text, "question"))

    def draft(self, question: Query, where: str) -> Draft:
        passages = (*self._references(), *self._labels())
        question = replace(
            question,
            answer=self._answer(),
            facts=tuple(fact_of(item) for item in as_list(self.get(_FACTS))),
            types=self._types(),
            split=label_of(self.get(("split",)) or "", "split"),
        )
        unread = tuple(
            name
            for name, value in self.values.items()
            if name not in _KNOWN and value not in ("", [], {})
        )
        return Draft(where, question, passages, unread, self._origin())

    def _origin(self) -> Origin:
        """What somebody changed is theirs."""
        if "generated" not in self.values or self.values.get("review") == "edited":
            return "people"
        return "reviewed" if self.values.get("review") == "accepted" else "generated"

    def _references(self) -> Iterator[GivenPassage]:
        """References with their alternatives behind them."""
        default = self.document()
        listed_ones = as_list(self._given_references())
        values = [(value, f"reference {number}") for number, value in enumerate(listed_ones, 1)]
        values += [(value, f"passage {number}") for number, value in enumerate(self._quotes(), 1)]
        groups = []
        for value, name in values:
            reference = passage_of(value, "reference", name, default)
            inside = reference.document or default
            groups.append([reference, *_alternatives(value, name, inside)])
        self._add_elsewhere(groups, default)
        for reference, *others in groups:
            yield reference
            for number, other in enumerate(others, 1):
                yield replace(other, name=alternative_name(reference.name, number))

    def _given_references(self) -> object:
        given = self.get(_REFERENCES)
        if given is None and isinstance(self.values.get("reference"), dict | list):
            return self.get(("reference",))
        return given

    def _quotes(self) -> list[object]:
        given = self.get(_QUOTES)
        if given is not None:
            return as_list(given)
        # Beside an answer, contexts are what a system was given; a context alone is a passage.
        for name in (*_CONTEXTS, *(() if "answer" in self.values else ("contexts",))):
            values = as_list(self.values.get(name))
            if values and all(isinstance(value, str) for value in values):
                return as_list(self.get((name,)))
        return []

    def _add_elsewhere(self, groups: list[list[GivenPassage]], default: str) -> None:
        """Answers of other people, and the same text elsewhere, beside the reference they belong to."""
        more: list[tuple[list[GivenPassage], object, str]] = []
        placed = [group for group in groups if group[0].span is not None]
        if len(placed or groups) == 1:  # of several it is not said which one they stand for
            (one,) = placed or groups
            others = as_list(self.get(("alt_references",)))
            more += [(one, item, f"alt_references {at}") for at, item in enumerate(others, 1)]
        for at, item in enumerate(as_list(self.get(("same_text_elsewhere",))), 1):
            of = _Fields(item).get(("of",)) if isinstance(item, dict) else None
            if isinstance(of, bool) or not isinstance(of, int) or not 0 <= of < len(placed):
                raise WrongField(
                    f"same_text_elsewhere {at}: `of` is {shown(of)}; expected the position of "
                    f"a reference, from 0"
                )
            more.append((placed[of], item, f"same_text_elsewhere {at}"))
        for group, value, name in more:
            other = passage_of(value, "alternative", name, default)
            if _said(other) not in map(_said, group):
                group.append(other)

    def _labels(self) -> Iterator[GivenPassage]:
        default = self.document()
        for number, value in enumerate(as_list(self.get(_LABELS)), 1):
            name = f"label {number}"
            if not isinstance(value, dict):
                raise WrongField(
                    f"{name} is {shown(value)}; expected a record with doc_id, start, end, relevant"
                )
            fields = _Fields(value)
            grade = _grade(fields.get(_GRADE), name)
            said = fields.get(_RELEVANT)
            # An answer, or a part of one, is relevant.
            relevant = (
                grade >= 2 if said is None and grade is not None else relevance_of(said, name)
            )
            label = passage_of(value, "label", name, default)
            yield replace(label, relevant=relevant, grade=grade)

    def _answer(self) -> str | None:
        value = self.get(_ANSWER)
        if value is None and "user_input" in self.values:
            value = self.get(("reference",))  # as Ragas calls it
        if isinstance(value, list):
            value = value[0] if value else None
        if isinstance(value, dict):
            value = _Fields(value).get(_QUOTED)
        return None if value is None or value == "" else label_of(value, "answer")

    def _types(self) -> tuple[str, ...]:
        types = [label_of(item, "type") for item in as_list(self.get(TYPES))]
        impossible = self.get(("is_impossible", "unanswerable")) is True
        if impossible or self.get(("answerable", "is_answerable")) is False:
            types.append("unanswerable")
        return tuple(dict.fromkeys(item for item in types if item))


def as_list(value: object) -> list[object]:
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def id_of(value: object, number: int) -> str:
    return str(number) if value is None else label_of(value, "id")


def _alternatives(value: object, reference: str, default: str) -> Iterator[GivenPassage]:
    given = _Fields(value).get(("alternatives",)) if isinstance(value, dict) else None
    for number, item in enumerate(as_list(given), 1):
        name = alternative_name(reference, number)
        other = passage_of(item, "alternative", name, default)
        # The same words may stand in any document.
        is_text = other.span is None and other.text
        yield passage_of(item, "alternative", name, "") if is_text else other


def passage_of(value: object, role: PassageRole, name: str, default: str) -> GivenPassage:
    """A place with what is said to stand there; without offsets, a text to be found."""
    if isinstance(value, str):
        return GivenPassage(role, name, default, text=_quoted(value, name))
    if not isinstance(value, dict):
        raise WrongField(
            f"{name} is {shown(value)}; expected text, or a record with doc_id, start and end"
        )
    record = _Fields(value)
    # As tools nest it: page_content beside metadata with source and start_index.
    inside = stated_place(value)
    document = record.document("source", "title") or next(iter(inside.names), "") or default
    given = record.get(_QUOTED)
    text = label_of(inside.text or "" if given is None else given, f"text of {name}")
    start, end = record.get(_START), record.get(_END)
    span = record.get(("span",))
    if isinstance(span, list) and len(span) == 2:
        start, end = span
    if start is None and end is None:
        start, end = inside.start, inside.end
    if start is None and end is None:
        if text:
            return GivenPassage(role, name, document, text=_quoted(text, name))
        if (id := stated_id(value).id) is not None:
            return GivenPassage(role, name, document, chunk=without_half_characters(id))
        raise WrongField(f"{name} has no text, start or chunk id among {listed(value)}")
    first = _offset(start, f"{name}: start")
    if end is None and not text:
        chunk = stated_id(value).id or ""
        return GivenPassage(role, name, document, start=first, chunk=chunk)
    last = first + len(text) if end is None else _offset(end, f"{name}: end")
    return GivenPassage(role, name, document, Span(first, last), text)


def _said(passage: GivenPassage) -> tuple[object, ...]:
    """Two passages that say the same are one."""
    if passage.span is not None:
        return passage.document, passage.span
    return passage.document, passage.text, passage.start, passage.chunk


def _quoted(text: str, name: str) -> str:
    if not text.strip():
        raise WrongField(f"{name} is empty")
    return without_half_characters(text)


def _offset(value: object, what: str) -> int:
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise WrongField(f"{what} is {shown(value)}; expected an integer, in characters")
    return value


def _grade(value: object, what: str) -> int | None:
    if value is None or (type(value) is int and 0 <= value <= 3):
        return value
    raise WrongField(f"{what}: grade is {shown(value)}; expected 0, 1, 2 or 3")


def relevance_of(value: object, what: str) -> bool:
    if isinstance(value, bool | int | float):
        return value > 0
    raise WrongField(f"{what}: relevant is {shown(value)}; expected 0 or 1")


def fact_of(value: object) -> Fact:
    aliases: list[object] = []
    if isinstance(value, list):
        value, *aliases = value or [None]
    elif isinstance(value, dict):
        record = _Fields(value)
        value, aliases = record.get(_FACT), as_list(record.get(_ALIASES))
    text = label_of(value, "expected fact").strip()
    if not text:
        raise WrongField("an expected fact is empty")
    return Fact(text, tuple(label_of(alias, "alias of a fact") for alias in aliases))
