"""What documents are called: ids no two of them share, and which document a name means."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import PurePosixPath

from chunkwise.base.wording import listed, shown
from chunkwise.core import Document

_COMPARED = 20_000
"""Ids that a name with a slip is compared with."""
_COMPARISONS = 50_000
"""In all; a file with thousands of unknown names is one for other documents, and an example says as much."""
_NAMED = 3


class DocumentNames:
    """Knows documents by what people call them."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._ids = {document.id: number for number, document in enumerate(documents)}
        self._problems: dict[str, str] = {}
        self._compared = 0

    def find(self, name: str) -> int | str:
        """The number of the document, or why there is none."""
        number = self._ids.get(name)
        if number is not None:
            return number
        if not name and len(self._documents) == 1:
            return 0
        known = self._problems.get(name)
        if known is not None:
            return known
        fits: set[int] = set()
        for kind in self._kinds if name.strip() else ():
            for spelling in _spellings(name):
                result = kind.get(spelling, set())
                if len(result) == 1:
                    return next(iter(result))
                fits = fits or result
        return self._problems.setdefault(name, self._problem(name, fits))

    @cached_property
    def _kinds(self) -> list[dict[str, set[int]]]:
        """Of each way to name a document: which documents have which names."""
        ways: tuple[Callable[[Document], str], ...] = (
            lambda document: document.id,
            lambda document: document.source,
            lambda document: PurePosixPath(document.id).name,
            lambda document: PurePosixPath(document.id).stem,
            lambda document: document.title,
        )
        kinds = []
        for way in ways:
            known: dict[str, set[int]] = defaultdict(set)
            for number, document in enumerate(self._documents):
                if name := _plain(way(document)):
                    known[name].add(number)
            kinds.append(known)
        return kinds

    def _problem(self, name: str, fits: set[int]) -> str:
        if not name.strip():
            return "no doc_id, but there are several documents"
        if fits:
            ids = [self._documents[number].id for number in sorted(fits)]
            return f"{shown(name)} matches {listed(list(map(repr, ids)), _NAMED)}; use one id"
        near = self._near(name)
        hint = f"near: {', '.join(map(repr, near))}" if near else self._example
        return f"unknown document {shown(name)}; {hint}"

    def _near(self, name: str) -> list[str]:
        ids = self._some_ids
        self._compared += len(ids)
        # The first name is always compared, however many documents there are.
        if self._compared > max(_COMPARISONS, len(ids)):
            return []
        return get_close_matches(name[:200], ids, _NAMED, 0.5)

    @cached_property
    def _some_ids(self) -> list[str]:
        return list(self._ids)[:_COMPARED]

    @cached_property
    def _example(self) -> str:
        return f"ids are as in {next(iter(self._ids))!r}" if self._ids else "there are no documents"


def _plain(name: str) -> str:
    return name.replace("\\", "/").strip().removeprefix("./").casefold()


def _spellings(name: str) -> list[str]:
    """The name, and what is left of it when folders in front are taken away, one after the other."""
    parts = _plain(name).strip("/").split("/")
    return [_plain(name), *("/".join(parts[at:]) for at in range(min(len(parts), 32)))]


class Ids:
    """The ids given so far; the first that had to be another one is told, in one line."""

    def __init__(self, on_renamed: Callable[[str], None] | None = None) -> None:
        self._on_renamed = on_renamed
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}

    def __contains__(self, id: str) -> bool:
        return id in self._taken

    def distinct(self, id: str, source: str) -> str:
        """The id if it is free, else `source/id`, else that with `~2`, `~3` …"""
        given = id
        if id in self._taken and source:
            id = f"{source}/{id}"
        if id in self._taken:
            id = self._numbered(id)
        self._taken.add(id)
        if id != given and self._on_renamed is not None:
            self._on_renamed(
                f"duplicate document id {given!r}: the second one becomes {id!r}, and so on"
            )
            self._on_renamed = None
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
