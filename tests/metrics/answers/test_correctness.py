"""F1 of the claims of two answers, held against sets of facts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.core import Query, Score
from chunkwise.metrics.answers.answer import Answer
from chunkwise.metrics.answers.correctness import answer_correctness, f1
from how_many import examples
from metrics.answers.facts_in_words import FACTS, sentence, text_of

some = st.lists(st.sampled_from(FACTS), unique=True, min_size=1, max_size=6)


def score(answer: str | None, reference: str | None) -> Score:
    answers = {} if answer is None else {"q": Answer(answer)}
    return answer_correctness([Query("q", "Where?", answer=reference)], answers)[0]


@given(some, some)
@settings(max_examples=examples(20))
def test_it_is_the_f1_of_the_facts(said: list[int], expected: list[int]) -> None:
    both = len(set(said) & set(expected))
    # Twice the shared over all: the same as the harmonic mean of precision and recall.
    naive = 2 * both / (len(said) + len(expected))
    assert score(text_of(said), text_of(expected)).value == pytest.approx(naive)


def test_what_cannot_be_scored_says_why() -> None:
    assert score(None, sentence(1)) == Score(None, "no answer")
    assert score(sentence(1), None) == Score(None, "no reference answer")
    assert score(sentence(1), "  ") == Score(None, "no reference answer")
    assert score("…?!", sentence(1)).value is None
    assert score(sentence(1), "…?!").value is None


def test_an_empty_answer_is_wrong() -> None:
    assert score(" ", sentence(1)) == Score(0.0)


@pytest.mark.parametrize(
    ("precision", "recall", "expected"), [(1, 1, 1), (0, 0, 0), (1, 0, 0), (0.5, 1, 2 / 3)]
)
def test_the_harmonic_mean(precision: float, recall: float, expected: float) -> None:
    assert f1(precision, recall) == pytest.approx(expected)
