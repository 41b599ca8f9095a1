"""A line in capitals is a heading: not one whose few capitals are an acronym, nor a paragraph in capitals."""

import pytest
from test_plain_blocks import headings

from chunkwise.text.heading_words import in_capitals

ACRONYMS = [
    "世界卫生组织(WHO)成立于1948年。总部在日内瓦。", "私たちはAIを使う。", "우리는 AI를 사용합니다.", "سعر AI هو كبير.",
    "เราใช้ AI ทุกวัน", "हम AI का उपयोग करते हैं।", "אנחנו משתמשים ב AI כל יום.", "1. 私たちはAIを使う。", "2024年のAI",
    "1. हम AI का उपयोग करते हैं।", "1. 我们用AI！", "1. هل نستخدم AI؟",
]  # fmt: skip


@pytest.mark.parametrize("line", ACRONYMS)
@pytest.mark.parametrize("dense", [False, True])
def test_letters_without_case_are_no_capitals(line: str, dense: bool) -> None:
    assert headings(f"{line}\n", dense=dense) == []
    assert headings(f"Text before it.\n\n{line}\n\nText after it.\n", dense=dense) == []


def test_a_sentence_with_an_acronym_is_no_title_below_a_chapters_number() -> None:
    assert headings("第三章\nAI来了\n他走了\n") == [(2, "第三章")]
    assert headings("第三章\nAI来了\n\n他走了\n") == [(2, "第三章\nAI来了")]


@pytest.mark.parametrize(
    "line",
    [
        "THE SOFTWARE IS PROVIDED AS IS. NO WARRANTY IS GIVEN.",
        "THE SOFTWARE IS PROVIDED “AS IS.” NO WARRANTY IS GIVEN!",
        "1. THE SOFTWARE IS PROVIDED AS IS. NO WARRANTY IS GIVEN.",
        "(THE GOODS ARE SOLD AS THEY ARE. THEY ARE NOT TAKEN BACK.)",
        "DO NOT RUN! DO NOT SHOUT!",
        "ТОВАР ПРОДАЁТСЯ КАК ЕСТЬ. ГАРАНТИЙ МЫ НЕ ДАЁМ.",
    ],
)
def test_several_sentences_in_capitals_are_a_paragraph(line: str) -> None:
    assert headings(f"Text before it.\n\n{line}\n\nText after it.\n") == []


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("text", "loud"),
    [("", False), ("1", False), ("A", True), ("Ä 1", True), ("Aa", False), ("ÀI", True), ("AI机", False),
     ("IBM PC 机", True), ("机", False), ("Ⅳ", False), ("ﬁ", False)],
)  # fmt: skip
def test_nearly_all_letters_are_capitals(text: str, loud: bool) -> None:
    assert in_capitals(text) is loud
