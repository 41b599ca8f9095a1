"""Ids of documents that come to an index in which others stay: none of those is replaced by a mere namesake."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cached_property

from chunkwise.core import Document
from chunkwise.retrieval.making.unread import whole


class Naming:
    """`sources` has those of the index by id, `stays` says which of its documents stay if they are not read."""

    def __init__(
        self, sources: Callable[[], Mapping[str, str]], stays: Callable[[str], bool]
    ) -> None:
        self._ask = sources
        self._stays = stays

    @cached_property
    def _places(self) -> dict[str, str]:
        """Where the documents came from, by id; those handed over from Python may be of nowhere."""
        spelt: dict[str, str] = {"": ""}
        sources = self._ask()
        for source in sources.values():
            if source not in spelt:
                spelt[source] = whole(source)
        return {id: spelt[source] for id, source in sources.items()}

    @cached_property
    def _namesakes(self) -> dict[tuple[str, str], list[str]]:
        """Ids by their place and their last part."""
        found: dict[tuple[str, str], list[str]] = defaultdict(list)
        for id, place in self._places.items():
            found[place, _last(id)].append(id)
        return found

    def id_of(self, document: Document, is_taken: Callable[[str], bool]) -> str:
        """The id the index knows the document by, or its own; of equal names the first has the plain one."""
        id = self._known(document)
        found, number = id, 1
        while is_taken(found):
            number += 1
            found = f"{id}~{number}"
        return found

    def _known(self, document: Document) -> str:
        id, place = document.id, whole(document.source) if document.source else ""
        if not place or self._places.get(id) in (place, ""):
            return id
        is_anothers = id in self._places and self._stays(id)
        for known in self._namesakes.get((place, _last(id)), ()):
            # A file has a longer id where the folder above it was named: deep/hours.txt, hours.txt.
            if (is_anothers or self._stays(known)) and _is_tail(id, known):
                return known
        if not is_anothers:
            return id
        # A file's source is a name already, and the one it has where both are read at once.
        return document.source if _is_tail(document.source, id) else f"{document.source}/{id}"


def _last(id: str) -> str:
    return id.rpartition("/")[2]


def _is_tail(one: str, other: str) -> bool:
    return one.endswith(f"/{other}") or other.endswith(f"/{one}")
