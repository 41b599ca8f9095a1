"""Marks of Markdown are left out of a comparison; the place stays that of the document."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.core import Document
from chunkwise.testsets.locate import Located, Missing, SoughtPassage, locate
from chunkwise.text.find_passages import marks_of, unmarked
from how_many import examples
from tables import cases


def place(quote: str, text: str) -> str | None:
    outcome = locate([SoughtPassage(quote)], [Document("d", text)])[0]
    if isinstance(outcome, Missing):
        return None
    assert isinstance(outcome, Located)
    assert outcome.tolerance == "marks"
    (found,) = outcome.places
    return text[found.start : found.end]


@cases(
    "text, quote, stands",
    [
        ("**Bold** is fine.", "Bold is fine", "**Bold** is fine"),
        ("x **Amber.** The state of the [dock](http://a).", "Amber. The state of the dock",
         "**Amber.** The state of the [dock](http://a)"),
        ("Call `run()` first, _always_.", "Call run() first, always", "Call `run()` first, _always_"),
        ("See the [list of *six*][1] lamps.", "the list of six lamps", "the [list of *six*][1] lamps"),
        ("A ![small lamp](a_(b).png) burns.", "a small lamp burns", "A ![small lamp](a_(b).png) burns"),
        ("***All*** of __it__ is so.", "All of it is so", "***All*** of __it__ is so"),
        ("这是**重点**内容。", "这是重点内容", "这是**重点**内容"),
        ("Rule 4\\* is\\. old.", "Rule 4* is. old", "Rule 4\\* is\\. old"),
        ("The lamp is lit.", "The **lamp** is lit", "The lamp is lit"),
        ('It is [here](http://a "the place") now.', "it is here now", 'It is [here](http://a "the place") now'),
    ],
)  # fmt: skip
def test_marks_do_not_hide_a_quote(text: str, quote: str, stands: str) -> None:
    assert place(quote, f"Nothing here. {text} Nor here.") == stands


@cases(
    "text, quote",
    [
        ("2*3 days and 4*5 days", "23 days"),
        ("the snake_case_name", "the snakecasename"),
        ("a * b * c", "a b c"),
        ("**never closed", "never closed **"),
        ("so **a new\n\nparagraph** is", "so a new paragraph is"),
        ("a list [of things] (here)", "a list of things here"),
        ("***** a line *****", "a line a line"),
    ],
)
def test_what_is_no_mark_stays(text: str, quote: str) -> None:
    assert place(quote, text) is None


WORDS = st.lists(st.sampled_from(["lamp", "is", "lit", "5", "ß", "漢字"]), min_size=1, max_size=6)
AROUND = st.sampled_from(
    [("", ""), ("**", "**"), ("*", "*"), ("`", "`"), ("[", "](u)"), ("_", "_"), ("**[", "](u)**")]
)


@settings(max_examples=examples(25))
@given(st.data())
def test_marked_words_are_found_by_their_plain_form(data: st.DataObject) -> None:
    words = data.draw(WORDS)
    marked = [f"{left}{word}{right}" for word in words for left, right in [data.draw(AROUND)]]
    text, plain = " ".join(marked), " ".join(words)
    found = unmarked(text)
    assert (plain if found is None else found.text) == plain
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    if found is not None:
        low = len(" ".join([*words[:first], ""])) if first else 0
        high = low + len(" ".join(words[first : last + 1]))
        assert text[found.begin[low] : found.end[high - 1]] == " ".join(marked[first : last + 1])


@settings(max_examples=examples(40))
@given(st.text("ab *_`[]()!\\\n", max_size=40))
def test_whatever_the_text_marks_are_disjoint_and_the_rest_is_kept(text: str) -> None:
    marks = marks_of(text)
    assert all(one.end <= other.start for one, other in pairwise(marks))
    assert all(mark.start < mark.end for mark in marks)
    found = unmarked(text)
    if found is None:
        assert not marks
        return
    assert len(found.text) == len(text) - sum(mark.end - mark.start for mark in marks)
    for number, character in enumerate(found.text):
        assert character in text[found.begin[number] : found.end[number]]
    assert all(one <= other for one, other in zip(found.end, found.begin[1:], strict=False))


@pytest.mark.unwatched
@pytest.mark.parametrize(
    "text", ["](" * 50_000, "**a " * 50_000, "[" * 100_000, "](a(b" * 20_000, '](a "b' * 20_000]
)
def test_hostile_marks_take_linear_time(text: str) -> None:
    assert len(marks_of(text)) <= len(text)
