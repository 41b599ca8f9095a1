"""Characters as arrays: what is passed over, and the kinds of a few and of all."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.text import characters as module
from chunkwise.text.characters import (
    DIGIT,
    LETTER,
    SPACE,
    CharacterArrays,
    kind_of,
    kinds_of,
)
from how_many import examples

GAPS = st.lists(
    st.sampled_from(["a", " ", "\n", "\u3000", "\x1c", " " * 9, "\n \n" * 5]), max_size=30
)


def test_an_empty_text_has_nothing_solid() -> None:
    assert CharacterArrays("").next_solid(np.array([0])).tolist() == [0]


@pytest.mark.parametrize("few", [0, 1000])
@settings(max_examples=examples(60), deadline=None)
@given(GAPS.map("".join), st.data())
def test_next_solid_steps_over_white_space(few: int, text: str, data: st.DataObject) -> None:
    where = data.draw(st.lists(st.integers(0, len(text)), max_size=20)) if text else []
    expected = [len(text) - len(text[position:].lstrip()) for position in where]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_FEW", few)
        found = CharacterArrays(text).next_solid(np.array(where, dtype=np.int64))
    assert found.tolist() == expected


def test_kinds_of_some_characters_are_those_among_all() -> None:
    text = "Ab 1.\n文e\u0301👍\u200d\u0600"
    characters = CharacterArrays(text)
    some = np.array([9, 1, 6, 10])
    assert kinds_of(characters.points[some]).tolist() == characters.kinds_at(some).tolist()


@settings(max_examples=examples(60), deadline=None)
@given(
    st.one_of(
        st.text(st.characters(max_codepoint=limit), min_size=1, max_size=9)
        for limit in (127, 255, 0xFFFF, None)
    )
)
def test_a_text_is_held_as_narrow_as_its_characters_and_says_the_same_of_them(text: str) -> None:
    characters = CharacterArrays(text)
    assert characters.points.tolist() == [*map(ord, text)]
    widest = max(map(ord, text))
    assert characters.points.itemsize == (1 if widest < 256 else 2 if widest < 1 << 16 else 4)
    everywhere = np.arange(len(text))
    assert characters.kinds_at(everywhere).tolist() == [*map(kind_of, text)]
    for flags in (SPACE, LETTER | DIGIT):
        expected = [bool(kind_of(char) & flags) for char in text]
        assert (
            characters.are(flags).tolist()
            == characters.have(everywhere, flags).tolist()
            == expected
        )
    assert characters.places("a.é文").tolist() == [
        at for at, char in enumerate(text) if char in "a.é文"
    ]


@settings(max_examples=examples(60), deadline=None)
@given(st.text(" \n\u2003ab", max_size=30))
def test_white_space_is_passed_forwards_and_backwards(text: str) -> None:
    text = text + " " * 9 + "a" + " " * 9
    characters = CharacterArrays(text)
    everywhere = np.arange(len(text) + 1)
    behind = [len(text) - len(text[at:].lstrip()) for at in everywhere.tolist()]
    assert characters.next_solid(everywhere).tolist() == behind
    before = [len(text[:at].rstrip()) for at in everywhere.tolist()]
    assert characters.behind_solid(everywhere).tolist() == before


@settings(max_examples=examples(60), deadline=None)
@given(
    st.text(st.sampled_from("a1. \n\u00df\u6587\u20ac\U0001f44d"), max_size=12)
    | st.text(max_size=12),
    st.integers(1, 5),
    st.sampled_from([0, 100]),
)
def test_places_are_the_same_however_many_characters_are_looked_at_together(
    text: str, block: int, large: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        patch.setattr(module, "_LARGE", large)
        characters = CharacterArrays(text)
        everywhere = np.arange(len(text))
        assert characters.are(LETTER).tolist() == [bool(kind_of(char) & LETTER) for char in text]
        if text:
            assert characters.kinds_at(everywhere).tolist() == [*map(kind_of, text)]
        spaces, signs = characters.are(SPACE).nonzero()[0], characters.places("a\n\u6587")
        words = characters.word_starts
    assert spaces.tolist() == [at for at, char in enumerate(text) if char.isspace()]
    assert signs.tolist() == [at for at, char in enumerate(text) if char in "a\n\u6587"]
    assert words.tolist() == CharacterArrays(text).word_starts_within(0, len(text)).tolist()
    assert all(found.dtype == np.int64 for found in (spaces, signs, words))
