"""Sources that could not be read this time, and the documents an index has of them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import cached_property

from chunkwise.base.errors import UnreadableDocument
from chunkwise.base.wording import counted, one_or_many
from chunkwise.documents.formats.records_as_documents import NoText

_SHOWN = 3

_RECORD = re.compile(r"(.+)(?::\d+| record \d+)", re.S)
"""How a record of a corpus file is named: corpus.jsonl:3, corpus.json record 3."""
_KNOWN_RECORDS = ("duplicate id ", "... and ")
"""How it is said that records were read, and are no documents."""


class UnreadableSources:
    """Files, archives and folders, and files some of whose records could not be read, however their paths were spelt.

    `sources` has those of the index, by id.
    """

    def __init__(self, sources: Callable[[], Mapping[str, str]]) -> None:
        self._read_sources = sources
        self._paths: set[str] = set()
        self._files: set[str] = set()
        """Read, but for some of their records: which documents those were cannot be told."""

    @cached_property
    def _sources(self) -> Mapping[str, str]:
        return self._read_sources()

    def add(self, problem: UnreadableDocument) -> None:
        if isinstance(problem, NoText) or problem.reason.startswith(_KNOWN_RECORDS):
            return
        self._paths.add(whole(problem.source))
        if record := _RECORD.fullmatch(problem.source):
            self._files.add(whole(record[1]))

    def __bool__(self) -> bool:
        return bool(self._paths)

    def documents(self) -> list[str]:
        """The ids of documents whose source is one of these, or lies in one: a folder, an archive."""
        return [id for id in self._sources if self.has(id)] if self else []

    def has(self, id: str) -> bool:
        """Whether the document of this id stays, unless it is read after all."""
        source = self._sources.get(id) if self else None
        if not source:
            return False
        path = whole(source)
        return path in self._files or self._is_unread(path)

    def _is_unread(self, path: str) -> bool:
        while path not in self._paths:
            above = os.path.dirname(path)
            if above == path:
                return False
            path = above
        return True

    def notes(self, left: list[str]) -> tuple[str, ...]:
        """What the user is told of the documents that stay."""
        others: list[str] = []
        parts: list[str] = []
        for id in left:
            (others if self._is_unread(whole(self._sources[id])) else parts).append(id)
        messages = []
        if others:
            its = one_or_many(len(others), "its source", "their sources")
            messages.append(f"{_stay(others)}, since {its} couldn't be read: {_some(others)}")
        if parts:
            messages.append(
                f"{_stay(parts)}, since unreadable records of the same file may belong to "
                f"them: {_some(parts)}"
            )
        return tuple(messages)


def _stay(ids: list[str]) -> str:
    stay = one_or_many(len(ids), "is kept unchanged", "are kept unchanged")
    return f"{counted(len(ids), 'document')} {stay}"


def _some(ids: list[str]) -> str:
    return ", ".join(ids[:_SHOWN]) + (", …" if len(ids) > _SHOWN else "")


def whole(path: str) -> str:
    """A path however it was spelt: compared, never opened; it may be that of an archive's member, or hold a NUL."""
    return os.path.abspath(path)
