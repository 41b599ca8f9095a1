"""The cross-encoder on this machine: its scores, what is kept of them, and a limit of time."""

import pickle
import time
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.models import get_reranker
from chunkwise.models.cache import ModelCache
from chunkwise.models.rerank import cross_encoder
from chunkwise.models.rerank.cross_encoder import PretrainedReranker
from chunkwise.models.weights.catalog import MS_MARCO_MINILM
from chunkwise.models.weights.installed import model_status
from chunkwise.testkit import check_reranker

TEXTS = [f"{'lamp ' * (number % 5)}text {number}" for number in range(20)]


class Counting:
    """Instead of the model: a score is how often the passage has the question; the clock goes on with every text."""

    def __init__(self) -> None:
        self.clock = 0.0
        self.read: list[str] = []

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        self.read += texts
        self.clock += len(texts)
        return np.array([text.count(query) for text in texts], np.float32)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Counting:
    made = Counting()
    monkeypatch.setattr(PretrainedReranker, "model", made)
    monkeypatch.setattr(time, "monotonic", lambda: made.clock)
    monkeypatch.setattr(cross_encoder, "cores", lambda: 2)
    return made


def reranker(tmp_path: Path, seconds: float = 60.0) -> PretrainedReranker:
    return PretrainedReranker(seconds, cache=ModelCache(tmp_path / "kept.sqlite"))


def test_a_pair_is_read_once_ever(tmp_path: Path, model: Counting) -> None:
    first = reranker(tmp_path).scores("lamp", [*TEXTS, TEXTS[0], "half \ud83d"])
    assert first.tolist() == [*(number % 5 for number in range(20)), 0, 0]
    assert len(model.read) == 21
    again = reranker(tmp_path).scores("lamp", TEXTS[::-1])
    assert again.tolist() == first[:20][::-1].tolist()
    assert len(model.read) == 21
    reranker(tmp_path).scores("text", TEXTS[:1])
    assert len(model.read) == 22
    assert reranker(tmp_path).scores("lamp", []).shape == (0,)


def test_what_is_not_reached_in_time_stays_behind_in_its_order(
    tmp_path: Path, model: Counting
) -> None:
    limited = reranker(tmp_path, seconds=7)
    with pytest.warns(UserWarning, match=r"8 of 20 .*local\(seconds=14\)"):
        scores = limited.scores("lamp", TEXTS)
    assert model.read == TEXTS[:8]
    order = np.argsort(-scores, kind="stable").tolist()
    assert order[:2] == [4, 3]
    # Last of those that were read is one with the least score; those behind are as they were.
    assert order[-12:] == list(range(8, 20))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        limited.scores("lamp", TEXTS)  # said once; this time it gets further
    assert model.read == TEXTS[:16]


def test_some_are_read_however_short_the_time(tmp_path: Path, model: Counting) -> None:
    with pytest.warns(UserWarning, match="4 of 20"):
        reranker(tmp_path, seconds=0.001).scores("lamp", TEXTS)


def test_passages_are_told_as_they_are_read(
    tmp_path: Path, model: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, str]] = []
    watched = nullcontext(lambda *done: told.append(done))
    monkeypatch.setattr("chunkwise.base.progress._watcher", lambda *_: watched)
    reranker(tmp_path).scores("lamp", TEXTS)
    assert sum(amount for amount, _ in told) == 20
    assert told[-1][1] == "20 of 20 passages"


def test_it_goes_by_its_name() -> None:
    plain, quick = get_reranker("local"), get_reranker("local(seconds=5)")
    assert isinstance(quick, PretrainedReranker)
    assert quick.seconds == 5
    assert plain.identity == "ms-marco-minilm:1225ccd6afd0:cb374d6bc042:512"
    assert quick.identity == f"{plain.identity} seconds=5"
    assert pickle.loads(pickle.dumps(quick)).identity == quick.identity
    for wrong in ("local(seconds=0)", "local(seconds=no)", "local(first=1)", "local(cache=1)"):
        with pytest.raises(InvalidParameter, match=r"seconds|has no parameter"):
            get_reranker(wrong)


class TestWeights:
    @pytest.fixture(autouse=True)
    def _are_here(self) -> None:
        if model_status(MS_MARCO_MINILM).state != "here":
            pytest.skip(f"no weights: chunkwise models get {MS_MARCO_MINILM.name}")

    def test_scores_are_the_published_ones(self) -> None:
        question = "How many people live in Berlin?"
        passages = [
            "Berlin had a population of 3,520,031 registered inhabitants in an area of 891.82 square kilometers.",
            "Berlin is well known for its museums.",
        ]
        # The card of the model has 9.22 and -4.08, in 32 bits.
        assert get_reranker("local").scores(question, passages) == pytest.approx(
            [9.22, -4.08], abs=0.15
        )

    def test_it_keeps_the_contract(self) -> None:
        check_reranker("local")
