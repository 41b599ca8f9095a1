"""EPUB: the chapters of the spine, each read as HTML."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import unquote

from chunkwise.core import Document
from chunkwise.documents.archive import Budget, TooLargeError, read_zip_member
from chunkwise.documents.container import open_container
from chunkwise.documents.encoding import decode
from chunkwise.documents.epub_anchors import chapter_text
from chunkwise.documents.epub_contents import Entry, by_file, lineage, nav_points, ncx_points
from chunkwise.documents.epub_headings import BookHeadings
from chunkwise.documents.layout import Layout
from chunkwise.documents.loader import OnSkip, suffix_of
from chunkwise.documents.options import LoadOptions
from chunkwise.documents.source import Source
from chunkwise.errors import UnreadableDocument

if TYPE_CHECKING:
    from lxml.etree import _Element

_LINES_A_BOOK = 20
_PAGES = ("application/xhtml+xml", "text/html")


class EpubLoader:
    """A zip that says so in its first member."""

    suffixes: tuple[str, ...] = (".epub",)
    stream = False

    def accepts(self, name: str, head: bytes) -> bool:
        if not head.startswith(b"PK\x03\x04"):
            return False
        if suffix_of(name) in self.suffixes or b"application/epub+zip" in head[:256]:
            return True
        return b"META-INF/container.xml" in head  # a writer that compressed the first member

    def load(self, source: Source, options: LoadOptions, on_skip: OnSkip) -> Iterator[Document]:
        data = source.read(options.max_bytes)
        with open_container(data, source.origin) as archive:
            book = _Book(archive, len(data), source.origin)
            layout = Layout()
            lost = 0
            for path in book.chapters:
                try:
                    layout.extend(book.chapter(path))
                except UnreadableDocument as error:
                    # One broken chapter is no reason to lose the others, nor to call them lost.
                    lost += 1
                    if lost <= _LINES_A_BOOK:
                        on_skip(UnreadableDocument(f"{source.origin}/{path}", error.reason))
        if lost > _LINES_A_BOOK:
            why = f"... and {lost - _LINES_A_BOOK} more chapters that cannot be read"
            on_skip(UnreadableDocument(source.origin, why))
        if not layout.blocks:
            raise UnreadableDocument(source.origin, "no text in any chapter")
        yield Document(
            source.id,
            layout.text,
            title=book.title,
            source=source.origin,
            format="epub",
            blocks=tuple(layout.blocks),
        )


class _Book:
    """The parts of the package document that reading needs."""

    def __init__(self, archive: zipfile.ZipFile, packed: int, origin: str) -> None:
        self._archive = archive
        self._origin = origin
        self._budget = Budget(packed)
        container = self._xml("META-INF/container.xml")
        roots = [str(path) for path in _find(container, "rootfile", "full-path")]
        if not roots:
            raise UnreadableDocument(origin, "damaged EPUB: it names no package document")
        package = self._xml(roots[0])
        self._folder = posixpath.dirname(roots[0])
        self.title = next(iter(_texts(package, "title")), "")
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
        self._above: list[Entry] = []
        """Entries of files without text, such as the picture that opens a part."""

    def chapter(self, path: str) -> Layout:
        """One chapter; the table of contents places its headings, and names it where it has none."""
        entries = self._entries.pop(path, [])  # a file may come twice, its titles do not
        above, self._above = self._above, lineage(self._above, entries)
        text = decode(self._read(path), f"{self._origin}/{path}").removeprefix("\ufeff")
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

    def _contents(self, items: list[_Element]) -> dict[str, list[Entry]]:
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
            found = by_file(points(root), place, files)
            if found:
                return found
        return {}

    @staticmethod
    def _place(folder: str, reference: str) -> tuple[str, str]:
        """The path and the fragment that a reference names."""
        path, _, fragment = reference.partition("#")
        return posixpath.normpath(posixpath.join(folder, unquote(path))), unquote(fragment)

    def _read(self, path: str) -> bytes:
        try:
            return read_zip_member(self._archive, self._archive.getinfo(path), self._budget)
        except KeyError as error:
            raise UnreadableDocument(self._origin, f"damaged EPUB: no {path!r} in it") from error
        except TooLargeError as error:
            raise UnreadableDocument(self._origin, str(error)) from error
        except (ValueError, EOFError, NotImplementedError, zlib.error, zipfile.BadZipFile) as error:
            raise UnreadableDocument(self._origin, f"damaged EPUB: {path!r}: {error}") from error

    def _xml(self, path: str) -> _Element:
        from lxml import etree

        # No entities of its own, no network: a book is not trusted.
        parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
        try:
            root = etree.fromstring(self._read(path), parser)
        except etree.XMLSyntaxError:
            root = None
        if root is None:
            raise UnreadableDocument(self._origin, f"damaged EPUB: {path!r} is not XML")
        return root


def _of_file(entry: Entry) -> Entry:
    return entry._replace(fragment="")


def _elements(root: _Element, name: str) -> list[_Element]:
    return list(root.iter(f"{{*}}{name}"))


def _find(root: _Element, name: str, attribute: str) -> list[str]:
    return [value for element in _elements(root, name) if (value := element.get(attribute))]


def _texts(root: _Element, name: str) -> list[str]:
    found = (" ".join("".join(element.itertext()).split()) for element in _elements(root, name))
    return [text for text in found if text]
