"""The rules of grapheme clusters over arrays, checked against a walk over the text."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.text import graphemes as graphemes_module
from chunkwise.text.characters import CharacterArrays
from chunkwise.text.graphemes import Graphemes
from how_many import examples
from tables import cases
from text.naive_clusters import breaks

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
    return np.flatnonzero(graphemes_module.inside_clusters(CharacterArrays(text).points)).tolist()


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
    dots = graphemes_module._BLOCK - before
    shifted = [place + dots - 1 for place in expected("." + text)]
    assert inside("." * dots + text) == shifted


def test_flags_and_marks_longer_than_a_block() -> None:
    size = graphemes_module._BLOCK + 1
    flags = "a" + "🇩" * size + "b"
    assert inside(flags) == list(range(2, size, 2))
    for host, joined in (("👨", 1), ("a", 0)):
        text = host + "\u0301" * size + "\u200d👩"
        assert inside(text) == list(range(1, size + 2 + joined))


def test_nothing_to_join() -> None:
    assert inside("") == inside("a") == inside("\u0301") == []


NASTY = [
    *"ab .\n\r\t\x00\x1b\x7f\x85", "\r\n", "\u00ad", "\u061c", "\u180e", "\u200b", "\u200c", "\u2028", "\ufeff",
    "\u0301", "\u0308", "\u20e3", "\ufe0f", "\u200d", "\ud800", "\udfff",
    "👍", "🏽", "👨", "👩", "❤", "©", "🇩", "🇪", "🇩🇪", "\U000e0020", "\U000e007f",
    "\u1100", "\u1161", "\u11a8", "가", "각", "क", "्", "ि", "ष", "़", "\u1cf5", "ത", "്", "ต", "ำ", "ี", "ກ", "ຳ",
    "\u0600", "\u0d4e", "\U000110bd", "か", "\u3099", "ｶ", "\uff9e", "文", "é", "ß",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(NASTY), max_size=14).map("".join) | st.text(max_size=40)


def graphemes(text: str) -> Graphemes:
    return Graphemes(CharacterArrays(text))


@settings(max_examples=examples(250), deadline=None)
@given(TEXTS)
def test_cuts_are_allowed_where_clusters_meet(text: str) -> None:
    found = graphemes(text)
    assert [place for place in range(len(text) + 1) if found.is_break(place)] == breaks(text)


@settings(max_examples=examples(75), deadline=None)
@given(TEXTS)
def test_floor_and_ceil_are_the_nearest_allowed_cuts(text: str) -> None:
    found, allowed = graphemes(text), breaks(text)
    for place in range(len(text) + 1):
        assert found.floor(place) == max(cut for cut in allowed if cut <= place)
        assert found.ceil(place) == min(cut for cut in allowed if cut >= place)


@settings(max_examples=examples(75), deadline=None)
@given(TEXTS, st.data())
def test_floors_are_each_floor_once(text: str, data: st.DataObject) -> None:
    places = sorted(data.draw(st.sets(st.integers(0, len(text)))))
    found = graphemes(text)
    floors = found.floors(np.array(places, dtype=np.int64)).tolist()
    assert floors == sorted({found.floor(place) for place in places})


@settings(max_examples=examples(75), deadline=None)
@given(TEXTS)
def test_keep_drops_the_cuts_that_break_a_cluster(text: str) -> None:
    every = np.arange(len(text) + 1)
    assert graphemes(text).keep(every).tolist() == breaks(text)


@cases(
    "cluster",
    [
        "👨‍👩‍👧‍👦",
        "🇩🇪",
        "👍🏽",
        "e\u0301",
        "한",
        "कि",
        "क्ष",
        "क़्\u200dष्ट्रि",
        "กำ",
        "\r\n",
        "❤️",
        "1\ufe0f\u20e3",
        "a" + "\u0301" * 500,
    ],
)
def test_one_cluster_is_never_cut(cluster: str) -> None:
    found = graphemes(f"x{cluster}y")
    assert [place for place in range(len(cluster) + 3) if found.is_break(place)] == [
        0, 1, 1 + len(cluster), 2 + len(cluster),
    ]  # fmt: skip


def test_flags_pair_up_from_the_left() -> None:
    assert [place for place in range(7) if graphemes("🇩🇪🇫🇷🇯🇵").is_break(place)] == [0, 2, 4, 6]


def test_a_long_run_of_flags_is_paired_without_looking_back() -> None:
    """A pattern that counts back to the run's start at every flag would take minutes here."""
    text = "🇩🇪" * 100_000
    assert (graphemes(text).keep(np.arange(len(text))) == np.arange(0, len(text), 2)).all()


def test_plain_text_may_be_cut_anywhere() -> None:
    assert graphemes("plain text\nof two lines").trivial
    assert graphemes("").trivial
    assert not graphemes("two\r\nlines").trivial
    text = "Grüße, 世界！"
    assert all(graphemes(text).is_break(position) for position in range(len(text) + 1))


def test_no_cuts_to_keep() -> None:
    assert graphemes("e\u0301").keep(np.zeros(0, dtype=np.int64)).tolist() == []
