"""Files, folders, patterns, archives and standard input as one stream of sources."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePath

from chunkwise.base.errors import UnreadableDocument
from chunkwise.documents.archive import is_archive, members
from chunkwise.documents.ids import Ids
from chunkwise.documents.loader import OnSkip
from chunkwise.documents.own_files import is_results_file
from chunkwise.documents.source import Source, os_reason, printable
from chunkwise.documents.walk import depth_of, is_pattern, split_pattern, to_regex, walk

STDIN = "-"
_STDIN_LIMIT = 4 << 30


Inputs = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""One path, pattern or `-`, or several."""


def sources(inputs: Inputs, on_skip: OnSkip, leave_out: Collection[Path] = ()) -> Iterator[Source]:
    """Every file once, each with an id of its own; what cannot be reached goes to `on_skip`.

    Files in `leave_out` are passed over in silence.
    """
    names = _Names(leave_out)
    for given in [inputs] if isinstance(inputs, str | os.PathLike) else inputs:
        text = os.fspath(given)
        for source in _of_input(text, names, on_skip):
            try:
                if is_archive(source.head(512)):
                    yield from _of_archive(source, names, on_skip)
                else:
                    yield source
            except UnreadableDocument as error:
                on_skip(error)


class _Names:
    """The files that were met, and the ids they were given."""

    def __init__(self, leave_out: Collection[Path]) -> None:
        self._ids = Ids()
        self._paths: set[str] = set()
        self._left_out = {os.path.realpath(path) for path in leave_out}

    def is_new(self, path: str) -> bool:
        absolute = os.path.abspath(path)
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
    if source.path is None:
        return ""
    path = PurePath(printable(os.path.abspath(source.path)))
    return path.parents[source.id.count("/")].name


def _of_input(text: str, names: _Names, on_skip: OnSkip) -> Iterator[Source]:
    try:
        if text == STDIN:
            yield names.distinct(_stdin(names))
        elif os.path.isdir(text):
            yield from _of_folder(text, names, on_skip)
        elif is_pattern(text) and not os.path.lexists(text):
            yield from _of_pattern(text, names, on_skip)
        else:
            os.stat(text)
            yield from _file(Path(text).name, text, names)
    except OSError as error:
        on_skip(UnreadableDocument(printable(text), os_reason(error)))
    except ValueError as error:  # a NUL character in the path
        on_skip(UnreadableDocument(printable(text), str(error)))
    except UnreadableDocument as error:
        on_skip(error)


def _file(name: str, path: str, names: _Names) -> Iterator[Source]:
    if names.is_new(path) and not names.is_left_out(path):
        yield names.distinct(Source(printable(name), printable(path), path=path))


def _of_archive(source: Source, names: _Names, on_skip: OnSkip) -> Iterator[Source]:
    silent = True

    def note(problem: UnreadableDocument) -> None:
        nonlocal silent
        silent = False
        on_skip(problem)

    for member in members(source, note):
        silent = False
        # A zip that is one document comes back as itself, already named.
        yield member if member is source else names.distinct(member)
    if silent:
        on_skip(UnreadableDocument(source.origin, "no documents in this archive"))


def _of_folder(folder: str, names: _Names, on_skip: OnSkip) -> Iterator[Source]:
    empty = True
    for below in walk(folder, on_skip):
        empty = False
        path = os.path.join(folder, below)
        if not is_results_file(path):
            yield from _file(below, path, names)
    if empty:
        on_skip(UnreadableDocument(printable(folder), "no files in this folder"))


def _of_pattern(pattern: str, names: _Names, on_skip: OnSkip) -> Iterator[Source]:
    folder, rest = split_pattern(pattern)
    try:
        matches = to_regex(rest).fullmatch
    except re.error as error:
        raise UnreadableDocument(printable(pattern), f"not a valid pattern: {error}") from error
    empty = True
    if os.path.isdir(folder):
        # Folders the pattern only passes by are nobody's business, as in a shell.
        for below in walk(folder, lambda _: None, depth_of(rest)):
            if matches(below):
                empty = False
                path = below if folder == "." else os.path.join(folder, below)
                if not is_results_file(path):
                    yield from _file(below, path, names)
    if empty:
        on_skip(UnreadableDocument(printable(pattern), "no file matches this pattern"))


def _stdin(names: _Names) -> Source:
    if not names.is_new(STDIN):
        raise UnreadableDocument("standard input", "can be read only once")
    if sys.stdin is None:
        raise UnreadableDocument("standard input", "closed")
    data = sys.stdin.buffer.read(_STDIN_LIMIT + 1)
    if len(data) > _STDIN_LIMIT:
        raise UnreadableDocument("standard input", f"larger than {_STDIN_LIMIT:,} bytes")
    return Source("stdin", "stdin", data=data)
