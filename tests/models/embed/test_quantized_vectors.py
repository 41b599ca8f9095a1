"""Vectors in few bits: how near they stay to what they were; token vectors packed and kept, of the document alone."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from chunkwise.base.errors import InvalidParameter, UnknownName
from chunkwise.core import Document
from chunkwise.models.cache import ModelCache
from chunkwise.models.embed.colbert import PretrainedTokenEncoder
from chunkwise.models.embed.quantized_vectors import (
    QuantizedVectors,
    code_width,
    decode_rows,
    encode_rows,
    packed_width,
    rotated,
    token_codes_of_many,
)
from chunkwise.text.analyzed import Analyzed
from how_many import examples
from retrieval.tiny_embedder import TinyTokens
from tables import cases


def unit_rows(seed: int, count: int, dimensions: int) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@settings(max_examples=examples(30))
@given(st.integers(0, 10**6), st.integers(0, 20), st.integers(1, 20))
def test_a_number_becomes_the_nearest_of_four(seed: int, count: int, quarters: int) -> None:
    rows = unit_rows(seed, count, 4 * quarters)
    packed = encode_rows(rows)
    assert packed.shape == (count, code_width(4 * quarters))
    found = decode_rows(packed)
    spread = rows * math.sqrt(4 * quarters)  # standard deviations
    nearest = np.where(np.abs(spread) < 1, 1, 3) * np.where(spread < 0, -1, 1)
    assert np.array_equal(found, nearest)


def test_directions_stay_about_what_they_were() -> None:
    rows = unit_rows(3, 500, 64)
    found = decode_rows(encode_rows(rows))
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    assert (rows * found).sum(axis=1).min() > 0.85
    assert (rows * found).sum(axis=1).mean() > 0.93


def test_a_width_that_fills_no_bytes_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="6 numbers"):
        token_codes_of_many(TinyTokens(6), [])


HOSTILE = [
    "",
    " \n\n ",
    "🦦" * 300,
    "x" * 5000,
    "word " * 20_000,
    "a\ud800b",
    "\u0301\u0301é",
    "–",
    "one two",
]


@cases("text", HOSTILE)
def test_every_token_is_in_one_atom(text: str) -> None:
    analyzed, encoder = Analyzed(Document("d", text)), TinyTokens()
    starts = analyzed.atoms()
    (codes,) = token_codes_of_many(encoder, [(analyzed, starts)])
    assert len(codes.sizes) == len(starts)
    assert codes.sizes.sum() == len(codes.packed) == len(encoder.token_starts(text))
    expected = np.bincount(
        starts.searchsorted(encoder.token_starts(text), "right") - 1, minlength=len(starts)
    )
    assert codes.sizes.tolist() == expected[: len(starts)].tolist()


def test_what_is_kept_is_what_was_read_and_damage_is_read_again(tmp_path: Path) -> None:
    encoder, cache = TinyTokens(), ModelCache(tmp_path / "cache.sqlite")
    analyzed = Analyzed(Document("d", "The otter swims. " * 100))
    each = [(analyzed, analyzed.atoms())]
    (fresh,) = token_codes_of_many(encoder, each)
    (first,) = token_codes_of_many(encoder, each, cache)
    calls = encoder.calls
    (again,) = token_codes_of_many(encoder, each, cache)
    assert encoder.calls == calls
    for other in (first, again):
        assert np.array_equal(fresh.packed, other.packed)
        assert np.array_equal(fresh.sizes, other.sizes)
    (alone, _) = token_codes_of_many(
        encoder, [*each, (Analyzed(Document("e", "More.")), each[0][1][:1])]
    )
    assert np.array_equal(alone.packed, fresh.packed)


def test_numbers_that_are_not_finite_are_refused() -> None:
    class Broken(TinyTokens):
        def token_vectors(self, texts):  # type: ignore[no-untyped-def]
            return [
                each._replace(vectors=each.vectors * np.nan)
                for each in super().token_vectors(texts)
            ]

    analyzed = Analyzed(Document("d", "The otter swims."))
    with pytest.raises(InvalidParameter, match="finite"):
        token_codes_of_many(Broken(), [(analyzed, analyzed.atoms())])


def test_the_packaged_projection_belongs_to_the_model() -> None:
    encoder = PretrainedTokenEncoder()
    assert encoder.dimensions == 64
    assert code_width(encoder.dimensions) <= 40
    assert encoder.identity.startswith("colbert-small:498098362")
    with pytest.raises(UnknownName, match="unknown token encoder 'colbert'; did you mean"):
        PretrainedTokenEncoder("colbert")


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


@cases("dimensions", [95, 384])
@cases("outliers", [0, 1, 3])
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
