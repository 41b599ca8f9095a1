"""One format a file: what a format is, which there are, and what one could not hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import ClassVar, Final, Protocol, TypeVar, runtime_checkable

from chunkwise.base.errors import ChunkwiseError, UnknownName
from chunkwise.base.wording import counted, listed, one_or_many
from chunkwise.core import Document, Query
from chunkwise.records.encoding import wide_encoding
from chunkwise.records.fields import WrongField, kind
from chunkwise.records.read import Row, wide_problem
from chunkwise.testsets.question_record import OWN_FIELDS, TrackedRecord
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
    about: ClassVar[str]
    """What it is, for whom does not know the name: one line."""

    def accepts(self, path: Path, head: bytes) -> bool:
        """Whether this is of the format, by name and first bytes; those of a folder are empty."""
        ...

    def read(self, path: Path) -> Iterator[Draft | Unreadable]:
        """The questions in their order; an entry that is none goes by, a file that is none is an error."""
        ...

    def write(
        self, testset: TestSet, documents: Sequence[Document] | None, path: Path
    ) -> list[str]:
        """Writes what the format can hold; a line for each thing that it cannot."""
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
            yield Unreadable(where, f"{kind(value)}, where a record is expected")
        else:
            record = TrackedRecord(value)
            try:
                made = make(where, record, str(number))
                yield replace(made, unread=record.unread()) if isinstance(made, Draft) else made
            except WrongField as error:
                yield Unreadable(where, str(error))


_CLASSES = {
    "beir": "BeirFormat",
    "autorag": "AutoragFormat",
    "squad": "SquadFormat",
    "legalbench": "LegalbenchFormat",
    "ragchecker": "RagcheckerFormat",
    "chroma": "ChromaFormat",
    "ragas": "RagasFormat",
    "trec": "TrecFormat",
    "chunkwise": "ChunkwiseFormat",
}
"""The class of each, in a module of its name; asked in this order, the least choosy last."""


class _Formats(Mapping[str, Format]):
    """Formats by name; a module is imported when its format is asked for."""

    def __getitem__(self, name: str) -> Format:
        if name not in _CLASSES:
            raise UnknownName(f"no format {name!r}; there are {', '.join(sorted(_CLASSES))}")
        module = import_module(f"{__package__}.{name}")
        made: Format = getattr(module, _CLASSES[name])()
        return made

    def __contains__(self, name: object) -> bool:
        return name in _CLASSES

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


FORMATS: Mapping[str, Format] = _Formats()


_FIELDS = {
    "answer": "answers",
    "facts": "expected facts",
    "types": "types",
    "labels": "labels",
    "split": "splits",
}
_NAMED = 3


class Losses:
    """Sentences about a format, each with the questions it is true of."""

    def __init__(self, format: str) -> None:
        self._format = format
        self._found: dict[str, list[str]] = {}

    def add(self, query: Query, what: str) -> None:
        self._found.setdefault(what, []).append(query.id)

    def fields(self, query: Query, holds: Collection[str] = ()) -> None:
        """Notes what the question has besides its text and references."""
        for name, words in _FIELDS.items():
            if name not in holds and getattr(query, name):
                self.add(query, f"{self._format} has no {words}")

    def ids(self, testset: TestSet) -> None:
        """For formats that number questions by their place: other ids are lost."""
        for number, query in enumerate(testset.queries, 1):
            if query.id != str(number):
                self.add(query, f"{self._format} has no ids; a question is known by its place")

    def lines(self) -> list[str]:
        return [f"{what}: {_ids_in_words(ids)}" for what, ids in self._found.items()]


def _ids_in_words(ids: list[str]) -> str:
    unique = list(dict.fromkeys(ids))
    named = listed(list(map(repr, unique)), _NAMED)
    return one_or_many(
        len(unique), f"question {named}", f"{counted(len(unique), 'question')} ({named})"
    )


def several(names: Iterable[str]) -> bool:
    """Whether more than one of them is different."""
    return len(set(names)) > 1


_HEAD = 1 << 16
"""Bytes by which a format is known."""


def detect(path: str | Path) -> Format:
    """The format of a file or folder, by its name and how it begins."""
    path = Path(path)
    try:
        head = b"" if path.is_dir() else _head(path)
        for format in FORMATS.values():
            if format.accepts(path, head):
                return format
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ChunkwiseError(f"cannot read the questions in {path}: {why}") from error
    if (encoding := wide_encoding(head)) is not None:
        raise ChunkwiseError(wide_problem(str(path), encoding))
    raise ChunkwiseError(
        f"{path} is of no format that is known ({', '.join(sorted(FORMATS))}); "
        "say which: chunkwise testset convert FILE --from FORMAT --to chunkwise; the simplest form is JSON: "
        '[{"query": "How long is the guarantee?", "relevant_text": "guaranteed for five years"}]'
    )


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD)
