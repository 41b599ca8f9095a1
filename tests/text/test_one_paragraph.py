"""Lines that are taken for a paragraph at once are paragraphs to the readers of layout, too."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.text.characters import Characters
from chunkwise.text.lines import Lines
from chunkwise.text.markdown_blocks import markdown_blocks
from chunkwise.text.one_paragraph import is_one_paragraph
from chunkwise.text.plain_blocks import plain_blocks
from how_many import examples

WORDS = [
    "Chapter", "chapter", "PART", "Section", "Act", "I", "IV", "iv", "xi", "ix", "A", "a", "the", "The", "LAMP", "Lamp",
    "WHO", "1", "2.1", "12", "§", "第一章", "灯", "глава", "Глава", "é", "É", "ß", "ǅ", "ª", "page", "May", "مادة",
    ".", ")", "(", ":", "-", "#", "|", ">", "*", "`", "_", "=", "’", "…", "。", " ", "  ", "\t", "\u00a0",
    "\u0301", "\u200d",
]  # fmt: skip
LINES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map("".join)


@settings(max_examples=examples(100), deadline=None)
@given(
    LINES
    | st.text(st.characters(exclude_characters="\n\r\v\f\x85\u2028\u2029\x1c\x1d\x1e"), max_size=40)
)
def test_what_is_taken_for_a_paragraph_is_one(text: str) -> None:
    for line in (text, text + " word" * 50):
        if is_one_paragraph(line):
            check(line)


def check(text: str) -> None:
    lines = Lines(Characters(text))
    for blocks in (plain_blocks(lines), plain_blocks(lines, dense=True), markdown_blocks(lines)):
        (block,) = blocks
        assert (block.kind, block.start, text[block.end :].strip()) == ("paragraph", 0, ""), text


@pytest.mark.parametrize(
    "text",
    [
        "The lamps are lit at dusk.",
        "Chapters are short.",
        "lamps",
        "Über den Turm.",
        "Lamp 4, north  ",
    ],
)
def test_short_prose_is_taken_at_once(text: str) -> None:
    assert is_one_paragraph(text)


@pytest.mark.parametrize(
    "text",
    [
        "Chapter 4",
        "CARE OF THE LAMP",
        "IV. Of Lamps",
        "iv) the lamp",
        "4 Lamps",
        "- a lamp",
        "Lamp.\nLamp.",
    ],
)
def test_what_may_be_more_is_looked_at(text: str) -> None:
    assert not is_one_paragraph(text)
