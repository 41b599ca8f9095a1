"""Files, folders, patterns, archives and standard input as one stream of sources."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath

from chunkwise.documents.archive import is_archive, members
from chunkwise.documents.glob import depth_of, is_pattern, split_pattern, to_regex
from chunkwise.documents.loader import OnSkip
from chunkwise.documents.source import Source, os_reason, printable
from chunkwise.documents.walk import walk
from chunkwise.errors import UnreadableDocument

STDIN = "-"
_STDIN_LIMIT = 4 << 30


Inputs = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""One path, pattern or `-`, or several."""


def sources(inputs: Inputs, on_skip: OnSkip) -> Iterator[Source]:
    """Every file once, each with an id of its own; what cannot be reached goes to `on_skip`."""
    names = _Names()
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
    """Ids given so far. A taken id gets the folder above its input in front, then `~2`, `~3` …"""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._paths: set[str] = set()

    def is_new(self, path: str) -> bool:
        absolute = os.path.abspath(path)
        new = absolute not in self._paths
        self._paths.add(absolute)
        return new

    def distinct(self, source: Source) -> Source:
        name = source.id
        above = self._folders_above(source)
        while name in self._ids and above:
            name = f"{above.pop()}/{name}"
        stem, count = name, 1
        while name in self._ids:
            count += 1
            name = f"{stem}~{count}"
        self._ids.add(name)
        return Source(name, source.origin, source.path, source.data)

    @staticmethod
    def _folders_above(source: Source) -> list[str]:
        if source.path is None:
            return []
        parts = PurePath(printable(os.path.abspath(source.path))).parts[1:]
        return list(parts[: len(parts) - source.id.count("/") - 1])


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
    if names.is_new(path):
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
        yield from _file(below, os.path.join(folder, below), names)
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
