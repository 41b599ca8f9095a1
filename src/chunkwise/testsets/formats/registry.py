"""What a format is, and what formats have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final, Protocol, TypeVar, runtime_checkable

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document, Query
from chunkwise.records.fields import WrongField, kind
from chunkwise.records.read import Row
from chunkwise.testsets.question_record import OWN_FIELDS
from chunkwise.testsets.testset import Draft, TestSet, Unreadable

_Made = TypeVar("_Made")

_TOKENS = re.compile(rb'"((?:[^"\\]|\\.)*+)(?:"\s*+(:?)|\\?\Z)|([{}\[\]])', re.DOTALL)
"""Strings, and whether each is a key; one without an end takes all that is left. Brackets."""
_DEEPEST = 3

WHOLE: Final = -1
"""The end of a reference to a whole document whose length the file does not say."""


class Format(Protocol):
    """One way of writing questions down."""

    name: ClassVar[str]
    title: ClassVar[str]
    """What people call it."""

    def accepts(self, path: Path, head: bytes) -> bool:
        """Whether this is of the format, by name and first bytes; those of a folder are empty."""
        ...

    def read(self, path: Path) -> Iterator[Draft | Unreadable]:
        """The questions in their order; an entry that is none goes by, a file that is none is an error."""
        ...

    def write(self, testset: TestSet, documents: Sequence[Document] | None, path: Path) -> None:
        """Writes what the format can hold."""
        ...


@runtime_checkable
class CarriesDocuments(Protocol):
    """A format whose files hold the texts that are asked about."""

    def documents(self, path: Path) -> Iterator[Document | Unreadable]: ...


class JsonKeys:
    """Keys by the path of keys that leads to their records; lists add nothing to it."""

    def __init__(self, head: bytes) -> None:
        self._names: dict[tuple[str, ...], set[str]] = {}
        if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"[")):
            self._walk(head)

    def at(self, *path: str) -> set[str]:
        """The keys of the records that are found under these keys; of the outermost ones without any."""
        return self._names.get(path, set())

    def is_ours(self, *path: str) -> bool:
        """Whether the records there have fields of our own, which another format would throw away."""
        return bool(self.at(*path) & OWN_FIELDS)

    def _walk(self, head: bytes) -> None:
        path: list[str] = []  # the key before each open bracket, empty for those in lists
        key = ""
        for text, colon, bracket in _TOKENS.findall(head):
            if bracket in (b"{", b"["):
                path.append(key)
                key = ""
            elif bracket:
                key = ""
                if path:
                    path.pop()
            elif colon:
                key = text.decode("utf-8", "replace")
                if len(path) <= 2 * _DEEPEST:
                    self._names.setdefault(tuple(filter(None, path)), set()).add(key)
            else:
                key = ""


def header(head: bytes) -> set[str]:
    """The names in the first line of a CSV file."""
    line = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].decode("utf-8", "replace")
    return {name.strip().strip('"') for name in line.split(",")}


def entries_of(path: Path, values: object, what: str) -> Iterator[Row]:
    """The items of a list found in a JSON file; `what` says where it must stand."""
    if not isinstance(values, list):
        raise ChunkwiseError(f"{path} has no list of {what}")
    for number, value in enumerate(values, 1):
        yield Row(number, f"entry {number}", value)


def made_of(
    path: Path, rows: Iterable[Row], make: Callable[[str, Mapping[str, object], str], _Made]
) -> Iterator[_Made | Unreadable]:
    """What is made of each record and its number; the reason where nothing can be."""
    for number, row in enumerate(rows, 1):
        where, value = f"{path}, {row.where}", row.value
        if row.problem:
            yield Unreadable(where, row.problem)
        elif not isinstance(value, dict):
            yield Unreadable(where, f"{kind(value)}; expected a record")
        else:
            try:
                yield make(where, value, str(number))
            except WrongField as error:
                yield Unreadable(where, str(error))


def judged_documents(query: Query) -> list[str]:
    """Documents that hold a reference, or an alternative to one."""
    return list(
        dict.fromkeys(place.doc_id for reference in query.references for place in reference.places)
    )
