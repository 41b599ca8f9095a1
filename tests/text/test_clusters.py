"""The rules of grapheme clusters over arrays, checked against a walk over the text."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_clusters import breaks

from chunkwise.text import clusters
from chunkwise.text.characters import Characters
from how_many import examples

ONE_OF_EACH = [
    "a", "\r", "\n", "\u200b", "\u0301", "\u200c", "\u200d", "\u0600", "\u0903", "\u1100", "\u1161", "\u11a8",
    "가", "각", "🇩", "👨", "©", "क", "्",
]  # fmt: skip
"""A character or two of every class that the rules tell apart."""
DENSE = [
    st.text(st.sampled_from(letters), max_size=60)
    for letters in (
        "👨👩❤🏽\ufe0f\u200d\u0301a",
        "🇩🇪🇫\u200d\u0301a👨",
        "\u1100\u1161\u11a8가각\u0301\u302e",
        "कष़््ि\u200d\u200c\u0600a",
        "\r\n\u0301\u200d\u200b\u0600👨",
        "".join(ONE_OF_EACH),
    )
]


def inside(text: str) -> list[int]:
    return np.flatnonzero(clusters.inside_clusters(Characters(text).points)).tolist()


def expected(text: str) -> list[int]:
    starts = set(breaks(text))
    return [place for place in range(len(text)) if place not in starts]


@pytest.mark.unwatched
def test_all_sequences_of_four_classes() -> None:
    """Parted by tabs, which no character joins."""
    text = "\t".join(map("".join, product(ONE_OF_EACH, repeat=4)))
    assert inside(text) == expected(text)


@settings(max_examples=examples(150), deadline=None)
@given(st.one_of(DENSE))
def test_dense_text(text: str) -> None:
    assert inside(text) == expected(text)


@settings(max_examples=examples(50), deadline=None)
@given(st.one_of(DENSE), st.integers(0, 60))
def test_text_across_the_edge_of_a_block(text: str, before: int) -> None:
    dots = clusters._BLOCK - before
    shifted = [place + dots - 1 for place in expected("." + text)]
    assert inside("." * dots + text) == shifted


def test_flags_and_marks_longer_than_a_block() -> None:
    size = clusters._BLOCK + 1
    flags = "a" + "🇩" * size + "b"
    assert inside(flags) == list(range(2, size, 2))
    for host, joined in (("👨", 1), ("a", 0)):
        text = host + "\u0301" * size + "\u200d👩"
        assert inside(text) == list(range(1, size + 2 + joined))


def test_nothing_to_join() -> None:
    assert inside("") == inside("a") == inside("\u0301") == []
