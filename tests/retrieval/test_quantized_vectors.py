"""Vectors in four bits: how near they stay to what they were, whatever the model makes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from chunkwise.retrieval.quantized_vectors import QuantizedVectors, packed_width, rotated

ROWS = st.tuples(st.integers(0, 5), st.integers(1, 9)).flatmap(
    lambda shape: arrays.arrays(np.float32, shape, elements=st.floats(-1e4, 1e4, width=32))
)


def cosines(these: np.ndarray, those: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(these, axis=1) * np.linalg.norm(those, axis=1)
    return np.einsum("ij,ij->i", these, those) / lengths


@settings(deadline=None)
@given(ROWS)
def test_a_number_loses_half_a_step_at_most(vectors: np.ndarray) -> None:
    small = QuantizedVectors.of(vectors)
    assert small.packed.shape == (len(vectors), packed_width(vectors.shape[1]))
    assert len(small) == len(vectors)
    step = small.scale[:, None].astype(np.float64)
    lost = np.abs(np.hstack(small.halves()) * step - rotated(vectors))
    assert (lost <= step * 0.5001 + 1e-40).all()  # less is no number of 4 bytes


@settings(deadline=None)
@given(ROWS)
def test_a_turn_changes_no_product(vectors: np.ndarray) -> None:
    exact = vectors.astype(np.float64)
    rows = rotated(vectors)
    assert rows.shape[1] % 2 == 0
    largest = np.abs(exact).max(initial=0.0) ** 2
    np.testing.assert_allclose(rows @ rows.T, exact @ exact.T, rtol=1e-9, atol=largest * 1e-9)


@pytest.mark.parametrize("dimensions", [95, 384])
@pytest.mark.parametrize("outliers", [0, 1, 3])
def test_dimensions_that_dwarf_the_others_hide_nothing(dimensions: int, outliers: int) -> None:
    """As token vectors of some models have them; rounded as they are, all others would be 0."""
    vectors = np.random.default_rng(7).normal(size=(200, dimensions)).astype(np.float32)
    vectors[:, :outliers] *= 30
    axes = rotated(np.eye(dimensions, dtype=np.float32))
    kept = QuantizedVectors.of(vectors).turned(slice(None)) @ axes.T
    assert cosines(vectors, kept).min() > 0.98
    assert cosines(vectors[:, outliers:], kept[:, outliers:]).mean() > 0.9


def test_rows_and_columns_are_picked_alike() -> None:
    vectors = np.random.default_rng(1).normal(size=(6, 10)).astype(np.float32)
    small = QuantizedVectors.of(vectors)
    for whole, part in zip(small.halves(), small.halves(slice(1, 4), slice(2, 5)), strict=True):
        assert (whole[1:4, 2:5] == part).all()
    assert (small.turned(slice(2, 3)) == small.turned(slice(None))[2:3]).all()


def test_every_number_of_four_bits_comes_back() -> None:
    """Two a byte, in either half, beside any other."""
    pairs = np.arange(256, dtype=np.uint8)[:, None]
    low, high = QuantizedVectors(pairs, np.ones(256, np.float32)).halves()
    signed = [(byte + 8) % 16 - 8 for byte in range(256)]
    assert low.ravel().tolist() == signed
    assert high.ravel().tolist() == [(byte // 16 + 8) % 16 - 8 for byte in range(256)]
