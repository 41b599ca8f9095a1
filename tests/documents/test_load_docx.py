"""DOCX: what the author sees, in order."""

from __future__ import annotations

import io

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls


def saved(document: docx.document.Document) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


@pytest.fixture
def report() -> docx.document.Document:
    made = docx.Document()
    made.add_heading("Report", 0)
    made.add_heading("Part", 2)
    made.add_paragraph("Before the table.")
    table = made.add_table(2, 2)
    for cell, text in zip([c for row in table.rows for c in row.cells], "ABCD", strict=True):
        cell.text = text
    made.add_paragraph("one", "List Bullet")
    made.add_paragraph("deeper", "List Bullet 2")
    made.add_paragraph("After.")
    return made


def test_blocks_come_in_document_order(reader, write, report) -> None:
    document = reader.one(write("a.docx", saved(report)))
    text = document.text
    assert [(b.kind, text[b.start : b.end], b.level) for b in document.blocks] == [
        ("heading", "Report", 1),
        ("heading", "Part", 2),
        ("paragraph", "Before the table.", 0),
        ("header", "A | B", 0),
        ("row", "C | D", 0),
        ("item", "- one", 0),
        ("item", "- deeper", 1),
        ("paragraph", "After.", 0),
    ]
    assert "- one\n  - deeper\n\nAfter." in text
    assert document.blocks[5].group == document.blocks[6].group != document.blocks[4].group
    assert (document.title, document.format) == ("Report", "docx")


def test_insertions_links_and_content_controls_are_text_and_deletions_are_not(
    reader, write
) -> None:
    made = docx.Document()
    w = nsdecls("w")
    for xml in (
        (
            f"<w:p {w}><w:r><w:t>kept </w:t></w:r><w:ins><w:r><w:t>added</w:t></w:r></w:ins>"
            "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
            "<w:hyperlink><w:r><w:t xml:space='preserve'> link</w:t></w:r></w:hyperlink></w:p>"
        ),
        f"<w:sdt {w}><w:sdtContent><w:p><w:r><w:t>control</w:t></w:r></w:p></w:sdtContent></w:sdt>",
    ):
        made.element.body.insert(len(made.element.body) - 1, parse_xml(xml))
    assert reader.one(write("a.docx", saved(made))).text == "kept added link\n\ncontrol"


def test_a_docx_by_another_name_is_a_docx(reader, write, report) -> None:
    assert reader.one(write("a.txt", saved(report))).format == "docx"


def test_damaged_and_foreign_containers_are_named(reader, write, report, make_zip) -> None:
    write("a.docx", saved(report)[:-40])
    write("b.docx", make_zip({"[Content_Types].xml": "<x/>"}))
    write("c.xlsx", make_zip({"[Content_Types].xml": "<Types/>", "xl/workbook.xml": "é" * 99}))
    folder = write("d.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1").parent
    assert reader(folder) == []
    assert [problem.source[-6:] for problem in reader.skipped] == [
        "a.docx",
        "b.docx",
        "c.xlsx",
        "d.docx",
    ]
    assert "damaged" in reader.reasons[0]
    assert "zip container" in reader.reasons[2]
    assert "password-protected" in reader.reasons[3]
