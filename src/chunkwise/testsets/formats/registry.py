"""One format a file: what a format is, which there are, and what one could not hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import ClassVar, Final, NamedTuple, Protocol, TypeVar, runtime_checkable

from chunkwise.base.errors import ChunkwiseError, UnknownName
from chunkwise.base.wording import counted, listed, one_or_many
from chunkwise.core import Document, Query
from chunkwise.records.encoding import wide_encoding
from chunkwise.records.fields import WrongField, kind
from chunkwise.records.read import Row, wide_problem
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
    about: ClassVar[str]
    """What it is, for whom does not know the name: one line."""
    title: ClassVar[str]
    """What people call it."""
    lacks: ClassVar[tuple[str, ...]]
    """What it has no room for, by the names of `losses`."""

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
            yield Unreadable(where, f"{kind(value)}, where a record is expected")
        else:
            try:
                yield make(where, value, str(number))
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


def judged_documents(query: Query) -> list[str]:
    """Documents that hold a reference, or an alternative to one."""
    return list(dict.fromkeys(place.doc_id for each in query.references for place in each.places))


def whole(query: Query, lengths: Mapping[str, int]) -> bool:
    """Whether its references are whole documents, so that nothing is lost."""
    return all(
        place.start == 0 and place.end in (WHOLE, lengths.get(place.doc_id))
        for each in query.references
        for place in each.places
    )


class _Loss(NamedTuple):
    """Something a format may have no room for."""

    sentence: str
    """Of the format's name."""
    concerns: Callable[[Query, int, Mapping[str, int]], object]
    """Whether it is true of a question, by its place in the file and the lengths of the documents."""


_LOSSES = {
    "ids": _Loss("{} has no ids; a question is known by its place", lambda q, n, _: q.id != str(n)),
    "answer": _Loss("{} has no answers", lambda q, *_: q.answer),
    "facts": _Loss("{} has no expected facts", lambda q, *_: q.facts),
    "types": _Loss("{} has no types", lambda q, *_: set(q.types) - {"unanswerable"}),
    "labels": _Loss("{} has no labels", lambda q, *_: q.labels),
    "split": _Loss("{} has no splits", lambda q, *_: q.split),
    "references": _Loss("{} has no references", lambda q, *_: q.references),
    "unanswered": _Loss("{} leaves questions without a reference out", lambda q, *_: not q.references),
    "spans": _Loss("spans become whole documents in {}", lambda q, _, lengths: not whole(q, lengths)),
    "places": _Loss("places become texts in {}", lambda q, *_: q.references),
    "texts": _Loss(
        "{} wants the texts of references: name the documents",
        lambda q, _, lengths: any(each.doc_id not in lengths for each in q.references),
    ),
    "documents": _Loss(
        "{} asks about one document; references in others are left out",
        lambda q, *_: len({each.doc_id for each in q.references}) > 1,
    ),
    "several": _Loss(
        "several references are alternatives in {}", lambda q, *_: len(q.references) > 1
    ),
    "alternatives": _Loss(
        "{} has no alternatives", lambda q, *_: any(each.alternatives for each in q.references)
    ),
    "spaces": _Loss(
        "names have no spaces in {}; they become underscores",
        lambda q, *_: any(re.search(r"\s", name) for name in (q.id, *judged_documents(q))),
    ),
    "corpus": _Loss(
        "the texts are not known: name the documents to have them written in {}",
        lambda _, __, lengths: not lengths,
    ),
}  # fmt: skip


def losses(format: Format, testset: TestSet, documents: Sequence[Document] | None) -> Iterator[str]:
    """A line for each thing in the questions that the format has no room for."""
    lengths = {each.id: len(each.text) for each in documents or ()}
    for name in format.lacks:
        concerned = [
            query.id
            for number, query in enumerate(testset.queries, 1)
            if _LOSSES[name].concerns(query, number, lengths)
        ]
        if concerned:
            names = listed(list(map(repr, dict.fromkeys(concerned))), 3)
            many = f"{counted(len(concerned), 'question')} ({names})"
            where = one_or_many(len(concerned), f"question {names}", many)
            yield f"{_LOSSES[name].sentence.format(format.title)}: {where}"


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
