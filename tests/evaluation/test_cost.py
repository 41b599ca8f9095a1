"""What chunks cost, by definitions anyone can check by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise.evaluation.cost import (
    COSTS,
    chunk_cost,
    cost_amount,
    cost_label,
    index_cost,
    running_cost,
)
from tables import cases


def test_the_figures_of_a_few_chunks() -> None:
    assert chunk_cost(np.array([10, 20, 30, 100], np.int32), 80, beside=40) == {
        "chunks": 4,
        "mean_tokens": 40.0,
        "median_tokens": 25.0,
        "p95_tokens": 100,
        "max_tokens": 100,
        "document_tokens": 80,
        "indexed_tokens": 200,
        "storage": 2.5,
    }


def test_every_cost_of_a_run_has_its_words() -> None:
    index = chunkwise.index(
        [chunkwise.Document("a", "One sentence. Another one.")], embedder="none"
    )
    assert {*index_cost(index)} == {*COSTS}
    assert cost_label("of_others") == "of others"


def test_nothing_has_no_mean() -> None:
    found = chunk_cost(np.zeros(0, np.int64), 0)
    assert found["chunks"] == found["indexed_tokens"] == 0
    assert {found[name] for name in ("mean_tokens", "p95_tokens", "max_tokens", "storage")} == {
        None
    }


@cases("unknown", [None, math.nan, -math.inf, "2", True])
def test_a_cost_that_is_not_known_is_the_dearest(unknown: object) -> None:
    cost = {"storage": 2, "context_tokens": unknown}
    assert (cost_amount(cost, "storage"), cost_amount(cost, "context_tokens")) == (2.0, math.inf)
    assert running_cost(cost) == running_cost({}) == math.inf
    assert running_cost(cost, budget=100) == 200.0


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=200))
def test_the_percentile_is_a_size_that_occurs(sizes: list[int]) -> None:
    found = chunk_cost(np.array(sizes, np.int64), sum(sizes) or 1)
    ordered = sorted(sizes)
    assert found["p95_tokens"] == ordered[math.ceil(round(0.95 * len(sizes), 6)) - 1]
    assert found["mean_tokens"] == pytest.approx(sum(sizes) / len(sizes))


def test_sums_do_not_overflow() -> None:
    sizes = np.full(3000, 2**20, np.int32)
    assert chunk_cost(sizes, 1)["indexed_tokens"] == 3000 * 2**20
