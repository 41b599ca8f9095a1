"""Token vectors in two bits a number: packed, kept, read again, and of nothing but the document."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidParameter, UnknownName
from chunkwise.core import Document
from chunkwise.models.cache import ModelCache
from chunkwise.models.embed.colbert import PretrainedTokenEncoder
from chunkwise.models.embed.quantized_token_vectors import (
    code_width,
    decode_rows,
    encode_rows,
    token_codes_of_many,
)
from chunkwise.text.analyzed import Analyzed
from how_many import examples
from retrieval.tiny_embedder import TinyTokens


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
    with pytest.raises(InvalidParameter, match="6 numbers; a multiple of 4"):
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


@pytest.mark.parametrize("text", HOSTILE)
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
    with pytest.raises(InvalidParameter, match="not finite"):
        token_codes_of_many(Broken(), [(analyzed, analyzed.atoms())])


def test_the_packaged_projection_belongs_to_the_model() -> None:
    encoder = PretrainedTokenEncoder()
    assert encoder.dimensions == 64
    assert code_width(encoder.dimensions) <= 40
    assert encoder.identity.startswith("colbert-small:498098362")
    with pytest.raises(UnknownName, match="no token encoder is named 'colbert'; did you mean"):
        PretrainedTokenEncoder("colbert")
