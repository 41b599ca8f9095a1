"""Text in XML is text, whatever else stands in the element: comments, instructions, CDATA, entities, new elements."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import docx

from chunkwise.core import Document
from chunkwise.documents.loader import LoadOptions
from chunkwise.documents.reading import loaded
from chunkwise.documents.source import Source
from documents.office_files import (
    odt_bytes,
    pptx_bytes,
    shape,
    sheet,
    slide,
    xlsx_bytes,
    zipped,
)
from tables import cases

_DECLARED = '<!DOCTYPE x [<!ENTITY known "what it stands for">]>'
_ELSEWHERE = '<!DOCTYPE x SYSTEM "x.dtd">'
_CASES = {
    "comment": ("", "one<!-- no text -->two", "onetwo"),
    "instruction": ("", "one<?no text?>two", "onetwo"),
    "CDATA": ("", "one<![CDATA[ < ]]>two", "one < two"),
    "entity that is declared": (_DECLARED, "one&known;two", "one&known;two"),
    "entity that is declared elsewhere": (_ELSEWHERE, "one&other;two", "one&other;two"),
    "element nobody knows": ("", "one<new>and</new>two", "oneandtwo"),
}


def with_head(data: bytes, part: str, head: str, replaced: tuple[str, str] = ("", "")) -> bytes:
    """The same zip with something in front of one of its parts."""
    archive = zipfile.ZipFile(io.BytesIO(data))
    parts: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    body = archive.read(part).decode()
    body = body.partition("?>")[2] if body.startswith("<?xml") else body
    return zipped({**parts, part: head + body.replace(*replaced)})


def docx_of(head: str, text: str) -> bytes:
    out, document = io.BytesIO(), docx.Document()
    document.add_paragraph("MARK")
    document.save(out)
    return with_head(out.getvalue(), "word/document.xml", head, ("MARK", text))


def xlsx_of(head: str, text: str) -> bytes:
    row = '<row r="1"><c r="A1" t="s"><v>0</v></c></row>'
    return with_head(xlsx_bytes({"S": sheet(row)}, texts=[text]), "xl/sharedStrings.xml", head)


def epub_of(head: str, text: str) -> bytes:
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="c.opf"/></rootfiles></container>',
            "c.opf": '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml" '
            'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>',
            "a.xhtml": f'{head}<html xmlns="http://www.w3.org/1999/xhtml"><body><p>{text}</p></body></html>',
        }
    )


_MADE: dict[str, Callable[[str, str], bytes]] = {
    "a.docx": docx_of,
    "a.odt": lambda head, text: with_head(odt_bytes(f"<text:p>{text}</text:p>"), "content.xml", head),
    "a.pptx": lambda head, text: with_head(pptx_bytes([slide(shape(text))]), "ppt/slides/slide1.xml", head),
    "a.xlsx": xlsx_of,
    "a.epub": epub_of,
    "a.xml": lambda head, text: f"{head}<x><p>{text}</p></x>".encode(),
    "a.svg": lambda head, text: f"{head}<svg><text>{text}</text></svg>".encode(),
    "a.html": lambda head, text: f"<html><body><p>{text}</p></body></html>".encode(),
}  # fmt: skip


@cases("case", _CASES)
@cases("name", _MADE)
def test_text_around_what_is_none_is_kept(name: str, case: str) -> None:
    head, written, text = _CASES[case]
    if (name, case) == ("a.html", "CDATA"):
        text = "onetwo"  # in HTML it is a comment
    data = _MADE[name](head, written)
    (document,) = loaded(Source(name, name, data=data), LoadOptions(limits="none"))
    assert isinstance(document, Document)
    assert document.text.split("\n\n")[-1] == text
