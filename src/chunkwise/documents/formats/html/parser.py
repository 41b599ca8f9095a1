"""The text of a page in source order, with its blocks, from the events of a parser; no tree is built.

Text cannot be moved by a repair of the tree, nesting has no depth limit, and the time is linear whatever the markup.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from chunkwise.core import BlockKind, Link
from chunkwise.documents.formats.block_builder import Layout, small_integer
from chunkwise.documents.formats.html.article import describes_article
from chunkwise.documents.formats.html.elements import (
    BLOCKS,
    DRAWING_TEXTS,
    HEADINGS,
    PREFORMATTED,
    ROW_GROUPS,
    SET_APART,
    SKIPPED,
    VOID,
    is_hidden,
)
from chunkwise.documents.formats.html.linked_text import (
    BREAK,
    LinkedPart,
    LinkedPieces,
    links_in,
    parts_of_all,
    parts_of_each,
    seen,
)
from chunkwise.documents.formats.html.main_text import (
    CONTAINERS,
    PLAIN,
    Furniture,
    is_permalink,
)
from chunkwise.documents.formats.html.table import OpenTable, only_arranges


@dataclass(slots=True)
class OpenList:
    ordered: bool
    next_number: int
    group: int


@dataclass(slots=True)
class OpenItem:
    marker: str
    level: int
    group: int


_NO_ATTRIBUTES: Mapping[str, str] = {}
_KINDS = {
    **dict.fromkeys(HEADINGS, "heading"),
    **dict.fromkeys(PREFORMATTED, "preformatted"),
    **dict.fromkeys(("ul", "ol", "menu", "dir"), "list"),
    "li": "item",
    "table": "table",
}
"""Blocks that change what the text in them is."""
_INDENTS = ["  " * level for level in range(14)]
_FEW_PARTS = 8
"""Pieces of text in a link that may be only a sign."""

_MARKUP = re.compile(r"</?[a-zA-Z]")
_SPACE = " \t\n\f\r"
_SENTENCE = 20
"""Characters from which a text that stands for a picture says something."""
_SPACES = re.compile(r"[ \t\n\f\r]+")
_BREAKS = re.compile(r" ?\0 ?")
_EMPTY_LINES = re.compile(r"\n{2,}")


_METADATA = {
    "description": "description",
    "og:description": "description",
    "author": "author",
    "article:author": "author",
    "keywords": "keywords",
    "date": "date",
    "dc.date": "date",
    "dcterms.date": "date",
    "article:published_time": "date",
}
_LONGEST_METADATA = 2000


class HtmlText:
    """Target of lxml's event parser; `title`, `generator`, `metadata`, `layout` and `links` are the result.

    With `furniture`, which watches the page, the layout is that of the main text alone.
    """

    def __init__(self, furniture: Furniture | None = None) -> None:
        self.layout = Layout()
        self._furniture = furniture
        self._role_headings: list[int] = []
        """Depths of the open elements that are headings by their role."""
        self._links: list[tuple[int, Mapping[str, str]]] = []
        self.links: list[Link] = []
        self._linked = LinkedPieces()
        self._linked_blocks: list[tuple[int, Sequence[LinkedPart]]] = []
        """Their numbers; places are found for those that stay: most links of many pages lead around the site."""
        self.title = ""
        self.generator = ""
        self.metadata: dict[str, str] = {}
        self._inline: list[str] = []
        self._title: list[str] | None = None
        self._described: list[str] | None = None
        """What a script with linked data says of the page."""
        self.depth = 0
        self._skipping = 0
        self._foreign = 0
        self._apart = 0
        self._apart_from = 0
        self._alternatives: set[str] = set()
        self._pre = 0
        self._heading = 0
        self._cell_length = 0
        self._bytes = 0
        """Of words, since they were last counted."""
        self._lists: list[OpenList] = []
        self._items: list[OpenItem | None] = []
        self._tables: list[OpenTable] = []

    # Events of the parser. A page may have millions of plain blocks: for those, few questions and few calls.

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.depth += 1
        if self._skipping:
            self._skipping += 1
            return
        if not attributes:
            attributes = _NO_ATTRIBUTES  # asked in less time than lxml's own
            if tag in BLOCKS:  # none of them is skipped
                self._start_block(tag, attributes)
                return
        if tag in SKIPPED and not (tag == "title" and self._foreign):
            self._skipping = 1
            if tag == "title" and not self.title:
                self._title = []
            elif tag == "script" and "ld+json" in (attributes.get("type") or ""):
                self._described = []
            return
        if tag in ("button", "iframe") and self._furniture is not None:
            self._skipping = 1
            return
        if attributes and is_hidden(tag, attributes):
            if tag not in VOID:  # those have no content, and not every parser ends them
                self._skipping = 1
                if tag in BLOCKS and not self._pre:
                    self._boundary()
            return
        if tag in SET_APART:
            if not self._apart:
                self._apart_from = len(self._inline)
            self._apart += 1
        if tag == "br":
            self._inline.append("\n" if self._pre else BREAK)
        elif tag == "img":
            self._inline.append(f" {self._alternative(attributes.get('alt') or '')} ")
        elif tag == "meta":
            self._meta(attributes)
        elif tag == "a":
            self._linked.start(len(self._inline), attributes)
            if self._furniture is not None:
                self._count()
                own = self._heading > 0 and (attributes.get("href") or "").startswith("#")
                self._furniture.start_link(leads_away=not own)
                self._links.append((len(self._inline), attributes))
        elif tag in ("svg", "math"):
            self._foreign += 1
        elif self._foreign and tag in DRAWING_TEXTS:
            self._inline.append(" ")
        elif tag in BLOCKS:
            self._start_block(tag, attributes)
        if attributes and attributes.get("role") == "heading" and not self._pre:
            self._boundary()
            self._heading = min(max(small_integer(attributes.get("aria-level"), 2), 1), 6)
            self._role_headings.append(self.depth)

    def end(self, tag: str) -> None:
        if self._role_headings and self._role_headings[-1] == self.depth:
            self._boundary()
            self._heading = 0
            self._role_headings.pop()
        depth = self.depth
        self.depth = depth - 1
        if self._skipping:
            self._skipping -= 1
            if not self._skipping and self._title is not None:
                self.title = _SPACES.sub(" ", "".join(self._title)).strip()
                self._title = None
            elif not self._skipping and self._described is not None:
                if self._furniture is not None and describes_article("".join(self._described)):
                    self._furniture.says_article = True
                self._described = None
            return
        if tag in BLOCKS:
            self._end_block(tag)
            if self._furniture is not None and self._furniture.depth == depth:
                self._count()
                self._furniture.end()
            return
        if tag in SET_APART:
            self._apart -= 1
            # Elements that the parser took for text: a browser with scripts shows none of them.
            if tag == "noscript" and _MARKUP.search("".join(self._inline[self._apart_from :])):
                self._cut(self._apart_from)
            if not self._apart:
                self._set_apart()
        if tag == "a":
            self._linked.end(len(self._inline))
            if self._furniture is not None:
                self._end_link(self._furniture)
        if tag in ("svg", "math"):
            self._foreign -= 1

    def _alternative(self, text: str) -> str:
        """What stands for a picture; a sentence of the main text once, and not where it repeats the page's title."""
        if self._furniture is None or not text.strip():
            return text
        known = _SPACES.sub(" ", text).strip().casefold()
        title = _SPACES.sub(" ", self.title).strip().casefold()
        if title.startswith(known) and not title[len(known) : len(known) + 1].isalnum():
            return ""
        if len(known) < _SENTENCE:  # "Yes" in a table, a sign in a line
            return text
        if known in self._alternatives:
            return ""
        self._alternatives.add(known)
        return text

    def data(self, text: str) -> None:
        if not self._skipping:
            self._inline.append(text)
            if self._tables:
                self._cell_length += len(text)
            if words := text.strip():
                # A line of Chinese says as much in a third of the characters.
                self._bytes += len(words if words.isascii() else words.encode("utf-8", "replace"))
        elif self._title is not None:
            self._title.append(text)
        elif self._described is not None:
            self._described.append(text)

    def _count(self) -> None:
        """Hand on what was said so far, before it is said in another way."""
        if self._furniture is not None:
            self._furniture.characters(self._bytes)
        self._bytes = 0

    def close(self) -> HtmlText:
        self._boundary()
        text, blocks = self.layout.text, self.layout.blocks
        kept = [True] * len(blocks)
        if self._furniture is not None:
            kept = self._furniture.kept(blocks, text, self.title)
        self.layout = self.layout.only(kept)
        if self._linked_blocks:
            self._find_links(kept)
        return self

    def _find_links(self, kept: Sequence[bool]) -> None:
        text, number = self.layout.text, list(accumulate(kept, initial=0))
        for at, parts in self._linked_blocks:
            if kept[at]:
                self.links += links_in(text, self.layout.blocks[number[at]], parts)

    def _meta(self, attributes: Mapping[str, str]) -> None:
        """What the page says of itself; the first of a name counts."""
        name = (attributes.get("name") or attributes.get("property") or "").strip().lower()
        content = " ".join((attributes.get("content") or "").split())
        if self._furniture is not None and (
            name == "article:published_time" or (name, content.lower()) == ("og:type", "article")
        ):
            self._furniture.says_article = True
        if name == "generator":
            self.generator = content
        elif content and name in _METADATA:
            self.metadata.setdefault(_METADATA[name], content[:_LONGEST_METADATA])

    # Blocks.

    def _start_block(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._pre:
            self._pre_line(tag, 1)
            self._start_container(tag, attributes)
            return
        if self._tables:
            if only_arranges(tag, self._cell_length):
                self._table_is_layout()
            self._boundary()
        elif self._inline:
            self._flush()
        if attributes or tag not in PLAIN:
            self._start_container(tag, attributes)
        kind = _KINDS.get(tag)
        if kind is None:
            if self._tables:
                self._start_part(tag, attributes, self._tables[-1])
        elif kind == "item":
            self._start_item(attributes)
        elif kind == "list":
            group = self._lists[0].group if self._lists else self.layout.new_group()
            first = small_integer(attributes.get("start"), 1) if attributes else 1
            self._lists.append(OpenList(tag == "ol", first, group))
        elif kind == "heading":
            self._heading = HEADINGS[tag]
        elif kind == "preformatted":
            self._pre += 1
        else:
            self._tables.append(OpenTable(self.layout.new_group()))
            self._items.append(None)  # text in a table's cells belongs to no item around it

    def _start_container(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in CONTAINERS and self._furniture is not None:
            self._count()
            self._furniture.start(self.depth, tag, attributes)

    def _end_link(self, furniture: Furniture) -> None:
        """What leads to its own place, such as ¶ behind a heading, is no text."""
        self._count()
        furniture.end_link()
        start, attributes = self._links.pop()
        few = len(self._inline) - start <= _FEW_PARTS  # links within links are not all read again
        if few and is_permalink("".join(self._inline[start:]), attributes, self._heading > 0):
            self._cut(start)
            furniture.permalinks += self._heading > 0

    def _end_block(self, tag: str) -> None:
        if self._pre:
            self._pre_line(tag, -1)
            return
        if self._tables:
            self._boundary()
        elif self._inline:
            self._flush()
        kind = _KINDS.get(tag)
        if kind is None:
            if self._tables:
                self._end_part(tag, self._tables[-1])
        elif kind == "item":
            self._items.pop()
        elif kind == "list":
            self._lists.pop()
        elif kind == "heading":
            self._heading = 0
        elif kind == "table":
            self._end_row(self._tables.pop())
            self._items.pop()

    def _start_item(self, attributes: Mapping[str, str]) -> None:
        if not self._lists:  # <li> without a list
            self._items.append(OpenItem("- ", 0, self.layout.new_group()))
            return
        of = self._lists[-1]
        number = of.next_number
        if attributes:
            number = small_integer(attributes.get("value"), number)
        of.next_number = number + 1
        marker = f"{number}. " if of.ordered else "- "
        self._items.append(OpenItem(marker, len(self._lists) - 1, of.group))

    def _start_part(self, tag: str, attributes: Mapping[str, str], table: OpenTable) -> None:
        if tag == "tr":
            self._end_row(table)
            table.start_row()
        elif tag in ROW_GROUPS:
            table.end_spans()
            table.in_head = tag == "thead"
        elif tag in ("td", "th") and not table.layout:
            table.start_cell(attributes)
            self._cell_length = 0
            table.only_headers = table.only_headers and tag == "th"

    def _end_part(self, tag: str, table: OpenTable) -> None:
        if tag == "tr":
            self._end_row(table)
        elif tag in ROW_GROUPS:
            table.end_spans()
            table.in_head = False
        elif tag in ("td", "th") and table.in_cell:
            text, links = self._take()
            table.end_cell(text.replace("\n", " ").strip(_SPACE), links)

    def _end_row(self, table: OpenTable) -> None:
        if any(cell.strip() for cell in table.cells):
            header = table.in_head or (table.only_headers and not table.rows)
            line = " | ".join(table.cells)
            links = parts_of_all(table.links, table.cells, " | ") if table.links else ()
            self._add("header" if header else "row", line, group=table.group, links=links)
            table.rows += 1
        table.end_row()

    def _end_open_row(self) -> None:
        """Text between two cells: the cells before it come first."""
        if self._tables and self._tables[-1].cells:
            self._end_row(self._tables[-1])

    def _table_is_layout(self) -> None:
        """Text stands in a cell as it does in no table of data."""
        table = self._tables[-1]
        if not table.in_cell:
            return
        table.layout = True
        table.in_cell = False
        self._end_row(table)

    # Text.

    def _add(
        self,
        kind: BlockKind,
        text: str,
        *,
        level: int = 0,
        group: int = 0,
        indent: str = "",
        links: Sequence[LinkedPart] = (),
    ) -> None:
        if links:
            self._linked_blocks.append((len(self.layout.blocks), links))
        self.layout.add(kind, text, level=level, group=group, indent=indent)
        if self._furniture is not None:
            self._furniture.block(self._bytes)
        self._bytes = 0

    def _boundary(self) -> None:
        """A block begins or ends here: what was collected is a block, or goes on in its cell."""
        if self._tables and self._tables[-1].in_cell:
            self._inline.append(" ")
        elif self._inline:
            self._flush()

    def _set_apart(self) -> None:
        """Spaces around the text of a drawing; one without text, an icon, leaves no trace."""
        start = min(self._apart_from, len(self._inline))  # a block inside took what was there
        if any(text.strip() for text in self._inline[start:]):
            self._inline[start] = f" {self._inline[start]}"  # pieces keep their numbers
            self._inline.append(" ")
        else:
            self._cut(start)

    def _cut(self, piece: int) -> None:
        """Drop the pieces from this one on."""
        del self._inline[piece:]
        self._linked.cut(piece)

    def _pre_line(self, tag: str, step: int) -> None:
        """Inside <pre> a block is a line of its own, and only the outermost </pre> ends it."""
        if tag in PREFORMATTED:
            self._pre += step
        if self._pre:
            if self._inline and not self._inline[-1].endswith("\n"):
                self._inline.append("\n")
            return
        text = "".join(self._inline).removeprefix("\n").rstrip("\n")
        links = self._taken_links()
        self._inline.clear()
        self._apart_from = 0
        if text.strip():
            self._end_open_row()
            self._add("code", text, links=links)

    def _taken_links(self) -> Sequence[LinkedPart]:
        """What of the collected text is linked."""
        linked = self._linked
        return linked.taken(self._inline) if linked.open or linked.ended else ()

    def _take(self) -> tuple[str, Sequence[LinkedPart]]:
        """The collected text with white space collapsed as a browser does, and what of it is linked."""
        parts = self._inline
        text = parts[0] if len(parts) == 1 else "".join(parts)
        links = self._taken_links()
        parts.clear()
        self._apart_from = 0
        if text.isprintable() and "  " not in text:
            return text.strip(" "), links  # neither a break nor white space to collapse
        text = _SPACES.sub(" ", text)
        return _BREAKS.sub("\n", text).strip(_SPACE), links

    def _flush(self) -> None:
        text, links = self._take()
        if not text or text.isspace():
            return
        if self._tables:
            self._end_open_row()
        if self._heading:
            self._add("heading", text.replace("\n", " "), level=self._heading, links=links)
        elif self._items and (item := self._items[-1]) is not None:
            self._add_item(item, text, links)
        elif "\n\n" not in text:
            self._add("paragraph", text, links=links)
        else:
            paragraphs = [part.strip(_SPACE) for part in _EMPTY_LINES.split(text) if part.strip()]
            own = parts_of_each(links, paragraphs)
            for paragraph, parts in zip(paragraphs, own, strict=True):
                self._add("paragraph", paragraph, links=parts)

    def _add_item(self, item: OpenItem, text: str, links: Sequence[LinkedPart]) -> None:
        indent = _INDENTS[min(item.level, 12) + (not item.marker)]
        if "\n" in text:
            lines = [line.strip(_SPACE) for line in text.split("\n") if line.strip()]
            text = ("\n" + indent + " " * len(item.marker)).join(lines)
        self._add(
            "item",
            item.marker + text,
            level=item.level,
            group=item.group,
            indent=indent,
            links=[link.moved(seen(item.marker)) for link in links] if links else (),
        )
        item.marker = ""  # a second paragraph of the item has none
