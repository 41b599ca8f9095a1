"""The share of a reference answer's facts in an answer, held against sets of words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.core import Query, Score
from chunkwise.metrics.answers.completeness import answer_completeness
from chunkwise.metrics.answers.correctness import answer_correctness, f1
from chunkwise.metrics.evidence import Answer
from how_many import examples
from metrics.answers.facts_in_words import FACTS, sentence, text_of
from tables import cases

some = st.lists(st.sampled_from(FACTS), unique=True, min_size=1, max_size=6)


def score(answer: str | None, reference: str | None, question: str = "Where?") -> Score:
    answers = {} if answer is None else {"q": Answer(answer)}
    return answer_correctness([Query("q", question, answer=reference)], answers)[0]


@given(some, some)
@settings(max_examples=examples(20))
def test_it_is_the_share_of_the_facts(said: list[int], expected: list[int]) -> None:
    given, wanted = (
        {word for fact in each for word in sentence(fact).strip(".").split()[1:]} - {"of", "on"}
        for each in (said, expected)
    )
    numbers = {str(100 + 7 * fact) for fact in expected}
    # Every number has three digits: one that is missing beside one that is not expected is another one.
    replaced = not numbers <= given and not set(said) <= set(expected)
    naive = 0 if replaced else len(given & wanted) / len(wanted)
    assert score(text_of(said), text_of(expected)).value == pytest.approx(naive)


def test_what_cannot_be_scored_says_why() -> None:
    assert score(None, sentence(1)) == Score(None, "no answer")
    assert score(sentence(1), None) == Score(None, "no reference answer")
    assert score(sentence(1), "  ") == Score(None, "no reference answer")
    assert score("…?!", sentence(1)).value is None
    assert score(sentence(1), "…?!").value is None


def test_where_nobody_answered_that_is_the_reason_whatever_else_is_missing() -> None:
    queries = [Query("a", "?"), Query("b", "?"), Query("c", "?", answer=sentence(1))]
    assert answer_correctness(queries, {}) == [Score(None, "no answer")] * 3
    told = answer_correctness(queries, {each.id: Answer(sentence(1)) for each in queries})
    assert told == [Score(None, "no reference answer")] * 2 + [Score(1.0)]
    assert answer_completeness(queries, {}) == [Score(None, "no answer")] * 3


def test_an_empty_answer_and_a_refusal_are_wrong() -> None:
    assert score(" ", sentence(1)) == Score(0.0)
    refusal = {"q": Answer("That is not in these documents.", is_refusal=True)}
    assert answer_correctness([Query("q", "?", answer="12")], refusal) == [Score(0.0)]


@cases("precision, recall, expected", [(1, 1, 1), (0, 0, 0), (1, 0, 0), (0.5, 1, 2 / 3)])
def test_the_harmonic_mean(precision: float, recall: float, expected: float) -> None:
    assert f1(precision, recall) == pytest.approx(expected)


SHORT = [
    ("six months", "The trial period lasts six months.", 1.0),
    ("six months", "The trial period lasts 6 months and ends without notice.", 1.0),
    ("6 months", "The trial period lasts six months.", 1.0),
    ("six months", "The trial period lasts six weeks.", 0.0),
    ("six months", "The trial period lasts seven months.", 0.0),
    ("$150", "Adults pay a fee of $150 a year.", 1.0),
    ("$150", "Adults pay a fee of 150 dollars a year.", 1.0),
    ("150 USD", "Adults pay a fee of $150.00 a year.", 1.0),
    ("$150", "Adults pay a fee of €150 a year.", 0.0),
    ("$1.5 million", "The gift was 1,500,000 dollars.", 1.0),
    ("$1.5 million", "The gift was 1.5 billion dollars.", 0.0),
    ("90 days", "Notice is given ninety (90) days before.", 1.0),
    ("50%", "Half of it, or 50 percent, is paid back.", 1.0),
    ("25 members", "The council has twenty-five members.", 1.0),
    ("March 5, 2021", "It was signed on 5 March 2021 in Bern.", 1.0),
    ("12/31/14", "The term ends on December 30, 2014.", 0.0),
    ("5 March 2021", "It was signed on 3 May 2021.", 0.0),
    ("the Finnish markka", "Before the euro, Finnish markkas were paid.", 1.0),
    ("Garten", "Im sächsischen Garten stand ein Theater.", 1.0),
    ("Vienna", "The composer was born in Prague.", 0.0),
    ("in the 10th and 11th centuries", "During the 10th and 11th centuries they settled there.", 1.0),
]  # fmt: skip


@cases("reference, answer, expected", SHORT)
def test_a_short_reference_is_right_where_the_answer_holds_it(
    reference: str, answer: str, expected: float
) -> None:
    assert score(answer, reference) == Score(expected)


@cases("reference, answer, expected", [
    *SHORT,
    ("Every 21 days", "The keeper comes every 21 days.", 1.0),
    ("Every 21 days by the supply boat", "The keeper comes every 21 days by the supply boat, in fog as in sun.", 1.0),
    ("Every 21 days by the supply boat", "The keeper comes every 20 days by the supply boat.", 0.0),
])  # fmt: skip
def test_a_full_stop_makes_no_short_reference_long(
    reference: str, answer: str, expected: float
) -> None:
    assert score(answer, reference) == score(answer, f"{reference}.") == Score(expected)


def test_few_words_are_of_the_language_of_the_question() -> None:
    for question, digits, words in [
        (
            "Combien de temps dure la période d'essai qui est prévue au contrat ?",
            "7 mois",
            "sept mois",
        ),
        (
            "Wie lange dauert die Probezeit, die im Vertrag vereinbart ist?",
            "7 Monate",
            "sieben Monate",
        ),
        (
            "How long is the trial period that the contract provides for?",
            "7 months",
            "seven months",
        ),
    ]:
        assert score(digits, words, question) == score(words, digits, question) == Score(1.0)


def test_citation_marks_are_neither_said_nor_expected() -> None:
    assert score("It comes every 21 days [1].", "Every 21 days").value == 1
    assert score("It comes every 21 days.", "It comes every 21 days [3].").value == 1
    assert score("Nobody knows [7].", "7").value is None


NOT_IN_FORM = [
    ("Where may a vessel not anchor?", "In the Narrows", "A vessel may not anchor in the Narrows."),
    ("Who is the manager?", "The manager is Anna Berg.", "Anna Berg"),
    ("Who is the manager?", "The manager is Anna Berg.", "3. The manager is Anna Berg."),
    ("Ale or beer?", "Ale.", "They sell ale."),
]  # fmt: skip


@cases("question, reference, answer", NOT_IN_FORM)
def test_a_right_answer_in_another_form_is_right(
    question: str, reference: str, answer: str
) -> None:
    assert (score(answer, reference, question).value or 0) > 0.6


UNDECIDED = [
    ("six months", "The trial period is not six months.", "negation"),
    ("Dogs may not enter the hall.", "Dogs may enter the hall.", "negation"),
    ("waived", "Children pay nothing.", "no word"),
    ("Israel", "They met the Israelis.", "no word"),
    ("20 people", "A whole crowd.", "no word"),
]  # fmt: skip


@cases("reference, answer, why", UNDECIDED)
def test_what_words_do_not_decide_is_unscored(reference: str, answer: str, why: str) -> None:
    found = score(answer, reference)
    assert found.value is None
    assert why in found.reason


REPLACED = [
    ("Vienna", "Prague"), ("from 1870 to 1939", "from 1870 to 1940"), ("291 episodes", "There are 12 of them."),
    ("20 people in 1998", "12 people in 1998"),
]  # fmt: skip


@cases("reference, answer", REPLACED)
def test_another_number_or_name_in_its_place_is_wrong(reference: str, answer: str) -> None:
    assert score(answer, reference) == Score(0.0)


YES_OR_NO = [
    ("Yes", "Yes, one may.", 1.0), ("Yes.", "No, that is not allowed.", 0.0), ("no", "No.", 1.0),
    ("Ja", "Nein, das ist verboten.", 0.0), ("Yes", "Guests may bring dogs.", None), ("No", "Guests may not.", None),
    ("Yes, up to 20 days", "Yes, up to 20 days a year.", 1.0), ("Yes, up to 20 days", "No, only 20 days.", 0.0),
]  # fmt: skip


@cases("reference, answer, expected", YES_OR_NO)
def test_yes_and_no_are_told_by_yes_and_no_alone(
    reference: str, answer: str, expected: float | None
) -> None:
    found = score(answer, reference)
    assert found.value == expected
    assert ("yes or no" in found.reason) == (expected is None)
