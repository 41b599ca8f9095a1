"""Which part of an index is searched: some documents, some sections, some pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from chunkwise.core import SECTION_SEPARATOR


@dataclass(frozen=True, slots=True)
class Filter:
    """Empty: everything. Several conditions all hold; several values of one: any of them."""

    documents: tuple[str, ...] = ()
    """Ids, or patterns such as `handbook/*.md`."""
    sections: tuple[str, ...] = ()
    """Words of a section path, in any case: `leave` finds "Handbook > Leave > Approval"."""
    pages: tuple[int, int] | None = None
    """First and last page, from 1; documents without pages are left out."""

    def __bool__(self) -> bool:
        return bool(self.documents or self.sections or self.pages)

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


EVERYTHING = Filter()
