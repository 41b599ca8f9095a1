"""Claims of an answer in what was retrieved, held against sets of facts."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.core import Document, Hit, Query, Score
from chunkwise.metrics.answers.faithfulness import faithfulness
from chunkwise.metrics.evidence import Answer
from how_many import examples
from metrics.answers.facts_in_words import FACTS, sentence, text_of

some = st.lists(st.sampled_from(FACTS), unique=True, max_size=5)


def hit(text: str, rank: int = 1) -> Hit:
    return Hit(Document(f"d{rank}", text), 0, len(text), 1.0, rank, 5)


def score(answer: str | None, *texts: str) -> Score:
    answers = {} if answer is None else {"q": Answer(answer)}
    found = [hit(text, rank) for rank, text in enumerate(texts, 1)]
    return faithfulness([Query("q", "Where does it hang?")], [found], answers)[0]


@given(some, st.lists(some, max_size=3))
@settings(max_examples=examples(20))
def test_it_is_the_share_of_facts_that_a_hit_has(said: list[int], found: list[list[int]]) -> None:
    told = score(text_of(said), *map(text_of, found))
    if not said:
        assert told == Score(None, "the answer has no content words")
        return
    known = {fact for own in found for fact in own}
    assert told.value == sum(fact in known for fact in said) / len(said)


def test_what_cannot_be_scored_says_why() -> None:
    assert score(None, sentence(1)) == Score(None, "no answer")
    assert score("…?!", sentence(1)).value is None
    assert score("  ", sentence(1)).value is None
    assert score(sentence(1)).value == 0.0


def test_numbers_and_negations_count() -> None:
    text = "Leave is paid for 15 days."
    assert score("Leave is paid for 15 days.", text).value == 1
    assert score("Leave is paid for 5 days.", text).value == 0
    assert score("Leave is not paid for 15 days.", text).value == 0
