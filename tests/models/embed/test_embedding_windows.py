"""Windows over a long text: every token once, none too long, ends where sentences and words end."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidParameter
from chunkwise.models.embed.embedder import PreferredEnds, text_windows, window_ends
from tables import cases


@given(
    count=st.integers(0, 400),
    limit=st.integers(1, 60),
    places=st.lists(st.integers(0, 400), max_size=40),
    least=st.integers(0, 60),
)
def test_windows_cover_every_token_once(
    count: int, limit: int, places: list[int], least: int
) -> None:
    at = np.array(sorted(places), dtype=np.int64)
    ends = window_ends(count, limit, PreferredEnds(at, least))
    sizes = np.diff([0, *ends])
    assert sizes.sum() == count
    assert all(0 < size <= limit for size in sizes)
    for start, end in zip([0, *ends], ends[:-1], strict=False):
        better = [p for p in places if start + max(1, least) <= p <= start + limit]
        assert end == (max(better) if better else start + limit)


def test_sentences_come_before_words_and_words_before_nothing() -> None:
    text = "One two three four. Five six seven eight nine ten"
    tokens = np.array(
        [i for i, c in enumerate(text) if c != " " and (i == 0 or text[i - 1] == " ")]
    )
    assert text_windows(text, tokens, 6) == [4, 10]
    assert text_windows(text.replace(".", ","), tokens, 6) == [6, 10]
    letters = np.arange(20)
    assert text_windows("x" * 20, letters, 6) == [6, 12, 18, 20]
    assert text_windows("", letters[:0], 6) == []


@cases("limit", [0, -1])
def test_windows_without_room_are_refused(limit: int) -> None:
    with pytest.raises(InvalidParameter, match=f"limit is {limit}"):
        window_ends(5, limit, PreferredEnds(np.arange(6), 1))
