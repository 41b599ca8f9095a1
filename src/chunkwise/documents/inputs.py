"""What a verb is given: files, folders, patterns, archives, addresses, standard input and `Document`s, as one stream of
sources; and the one rule for what cannot be read."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath
from typing import NamedTuple, TypeVar

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, UnreadableDocument, warn_user
from chunkwise.base.object_store import (
    StoredFile,
    StoreEntry,
    address_of,
    local_name,
    look_up,
    shown_address,
)
from chunkwise.base.own_files import is_findings_file, is_index_folder, may_be_findings
from chunkwise.base.wording import counted, one_or_many, shown
from chunkwise.core import Document
from chunkwise.documents.archive import is_archive, members
from chunkwise.documents.document_ids import Ids
from chunkwise.documents.formats.parquet_and_dataframes import TableInput, TableLike, is_table
from chunkwise.documents.glob_patterns import (
    depth_of,
    is_pattern,
    names_a_kind,
    split_pattern,
    to_regex,
)
from chunkwise.documents.loader import LoadOptions, OnUnreadable, WhenUnreadable
from chunkwise.documents.remote_documents import read_ahead, walk_store
from chunkwise.documents.source import NO_SUCH_FILE, TOO_LONG_A_PATH, Source, os_reason, printable
from chunkwise.documents.walk import (
    LEFT_OUT,
    FileFilter,
    file_head,
    in_words,
    may_be_of_testset,
    no_documents_among,
    no_documents_below,
    walk,
)

STDIN = "-"
_STDIN_LIMIT = 4 << 30

Input = str | os.PathLike[str] | Document
"""One path, pattern, address or `-`, or a document that is there already."""
Inputs = Input | TableLike | Iterable[Input | TableLike]
"""The first argument, `source`, of every verb that reads documents."""


_Read = TypeVar("_Read")
_NEEDED = (
    "expected the path of a file, folder or archive, a glob, a URL, '-', a Document, a table, "
    "or a list of these (for a string, use chunk_text)"
)
_INDEX = "a chunkwise index, not documents; give the documents instead"
_READ_IT = "to read a file anyway, give its path"


class Unreadables:
    """The rule of every verb: what cannot be read is told, and the rest goes on; with no rest, it is an error."""

    def __init__(self, on_unreadable: WhenUnreadable = "warn") -> None:
        if not callable(on_unreadable) and on_unreadable not in ("warn", "raise", "ignore"):
            raise InvalidParameter(
                f"on_unreadable is {on_unreadable!r}; allowed: 'warn', 'raise', 'ignore', or a "
                "function that takes an UnreadableDocument"
            )
        self._what = on_unreadable
        self._waiting: list[UnreadableDocument] = []
        self._any_read = False

    def add(self, problem: UnreadableDocument) -> None:
        """One thing that cannot be read."""
        if callable(self._what):
            self._what(problem)
        elif self._what == "raise":
            raise _helped(problem)
        elif self._what == "warn" and self._any_read:
            warn_user(str(problem))
        elif self._what == "warn":
            self._waiting.append(problem)  # if nothing else is read either, it is the error

    def read(self) -> None:
        """A document was read."""
        self._any_read = True
        while self._waiting:
            warn_user(str(self._waiting.pop(0)))

    def end(self) -> None:
        """Raises the first problem where there was nothing else, and nobody has heard of it yet."""
        if self._waiting:
            first, *others = self._waiting
            self._waiting.clear()
            for problem in others:
                warn_user(str(problem))
            raise _helped(first)

    def of(self, outcomes: Iterable[_Read | UnreadableDocument]) -> Iterator[_Read]:
        """What was read of these."""
        for outcome in outcomes:
            if isinstance(outcome, UnreadableDocument):
                self.add(outcome)
            else:
                self.read()
                yield outcome
        self.end()


def _helped(problem: UnreadableDocument) -> UnreadableDocument:
    """Of a text where a path is needed: who takes texts, in one line."""
    if problem.reason not in (NO_SUCH_FILE, TOO_LONG_A_PATH) or not _may_be_text(problem.source):
        return problem
    name = " ".join(problem.source.split())
    why = f"{NO_SUCH_FILE}; for a string, use chunkwise.chunk_text or chunkwise.Document"
    return UnreadableDocument(shown(name), why)


def refuse_text(source: Inputs, options: LoadOptions) -> None:
    """Raises of a text where a path is needed: now, not when somebody goes through what was to be read from it."""
    may_raise = options.on_unreadable in ("warn", "raise")
    if isinstance(source, str) and _is_prose(source) and may_raise and address_of(source) is None:
        problems: list[UnreadableDocument] = []
        result = sources(source, problems.append, LoadOptions())
        if (
            next(iter(result), None) is None
            and problems
            and problems[0] is not _helped(problems[0])
        ):
            raise _helped(problems[0])


def _is_prose(name: str) -> bool:
    return " " in name.strip() or "\n" in name


def _may_be_text(name: str) -> bool:
    """Also one word that has nothing of a path."""
    return _is_prose(name) or not set(name) & set("./\\*?[~:")


def each_input(source: Inputs) -> Iterator[Input]:
    """Every input by itself; what can be none is refused, of several when its turn comes. Tables are for `read`."""
    return map(_no_table, each_input_or_table(source))


def each_input_or_table(source: Inputs) -> Iterator[Input | TableLike]:
    """The same with tables among them."""
    if isinstance(source, str | os.PathLike | Document) or is_table(source):
        return iter((source,))
    # Of a mapping the keys would be taken for paths, and the texts be lost.
    if isinstance(source, bytes | Mapping) or not isinstance(source, Iterable):
        raise InvalidParameter(f"source is {type(source).__name__}; {_NEEDED}")
    return map(_checked, source)


def _no_table(given: Input | TableLike) -> Input:
    if isinstance(given, str | os.PathLike | Document):
        return given
    raise InvalidParameter(
        f"source is a table ({type(given).__name__}); convert its rows first: "
        "list(chunkwise.read(table))"
    )


def _checked(given: Input | TableLike) -> Input | TableLike:
    if isinstance(given, str | os.PathLike | Document) or is_table(given):
        return given
    raise InvalidParameter(f"one source is {type(given).__name__}; {_NEEDED}")


IsKnown = Callable[[Source], bool]
"""Whether a file of a store is read already in the state it is in."""


class UnchangedSource(NamedTuple):
    """A file of a store that `IsKnown` spoke for, and that is not read."""

    source: Source


def sources(
    source: Inputs, on_unreadable: OnUnreadable, options: LoadOptions = LoadOptions()
) -> Iterator[Source | Document]:
    """Every file once, each with an id of its own, and documents as they are, in the order of the inputs.

    What cannot be reached goes to `on_unreadable`; files in `leave_out` of the options are passed over in silence. What
    nobody means in a folder is counted and told in one line at the end.
    """
    result = changed_sources(source, on_unreadable, options)
    # None is known, and the rows of a table are read from memory.
    return (item for item in result if not isinstance(item, UnchangedSource | TableInput))


def changed_sources(
    source: Inputs,
    on_unreadable: OnUnreadable,
    options: LoadOptions = LoadOptions(),
    is_known: IsKnown = lambda source: False,
) -> Iterator[Source | Document | UnchangedSource | TableInput]:
    """The same, and tables as they are; of stores only the names of files that are known."""
    names = _Names(options)
    told = options.on_passed_over or warn_user
    return _sources(each_input_or_table(source), names, on_unreadable, told, is_known)


def _sources(
    inputs: Iterator[Input | TableLike],
    names: _Names,
    on_unreadable: OnUnreadable,
    on_passed_over: Callable[[str], None],
    is_known: IsKnown,
) -> Iterator[Source | Document | UnchangedSource | TableInput]:
    for given in inputs:
        if isinstance(given, Document):
            yield given
            continue
        if not isinstance(given, str | os.PathLike):
            yield TableInput(names.distinct(Source("table", "table")).id, given)
            continue
        text = os.fspath(given)
        address = address_of(text)
        of_input = (
            _of_input(local_name(text), names, on_unreadable)
            if address is None
            else _of_address(address, names, on_unreadable, is_known)
        )
        for found in of_input:
            if isinstance(found, UnchangedSource):
                yield found
                continue
            try:
                if is_archive(found.head(512)):
                    yield from _of_archive(found, names, on_unreadable)
                else:
                    yield found
            except UnreadableDocument as error:
                on_unreadable(error)
    if names.passed_over:
        on_passed_over(f"skipped {in_words(names.passed_over)}; {_READ_IT}")


class _Names:
    """The files that were met, those that are read of them, and the ids they were given."""

    def __init__(self, options: LoadOptions) -> None:
        self.file_filter = FileFilter(
            options.include, options.exclude, pictures=options.ocr is not None
        )
        self.passed_over: Counter[str] = Counter()
        """Files nobody means, by their kinds."""
        self._ids = Ids(options.on_renamed)
        self._paths: set[str] = set()
        self._left_out = {os.path.realpath(path) for path in options.leave_out}

    def is_new(self, path: str) -> bool:
        absolute = path if "://" in path else os.path.abspath(path)
        new = absolute not in self._paths
        self._paths.add(absolute)
        return new

    def is_left_out(self, path: str) -> bool:
        # Following links costs a look at every folder of the path.
        return bool(self._left_out) and os.path.realpath(path) in self._left_out

    def distinct(self, source: Source) -> Source:
        """The source with an id of its own; a taken one gets the folder above its input in front."""
        id = self._ids.distinct(source.id, _folder_above(source))
        return source if id == source.id else replace(source, id=id)


def _folder_above(source: Source) -> str:
    """`two` of the file `a/b.md` in the folder `one/two`; nothing of what is no file."""
    if source.stored is not None:
        return source.origin.removesuffix(f"/{source.id}").rpartition("/")[2]
    if source.path is None:
        return ""
    path = PurePath(printable(os.path.abspath(source.path)))
    return path.parents[source.id.count("/")].name


def _of_input(text: str, names: _Names, on_unreadable: OnUnreadable) -> Iterator[Source]:
    try:
        if text == STDIN:
            yield names.distinct(_stdin(names))
        elif os.path.isdir(text):
            yield from _of_folder(text, names, on_unreadable)
        elif is_pattern(text) and not os.path.lexists(text):
            yield from _of_pattern(text, names, on_unreadable)
        else:
            os.stat(text)
            yield from _file(Path(text).name, text, names)
    except OSError as error:
        on_unreadable(UnreadableDocument(printable(text), os_reason(error)))
    except ValueError as error:  # a NUL character in the path
        on_unreadable(UnreadableDocument(printable(text), str(error)))
    except UnreadableDocument as error:
        on_unreadable(error)


def _file(name: str, path: str, names: _Names) -> Iterator[Source]:
    if names.is_new(path) and not names.is_left_out(path):
        yield names.distinct(Source(printable(name), printable(path), path=path))


def _of_archive(source: Source, names: _Names, on_unreadable: OnUnreadable) -> Iterator[Source]:
    silent = True
    result = _Found(names)

    def note(problem: UnreadableDocument) -> None:
        nonlocal silent
        silent = False
        on_unreadable(problem)

    for member in _documents_of(source, members(source, note)):
        if member is source:  # a zip that is one document comes back as itself, already named
            yield member
            return
        if result.takes(member.id.removeprefix(f"{source.id}/"), member):
            silent = False
            yield names.distinct(member)
    why = result.end("no documents in this archive")
    if silent:
        on_unreadable(UnreadableDocument(source.origin, why))


class _Found:
    """The files of one folder, pattern or archive: which are read, and why none is."""

    def __init__(self, names: _Names, *, named: bool = False) -> None:
        self._names = names
        self._named = named
        self._passed_over: Counter[str] = Counter()
        self.met = self.taken = 0

    def takes(self, below: str, source: Source) -> bool:
        """Whether a file is read, by its path below what was named."""
        self.met += 1
        choice = self._names.file_filter
        why_not = choice.why_not(printable(below), partial(_head, source), named=self._named)
        if why_not:
            self._passed_over[why_not] += 1
        else:
            self.taken += 1
        return not why_not

    def end(self, nothing: str) -> str:
        """Why nothing is read, empty where something is; `nothing` where there is no file at all."""
        left_out = self._passed_over.pop(LEFT_OUT, 0)
        if self.taken:
            self._names.passed_over += self._passed_over
            return ""
        if not self.met:
            return nothing
        if left_out:
            files = one_or_many(self.met, "the only file", f"all {counted(self.met, 'file')}")
            return f"{self._names.file_filter.patterns} excludes {files}"
        return f"it contains only {in_words(self._passed_over)}; {_READ_IT}"


def _head(source: Source) -> bytes:
    """The first bytes; of what cannot be read none, and reading will say so."""
    try:
        return source.head()
    except UnreadableDocument:
        return b""


def _documents_of(archive: Source, found: Iterator[Source]) -> Iterator[Source]:
    """The members of an archive without the questions of a test set; what may be such waits until all are known."""
    paths: list[str] = []
    waiting: dict[str, Source] = {}
    for member in found:
        path = member.id.removeprefix(f"{archive.id}/")
        paths.append(path)
        if member is not archive and may_be_of_testset(path):
            waiting[path] = member
        else:
            yield member
    if waiting:
        asking = no_documents_below(
            paths, lambda path: waiting[path].head() if path in waiting else b""
        )
        yield from (member for path, member in waiting.items() if path not in asking)


def _of_folder(folder: str, names: _Names, on_unreadable: OnUnreadable) -> Iterator[Source]:
    result = _Found(names)
    for below in walk(folder, on_unreadable):
        path = os.path.join(folder, below)
        takes = result.takes(below, Source(below, printable(path), path=path))
        if takes and not is_findings_file(path):
            yield from _file(below, path, names)
    nothing = _INDEX if is_index_folder(folder) else "no files in this folder"
    if not result.met and no_documents_among(os.listdir(folder), partial(file_head, folder)):
        nothing = "it contains only the questions of a test set"
    if why := result.end(nothing):
        on_unreadable(UnreadableDocument(printable(folder), why))


def _of_pattern(pattern: str, names: _Names, on_unreadable: OnUnreadable) -> Iterator[Source]:
    folder, rest = split_pattern(pattern)
    fits = _fitting(rest, pattern)
    result = _Found(names, named=names_a_kind(rest))
    if os.path.isdir(folder):
        # Folders the pattern only passes by are nobody's business, as in a shell.
        for below in walk(folder, lambda _: None, depth_of(rest)):
            path = below if folder == "." else os.path.join(folder, below)
            takes = fits(below) and result.takes(below, Source(below, printable(path), path=path))
            if takes and not is_findings_file(path):
                yield from _file(below, path, names)
    if why := result.end("no file matches this pattern"):
        on_unreadable(UnreadableDocument(printable(pattern), why))


def _fitting(rest: str, pattern: str) -> Callable[[str], re.Match[str] | None]:
    try:
        return to_regex(rest).fullmatch
    except re.error as error:
        raise UnreadableDocument(printable(pattern), f"not a valid pattern: {error}") from error


def _of_address(
    address: str, names: _Names, on_unreadable: OnUnreadable, is_known: IsKnown
) -> Iterator[Source | UnchangedSource]:
    """The files at an address: one, those below a folder, or those that fit a pattern."""
    shown = printable(shown_address(address))
    try:
        for source, problem in read_ahead(
            _listed(address, shown, names, on_unreadable), lambda source: not is_known(source)
        ):
            if problem is not None:
                on_unreadable(problem)
            elif source.is_elsewhere:
                yield UnchangedSource(source)
            elif source.origin == shown or not may_be_findings(source.name, source.head()):
                yield source
    except OSError as error:
        on_unreadable(UnreadableDocument(shown, os_reason(error)))
    except UnreadableDocument as error:
        on_unreadable(error)
    except ChunkwiseError as error:  # a package that is to be installed
        on_unreadable(UnreadableDocument(shown, str(error)))


def _listed(
    address: str, shown: str, names: _Names, on_unreadable: OnUnreadable
) -> Iterator[Source]:
    folder, rest = address, ""
    is_web = address.startswith(("http://", "https://"))  # there a question mark begins a query
    if is_pattern(address.replace("?", "") if is_web else address):
        scheme, _, tail = address.partition("://")
        folder, rest = split_pattern(tail)
        folder = f"{scheme}://{folder.removeprefix('.')}"
    else:
        stored, is_folder = look_up(address)
        if not is_folder:
            if names.is_new(shown):
                yield names.distinct(Source(_file_name(shown), shown, stored=stored))
            return
    fits = _fitting(rest, address) if rest else None
    result = _Found(names, named=bool(rest) and names_a_kind(rest))
    root = printable(shown_address(folder))
    path, is_folder = look_up(folder)
    depth = depth_of(rest) if rest else None
    for entry in walk_store(folder, path.path, on_unreadable, depth) if is_folder or is_web else ():
        if fits is not None and not fits(entry.below):
            continue
        source = _of_entry(entry, folder, root)
        if result.takes(entry.below, source) and names.is_new(source.origin):
            yield names.distinct(source)
    nothing = "no file matches this pattern" if rest else "no files in this folder"
    if why := result.end(nothing):
        on_unreadable(UnreadableDocument(shown, why))


def _of_entry(entry: StoreEntry, folder: str, root: str) -> Source:
    stored = StoredFile(folder, entry.path, entry.size, entry.version)
    below = printable(entry.below)
    return Source(below, f"{root}{'' if root.endswith('/') else '/'}{below}", stored=stored)


def _file_name(address: str) -> str:
    """The last part of an address, or its host."""
    path = address.partition("?")[0] if address.startswith("http") else address
    return path.rstrip("/").rpartition("/")[2]


def _stdin(names: _Names) -> Source:
    if not names.is_new(STDIN):
        raise UnreadableDocument("standard input", "can be read only once")
    if sys.stdin is None:
        raise UnreadableDocument("standard input", "closed")
    data = sys.stdin.buffer.read(_STDIN_LIMIT + 1)
    if len(data) > _STDIN_LIMIT:
        raise UnreadableDocument("standard input", f"larger than {counted(_STDIN_LIMIT, 'byte')}")
    return Source("stdin", "stdin", data=data)
