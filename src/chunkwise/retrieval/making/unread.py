"""Sources that could not be read this time, and the documents an index has of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property

from chunkwise.core import Document

_SHOWN = 3


class Unread:
    """Files, archives and folders, however their paths were spelt; `sources` has those of the index, by id."""

    def __init__(self, sources: Callable[[], Mapping[str, str]]) -> None:
        self._ask = sources
        self._places: set[str] = set()

    @cached_property
    def _sources(self) -> Mapping[str, str]:
        return self._ask()

    @cached_property
    def _ids(self) -> dict[str, str]:
        return {source: id for id, source in self._sources.items()}

    def add(self, source: str) -> None:
        self._places.add(_whole(source))

    def documents(self) -> list[str]:
        """The ids of documents whose source is one of these, or lies in one: a folder, an archive."""
        return [id for id in self._sources if self._has(id)] if self._places else []

    def id_of(self, document: Document, is_taken: Callable[[str], bool]) -> str:
        """The document's own id, unless it belongs to one that stays: of equal names the first has the plain one."""
        id = document.id
        if not self._places:
            return id
        if self._sources.get(id) != document.source and self._has(id):
            id = self._ids.get(document.source) or f"{document.source}/{id}"
        found, number = id, 1
        while is_taken(found):
            number += 1
            found = f"{id}~{number}"
        return found

    def _has(self, id: str) -> bool:
        source = self._sources.get(id)
        place = _whole(source) if source else os.sep
        while place not in self._places:
            above = os.path.dirname(place)
            if above == place:
                return False
            place = above
        return bool(source)

    def notes(self, left: list[str]) -> tuple[str, ...]:
        """What the user is told."""
        if not left:
            return ()
        shown = ", ".join(left[:_SHOWN]) + (", …" if len(left) > _SHOWN else "")
        count = f"{len(left):,} documents stay as they were, since their sources"
        if len(left) == 1:
            count = "1 document stays as it was, since its source"
        return (f"{count} could not be read this time: {shown}",)


def _whole(path: str) -> str:
    # Compared, never opened: it may be the name of an archive's member, or hold a NUL.
    return os.path.abspath(path)
