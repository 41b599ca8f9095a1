"""DOCX: what the author sees, in order."""

from __future__ import annotations

import io
import zipfile

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn

from tables import cases


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
        ("heading", "Part", 3),
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


@cases(
    "own, expected",
    [
        ("Annual \n Report 2024", "Annual Report 2024"),
        ("Documentation of the plan", "Documentation of the plan"),
        ("", "Report"),
        ("  ", "Report"),
        ("Microsoft Word - final_v2.doc", "Report"),
        ("Word Document", "Report"),
        ("Document1", "Report"),
        ("Untitled", "Report"),
        ("final_v2.docx", "Report"),
    ],
)
def test_the_files_own_title_comes_first_unless_a_program_gave_it(
    reader, write, report, own, expected
) -> None:
    report.core_properties.title = own
    document = reader.one(write("a.docx", saved(report)))
    assert document.title == expected
    assert document.text.startswith("Report\n")


def test_without_a_title_headings_keep_their_levels(reader, write) -> None:
    made = docx.Document()
    made.add_heading("Part", 1)
    document = reader.one(write("a.docx", saved(made)))
    assert [block.level for block in document.blocks] == [1]


def listed(*paragraphs: tuple[str, str]) -> docx.document.Document:
    made = docx.Document()
    for text, style in paragraphs:
        made.add_paragraph(text, style)
    return made


def test_numbered_lists_are_numbered_as_word_counts(reader, write) -> None:
    number, deeper, bullet = "List Number", "List Number 2", "List Bullet 2"
    made = listed(
        ("a", number), ("b\nc", number), ("x", deeper), ("y", deeper), ("d", number),
        ("z", deeper), ("p", bullet), ("e", number), ("Other text.", "Normal"), ("f", number),
    )  # fmt: skip
    document = reader.one(write("a.docx", saved(made)))
    assert document.text == (
        "1. a\n2. b\n   c\n  1. x\n  2. y\n3. d\n  3. z\n  - p\n4. e\n\nOther text.\n\n5. f"
    )
    groups = [block.group for block in document.blocks]
    assert len(set(groups[:8])) == 1
    assert groups[-1] not in groups[:8]


@cases(
    "numbering, expected",
    [("5", "1. a\n2. b"), ("1", "- a\n- b"), ("77", "- a\n- b")],
)
def test_the_numbering_tells_the_marker(reader, write, numbering, expected) -> None:
    made = listed(("a", "Normal"), ("b", "Normal"))
    for paragraph in made.paragraphs:
        properties = paragraph._p.get_or_add_pPr().get_or_add_numPr()
        properties.get_or_add_numId().val = int(numbering)
        properties.get_or_add_ilvl().val = 0
    assert reader.one(write("a.docx", saved(made))).text == expected


def test_a_numbering_that_starts_elsewhere(reader, write) -> None:
    made = listed(("a", "List Number"), ("b", "List Number"))
    numbering = made.part.numbering_part.element
    (number,) = numbering.xpath("./w:num[@w:numId='5']")
    number.append(
        parse_xml(
            f"<w:lvlOverride {nsdecls('w')} w:ilvl='0'><w:startOverride w:val='7'/></w:lvlOverride>"
        )
    )
    assert reader.one(write("a.docx", saved(made))).text == "7. a\n8. b"


@cases("depth", ["\u00b2", "\u0663", "9" * 5000, "-1", "x"])
def test_a_depth_that_is_no_number_is_the_styles(reader, write, depth) -> None:
    made = listed(("a", "List Bullet"), ("b", "List Bullet 2"))
    level = made.paragraphs[1]._p.get_or_add_pPr().get_or_add_numPr().get_or_add_ilvl()
    level.set(qn("w:val"), depth)
    document = reader.one(write("a.docx", saved(made)))
    assert document.text == "- a\n  - b"


@cases(
    "outline, kind, level",
    [("1", "heading", 2), ("9", "paragraph", 0), ("\u00b2", "paragraph", 0)],
)
def test_a_style_is_a_heading_by_the_outline_of_what_it_is_based_on(
    reader, write, outline, kind, level
) -> None:
    made = docx.Document()
    base, own = (made.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH) for name in ("B", "O"))
    base.element.get_or_add_pPr().append(
        parse_xml(f"<w:outlineLvl {nsdecls('w')} w:val='{outline}'/>")
    )
    own.base_style = base
    base.base_style = own  # a circle
    made.add_paragraph("text", own)
    (block,) = reader.one(write("a.docx", saved(made))).blocks
    assert (block.kind, block.level) == (kind, level)


@cases("name", ["heading 2", "List Bullet"])
@cases("which", ["", "w:type='character' w:styleId='X'"])
def test_a_style_that_is_no_paragraphs_own_makes_nothing_of_them(
    reader, write, name, which
) -> None:
    made = docx.Document()
    made.styles.element.append(
        parse_xml(f"<w:style {nsdecls('w')} {which}><w:name w:val='{name}'/></w:style>")
    )
    own = made.styles.add_style("X", WD_STYLE_TYPE.PARAGRAPH)
    own.base_style = made.styles["Heading 3"]
    plain, based = made.add_paragraph("plain"), made.add_paragraph("based", "Quote")
    made.add_paragraph("titled", own)
    plain._p.get_or_add_pPr()  # of no style
    assert based.style.name == "Quote"
    blocks = reader.one(write("a.docx", saved(made))).blocks
    assert [block.kind for block in blocks] == ["paragraph", "paragraph", "heading"]


def test_a_style_named_number_needs_no_numbering(reader, write) -> None:
    made = listed(("a", "List Number"), ("b", "List Number"))
    (numbering,) = made.styles["List Number"].element.xpath("./w:pPr/w:numPr")
    numbering.getparent().remove(numbering)
    assert reader.one(write("a.docx", saved(made))).text == "1. a\n2. b"


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
    assert "damaged workbook" in reader.reasons[2]
    assert "password-protected" in reader.reasons[3]


W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def noted(made: docx.document.Document, kind: str, notes: dict[str, str]) -> None:
    """Give a document a part of notes by id; the text of each is that of its one run, as XML."""
    separator = (
        f'<w:{kind} w:type="separator" w:id="-1"><w:p><w:r><w:t>-</w:t></w:r></w:p></w:{kind}>'
    )
    inside = "".join(
        f'<w:{kind} w:id="{id}">'
        + "".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in text.split("|"))
        + f"</w:{kind}>"
        for id, text in notes.items()
    )
    xml = f'<w:{kind}s xmlns:w="{W}">{separator}{inside}</w:{kind}s>'
    content = f"application/vnd.openxmlformats-officedocument.wordprocessingml.{kind}s+xml"
    part = Part(PackURI(f"/word/{kind}s.xml"), content, xml.encode(), made.part.package)
    made.part.relate_to(part, f"{RELATIONS}/{kind}s")


def refer(paragraph: docx.text.paragraph.Paragraph, kind: str, id: str) -> None:
    paragraph._p.append(parse_xml(f'<w:r xmlns:w="{W}"><w:{kind}Reference w:id="{id}"/></w:r>'))


def test_foot_and_endnotes_stand_behind_the_block_that_refers_to_them(reader, write) -> None:
    made = docx.Document()
    noted(made, "footnote", {"2": "Except in winter.|Or in spring.", "3": "Nobody refers to it."})
    noted(made, "endnote", {"2": "See the ledger."})
    first = made.add_paragraph("Six days")
    refer(first, "footnote", "2")
    first.add_run(" may be carried over.")
    refer(first, "endnote", "2")
    made.add_paragraph("Then they are lost.")
    document = reader.one(write("a.docx", saved(made)))
    assert document.text == (
        "Six days[1] may be carried over.[2]\n\n[1] Except in winter. Or in spring.\n\n"
        "[2] See the ledger.\n\nThen they are lost."
    )
    assert [block.kind for block in document.blocks] == ["paragraph"] * 4


def test_notes_of_headings_items_and_cells(reader, write) -> None:
    made = docx.Document()
    noted(made, "footnote", {"1": "of a heading", "2": "of an item", "3": "of a cell"})
    refer(made.add_heading("Part", 1), "footnote", "1")
    refer(made.add_paragraph("one", "List Number"), "footnote", "2")
    made.add_paragraph("two", "List Number")
    table = made.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "A", "B"
    refer(table.cell(0, 0).paragraphs[0], "footnote", "3")
    refer(made.add_paragraph("Again"), "footnote", "9")
    document = reader.one(write("a.docx", saved(made)))
    assert document.text == (
        "Part\n\n[1] of a heading\n\n1. one[2]\n\n[2] of an item\n\n2. two\n\nA[3] | B\n\n"
        "[3] of a cell\n\nAgain"
    )


@cases(
    "run",
    [
        "<w:t>one <!-- a comment -->two</w:t>",
        "<w:t>one </w:t><!-- a comment --><w:t>two</w:t>",
        "<w:t>one <w:unknown/>two</w:t>",
        "<w:t>one <w:unknown>t</w:unknown>wo</w:t>",
        "<w:t>one </w:t><w:unknown/><w:t>two</w:t>",
        "<w:t>one <?instruction x?>two</w:t>",
        "<w:unknown><w:t>one </w:t></w:unknown><w:t>two</w:t>",
    ],
)
def test_comments_and_unknown_elements_do_not_swallow_what_follows(reader, write, run) -> None:
    made = docx.Document()
    made.add_paragraph()._p.append(parse_xml(f'<w:r xmlns:w="{W}">{run}</w:r>'))
    assert reader.one(write("a.docx", saved(made))).text == "one two"


def test_entities_do_not_swallow_what_follows(reader, write) -> None:
    made = docx.Document()
    made.add_paragraph("one MARK two")
    with zipfile.ZipFile(io.BytesIO(saved(made))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    xml = members["word/document.xml"].replace(b"MARK", b"&own;")
    declared = b'<!DOCTYPE w:document [<!ENTITY own "expanded">]>'
    head, mark, rest = xml.partition(b"?>")
    members["word/document.xml"] = head + mark + declared + rest
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    assert reader.one(write("a.docx", out.getvalue())).text.split() == ["one", "&own;", "two"]
