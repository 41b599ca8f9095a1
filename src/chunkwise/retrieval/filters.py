"""Which part of an index is searched: some documents, sections or pages, by metadata, one level of summaries."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidOption
from chunkwise.core import SECTION_SEPARATOR
from chunkwise.options import FilterOptions
from chunkwise.retrieval.metadata_conditions import Clause, conditions_of


class Filter(FilterOptions):
    """The part of an index to search; an empty filter selects all."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "where", conditions_of(self.where))
        if self.pages is not None and self.pages[0] > self.pages[1]:
            raise InvalidOption("pages", self.pages, "expected the first page before the last")

    @classmethod
    def of(cls, options: FilterOptions) -> Filter:
        """Take the filter out of the options of a search."""
        return options.part(cls)

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """Parsed metadata conditions."""
        return cast("tuple[Clause, ...]", self.where)

    def __bool__(self) -> bool:
        return bool(
            self.documents or self.sections or self.pages or self.level is not None or self.where
        )

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
        """Whether a page range overlaps the filter."""
        if self.pages is None:
            return True
        return (
            first is not None
            and last is not None
            and first <= self.pages[1]
            and last >= self.pages[0]
        )


EVERYTHING = Filter()


def no_such_document(only: Filter, ids: Sequence[str]) -> str:
    """What is said of a filter by names that none of these documents has."""
    known = f"ids are as in {ids[0]!r}, patterns as in '*.md'" if ids else "there are none"
    return f"unknown document {' or '.join(map(repr, only.documents))}; {known}"


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
