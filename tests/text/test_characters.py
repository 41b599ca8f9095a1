"""Characters as arrays: what is passed over, and the kinds of a few and of all."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.text import characters as module
from chunkwise.text.characters import CharacterArrays, kinds_of
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
    assert kinds_of(characters.points[some]).tolist() == characters.kinds[some].tolist()


@settings(max_examples=examples(60), deadline=None)
@given(st.text(st.characters(max_codepoint=127), max_size=9))
def test_kinds_of_ascii_looked_up_in_pairs_are_those_of_each_character(text: str) -> None:
    characters = CharacterArrays(text)
    assert characters.kinds.tolist() == kinds_of(characters.points).tolist()
