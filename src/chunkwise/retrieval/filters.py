"""Which part of an index is searched: some documents, sections or pages, by metadata, one level of summaries."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from numbers import Integral
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import SECTION_SEPARATOR
from chunkwise.retrieval.metadata_conditions import Clause, Where, conditions_of


@dataclass(frozen=True, slots=True)
class Filter:
    """Empty: everything. Several conditions all hold; several values of one: any of them."""

    documents: tuple[str, ...] = ()
    """Ids, or patterns such as `handbook/*.md`."""
    sections: tuple[str, ...] = ()
    """Words of a section path, in any case: `leave` finds "Handbook > Leave > Approval"."""
    pages: tuple[int, int] | None = None
    """First and last page, from 1; documents without pages are left out."""
    level: int | None = None
    """0: chunks alone, 1: summaries of chunks, 2: summaries of those; None: all of them."""
    where: tuple[Clause, ...] = ()
    """On the metadata of documents; given as `{"year": 2024, "lang": ["de", "en"], "price": {">=": 10}}`, or as
    `"price>=10"`, or several of those. A list in the metadata is what it contains."""

    def __post_init__(self) -> None:
        # Given as a list, or as one str: what is meant is clear, and a filter has to be hashable.
        object.__setattr__(self, "documents", _texts("documents", self.documents))
        object.__setattr__(self, "sections", _texts("sections", self.sections))
        object.__setattr__(self, "pages", _pages(self.pages))
        object.__setattr__(self, "where", conditions_of(self.where))
        if self.level is not None and (not _is_whole(self.level) or self.level < 0):
            raise InvalidParameter(
                f"level is {self.level!r}; 0 for chunks alone, 1 for their summaries, 2 for summaries of those …"
            )
        if not all(map(str.strip, self.sections)):
            raise InvalidParameter(
                f"sections is {self.sections!r}; an empty text is in every path: write words of a heading"
            )

    def __bool__(self) -> bool:
        return bool(
            self.documents or self.sections or self.pages or self.level is not None or self.where
        )

    def and_where(self, where: Where) -> Filter:
        """The same, with more conditions on the metadata."""
        return replace(self, where=(*self.where, *conditions_of(where)))

    def takes_document(self, id: str) -> bool:
        return not self.documents or any(
            id == pattern or fnmatchcase(id, pattern) for pattern in self.documents
        )

    def takes_section(self, path: Sequence[str]) -> bool:
        if not self.sections:
            return True
        whole = SECTION_SEPARATOR.join(path).casefold()
        return any(words.casefold() in whole for words in self.sections)

    def takes_pages(self, first: int | None, last: int | None) -> bool:
        """Whether a stretch from one page to another touches the pages asked for."""
        if self.pages is None:
            return True
        return (
            first is not None
            and last is not None
            and first <= self.pages[1]
            and last >= self.pages[0]
        )


def _texts(name: str, given: object) -> tuple[str, ...]:
    values = (given,) if isinstance(given, str) else given
    if not isinstance(values, Collection) or not all(isinstance(each, str) for each in values):
        raise InvalidParameter(
            f"{name} is {given!r}; a text or several are needed, such as ('leave', 'pay')"
        )
    return tuple(values)


def _pages(given: object) -> tuple[int, int] | None:
    if given is None:
        return None
    if isinstance(given, Sequence) and len(given) == 2 and all(map(_is_whole, given)):
        first, last = map(int, given)
        if 1 <= first <= last:
            return first, last
    raise InvalidParameter(f"pages is {given!r}; a first and a last page from 1 are needed: (3, 5)")


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


EVERYTHING = Filter()


def no_such_document(only: Filter, ids: Sequence[str]) -> str:
    """What is said of a filter by names that none of these documents has."""
    known = f"ids are as in {ids[0]!r}, patterns as in '*.md'" if ids else "there are none"
    return f"no document is {' or '.join(map(repr, only.documents))}; {known}"


RowKind = Literal["chunk", "atom"]


def page_mask(
    pages: Sequence[NDArray[np.int64]],
    first: NDArray[np.int64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    only: Filter,
) -> NDArray[np.bool_]:
    """The rows that touch the pages asked for; `pages` has the starts of each document's pages."""
    taken = np.zeros(len(start), np.bool_)
    if only.pages is None:
        return ~taken
    low, high = only.pages
    for number, starts in enumerate(pages):
        rows = slice(int(first[number]), int(first[number + 1]))
        if len(starts):
            begins = starts.searchsorted(start[rows], "right")
            ends = starts.searchsorted(np.maximum(start[rows], end[rows] - 1), "right")
            taken[rows] = (begins <= high) & (ends >= low)
    return taken
