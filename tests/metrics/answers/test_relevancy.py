"""Cosine of question and answer, computed here number by number."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkwise.core import Query, Score
from chunkwise.metrics.answers.relevancy import answer_relevancy
from chunkwise.metrics.evidence import Answer
from chunkwise.metrics.judges.relevance_judges import NO_VECTOR, NO_WORDS

WORDS = ("lamp", "rope", "hook", "door")


class CountingEmbedder:
    """A number for each known word, the minus sign turns it round."""

    identity = "counting"
    dimensions = len(WORDS)
    window = None

    def __init__(self) -> None:
        self.read: list[str] = []

    def embed(self, texts: Sequence[str], kind: str) -> NDArray[np.float32]:
        self.read += texts
        return np.array([counts(text) for text in texts], np.float32)


def counts(text: str) -> list[float]:
    if "broken" in text:
        return [math.nan] * len(WORDS)
    return [text.split().count(word) - text.split().count(f"-{word}") for word in WORDS]


def naive(one: str, other: str) -> float | None:
    a, b = counts(one), counts(other)
    lengths = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(y * y for y in b))
    if not lengths:
        return None
    return max(0.0, sum(x * y for x, y in zip(a, b, strict=True)) / lengths)


texts = st.lists(st.sampled_from([*WORDS, "-lamp", "-rope", "and"]), max_size=6).map(" ".join)


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=5))
def test_it_is_the_cosine(pairs: list[tuple[str, str]]) -> None:
    queries = [Query(str(n), question) for n, (question, _) in enumerate(pairs)]
    answers = {str(n): Answer(answer) for n, (_, answer) in enumerate(pairs)}
    found = answer_relevancy(queries, answers, CountingEmbedder())
    for (question, answer), score in zip(pairs, found, strict=True):
        expected = naive(question, answer)
        if expected is None:
            assert score == Score(None, NO_WORDS)
        else:
            assert score.value == pytest.approx(expected, abs=1e-5)
            assert 0 <= (score.value or 0) <= 1


def test_what_cannot_be_scored_says_why() -> None:
    queries = [Query("a", "lamp"), Query("b", "lamp"), Query("c", "lamp")]
    found = answer_relevancy(queries, {"b": Answer("broken"), "c": Answer(" ")}, CountingEmbedder())
    assert found == [Score(None, "no answer"), Score(None, NO_VECTOR), Score(None, NO_WORDS)]


def test_without_answers_no_model_is_used() -> None:
    embedder = CountingEmbedder()
    assert answer_relevancy([Query("a", "lamp")], {}, embedder) == [Score(None, "no answer")]
    assert embedder.read == []
