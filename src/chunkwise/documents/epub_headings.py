"""The headings of a book's chapters, placed by its table of contents."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.core import Block
from chunkwise.documents.epub_contents import Entry
from chunkwise.documents.layout import Layout

_SHORT = 40
"""Characters of a number or an epigraph; what is longer is the text of the chapter."""
_NEAR = 3
"""Blocks among which a chapter's title is looked for: a number or a picture may come before it."""


class BookHeadings:
    """Levels of headings from chapter to chapter: those of the contents, or below them by their own."""

    def __init__(self, nested: bool) -> None:
        self._nested = nested  # a flat table says nothing of levels: each heading keeps its own
        self._around: list[tuple[int, int]] = []
        """Of each heading around: its own level and that in the book."""

    def titled(self, layout: Layout, entries: Sequence[Entry], places: dict[str, int]) -> Layout:
        """The chapter with its headings where the entries want them; one is made where there is none."""
        if not layout.blocks or not (entries or self._nested):
            return layout
        text, blocks = layout.text, layout.blocks
        named = _named(text, blocks, entries, places)
        levels = [entry.level for chain in named.values() for entry in chain if self._nested]
        top = min(levels, default=1)
        titled = Layout()
        done = 0
        for index, (kind, start, end, level, group) in enumerate(blocks):
            chain = named.get(index, [])
            if chain and (kind == "heading" or _says(text, blocks[index], chain[-1].title)):
                *chain, title = chain
                self._make(titled, chain)
                kind, level = "heading", self._placed(level, title.level)
            elif kind == "heading":
                level = max(self._level(level), top)
            elif not group or not index or blocks[index - 1].group != group:  # else inside a list
                self._make(titled, chain)
            indent = text[done:start].lstrip("\n")
            titled.add(kind, text[start:end], level=level, group=group, indent=indent)
            done = end
        for _ in range(max(block.group for block in blocks)):
            titled.new_group()  # the next chapter's lists are numbered behind these
        return titled

    def _make(self, layout: Layout, chain: Sequence[Entry]) -> None:
        for entry in chain:
            layout.add("heading", entry.title, level=self._placed(0, entry.level))

    def _placed(self, own: int, level: int) -> int:
        if not self._nested:
            return own or 1
        while self._around and self._around[-1][0] >= own:
            self._around.pop()
        self._around.append((own, level))
        return level

    def _level(self, own: int) -> int:
        """The level of a heading that the contents leave out."""
        if not self._nested:
            return own
        beside = own
        while self._around and self._around[-1][0] >= own:
            beside = self._around.pop()[1]
        if self._around:
            above, level = self._around[-1]
            beside = level + own - above
        self._around.append((own, beside))
        return beside


def _named(
    text: str, blocks: Sequence[Block], entries: Sequence[Entry], places: dict[str, int]
) -> dict[int, list[Entry]]:
    """By block, the entries that name it, each standing below the one before it."""
    titles: dict[str, int] = {}
    for index, block in enumerate(blocks):
        if block.kind == "heading":
            titles.setdefault(_words(text[block.start : block.end]), index)
    named: dict[int, list[Entry]] = {}
    for entry in entries:
        at = places.get(entry.fragment, titles.get(_words(entry.title)))
        if at is None and not entry.fragment:
            at = 0
        if at is None or at >= len(blocks):
            continue  # it names nothing here
        chain = named.setdefault(_title(text, blocks, at, entry.title), [])
        last = chain[-1] if chain else Entry(0, "", "")
        if entry.level > last.level and _words(entry.title) != _words(last.title):
            chain.append(entry)
    return named


def _title(text: str, blocks: Sequence[Block], at: int, title: str) -> int:
    """The heading near this block that an entry means; the block itself if none is."""
    near = [n for n in range(at, min(at + _NEAR, len(blocks))) if blocks[n].kind == "heading"]
    before = [at - 1] if at and blocks[at - 1].kind == "heading" else []
    for index in near + before:
        if _says(text, blocks[index], title):
            return index
    first = near[0] if near and (at == 0 or near[0] == at) else at
    passed = (block.end - block.start for block in blocks[at:first])
    return at if any(size > _SHORT for size in passed) else first


def _says(text: str, block: Block, title: str) -> bool:
    # What is much longer is not looked at: a million entries may name one long block.
    short = block.kind in ("heading", "paragraph") and block.end - block.start <= 2 * len(title)
    return short and _words(text[block.start : block.end]) == _words(title)


def _words(text: str) -> str:
    return " ".join(text.split()).casefold()
