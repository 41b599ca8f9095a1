"""Sorted positions in few bytes answer as an array of them does."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.text.positions import CompactPositions
from how_many import examples

NEAR_BLOCKS = st.builds(
    lambda block, offset: max(0, (block << 16) + offset), st.integers(0, 5), st.integers(-3, 3)
)
POSITIONS = st.lists(st.one_of(NEAR_BLOCKS, st.integers(0, 400_000))).map(sorted)


@settings(max_examples=examples(60))
@given(POSITIONS, st.lists(st.integers(0, 40)), st.lists(NEAR_BLOCKS))
def test_compact_positions_answer_as_an_array_does(
    positions: list[int], cuts: list[int], asked: list[int]
) -> None:
    array = np.array(positions, dtype=np.int64)
    compact = CompactPositions()
    for part in np.split(array, sorted(min(cut, len(array)) for cut in cuts)):
        compact.extend(part)
    assert len(compact) == len(array)
    assert [compact[index] for index in range(len(array))] == positions
    assert compact.take(np.arange(len(array))).tolist() == positions
    wanted = np.array([*asked, *positions, 1 << 40], dtype=np.int64)
    assert compact.befores(wanted).tolist() == array.searchsorted(wanted).tolist()
    assert [compact.before(each) for each in wanted.tolist()] == array.searchsorted(wanted).tolist()


@settings(max_examples=examples(5))
@given(st.integers(1, 1000))
def test_each_takes_two_bytes(step: int) -> None:
    compact = CompactPositions()
    compact.extend(np.arange(0, 1_000_000, step))
    assert compact.nbytes <= 2 * len(compact) + 8 * (1_000_000 // 65_536 + 2)
