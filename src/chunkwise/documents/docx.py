"""Word documents (.docx): paragraphs, headings, lists and tables in the order they are read."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from chunkwise.core import Document
from chunkwise.documents.container import check_container
from chunkwise.documents.docx_lists import Lists
from chunkwise.documents.docx_styles import Style, lineages
from chunkwise.documents.docx_text import DocxText
from chunkwise.documents.docx_xml import value
from chunkwise.documents.integers import small_integer
from chunkwise.documents.loader import OnSkip, suffix_of
from chunkwise.documents.options import LoadOptions
from chunkwise.documents.source import Source
from chunkwise.errors import UnreadableDocument

if TYPE_CHECKING:
    from docx.document import Document as DocxDocument

_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_NO_TITLE = re.compile(
    r"microsoft word\b.*|(?:word )?document ?\d*|untitled.*|title|\S*\.(?:docx?|docm|dotx?|rtf|odt)",
    re.IGNORECASE,
)
_BODY_TEXT = 9  # as an outline level


class DocxLoader:
    """A zip with `word/` in it."""

    suffixes: tuple[str, ...] = (".docx", ".docm")
    stream = False

    def accepts(self, name: str, head: bytes) -> bool:
        if not head.startswith(b"PK\x03\x04"):
            return False
        return suffix_of(name) in self.suffixes or b"word/" in head

    def load(self, source: Source, options: LoadOptions, on_skip: OnSkip) -> Iterator[Document]:
        data = source.read(options.max_bytes)
        check_container(data, source.origin)
        document = _open(data, source.origin)
        styles = lineages(document)
        found = DocxText(heading_levels(styles), Lists(document, styles))
        found.read(document.element.body)
        yield Document(
            source.id,
            found.layout.text,
            title=_own_title(document) or found.title,
            source=source.origin,
            format="docx",
            blocks=tuple(found.layout.blocks),
        )


def _own_title(document: DocxDocument) -> str:
    """The title among the file's properties, unless a program put it there."""
    title = " ".join((document.core_properties.title or "").split())
    return "" if _NO_TITLE.fullmatch(title) else title


def _open(data: bytes, origin: str) -> DocxDocument:
    import docx

    try:
        return docx.Document(io.BytesIO(data))
    except (KeyError, ValueError, SyntaxError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise UnreadableDocument(origin, "damaged, or no Word document") from error


def heading_levels(styles: Mapping[str, Sequence[Style]]) -> dict[str, int]:
    """Level of each heading style by style id; 0 is the title."""
    levels: dict[str, int] = {}
    for id, lineage in styles.items():
        for ancestor in lineage:
            heading = _HEADING.fullmatch(ancestor.name)
            if heading or ancestor.name.lower() == "title":
                levels[id] = int(heading[1]) if heading else 0
                break
            outline = small_integer(value(ancestor.element, "pPr/outlineLvl"), None)
            if outline is not None:
                if outline < _BODY_TEXT:
                    levels[id] = outline + 1
                break
    return levels
