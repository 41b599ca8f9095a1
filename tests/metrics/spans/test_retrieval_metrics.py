"""Measures over rankings equal `ir_measures`: values of it that were kept, and itself where it is installed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.metrics.spans.ranking import JudgedRanking
from chunkwise.metrics.spans.retrieval_metrics import context_precision, hit
from how_many import examples
from metrics.spans.judgments import Judged, ours, theirs
from tables import cases

KEPT = json.loads(Path(__file__).with_name("ir_measures_values.json").read_text(encoding="utf-8"))
rankings = st.builds(Judged, st.lists(st.booleans(), min_size=1, max_size=12), st.integers(0, 6))
questions = st.lists(rankings, min_size=1, max_size=4)


@cases("label", KEPT["values"])
def test_equal_to_kept_values_of_ir_measures(label: str) -> None:
    name, _, k = label.partition("@")
    got = ours([Judged(*each) for each in KEPT["questions"]], int(k))[name]
    assert got == pytest.approx(KEPT["values"][label], abs=1e-9)


@settings(deadline=None, max_examples=examples(25))
@given(questions, st.integers(1, 14))
def test_equal_to_ir_measures(asked: list[Judged], k: int) -> None:
    irm = pytest.importorskip("ir_measures")
    registry = pytest.importorskip("ir_measures.providers").registry
    got = ours(asked, k)
    if registry["pytrec_eval"].is_available():
        provider = registry["pytrec_eval"]
        for name in got:
            measure = getattr(irm, name) @ k
            assert got[name] == pytest.approx(theirs(provider, measure, asked, k), abs=1e-9), name
        return
    pytest.importorskip("cwl")
    provider = registry["cwl_eval"]
    assert got["P"] == pytest.approx(theirs(provider, irm.P @ k, asked, k), abs=1e-9)
    assert got["RR"] == pytest.approx(theirs(provider, irm.RR, asked, k), abs=1e-9)
    # This provider has no nDCG, but what it is made of: the gain of a ranking, here ours and the ideal one.
    gain = irm.SDCG(max_rel=1) @ k
    ideal = [Judged([True] * (sum(each.relevant) + each.elsewhere), 0) for each in asked]
    best = theirs(
        provider, gain, [each if each.relevant else Judged([False], 0) for each in ideal], k
    )
    for value, reached, possible in zip(
        got["nDCG"], theirs(provider, gain, asked, k), best, strict=True
    ):
        assert value == pytest.approx(reached / possible if possible else 0.0, abs=1e-9)


@settings(deadline=None, max_examples=examples(8))
@given(st.lists(st.booleans(), min_size=1, max_size=12), st.integers(0, 3))
def test_average_precision_of_complete_rankings_equal_to_ir_measures(
    relevant: list[bool], more: int
) -> None:
    """The light provider divides by the relevant ones it is shown, and takes a tenth of a second a question."""
    irm = pytest.importorskip("ir_measures")
    registry = pytest.importorskip("ir_measures.providers").registry
    pytest.importorskip("cwl")
    asked, k = [Judged(relevant, 0)], len(relevant) + more
    told = theirs(registry["cwl_eval"], irm.AP, asked, k)
    assert ours(asked, k)["AP"] == pytest.approx(told, abs=1e-9)


def test_a_question_without_hits_scores_zero() -> None:
    empty = [Judged([], 3), Judged([], 0), Judged([True], 0)]
    for name, values in ours(empty, 5).items():
        assert values[:2] == [0.0, 0.0], name
        assert values[2] > 0, name


def test_what_ir_measures_does_not_have() -> None:
    ranking = JudgedRanking(
        np.array([0, 3, 3, 4]), np.array([False, True, True, False]), np.array([2, 1, 0])
    )
    assert context_precision(ranking, 2).tolist() == [0.5, 0, 0]
    assert context_precision(ranking, 9).tolist() == [2 / 3, 0, 0]
    assert hit(ranking, 1).tolist() == [0, 0, 0]
    assert hit(ranking, 2).tolist() == [1, 0, 0]


def test_no_questions_at_all() -> None:
    assert ours([], 5) == {"P": [], "R": [], "AP": [], "nDCG": [], "RR": []}
