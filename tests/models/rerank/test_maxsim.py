"""Late interaction with the default model: as the formula has it, to the bit whatever stands around a passage."""

import math
import pickle
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.models import RERANKER_FORMS, get_reranker, rerankers
from chunkwise.models.cache import ModelCache
from chunkwise.models.embed.embedder import Kind, TokenVectors
from chunkwise.models.embed.pretrained import PretrainedEmbedder, minilm
from chunkwise.models.rerank.maxsim import MaxSimReranker, _nearest
from chunkwise.models.rerank.reranker import BlendingReranker, Reranker
from chunkwise.testkit import check_reranker
from how_many import examples
from tables import cases

QUESTION = "When are the lamps of the harbour lit?"
TEXTS = [
    "Leave is asked for in writing, and answered within a week.",
    "The keeper lights the harbour's lamps at dusk.",
    "Salt the fish on both sides.",
    "Wann werden die Lampen im Hafen angezündet? Am Abend.",
    "x",
]
HOSTILE = ["[CLS] [SEP] [PAD]", "\x1b[31m", "half \ud83d pair", "a" * 3000, "👩‍👩‍👧", "漢字" * 99]
INVISIBLE = ["", " \n", "\u202e\u2066", "\x00"]


@pytest.fixture(scope="module")
def reranker() -> MaxSimReranker:
    return MaxSimReranker()


def by_hand(model: PretrainedEmbedder, question: str, text: str) -> float:
    """The formula in plain Python, on the model's own numbers instead of whole ones."""
    asked, read = (each.vectors.tolist() for each in model.token_vectors([question, text]))
    total = weight = 0.0
    for token in asked:
        length = math.hypot(*token)
        cosines = [
            sum(a * b for a, b in zip(token, other, strict=True)) / length / math.hypot(*other)
            for other in read
        ]
        total += length**3 * max(cosines)
        weight += length**3
    return total / weight


def test_scores_are_those_of_the_formula(reranker: MaxSimReranker) -> None:
    given = reranker.scores(QUESTION, TEXTS)
    assert given.dtype == np.float32
    assert given.argmax() == 1
    model = minilm()
    expected = [by_hand(model, QUESTION, text) for text in TEXTS]
    np.testing.assert_allclose(given, expected, atol=0.005)
    np.testing.assert_allclose(reranker.scores(QUESTION, [QUESTION]), 1, atol=1e-6)


def test_the_contract_is_kept_to_the_bit(reranker: MaxSimReranker) -> None:
    check_reranker(reranker, [*TEXTS, *HOSTILE, *INVISIBLE], tolerance=0.0)
    assert isinstance(reranker, Reranker)
    assert isinstance(reranker, BlendingReranker)


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize("threads", [1, 3])
def test_neither_threads_nor_the_cache_move_a_score(
    reranker: MaxSimReranker, tmp_path: Path, threads: int
) -> None:
    texts = [*TEXTS, "Gulls sleep on the roof. " * 60, *HOSTILE, *TEXTS]
    expected = reranker.scores(QUESTION, texts)
    other = MaxSimReranker(
        embedder=minilm(threads=threads), cache=ModelCache(tmp_path / "vectors.sqlite")
    )
    for _ in ("read", "kept"):
        np.testing.assert_array_equal(other.scores(QUESTION, texts), expected)
    assert other.identity == reranker.identity


class Counting(PretrainedEmbedder):
    """Remembers how often each text was read."""

    def __init__(self) -> None:
        super().__init__("minilm")
        self.read: list[str] = []

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        self.read += texts
        return super().token_vectors(texts)


def test_a_passage_is_read_once_ever(tmp_path: Path) -> None:
    counting = Counting()
    for question in (QUESTION, "Who salts the fish?"):
        made = MaxSimReranker(embedder=counting, cache=ModelCache(tmp_path / "vectors.sqlite"))
        made.scores(question, TEXTS * 2)
    assert sorted(counting.read) == sorted([QUESTION, "Who salts the fish?", *TEXTS])


def test_a_damaged_row_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    scores = MaxSimReranker(cache=ModelCache(path)).scores(QUESTION, TEXTS).tolist()
    with closing(sqlite3.connect(path)) as database:
        database.execute("update vectors set value = x'010203'")
        database.commit()
    with pytest.warns(UserWarning, match=r"vectors\.sqlite .*damaged"):
        again = MaxSimReranker(cache=ModelCache(path)).scores(QUESTION, TEXTS)
    assert again.tolist() == scores


def test_what_has_no_token_comes_last(reranker: MaxSimReranker) -> None:
    scores = reranker.scores(QUESTION, [*INVISIBLE, *HOSTILE]).tolist()
    assert set(scores[: len(INVISIBLE)]) == {-1}
    assert min(scores[len(INVISIBLE) :]) > -1
    assert reranker.scores(" ", ["x", ""]).tolist() == [-1, -1]
    assert reranker.scores(QUESTION, []).shape == (0,)


@cases("text", HOSTILE)
def test_hostile_texts_are_texts(reranker: MaxSimReranker, text: str) -> None:
    (against,) = reranker.scores(QUESTION, [text])
    (asked,) = reranker.scores(text, [text])
    assert -1 <= against < 0.9
    assert asked == pytest.approx(1, abs=1e-6)


def test_long_passages_are_read_to_their_end(reranker: MaxSimReranker) -> None:
    filling = "Salt the fish on both sides and leave it for a day. " * 25
    without, first, last = reranker.scores(
        QUESTION, [filling, f"{TEXTS[1]} {filling}", f"{filling} {TEXTS[1]}"]
    )
    assert min(first, last) > without + 0.2
    assert last == pytest.approx(first, abs=0.1)


def test_it_can_be_named_and_sent(reranker: MaxSimReranker) -> None:
    assert "maxsim" in rerankers.names()
    assert "maxsim" in RERANKER_FORMS
    named = get_reranker("maxsim")
    assert isinstance(named, MaxSimReranker)
    assert named.identity == reranker.identity
    other = get_reranker("maxsim(first=0.5)")
    assert isinstance(other, MaxSimReranker)
    assert (named.weight_of_first, other.weight_of_first) == (1, 0.5)
    assert other.identity != named.identity
    copy = pickle.loads(pickle.dumps(other))
    assert copy.identity == other.identity
    assert copy.scores(QUESTION, TEXTS).tolist() == other.scores(QUESTION, TEXTS).tolist()


@cases("first", [-0.1, float("nan"), 101, True, "much"])
def test_weights_that_mean_nothing_are_refused(first: object) -> None:
    with pytest.raises(InvalidParameter, match=r"first is .*; expected 0"):
        MaxSimReranker(first)  # type: ignore[arg-type]


@cases("name", ["second", "embedder", "cache"])
def test_unknown_parameters_are_named(name: str) -> None:
    with pytest.raises(InvalidParameter, match=f"maxsim has no parameter '{name}'; it has: first"):
        get_reranker(f"maxsim({name}=1)")


whole = st.integers(1, 6).flatmap(
    lambda rows: arrays(np.int8, (rows, 5), elements=st.integers(-127, 127))
)


@settings(max_examples=examples(25))
@given(asked=whole, read=whole)
def test_the_nearest_is_the_highest_cosine(asked: NDArray[np.int8], read: NDArray[np.int8]) -> None:
    def cosine(one: list[int], other: list[int]) -> float:
        lengths = math.hypot(*one) * math.hypot(*other)
        return sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0

    expected = [max(cosine(one, other) for other in read.tolist()) for one in asked.tolist()]
    np.testing.assert_allclose(_nearest(asked, read), expected, atol=1e-12)


class Blank:
    """A model of one's own whose vectors of a word are zeros."""

    identity, dimensions, window = "blank", 3, 8

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        return np.zeros((len(texts), 3), np.float32)

    def token_starts(self, text: str) -> NDArray[np.int64]:
        return np.zeros(1, np.int64)

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        place = np.zeros(1, np.int64)
        return [TokenVectors(place, place + 1, np.zeros((1, 3), np.float32)) for _ in texts]


def test_vectors_without_direction_are_no_tokens(tmp_path: Path) -> None:
    made = MaxSimReranker(embedder=Blank(), cache=ModelCache(tmp_path / "vectors.sqlite"))
    assert made.scores("a", ["b"]).tolist() == [-1]
