"""EPUB: the chapters of the spine, each read as HTML, their headings placed by the table of contents."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Block, Document
from chunkwise.documents.formats.block_builder import Layout
from chunkwise.documents.formats.html.loader import html_read
from chunkwise.documents.formats.html.parser import HtmlText
from chunkwise.documents.formats.untrusted_xml import ZipLoader, ZipParts, local_name, xml_words
from chunkwise.documents.loader import OnUnreadable
from chunkwise.documents.source import Source
from chunkwise.records.encoding import decode

if TYPE_CHECKING:
    from lxml.etree import _Element


ContentsPoint = tuple[int, str, str]
"""Level (1 = top), title and reference, empty where the entry has none."""


class ContentsEntry(NamedTuple):
    level: int
    title: str
    fragment: str
    """The element it names in its file; empty for the file itself."""


def nav_points(root: _Element) -> Iterator[ContentsPoint]:
    """Entries of an EPUB 3 navigation document; its lists of pages and landmarks are none."""
    from lxml import etree

    walk = etree.iterwalk(root, events=("start", "end"))
    level = 0
    for event, element in walk:
        name = local_name(element)
        if name == "ol":
            level += 1 if event == "start" else -1
        elif event == "end":
            continue
        elif name == "nav" and _is_no_toc(element):
            walk.skip_subtree()
        elif name == "a" or (name == "span" and _is_item(element.getparent())):
            title = xml_words(element)
            if title:
                yield max(level, 1), title, element.get("href") or ""
            walk.skip_subtree()  # a link in a link is read once


def ncx_points(root: _Element) -> Iterator[ContentsPoint]:
    """Entries of the older ncx."""
    from lxml import etree

    level = 0
    for event, element in etree.iterwalk(root, events=("start", "end"), tag="{*}navPoint"):
        if event == "end":
            level -= 1
            continue
        level += 1
        label, content = element.find("{*}navLabel/{*}text"), element.find("{*}content")
        title = "" if label is None else xml_words(label)
        if title:
            yield level, title, "" if content is None else content.get("src") or ""


def by_file(
    points: Iterable[ContentsPoint], place: Callable[[str], tuple[str, str]], files: Collection[str]
) -> dict[str, list[ContentsEntry]]:
    """Entries by the file they name; one that names none stands where the first below it does."""
    entries: dict[str, list[ContentsEntry]] = {}
    waiting: list[ContentsEntry] = []
    for level, title, reference in points:
        path, fragment = place(reference)
        if path in files:
            above = [entry._replace(fragment=fragment) for entry in waiting if entry.level < level]
            entries.setdefault(path, []).extend([*above, ContentsEntry(level, title, fragment)])
            waiting = []
        else:
            waiting = entry_lineage(waiting, [ContentsEntry(level, title, "")])
    return entries


def entry_lineage(
    above: list[ContentsEntry], entries: Iterable[ContentsEntry]
) -> list[ContentsEntry]:
    """The last entry with those it stands below."""
    line = above.copy()
    for entry in entries:
        while line and line[-1].level >= entry.level:
            line.pop()
        line.append(entry)
    return line


def _is_item(element: _Element | None) -> bool:
    return element is not None and local_name(element) == "li"


def _is_no_toc(nav: _Element) -> bool:
    types = [str(value) for key, value in nav.items() if str(key).endswith("type")]
    return bool(types) and not any("toc" in value.split() for value in types)


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

    def titled(
        self, layout: Layout, entries: Sequence[ContentsEntry], places: dict[str, int]
    ) -> Layout:
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

    def _make(self, layout: Layout, chain: Sequence[ContentsEntry]) -> None:
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
    text: str, blocks: Sequence[Block], entries: Sequence[ContentsEntry], places: dict[str, int]
) -> dict[int, list[ContentsEntry]]:
    """By block, the entries that name it, each standing below the one before it."""
    titles: dict[str, int] = {}
    for index, block in enumerate(blocks):
        if block.kind == "heading":
            titles.setdefault(_words(text[block.start : block.end]), index)
    named: dict[int, list[ContentsEntry]] = {}
    for entry in entries:
        at = places.get(entry.fragment, titles.get(_words(entry.title)))
        if at is None and not entry.fragment:
            at = 0
        if at is None or at >= len(blocks):
            continue  # it names nothing here
        chain = named.setdefault(_title(text, blocks, at, entry.title), [])
        last = chain[-1] if chain else ContentsEntry(0, "", "")
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


class _Anchored(HtmlText):
    """Keeps for each element that is asked about the block it begins."""

    def __init__(self, wanted: Collection[str]) -> None:
        super().__init__()
        self.places: dict[str, int] = {}
        self._wanted = wanted

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        super().start(tag, attributes)
        if not attributes:
            return
        for name in (attributes.get("id"), attributes.get("name") if tag == "a" else None):
            if name in self._wanted and name is not None:
                self.places.setdefault(name, len(self.layout.blocks))


def chapter_text(text: str, wanted: Collection[str]) -> tuple[Layout, dict[str, int]]:
    """The chapter's layout, and which of its blocks the wanted elements begin."""
    page = html_read(_as_html(text), _Anchored(wanted))
    return page.layout, page.places


_DOCTYPE = re.compile(r"<!DOCTYPE[^<>\[]*+\[[^\]]*+\]\s*+>", re.IGNORECASE)
_CDATA = "<![CDATA["


def _as_html(text: str) -> str:
    """XHTML as a parser of HTML takes it: text in CDATA is text, what the head declares is none."""
    if _CDATA in text:
        first, *parts = text.split(_CDATA)
        for at, part in enumerate(parts):
            inside, end, behind = part.partition("]]>")
            parts[at] = escape(inside, quote=False) + behind if end else _CDATA + part
        text = first + "".join(parts)
    return _DOCTYPE.sub("<!DOCTYPE html>", text, count=1)


_LINES_A_BOOK = 20
_PAGES = ("application/xhtml+xml", "text/html")


class EpubLoader(ZipLoader):
    """A zip that says so in its first member; some writers compress that."""

    suffixes = (".epub",)
    signs = (b"application/epub+zip", b"META-INF/container.xml")
    what = "EPUB"

    def read(self, parts: ZipParts, source: Source, on_unreadable: OnUnreadable) -> Document:
        book = _Book(parts, source.origin)
        layout = Layout()
        lost = 0
        for path in book.chapters:
            try:
                layout.extend(book.chapter(path))
            except UnreadableDocument as error:
                # One broken chapter is no reason to lose the others, nor to call them lost.
                lost += 1
                if lost <= _LINES_A_BOOK:
                    on_unreadable(UnreadableDocument(f"{source.origin}/{path}", error.reason))
        if lost > _LINES_A_BOOK:
            why = f"... and {lost - _LINES_A_BOOK} more chapters that cannot be read"
            on_unreadable(UnreadableDocument(source.origin, why))
        if not layout.blocks:
            raise UnreadableDocument(source.origin, "no text in any chapter")
        return layout.document(source, "epub", title=book.title)


class _Book:
    """The parts of the package document that reading needs."""

    def __init__(self, parts: ZipParts, origin: str) -> None:
        self._parts = parts
        self._origin = origin
        container = self._xml("META-INF/container.xml")
        roots = [str(path) for path in _find(container, "rootfile", "full-path")]
        if not roots:
            raise parts.damaged("it names no package document")
        package = self._xml(roots[0])
        self._folder = posixpath.dirname(roots[0])
        self.title = next(filter(None, map(xml_words, _elements(package, "title"))), "")
        items = {item.get("id"): item for item in _elements(package, "item")}
        spine = [items.get(ref) for ref in _find(package, "itemref", "idref")]
        self.chapters = [
            self._place(self._folder, item.get("href") or "")[0]
            for item in spine
            if item is not None
            and item.get("media-type") in _PAGES
            and "nav" not in (item.get("properties") or "").split()
        ]
        self._entries = self._contents(list(items.values()))
        levels = {entry.level for entries in self._entries.values() for entry in entries}
        self._headings = BookHeadings(nested=len(levels) > 1)
        self._above: list[ContentsEntry] = []
        """Entries of files without text, such as the picture that opens a part."""

    def chapter(self, path: str) -> Layout:
        """One chapter; the table of contents places its headings, and names it where it has none."""
        entries = self._entries.pop(path, [])  # a file may come twice, its titles do not
        above, self._above = self._above, entry_lineage(self._above, entries)
        text = decode(self._parts.read(path), f"{self._origin}/{path}").removeprefix("\ufeff")
        layout, places = chapter_text(text, {entry.fragment for entry in entries} - {""})
        if entries and layout.blocks:
            self._above = []
            top, place = entries[0].level, entries[0].fragment
            if place not in places:  # the first entry names the file if nothing in it
                entries = [
                    _of_file(entry) if entry.fragment == place else entry for entry in entries
                ]
            entries = [*(_of_file(entry) for entry in above if entry.level < top), *entries]
        return self._headings.titled(layout, entries, places)

    def _contents(self, items: list[_Element]) -> dict[str, list[ContentsEntry]]:
        """Entries by path, of the navigation document or else the older ncx."""
        navs = [item for item in items if "nav" in (item.get("properties") or "").split()]
        old = [item for item in items if item.get("media-type") == "application/x-dtbncx+xml"]
        files = frozenset(self.chapters)
        tables = [(item, nav_points) for item in navs] + [(item, ncx_points) for item in old]
        for item, points in tables:
            path, _ = self._place(self._folder, item.get("href") or "")
            try:
                root = self._xml(path)
            except UnreadableDocument:
                continue  # titles are welcome, not needed
            place = partial(self._place, posixpath.dirname(path))
            contents = by_file(points(root), place, files)
            if contents:
                return contents
        return {}

    @staticmethod
    def _place(folder: str, reference: str) -> tuple[str, str]:
        """The path and the fragment that a reference names."""
        path, _, fragment = reference.partition("#")
        return posixpath.normpath(posixpath.join(folder, unquote(path))), unquote(fragment)

    def _xml(self, path: str) -> _Element:
        from lxml import etree

        # No entities of its own, no network: a book is not trusted.
        parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
        try:
            root = etree.fromstring(self._parts.read(path), parser)
        except etree.XMLSyntaxError:
            root = None
        if root is None:
            raise self._parts.damaged(f"{path!r} is not XML")
        return root


def _of_file(entry: ContentsEntry) -> ContentsEntry:
    return entry._replace(fragment="")


def _elements(root: _Element, name: str) -> list[_Element]:
    return list(root.iter(f"{{*}}{name}"))


def _find(root: _Element, name: str, attribute: str) -> list[str]:
    return [value for element in _elements(root, name) if (value := element.get(attribute))]
