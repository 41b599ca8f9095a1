"""Section paths for chunks that outlive the analysis they were made by."""

from __future__ import annotations

from weakref import ref

from chunkwise.text.analysis import Analyzed
from chunkwise.text.sections import Sections


class SectionLookup:
    """Takes the sections from the analysis while it is there; chunks do not keep its arrays alive."""

    def __init__(self, analyzed: Analyzed) -> None:
        self._document = analyzed.document
        self._analyzed = ref(analyzed)
        self._sections: Sections | None = None

    def section(self, start: int, end: int) -> tuple[str, ...]:
        if self._sections is None:
            self._sections = (self._analyzed() or Analyzed(self._document)).sections
        return self._sections.section(start, end)
