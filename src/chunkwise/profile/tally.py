"""Running figures of the documents of one folder and format; sums of tallies are tallies."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import BLOCK_KINDS, SECTION_SEPARATOR
from chunkwise.profile.results import OVERSIZED, Place
from chunkwise.profile.sizes import Sizes
from chunkwise.text.analysis import Analyzed
from chunkwise.text.language import language_of

PREVIEW = 80
_EXAMPLES = 3


def preview(text: str, start: int, end: int) -> str:
    """The first 80 characters of a passage, white space collapsed."""
    return " ".join(text[start : min(end, start + 4 * PREVIEW)].split())[:PREVIEW]


class Tally:
    """Counts and size distributions; holds no text but a few examples."""

    def __init__(self) -> None:
        self.documents = 0
        self.empty = 0
        self.headed = 0
        self.characters = 0
        self.languages: Counter[str] = Counter()
        self.lengths = Sizes()
        self.sections = Sizes()
        self.sentences = Sizes()
        self.paragraphs = Sizes()
        self.lists = Sizes()
        self.tables = Sizes()
        self.code = Sizes()
        self.longest_section: Place | None = None
        self.oversized: list[Place] = []

    def add(self, document: Analyzed, tokens: NDArray[np.int64]) -> None:
        """Count one document; `tokens` are the starts of its tokens."""
        self.documents += 1
        if not len(document.characters.solid):
            self.empty += 1
            return
        self.characters += len(document.text)
        self.languages[language_of(document.document)] += 1
        self.lengths.add(np.array([len(tokens)]))
        self.headed += len(document.sections) > 1
        self._add_sections(document, tokens)
        if document.document.format == "code":
            self.code.add(np.array([len(tokens)]))
            return
        self._add_sentences(document, tokens)
        blocks = document.blocks
        # Most short documents have paragraphs only: looking for more would take longer than these.
        kinds = {BLOCK_KINDS[kind] for kind in set(blocks.kind.tolist())}
        self.paragraphs.add(_sizes(blocks.spans("paragraph"), tokens))
        if "item" in kinds:
            self.lists.add(_sizes(blocks.lists, tokens))
        if kinds & {"header", "row"}:
            self.tables.add(_sizes(blocks.tables, tokens))
        if "code" in kinds:
            self.code.add(_sizes(blocks.code, tokens))

    def _add_sections(self, document: Analyzed, tokens: NDArray[np.int64]) -> None:
        starts = document.regions
        spans = np.stack([starts, np.append(starts[1:], len(document.text))], axis=1)
        sizes = _sizes(spans, tokens)
        self.sections.add(sizes)
        longest = int(sizes.argmax())
        if self.longest_section is None or sizes[longest] > self.longest_section.tokens:
            self.longest_section = _place(document, spans[longest], sizes[longest])

    def _add_sentences(self, document: Analyzed, tokens: NDArray[np.int64]) -> None:
        prose = document.blocks.spans("paragraph", "item")
        if not len(prose):
            return
        starts = document.sentences
        inside = prose[:, 0].searchsorted(starts, "right") - 1
        here = (inside >= 0) & (starts < prose[inside, 1])
        # A sentence ends with its block: what follows is white space or markup.
        ends = np.minimum(np.append(starts[1:], len(document.text)), prose[inside, 1])
        spans = np.stack([starts[here], ends[here]], axis=1)
        sizes = _sizes(spans, tokens)
        self.sentences.add(sizes)
        least = self.oversized[-1].tokens if len(self.oversized) == _EXAMPLES else OVERSIZED[0]
        long = np.flatnonzero(sizes > least)
        if len(long):
            top = long[np.argsort(-sizes[long], kind="stable")][:_EXAMPLES]
            self._keep([_place(document, spans[index], sizes[index]) for index in top.tolist()])

    def _keep(self, places: list[Place]) -> None:
        found = sorted([*self.oversized, *places], key=lambda place: -place.tokens)
        self.oversized = found[:_EXAMPLES]

    def merge(self, other: Tally) -> None:
        """Count everything the other has counted."""
        self.documents += other.documents
        self.empty += other.empty
        self.headed += other.headed
        self.characters += other.characters
        self.languages.update(other.languages)
        for name in ("lengths", "sections", "sentences", "paragraphs", "lists", "tables", "code"):
            getattr(self, name).merge(getattr(other, name))
        mine, theirs = self.longest_section, other.longest_section
        if mine is None or (theirs is not None and theirs.tokens > mine.tokens):
            self.longest_section = theirs
        self._keep(other.oversized)


def _sizes(spans: NDArray[np.int64], tokens: NDArray[np.int64]) -> NDArray[np.int64]:
    """Tokens that start inside each span: sums of neighbours are exact, a count alone may differ by one."""
    bounds = tokens.searchsorted(spans)
    return bounds[:, 1] - bounds[:, 0]


def _place(document: Analyzed, span: NDArray[np.int64], tokens: int) -> Place:
    start, end = int(span[0]), int(span[1])
    path = SECTION_SEPARATOR.join(document.section(start, end))
    return Place(document.document.id, start, int(tokens), path, preview(document.text, start, end))
