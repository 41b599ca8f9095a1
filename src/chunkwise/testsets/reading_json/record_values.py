"""The values of a record: places, passages, facts, ids; a wrong one is told with what it should be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import chain

from chunkwise.core import Fact, Passage
from chunkwise.documents.fields import listed
from chunkwise.testsets.reading_json.json_values import HUGE
from chunkwise.testsets.reading_json.unread_fields import unread_of
from chunkwise.testsets.testset import Quote, UnreadField
from chunkwise.text.characters import SURROGATE

_DOCUMENT = (
    "doc_id", "document_id", "docid", "document", "doc", "file", "filename", "file_name", "path",
)  # fmt: skip
_START = ("start", "start_index", "start_char", "start_offset", "begin")
_END = ("end", "end_index", "end_char", "end_offset")
QUOTED = ("text", "quote", "passage", "content")
_FACT = ("fact", "text", "entity", "name", "value")
_ALIASES = ("aliases", "alias", "alternatives", "synonyms")
RELEVANT = ("relevant", "label", "relevance", "rating", "score", "is_relevant")
_LONGEST_NAME = 500
"""A document's name is shorter; what is longer is its text."""


class Wrong(Exception):
    """Why a record is no question."""


def whole_characters(text: str) -> str:
    """JSON can spell half a surrogate pair, which is no character: U+FFFD, as in documents."""
    return SURROGATE.sub("\ufffd", text)


class Record:
    """Values under their names in lower case; of two names that differ in case alone, the first."""

    def __init__(self, record: Mapping[str, object]) -> None:
        self.values: dict[str, object] = {}
        self._read: set[str] = set()
        self._missed: list[tuple[str, ...]] = []
        for name, value in record.items():
            if value is not None:
                self.values.setdefault(name.strip().lower(), value)

    def get(self, names: tuple[str, ...]) -> object:
        """The value under the first of the usual names, None where there is none."""
        for name in names:
            if name in self.values:
                self._read.add(name)
                return self.values[name]
        self._missed.append(names)
        return None

    def unread(self) -> tuple[UnreadField, ...]:
        """What was asked for by none of its names."""
        left = {name: value for name, value in self.values.items() if name not in self._read}
        return unread_of(left, chain.from_iterable(self._missed))

    def document(self, *more: str) -> str:
        value = self.get((*_DOCUMENT, *more))
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        is_name = isinstance(value, str) and len(value) <= _LONGEST_NAME and "\n" not in value
        return whole_characters(str(value)) if is_name else ""


def as_list(value: object) -> list[object]:
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def id_of(value: object, number: int) -> str:
    if value is None:
        return str(number)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Wrong(f"its id is {shown(value)}; a text or a number")
    _refuse_huge(value, "id")
    return whole_characters(str(value))


def text_of(value: object, what: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Wrong(f"its {what} is {shown(value)}; a text")
    _refuse_huge(value, what)
    return whole_characters(str(value))


def _refuse_huge(value: object, what: str) -> None:
    if isinstance(value, int) and abs(value) >= HUGE:
        raise Wrong(f"its {what} is {shown(value)}; write it as a text, in quotes")


def known_place(value: object, what: str, default: str) -> tuple[Passage, Quote]:
    place, quote = place_of(value, what, default)
    if place is None:
        raise Wrong(f"{what} has no place; give doc_id, start and end")
    return place, quote


def place_of(value: object, what: str, default: str) -> tuple[Passage | None, Quote]:
    """A place with what is said to stand there; without offsets, a text to be found."""
    if isinstance(value, str):
        return None, _quote(value, default, what)
    if not isinstance(value, dict):
        raise Wrong(f"{what} is {shown(value)}; a text, or a record with doc_id, start and end")
    record = Record(value)
    document = record.document("source", "title") or default
    text = record.get(QUOTED)
    said = text_of(text, f"text of {what}") if text is not None else ""
    start, end = record.get(_START), record.get(_END)
    span = record.get(("span",))
    if isinstance(span, list) and len(span) == 2:
        start, end = span
    if start is None and end is None:
        if not said:
            raise Wrong(f"{what} has neither a text nor start and end; it has {listed(value)}")
        return None, _quote(said, document, what)
    first = _offset(start, f"{what}: start")
    last = first + len(said) if end is None and said else _offset(end, f"{what}: end")
    return Passage(document, first, last), Quote(said, document)


def _quote(text: str, document: str, what: str) -> Quote:
    if not text.strip():
        raise Wrong(f"{what} is empty")
    return Quote(whole_characters(text), document)


def _offset(value: object, what: str) -> int:
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Wrong(f"{what} is {shown(value)}; offsets are whole numbers of characters")
    return value


def relevance_of(value: object, what: str) -> bool:
    if isinstance(value, bool | int | float):
        return value > 0
    raise Wrong(f"{what}: relevant is {shown(value)}; 0 or 1")


def fact_of(value: object) -> Fact:
    aliases: list[object] = []
    if isinstance(value, list):
        value, *aliases = value or [None]
    elif isinstance(value, dict):
        record = Record(value)
        value, aliases = record.get(_FACT), as_list(record.get(_ALIASES))
    text = text_of(value, "expected fact").strip()
    if not text:
        raise Wrong("an expected fact is empty")
    return Fact(text, tuple(text_of(each, "alias of a fact") for each in aliases))


def shown(value: object) -> str:
    """A value for a message, not all of it: it may be a whole file."""
    if value is None:
        return "missing"
    if isinstance(value, dict | list):
        return f"{'a record' if isinstance(value, dict) else 'a list'} of {len(value):,}"
    if isinstance(value, int) and abs(value) >= 10**40:
        return "a number of more than 40 digits"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
