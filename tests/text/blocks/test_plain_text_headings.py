"""Lines of plain text that are headings, and those that only look like one."""

import re

from chunkwise.text.blocks import plain_text_headings
from chunkwise.text.blocks.lines import Lines
from chunkwise.text.blocks.plain_text import plain_blocks
from chunkwise.text.blocks.plain_text_headings import in_capitals
from chunkwise.text.characters import CharacterArrays
from tables import cases
from text.blocks.test_plain_text import headings, shown

WORDS = re.findall(r"(?:\w|§)+(?=[|)])", plain_text_headings._DIVISION.pattern)


def test_the_words_of_divisions_are_known() -> None:
    assert {"book", "chapter", "section", "§", "глава", "artículo"} <= set(WORDS)


@cases(
    "line",
    [
        "1 Introduction", "2 Methods", "3 Conclusion", "10. Termination", "12 Angry Men", "5 May Day",
        "32 December", "1.5 May", "0 March", "1 May 2020 Report", "6 August in the City", "4 Results", "7 Of",
    ],
)  # fmt: skip
def test_what_only_looks_like_one_is_a_heading(line: str) -> None:
    found = headings(f"Text before it.\n\n{line}\n\nText after it.\n")
    assert [title for _, title in found] == [line]


ACRONYMS = [
    "世界卫生组织(WHO)成立于1948年。总部在日内瓦。", "私たちはAIを使う。", "우리는 AI를 사용합니다.", "سعر AI هو كبير.",
    "เราใช้ AI ทุกวัน", "हम AI का उपयोग करते हैं।", "אנחנו משתמשים ב AI כל יום.", "1. 私たちはAIを使う。", "2024年のAI",
    "1. हम AI का उपयोग करते हैं।", "1. 我们用AI！", "1. هل نستخدم AI؟",
]  # fmt: skip


@cases("line", ACRONYMS)
@cases("dense", [False, True])
def test_letters_without_case_are_no_capitals(line: str, dense: bool) -> None:
    assert headings(f"{line}\n", dense=dense) == []
    assert headings(f"Text before it.\n\n{line}\n\nText after it.\n", dense=dense) == []


@cases(
    "line",
    [
        "CHAPTER 1. LOOMINGS.", "ST. IVES", "U.S. POLICY", "I. INTRODUCTION.", "ARTICLE II. COMPENSATION", "ODE?",
        "I. THE ROAD TO THE SEA.", "1. DEFINITIONS.", "LONDON. A STREET IN THE CITY.", "MEN OF THE U.S. ARMY AT SEA.",
        "THE STORY OF DR. JEKYLL AND MR. HYDE.", "THE WORKS OF J. S. BACH AND SONS.", "PART II. THE END.",
        "LYLE FERMENTATION PRODUCTS LTD. IGENE BIOTECHNOLOGY WORKS INC.", "THIS IS THE END", "HAWAIʻI", "ВВЕДЕНИЕ",
        "CHAPTER I. THE TOAD DRIVES A CAR. HE FALLS INTO A DITCH.", "A LIST OF ALL FIG. 7 SHOWS IN GREEN.",
        "WHAT IS IT NOW? WHO IS TO COME?",
    ],
)  # fmt: skip
def test_a_heading_in_capitals_may_hold_full_stops(line: str) -> None:
    found = headings(f"Text before it.\n\n{line}\n\nText after it.\n")
    assert [title for _, title in found] == [line]


@cases(
    "text, loud",
    [("", False), ("1", False), ("A", True), ("Ä 1", True), ("Aa", False), ("ÀI", True), ("AI机", False),
     ("IBM PC 机", True), ("机", False), ("Ⅳ", False), ("ﬁ", False)],
)  # fmt: skip
def test_nearly_all_letters_are_capitals(text: str, loud: bool) -> None:
    assert in_capitals(text) is loud


PDF = """\
ANNUAL REPORT
The year was good. Sales rose and
costs fell, as the table shows.
2.1 Sales in Europe
Sales rose by 4.2 % in all of
the markets.
1. first point
2. second point
Outlook is good.
"""


def test_a_pdf_has_headings_no_blank_line_sets_off() -> None:
    assert headings(PDF, dense=True) == [(2, "ANNUAL REPORT"), (4, "2.1 Sales in Europe")]
    assert headings(PDF) == []
    assert shown(PDF, "item", dense=True) == ["1. first point", "2. second point\nOutlook is good."]


FULL = "The works stand by the sea and were built long ago by people nobody knows.\n" * 3


@cases(
    "line, level",
    [
        ("1.1 Sub of 1", 4), ("Chapter 1: The beginning", 2), ("PART II", 1), ("§ 12 Haftung", 3),
        ("第三章 开始", 2), ("ARTICLE IV.", 3), ("ANNUAL REPORT", 2), ("OUTLOOK", 2),
        ("MARK6END.", 0), ("Chapter and verse", 0), ("5 March", 0),
        ("THE SELLER DISCLAIMS ALL WARRANTIES OF ANY KIND AND OF ALL GOODS", 0), ("OUTLOOK:", 0),
    ],
)  # fmt: skip
def test_a_line_between_paragraphs_of_a_pdf(line: str, level: int) -> None:
    assert headings(f"{FULL}{line}\n{FULL}", dense=True) == ([(level, line)] if level else [])


@cases("line", ["4.2 Fees", "CHAPTER II", "OUTLOOK"])
def test_a_line_inside_a_paragraph_of_a_pdf_is_no_heading(line: str) -> None:
    assert headings(f"{FULL[:-2]}\n{line}\n{FULL}", dense=True) == []
    assert headings(f"{FULL}{line}\nof the works. {FULL}", dense=True) == []


def test_chapters_of_a_pdf_are_numbered_in_order() -> None:
    text = "".join(f"{n}. Chapter number {n}\n{FULL}" for n in (1, 2, 3))
    assert headings(text, dense=True) == [(3, f"{n}. Chapter number {n}") for n in (1, 2, 3)]


def paged(pages: list[str]) -> list[str]:
    text = "".join(pages)
    starts = [sum(map(len, pages[:n])) for n in range(len(pages))]
    found = plain_blocks(Lines(CharacterArrays(text)), dense=True, pages=starts)
    return [text[block.start : block.end] for block in found if block.kind == "heading"]
