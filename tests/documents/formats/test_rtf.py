"""Rich text: what is on the page, with headings, items and tables."""

from __future__ import annotations

import pytest

from chunkwise.core import Document
from chunkwise.documents.formats.rtf import RtfLoader
from chunkwise.documents.loader import LoadOptions
from chunkwise.documents.source import Source
from tables import cases
from untimed import is_linear

HEAD = (
    r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fnil Arial;}}{\colortbl;\red0;}"
    r"{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 heading 1;}{\s2 heading 2;}}{\info{\title The Plan}{\author Anna}}"
    r"{\*\generator Some writer;}{\header on every page}"
)


def shown(document: Document) -> list[tuple[str, int, str]]:
    return [(b.kind, b.level, document.text[b.start : b.end]) for b in document.blocks or ()]


def test_headings_items_tables_and_signs(reader, write) -> None:
    text = HEAD + (
        r"\pard\s1 One\par\pard Words {\b in bold} and \'e4\u8364?\emdash\par"
        "\n" r"\pard\s2 Two\par{\pict\pngblip 89504e47}"
        r"\pard{\listtext\'b7\tab}\ls1 first\par{\listtext\'b7\tab}\ilvl1 deep\par"
        r"\pard\intbl A\cell B\cell\row\intbl 1\cell 2\cell\row"
        r"\pard{\v hidden}{\deleted gone}\u-10179?\u-8704? end\{\}\\}"
    )  # fmt: skip
    document = reader.one(write("a.rtf", text))
    assert shown(document) == [
        ("heading", 1, "One"),
        ("paragraph", 0, "Words in bold and ä€—"),
        ("heading", 2, "Two"),
        ("item", 0, "- first"),
        ("item", 1, "- deep"),
        ("header", 0, "A | B"),
        ("row", 0, "1 | 2"),
        ("paragraph", 0, "😀 end{}\\"),
    ]
    assert (document.title, document.format) == ("The Plan", "rtf")


def test_the_code_page_of_the_file_decodes_its_text(reader, write) -> None:
    assert reader.one(write("a.rtf", r"{\rtf1\ansi\ansicpg1251 \'e4\'e0}")).text == "да"


def test_binary_parts_are_jumped_over(reader, write) -> None:
    text = HEAD.encode() + rb"\pard before\par{\pict\bin9 }}}{{{\\\x}after\par}"
    assert reader.one(write("a.rtf", text)).text == "before\n\nafter"


@cases(
    "data",
    [
        rb"{\rtf1 text", rb"{\rtf1 text}}}}}}", b"{\\rtf1 text" + b"{" * 100_000, rb"{\rtf1 text\u99999999999 x",
        rb"{\rtf1\ansicpg99999 text", rb"{\rtf1 text\'", rb"{\rtf1 text\bin99999999 x", rb"{\rtf1 text\cell\row\row",
        rb"{\rtf1\uc999 text\u1 ", rb"{\rtf1 text\u-99999?", rb"{\rtf1\f0 text{\fonttbl\f-5\fcharset128}\'81",
        rb"{\rtf1 text \ud83d?\u-10179?",
    ],
)  # fmt: skip
def test_broken_files_are_read_as_far_as_they_go(reader, write, data) -> None:
    assert "text" in reader.one(write("a.rtf", data)).text


@cases("data", [b"words", b"\0\1\2", b"{\\r"])
def test_what_is_no_rich_text_is_one_line(reader, write, data) -> None:
    assert reader(write("a.rtf", data)) == []
    (reason,) = reader.reasons
    assert "not RTF" in reason
    assert "\n" not in reason


@pytest.mark.usefixtures("large_inputs")
@cases(
    "part",
    [
        "{",
        "}",
        "\\par a",
        "\\'e4",
        "{\\b a}",
        "\\u1 ?",
        "\\cell",
        "\\row",
        "a ",
        "{\\*\\x",
    ],
)
def test_time_is_linear(part) -> None:
    def work(size: int) -> object:
        source = Source("a", "a.rtf", data=b"{\\rtf1 " + part.encode() * size)
        return list(RtfLoader().load(source, LoadOptions(), pytest.fail))

    is_linear(work, 500)


def test_halves_of_characters_reach_neither_titles_nor_markers(reader, write) -> None:
    text = (
        r"{\rtf1{\info{\title \u-10179?\u-8704? The \u-10240? Plan}}"
        r"\pard{\listtext 1\u-10179?\u-8704?\u-9216?)\tab}one\par}"
    )
    document = reader.one(write("a.rtf", text))
    assert document.title == "😀 The \ufffd Plan"
    assert document.text == "1😀\ufffd) one"


def test_text_in_shapes_is_left_out(reader, write) -> None:
    text = r"{\rtf1 before {\shp{\*\shpinst{\shptxt Box\par}}{\shprslt old}}after}"
    assert reader.one(write("a.rtf", text)).text == "before after"
