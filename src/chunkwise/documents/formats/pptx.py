"""Slides (.pptx): a section a slide with its texts, tables and diagrams, then what the speaker says; no pictures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chunkwise.core import Document
from chunkwise.documents.formats.block_builder import Layout, small_integer
from chunkwise.documents.formats.untrusted_xml import (
    PartLink,
    ZipLoader,
    ZipParts,
    local_name,
    own_attribute,
    relation_id,
    xml_text,
    xml_words,
)
from chunkwise.documents.loader import OnUnreadable
from chunkwise.documents.source import Source

if TYPE_CHECKING:
    from lxml.etree import _Element

_PRESENTATION = "ppt/presentation.xml"
_TITLES = ("title", "ctrTitle")
_DECORATION = ("sldNum", "dt", "ftr", "hdr", "sldImg")
_NO_TITLES = (
    "",
    "powerpoint presentation",
    "powerpoint-präsentation",
    "presentation",
    "untitled",
    "folie 1",
)


class PptxLoader(ZipLoader):
    """A zip with `ppt/` in it."""

    suffixes = (".pptx", ".pptm", ".ppsx")
    signs = (b"ppt/slides",)
    what = "presentation"

    def read(self, parts: ZipParts, source: Source, on_unreadable: OnUnreadable) -> Document:
        slides = _Slides(parts)
        for number, path in enumerate(_slide_paths(parts), 1):
            slides.add(path, number)
        own = parts.title("docProps/core.xml")
        title = slides.title if own.lower() in _NO_TITLES else own
        return slides.layout.document(source, "pptx", title=title, pages=tuple(slides.starts))


def _slide_paths(parts: ZipParts) -> list[str]:
    """In the order in which they are shown."""
    links = parts.links(_PRESENTATION)
    paths = []
    for element in parts.xml(_PRESENTATION).iter("{*}sldId"):
        link = links.get(relation_id(element))
        if link is not None and link.path in parts:
            paths.append(link.path)
    return paths


class _Slides:
    def __init__(self, parts: ZipParts) -> None:
        self.parts = parts
        self.layout = Layout()
        self.starts: list[int] = []
        self.title = ""

    def add(self, path: str, number: int) -> None:
        root, links = self.parts.xml(path), self.parts.links(path)
        shapes = list(_shapes(root))
        titles = [shape for shape in shapes if _role(shape) in _TITLES]
        title = " ".join(filter(None, map(_title_words, titles)))
        self.title = self.title or title
        self.layout.add("heading", title or f"Slide {number}", level=1)
        self.starts.append(self.layout.blocks[-1].start)
        for shape in shapes:
            if local_name(shape) == "graphicFrame":
                self._frame(shape, links)
            elif _role(shape) not in (*_TITLES, *_DECORATION):
                self._texts(shape, of_body=_role(shape) in ("body", "obj", "subTitle"))
        for link in links.values():
            if link.kind == "notesSlide" and link.path in self.parts:
                self._notes(link.path)

    def _notes(self, path: str) -> None:
        notes = [shape for shape in _shapes(self.parts.xml(path)) if _role(shape) == "body"]
        if any(words for shape in notes for _, words in _paragraphs(shape)):
            self.layout.add("heading", "Notes", level=2)
            for shape in notes:
                self._texts(shape, of_body=False)

    def _texts(self, shape: _Element, *, of_body: bool) -> None:
        paragraphs = [(level, words) for level, words in _paragraphs(shape) if words]
        if of_body and len(paragraphs) > 1:
            group = self.layout.new_group()
            for level, words in paragraphs:
                self.layout.add_item("- ", words, level=level, group=group)
            return
        for _, words in paragraphs:
            self.layout.add("paragraph", words)

    def _frame(self, frame: _Element, links: dict[str, PartLink]) -> None:
        """A table, or a diagram, whose words are a part of their own."""
        for table in frame.iter("{*}tbl"):
            self.layout.add_table(
                [xml_words(cell) for cell in row.iter("{*}tc")] for row in table.iter("{*}tr")
            )
        for ids in frame.iter("{*}relIds"):
            link = links.get(own_attribute(ids, "dm"))
            if link is None or link.path not in self.parts:
                continue
            for point in self.parts.xml(link.path).iter("{*}pt"):
                for _, words in _paragraphs(point):
                    if words:
                        self.layout.add("paragraph", words)


def _shapes(root: _Element) -> Iterator[_Element]:
    """Texts and frames in their order, those of groups among them; the old form of a new one is there twice."""
    pending = list(reversed(root))
    while pending:
        element = pending.pop()
        name = local_name(element)
        if name in ("sp", "graphicFrame"):
            yield element
        elif name != "Fallback":
            pending.extend(reversed(element))


def _role(shape: _Element) -> str:
    """What a placeholder is for: `title`, `body`; empty for a shape of the author's own."""
    for holder in shape.iterchildren():
        if local_name(holder).startswith("nv"):
            for place in holder.iter("{*}ph"):
                return place.get("type") or "obj"
    return ""


def _title_words(shape: _Element) -> str:
    return " ".join(" ".join(words for _, words in _paragraphs(shape)).split())


def _paragraphs(shape: _Element) -> Iterator[tuple[int, str]]:
    """Level and text of each."""
    for paragraph in shape.iter("{*}p"):
        level = 0
        words: list[str] = []
        for run in paragraph.iterchildren():
            name = local_name(run)
            if name == "pPr":
                level = small_integer(run.get("lvl"), 0)
            elif name == "br":
                words.append("\n")
            elif name in ("r", "fld"):
                words += [xml_text(text) for text in run.iterchildren("{*}t")]
        yield level, "".join(words).replace("\v", "\n").strip()
