"""The quick look at a line's first characters passes over no heading."""

import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.text import heading_words
from chunkwise.text.characters import Characters
from chunkwise.text.lines import Lines
from chunkwise.text.plain_headings import _heading, _may_be_headings
from how_many import examples

WORDS = re.findall(r"(?:\w|§)+(?=[|)])", heading_words._DIVISION.pattern)
OPENINGS = [
    *WORDS, *(word.upper() for word in WORDS), *(word.title() for word in WORDS), "第三章", "第2节", "LİBRO", "lıvre",
    "1", "12.", "1.2.3)", "٣.", "²", "I.", "IV)", "XXL.", "C.", "MIX", "\ufeff1.", "\ufeffPART", "TITLE", "ÄÖÜ", "ﬁ",
    "Dr.", "The", "She", "“Yes,”", "--", "e", "§§", "(1)", "A.1", "X.2.1", "1:", "بابا", "บทที่",
    "WHO", "世界WHO", "私はAI", "AIは", "우리 AI", "NO. I", "5 MAI",
]  # fmt: skip
LINES = st.tuples(
    st.sampled_from(OPENINGS),
    st.sampled_from(["", " ", "\t", "\u00a0", "."]),
    st.sampled_from(["", "1", "I", "one", "a", "The Fees", "fees,", "OF WAR", "of war.", "Ⅳ"]),
).map("".join) | st.text(max_size=12)


def test_the_words_of_divisions_are_known() -> None:
    assert {"book", "chapter", "section", "§", "глава", "artículo"} <= set(WORDS)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(LINES, min_size=1, max_size=6))
def test_no_heading_is_passed_over(given_lines: list[str]) -> None:
    lines = Lines(Characters("\n\n".join(given_lines)))
    which = np.flatnonzero(~lines.blank)
    read = dict(zip(which.tolist(), _may_be_headings(lines, which).tolist(), strict=True))
    for line in which.tolist():
        text = lines.text(line).strip()
        assert read[line] or _heading(text, line, True) is None, text


def test_most_lines_of_dialogue_are_passed_over() -> None:
    lines = Lines(
        Characters("First.\n“Yes,” he said.\nThe lamp.\nShe went.\n- no\nChapter 2\nV. On War")
    )
    assert _may_be_headings(lines, np.arange(7)).tolist() == [
        True, True, False, False, False, True, True,
    ]  # fmt: skip
