"""The fields of a record: which of them holds its text, id or title; typed access, and what is wrong with one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache

from chunkwise.base import wording
from chunkwise.base.wording import thousands
from chunkwise.records.json import without_half_characters

Fields = Mapping[str, object]

_NAMED = 20
_SHOWN = 60
_LONGEST_OFFSET = 20
"""Characters of a number in a text."""
TEXT_FIELDS = (
    "text", "content", "contents", "body", "page_content", "passage", "passage_text", "document",
    "document_text", "doc_text", "full_text", "raw_text", "article", "chunk", "markdown",
)  # fmt: skip
ID_FIELDS = (
    "doc_id", "_id", "id", "docid", "document_id", "docno", "passage_id", "pid", "uid", "uuid",
    "key",
)  # fmt: skip
TITLE_FIELDS = ("title", "headline", "subject", "name")
_CHUNK_FIELDS = frozenset("id doc_id index start end text token_count strategy".split())
_QUESTION_FIELDS = ("query", "question", "user_input")
_GOLD_FIELDS = (
    "references", "reference_spans", "relevant_spans", "spans", "evidence", "snippets", "reference",
    "relevant_text", "relevant_texts", "relevant_passage", "relevant_passages", "relevant", "quote",
    "quotes", "reference_text", "reference_texts", "reference_contexts", "expected", "expected_answer",
    "expected_facts", "expected_entities", "facts", "key_facts", "ground_truth", "ground_truths",
    "reference_answer", "gold_answer", "gt_answer", "retrieval_gt", "labels", "judgments", "judgments",
)  # fmt: skip
"""What says how a question is to be answered; not `answer`: a list of questions and answers may be what is searched."""


class WrongField(ValueError):
    """Why a record cannot be used: the field, its value, what is needed. The other records are read."""


def field_of(names: Iterable[str], usual: tuple[str, ...], chosen: str | None) -> str | None:
    """The record's own spelling of the first usual name it has, or the user's choice."""
    if chosen is not None:
        return chosen if chosen in names else None
    spelled = spellings(tuple(names))
    return next((spelled[name] for name in usual if name in spelled), None)


@lru_cache(maxsize=256)
def spellings(names: tuple[str, ...]) -> Mapping[str, str]:
    """Names of fields in small letters, with the first spelling of each; most records of a file have the same names."""
    return {name.strip().lower(): name for name in reversed(names)}


def listed(names: Iterable[str]) -> str:
    """The names for a message, not too many of them."""
    return wording.listed(list(map(repr, names)), _NAMED) or "nothing"


def kind(value: object) -> str:
    """What a value is, in words."""
    names: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (bool, "true or false"), ((int, float), "a number"), (str, "a text"), (list, "a list"),
        (Mapping, "a record"),
    )  # fmt: skip
    return next((name for types, name in names if isinstance(value, types)), "nothing")


def shown(value: object) -> str:
    """A value for a message, not all of it: it may be a whole file, or a number of thousands of digits."""
    if value is None:
        return "missing"
    if isinstance(value, dict | list):
        return f"{'a record' if isinstance(value, dict) else 'a list'} of {thousands(len(value))}"
    return wording.shown(value, _SHOWN)


def string(record: Fields, *names: str) -> str:
    """The text under the first of these names that is there; it must be."""
    for name in names:
        value = record.get(name)
        if value is not None:
            if not isinstance(value, str):
                raise WrongField(f"its {name!r} is {kind(value)}, not text")
            return without_half_characters(value)
    raise WrongField(f"no {' or '.join(map(repr, names))} among {listed(record)}")


def optional_string(record: Fields, *names: str) -> str | None:
    """The same where it may be missing."""
    return string(record, *names) if any(record.get(name) is not None for name in names) else None


def identifier(record: Fields, *names: str) -> str | None:
    """An id, which may be a number."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            return without_half_characters(str(value)).strip() or None
        if value is not None:
            raise WrongField(f"its {name!r} is {kind(value)}, not an id")
    return None


def items(value: object, what: str) -> list[object]:
    """A list; nothing is an empty one."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise WrongField(f"its {what} are {kind(value)}, not a list")
    return value


def record_of(value: object, what: str) -> Fields:
    if not isinstance(value, dict):
        raise WrongField(f"{what} is {kind(value)}, not a record")
    return value


def offset(value: object, what: str) -> int:
    """A position in a text; others write them as 3.0 or "3" too."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        value = int(value) if len(value) < _LONGEST_OFFSET else None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise WrongField(f"{what} is {shown(value)}; expected an integer, 0 or more")
    return value


def label_of(value: object, what: str) -> str:
    """A text; a number is written as one."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise WrongField(f"its {what} is {shown(value)}; expected text")
    return without_half_characters(str(value))


def string_in(fields: Fields, *names: str) -> str | None:
    """The first of these fields that is a text and not empty; a whole number, as ids may be, is one, too."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None


def number_in(fields: Fields, *names: str) -> float | None:
    """The first of these fields that is a finite number."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            continue
        try:
            number = float(value)
        except (ValueError, OverflowError):
            continue
        if math.isfinite(number):
            return number
    return None


def integer_in(fields: Fields, *names: str) -> int | None:
    """A whole number, also as CSV and pandas write it: 12, "12", 12.0."""
    number = number_in(fields, *names)
    return int(number) if number is not None and number == int(number) else None


def text_field_of(record: Mapping[str, object], chosen: str | None) -> str | None:
    """The field of the text: of the usual names the first that holds one, else the first."""
    texts = [name for name, value in record.items() if isinstance(value, str)]
    return field_of(texts, TEXT_FIELDS, chosen) or field_of(record, TEXT_FIELDS, chosen)


def has_text(record: object, chosen: str | None) -> bool:
    """Whether this is a record of a corpus at all."""
    if not isinstance(record, Mapping):
        return False
    name = text_field_of(record, chosen)
    return name is not None and isinstance(record[name], str)


def is_blank(text: str) -> bool:
    """Whether a text is nothing but white space and a byte order mark."""
    text = text.lstrip("\ufeff")
    return not text or text.isspace()


def is_chunk(names: Iterable[str]) -> bool:
    """Whether chunkwise wrote this record itself."""
    return _CHUNK_FIELDS.issubset(names)


def are_questions(records: Iterable[object]) -> bool:
    """Whether all of these are questions without a text, and half of them or more say what is expected."""
    expected = count = 0
    for record in records:
        if not isinstance(record, Mapping) or field_of(record, TEXT_FIELDS, None) is not None:
            return False
        question = field_of(record, _QUESTION_FIELDS, None)
        if question is None or not isinstance(record[question], str):
            return False
        count += 1
        expected += field_of(record, _GOLD_FIELDS, None) is not None
    return count > 0 and expected * 2 >= count


QUESTIONS = "looks like test questions, not documents; to read it as documents, set --text-field"


def no_text(record: Mapping[str, object], chosen: str | None) -> str:
    """Why a record is no document, and what to do."""
    name = text_field_of(record, chosen)
    if name is not None:
        return f"its {name!r} is {kind(record[name])}, not text"
    if chosen is not None:
        return f"no text in its field {chosen!r}"
    return f"no text field among {listed(record)}; set it with --text-field"
