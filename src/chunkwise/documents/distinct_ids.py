"""Ids no two documents share, since chunk ids build on them: one rule for files, members and records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from chunkwise.core import Document


class Ids:
    """The ids given so far."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}

    def __contains__(self, id: str) -> bool:
        return id in self._taken

    def distinct(self, id: str, source: str) -> str:
        """The id if it is free, else `source/id`, else that with `~2`, `~3` …"""
        if id in self._taken and source:
            id = f"{source}/{id}"
        if id in self._taken:
            id = self._numbered(id)
        self._taken.add(id)
        return id

    def _numbered(self, stem: str) -> str:
        # Counted on from the last one: thousands of equal names would else be tried from 2 each.
        number = self._last.get(stem, 1) + 1
        while (id := f"{stem}~{number}") in self._taken:
            number += 1
        self._last[stem] = number
        return id


def distinct_documents(documents: Iterable[Document]) -> Iterator[Document]:
    """The same documents; one whose id is taken is named after its source, too."""
    ids = Ids()
    for document in documents:
        id = ids.distinct(document.id, document.source)
        yield document if id == document.id else replace(document, id=id)
