"""Coherence and cohesion against loops that look at one pair after the other."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.metrics.cuts import coherence as measured
from chunkwise.metrics.cuts.coherence import (
    Coherence,
    chunk_cohesions,
    mean_of,
    neighbor_cosines,
)

EAST, NORTH, DIAGONAL, NOWHERE = [1.0, 0.0], [0.0, 2.0], [3.0, 3.0], [0.0, 0.0]


def vectors(*rows: list[float]) -> np.ndarray:
    return np.array(rows, np.float32).reshape(-1, 2)


def numbers(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def cosine(a: np.ndarray, b: np.ndarray) -> float | None:
    size = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    return sum(float(x) * float(y) for x, y in zip(a, b, strict=True)) / size if size else None


def coherence(
    chunks: np.ndarray,
    document: np.ndarray,
    sentences: np.ndarray,
    sentence: np.ndarray,
    chunk: np.ndarray,
) -> Coherence:
    return Coherence(
        mean_of(neighbor_cosines(chunks, document)),
        mean_of(chunk_cohesions(chunks, sentences, sentence, chunk)),
    )


def test_neighbors_are_of_one_document() -> None:
    chunks = vectors(EAST, NORTH, NORTH, DIAGONAL)
    assert neighbor_cosines(chunks, numbers(0, 0, 1, 1)).tolist() == pytest.approx(
        [0, math.sqrt(0.5)]
    )
    assert len(neighbor_cosines(chunks, numbers(0, 1, 2, 3))) == 0
    assert mean_of(neighbor_cosines(chunks[:0], numbers())) is None


def test_a_chunk_of_one_sentence_says_nothing_about_cohesion() -> None:
    chunks, sentences = vectors(DIAGONAL, EAST), vectors(EAST, NORTH, EAST)
    found = chunk_cohesions(chunks, sentences, numbers(0, 1, 2), numbers(0, 0, 1))
    assert found[0] == pytest.approx(math.sqrt(0.5))
    assert math.isnan(found[1])


def test_a_chunk_counts_once_however_many_sentences_it_has() -> None:
    chunks, sentences = vectors(EAST, EAST), vectors(EAST, NORTH)
    # The first has four sentences like itself, the second two unlike itself.
    found = coherence(
        chunks, numbers(0, 1), sentences, numbers(0, 0, 0, 0, 1, 1), numbers(0, 0, 0, 0, 1, 1)
    )
    assert found.cohesion == pytest.approx(0.5)
    assert found.coherence is None
    assert found.contrast is None


def test_contrast_is_what_cohesion_has_more() -> None:
    chunks, sentences = vectors(EAST, NORTH), vectors(EAST, NORTH)
    found = coherence(chunks, numbers(0, 0), sentences, numbers(0, 0, 1, 1), numbers(0, 0, 1, 1))
    assert (found.coherence, found.cohesion, found.contrast) == (0.0, 1.0, 1.0)


def test_vectors_without_length_have_no_cosine() -> None:
    assert np.isnan(neighbor_cosines(vectors(EAST, NOWHERE), numbers(0, 0))).all()
    found = chunk_cohesions(
        vectors(EAST), vectors(EAST, EAST, NOWHERE), numbers(0, 1, 2), numbers(0, 0, 0)
    )
    assert found.tolist() == [1.0]


@given(st.data())
def test_equal_to_loops(data: st.DataObject) -> None:
    count = data.draw(st.integers(0, 12))
    few = st.integers(-2, 2).map(float)
    rows = st.lists(st.tuples(few, few, few), min_size=count, max_size=count)
    chunks = np.array(data.draw(rows), np.float32).reshape(-1, 3)
    document = np.sort(
        np.array(data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count)), np.int64)
    )
    sentences = np.array(data.draw(st.lists(st.tuples(few, few, few))), np.float32).reshape(-1, 3)
    pairs = []
    if count and len(sentences):
        pairs = data.draw(
            st.lists(st.tuples(st.integers(0, len(sentences) - 1), st.integers(0, count - 1)))
        )
    sentence = np.array([s for s, _ in pairs], np.int64)
    chunk = np.array([c for _, c in pairs], np.int64)
    found = coherence(chunks, document, sentences, sentence, chunk)

    near = [
        cosine(chunks[a], chunks[b])
        for a, b in pairwise(range(count))
        if document[a] == document[b]
    ]
    inside = []
    for number in range(count):
        own = [cosine(sentences[s], chunks[number]) for s, c in pairs if c == number]
        known = [value for value in own if value is not None]
        inside.append(sum(known) / len(known) if len(known) > 1 else None)
    for got, values in ((found.coherence, near), (found.cohesion, inside)):
        known = [value for value in values if value is not None]
        assert got == (pytest.approx(sum(known) / len(known), abs=1e-9) if known else None)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(3)
    chunks = chance.normal(size=(50, 8)).astype(np.float32)
    whole = neighbor_cosines(chunks, np.zeros(50, np.int64))
    monkeypatch.setattr(measured, "_AT_ONCE", 7)
    assert np.array_equal(whole, neighbor_cosines(chunks, np.zeros(50, np.int64)))
