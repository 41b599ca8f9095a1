"""Slides, sheets and OpenDocument: sections, lists and tables; what is damaged is one line."""

# ruff: noqa: E501 (XML in one line)
from __future__ import annotations

import pytest

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.formats.odt import OdtLoader
from chunkwise.documents.formats.pptx import PptxLoader
from chunkwise.documents.formats.xlsx import XlsxLoader
from chunkwise.documents.loader import LoadOptions
from chunkwise.documents.source import Source
from documents.office_files import (
    NAMES,
    SHEETS,
    odt_bytes,
    pptx_bytes,
    relations,
    shape,
    sheet,
    slide,
    xlsx_bytes,
    zipped,
)
from tables import cases
from untimed import is_linear

TABLE = "<a:tbl>" + "".join(
    "<a:tr>" + "".join(f"<a:tc><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>" for text in row) + "</a:tr>"
    for row in ("AB", "12")
) + "</a:tbl>"  # fmt: skip
BOMB = (
    '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">]>'
)


def shown(document: Document) -> list[tuple[str, int, str]]:
    return [(b.kind, b.level, document.text[b.start : b.end]) for b in document.blocks or ()]


def test_a_slide_is_a_section_with_its_texts_tables_and_notes(reader, write) -> None:
    frame = f"<p:graphicFrame><p:nvGraphicFramePr/><a:graphic><a:graphicData>{TABLE}</a:graphicData></a:graphic></p:graphicFrame>"
    group = f"<p:grpSp>{shape('in a group')}</p:grpSp>"
    data = pptx_bytes(
        [
            slide(shape("First", role="ctrTitle"), shape("one", "deep", role="body", level=1)),
            slide(shape("3", role="sldNum"), frame, group, shape("a box")),
        ],
        notes={0: slide(shape("Say this.", role="body"), shape("1", role="sldNum"), root="notes")},
    )
    document = reader.one(write("a.pptx", data))
    assert shown(document) == [
        ("heading", 1, "First"),
        ("item", 0, "- one"),
        ("item", 1, "- deep"),
        ("heading", 2, "Notes"),
        ("paragraph", 0, "Say this."),
        ("heading", 1, "Slide 2"),
        ("header", 0, "A | B"),
        ("row", 0, "1 | 2"),
        ("paragraph", 0, "in a group"),
        ("paragraph", 0, "a box"),
    ]
    assert (document.title, document.format) == ("First", "pptx")
    assert [document.page(document.text.index(text)) for text in ("First", "Say", "box")] == [
        1,
        1,
        2,
    ]


def test_words_of_a_diagram_are_read_and_the_old_form_of_a_new_shape_is_not(reader, write) -> None:
    frame = '<p:graphicFrame><a:graphic><a:graphicData><dgm:relIds xmlns:dgm="d" r:dm="d1"/></a:graphicData></a:graphic></p:graphicFrame>'
    twice = (
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f"<mc:Choice>{shape('new')}</mc:Choice><mc:Fallback>{shape('old')}</mc:Fallback></mc:AlternateContent>"
    )
    more = {
        "ppt/slides/_rels/slide1.xml.rels": relations(
            {"d1": ("diagramData", "../diagrams/data1.xml")}
        ),
        "ppt/diagrams/data1.xml": f'<dgm:dataModel xmlns:dgm="d" {NAMES}><dgm:pt><dgm:t><a:p><a:r><a:t>a step</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>',
    }
    document = reader.one(write("a.pptx", pptx_bytes([slide(frame, twice)], more=more)))
    assert [text for _, _, text in shown(document)] == ["Slide 1", "a step", "new"]


STYLES = (
    f'<styleSheet {SHEETS}><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>'
    '<numFmt numFmtId="165" formatCode="[Red]&quot;days&quot; 0.0"/></numFmts><cellXfs><xf numFmtId="0"/>'
    '<xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="9"/><xf numFmtId="22"/><xf numFmtId="165"/></cellXfs></styleSheet>'
)


def test_a_sheet_is_a_section_and_its_cells_are_tables(reader, write) -> None:
    rows = sheet(
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row>',
        '<row r="2"><c r="A2" t="inlineStr"><is><r><t>rich </t></r><r><t>text</t></r></is></c><c r="C2"><f>1+1</f><v>2</v></c></row>',
        '<row r="5"><c r="B5" t="b"><v>1</v></c><c r="XFD5" t="e"><v>#N/A</v></c></row>',
    )
    data = xlsx_bytes(
        {"Sales": rows, "Empty": sheet(), "More": sheet("<row><c><v>7</v></c></row>")},
        texts=["Name", "Amount\n(EUR)"],
    )
    document = reader.one(write("a.xlsx", data))
    assert shown(document) == [
        ("heading", 1, "Sales"),
        ("header", 0, "Name | Amount (EUR)"),
        ("row", 0, "rich text | 2"),
        ("row", 0, "TRUE | #N/A"),
        ("heading", 1, "More"),
        ("row", 0, "7"),
    ]
    groups = [block.group for block in document.blocks if block.kind != "heading"]
    assert groups == [1, 1, 2, 3]


@cases(
    "cell, expected",
    [
        ('<c s="1"><v>45352</v></c>', "2024-03-01"),
        ('<c s="2"><v>45352.5625</v></c>', "2024-03-01 13:30"),
        ('<c s="4"><v>0.75</v></c>', "18:00"),
        ('<c s="3"><v>0.255</v></c>', "25.5%"),
        ('<c s="5"><v>12</v></c>', "12"),
        ('<c s="1"><v>99999999999</v></c>', "99999999999"),
        ('<c s="1"><v>-3</v></c>', "-3"),
        ("<c><v>0.30000000000000004</v></c>", "0.3"),
        ("<c><v>1E+20</v></c>", "1e+20"),
        ('<c s="99"><v>4</v></c>', "4"),
        ("<c><v>nan</v></c>", "nan"),
        ('<c s="3"><v>nan</v></c>', "nan%"),
        ('<c s="1"><v>nan</v></c>', "nan"),
        ('<c s="1"><v>inf</v></c>', "inf"),
    ],
)
def test_cells_say_what_they_show(reader, write, cell, expected) -> None:
    data = xlsx_bytes({"S": sheet(f"<row>{cell}</row>")}, styles=STYLES)
    assert reader.one(write("a.xlsx", data)).text == f"S\n\n{expected}"


def test_days_may_count_from_1904(reader, write) -> None:
    about = '<workbookPr date1904="1"/>'
    data = xlsx_bytes(
        {"S": sheet('<row><c s="1"><v>0</v></c><c s="1"><v>1</v></c></row>')},
        styles=STYLES,
        about=about,
    )
    assert reader.one(write("a.xlsx", data)).text == "S\n\n00:00 | 1904-01-02"


def test_a_text_of_opendocument(reader, write) -> None:
    body = (
        '<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>'
        '<text:p text:style-name="Title">The Plan</text:p>'
        '<text:h text:outline-level="1">One <text:span>part</text:span></text:h>'
        '<text:p>Two<text:s text:c="2"/>words<text:note><text:note-citation>1</text:note-citation><text:note-body>'
        "<text:p>a note</text:p></text:note-body></text:note> here<office:annotation><text:p>remark</text:p></office:annotation>.</text:p>"
        '<text:p><draw:frame><draw:text-box><text:p>in a box</text:p></draw:text-box></draw:frame></text:p>'
        '<text:list text:style-name="L"><text:list-item><text:p>a</text:p><text:list><text:list-item><text:p>deep</text:p>'
        "</text:list-item></text:list></text:list-item><text:list-item><text:p>b</text:p></text:list-item></text:list>"
        '<text:h text:outline-level="2">Table</text:h><table:table><table:table-row><table:table-cell><text:p>A</text:p>'
        '</table:table-cell><table:table-cell table:number-columns-repeated="16000"/></table:table-row>'
        "<table:table-row><table:table-cell><text:p>1</text:p></table:table-cell></table:table-row></table:table>"
    )  # fmt: skip
    styles = '<text:list-style style:name="L"><text:list-level-style-number text:level="1"/></text:list-style>'
    document = reader.one(write("a.odt", odt_bytes(body, styles=styles)))
    assert shown(document) == [
        ("paragraph", 0, "The Plan"),
        ("heading", 1, "One part"),
        ("paragraph", 0, "Two  words [a note] here."),
        ("paragraph", 0, "in a box"),
        ("item", 0, "1. a"),
        ("item", 1, "- deep"),
        ("item", 0, "2. b"),
        ("heading", 2, "Table"),
        ("header", 0, "A"),
        ("row", 0, "1"),
    ]
    assert (document.title, document.format) == ("The Plan", "odt")
    assert reader.one(write("b.odt", odt_bytes(body, meta="Own title"))).title == "Own title"


def test_sheets_and_slides_of_opendocument(reader, write) -> None:
    row = '<table:table-row table:number-rows-repeated="{}"><table:table-cell table:number-columns-repeated="2"><text:p>{}</text:p></table:table-cell></table:table-row>'
    sheets = f'<table:table table:name="Sales">{row.format(1, "x")}<table:table-row table:number-rows-repeated="1000000"/></table:table>'
    document = reader.one(write("a.ods", odt_bytes(sheets, kind="spreadsheet")))
    assert shown(document) == [("heading", 1, "Sales"), ("row", 0, "x | x")]
    pages = (
        '<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>Start</text:p></draw:text-box></draw:frame>'
        "<draw:frame><draw:text-box><text:p>body</text:p></draw:text-box></draw:frame>"
        "<presentation:notes><draw:frame><draw:text-box><text:p>say</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>"
    )
    document = reader.one(write("a.odp", odt_bytes(pages, kind="presentation")))
    assert [text for _, _, text in shown(document)] == ["Start", "body", "Notes", "say"]
    assert (document.title, document.pages) == ("Start", (0,))


def test_an_encrypted_file_is_said_to_be_one(reader, write) -> None:
    data = odt_bytes("<text:p>x</text:p>", more="<manifest><encryption-data/></manifest>")
    assert reader(write("a.odt", data)) == []
    assert reader.reasons == ["encrypted; save it without a password"]


@cases(
    "name, parts",
    [
        ("a.pptx", {"ppt/presentation.xml": "no xml"}),
        ("a.pptx", {"x": ""}),
        ("a.xlsx", {"xl/workbook.xml": "<a><b></a>"}),
        ("a.xlsx", {"x": ""}),
        ("a.odt", {"content.xml": "\0"}),
        ("a.odt", {"x": ""}),
        ("a.odt", {"content.xml": "<a>" * 2000 + "</a>" * 2000}),
    ],
)
def test_damage_is_one_line(reader, write, name, parts) -> None:
    path = write(name, zipped({"[Content_Types].xml": "<Types/>", "mimetype": "x", **parts}))
    assert reader(path) == []
    assert len(reader.reasons) == 1
    assert reader.reasons[0].startswith("damaged ")


@cases("where", ["text", "attribute"])
def test_entities_are_not_expanded(where) -> None:
    inside = "&d;" if where == "text" else ""
    attribute = 'x="&d;"' if where == "attribute" else ""
    content = (
        f'{BOMB}<o:c xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:t="t"><o:body {attribute}>'
        f"<t:p>before {inside}</t:p></o:body></o:c>"
    )
    data = zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})
    documents = list(OdtLoader().load(Source("a", "a.odt", data=data), LoadOptions(), pytest.fail))
    assert [document.text for document in documents] == [f"before {inside}".strip()]


def test_a_zip_bomb_is_refused(reader, write) -> None:
    data = zipped(
        {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": b" " * (40 << 20)}
    )
    assert reader(write("a.odt", data)) == []
    assert "zip bomb" in reader.reasons[0]


def _slides(count: int) -> bytes:
    return pptx_bytes([slide(shape(*["word"] * 5, role="body")) for _ in range(count)])


def _rows(count: int) -> bytes:
    return xlsx_bytes(
        {
            "S": sheet(
                *[
                    f'<row r="{at + 1}"><c><v>{at}</v></c><c><v>1</v></c></row>'
                    for at in range(count)
                ]
            )
        }
    )


def _paragraphs(count: int) -> bytes:
    item = "<text:list-item><text:p>x</text:p></text:list-item>"
    return odt_bytes("<text:p>words</text:p>" * count + f"<text:list>{item * count}</text:list>")


@cases("loader, made", [(PptxLoader(), _slides), (XlsxLoader(), _rows), (OdtLoader(), _paragraphs)])
def test_time_is_linear(loader, made) -> None:
    files = {size: made(size) for size in (25, 100, 400)}

    def work(size: int) -> object:
        return list(loader.load(Source("a", "a", data=files[size]), LoadOptions(), pytest.fail))

    is_linear(work, 100)


def test_a_row_far_to_the_right_takes_no_room(reader, write) -> None:
    letters = [
        f"{a}{b}" for a in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" for b in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    ]
    rows = [f'<row r="{at}"><c r="{letters[at]}{at}"><v>1</v></c></row>' for at in range(1, 600)]
    document = reader.one(write("a.xlsx", xlsx_bytes({"S": sheet(*rows)})))
    assert len(document.text) < 5_000


@cases("loader", [PptxLoader(), XlsxLoader(), OdtLoader()])
def test_what_is_no_zip_is_refused(loader) -> None:
    for data in (b"PK\x03\x04junk", b"\0" * 100, b"words"):
        with pytest.raises(UnreadableDocument):
            list(loader.load(Source("a", "a", data=data), LoadOptions(), pytest.fail))


@cases("number", ["2958465", "2958465.9999999"])
@cases("about", ['<workbookPr date1904="1"/>', ""])
def test_a_day_behind_the_last_is_a_number(reader, write, number, about) -> None:
    rows = f'<row><c s="1"><v>{number}</v></c><c><v>7</v></c></row>'
    data = xlsx_bytes({"S": sheet(rows)}, styles=STYLES, about=about)
    shown = "9999-12-31" if not about and number == "2958465" else number
    assert reader.one(write("a.xlsx", data)).text == f"S\n\n{shown} | 7"
