"""Every reason a question is dropped for: what it catches and what it lets pass."""

from chunkwise.core import Query, Reference
from chunkwise.testsets.generate.candidate import Candidate, ProposedQuestion, references_of
from chunkwise.testsets.generate.filters import (
    AskedQuestions,
    FilterChain,
    WordSearch,
    gives_away,
    is_malformed,
    is_unsupported,
    named_facts,
    needs_passage,
)
from tables import cases
from testsets.generate.rule_model import KNOWN, NOTE, ground, passage_with

GROUND = ground()


def candidate(words: str, **changed: object) -> Candidate:
    """What the model says of the passage with these words, changed."""
    passage = passage_with(words, GROUND)
    draft = ProposedQuestion.of("single-concept", (passage,), {**KNOWN[words], **changed})
    references = references_of(draft.quotes, draft.passages, GROUND.documents)
    assert references is not None
    texts = tuple(passage.document.text[each.start : each.end] for each in references)
    return Candidate(draft, references, texts)


@cases("words", KNOWN)
def test_a_good_question_passes_all(words: str) -> None:
    passage = passage_with(words, GROUND)
    draft = ProposedQuestion.of("single-concept", (passage,), KNOWN[words])
    assert isinstance(
        FilterChain(GROUND, WordSearch(GROUND.documents)).passed(draft, lambda name: False), Query
    )


@cases(
    "question",
    [
        "Days?",
        "How many days can be carried over",
        "How many days? " * 40 + "?",
        "What does <b>carry</b> mean here?",
        'Is this {"question": "who"} a question?',
        "What is ```code``` for?",
        "船员每年有六天假期。",
        "The crew have six days of leave;",
    ],
)
def test_no_question(question: str) -> None:
    assert is_malformed(question, "Six days.")


def test_no_answer_is_no_question() -> None:
    assert is_malformed("How many days can be carried over?", "")
    assert is_malformed("How many days can be carried over?", "x" * 2000)


@cases(
    "question",
    [
        "How many days can be carried over?",
        "休暇は何日繰り越せますか？",
        "休暇は何日繰り越せますか。",
        "船员每年有六天假期吗。",
        "Πόσες ημέρες άδειας έχει ο ναύτης;",
        "Πόσες ημέρες άδειας έχει ο ναύτης\u037e",
        "Who said “no leave”?",
        "Is 2 < 3 true?",
    ],
)
def test_a_question(question: str) -> None:
    assert not is_malformed(question, "Six days.")


@cases(
    "question",
    [
        "How many days can be kept according to the passage?",
        "What is the carry over limit in this section?",
        "What does the author say about leave?",
        "Which of the above rules applies to mates?",
        "What does it do?",
        "How many can they carry over?",
        "What color is it?",
        "What is the purpose of this rule?",
        "Which reasons are mentioned?",
        "What do both passages say about Herring Week?",
        "What is needed?",
        "Welche Regel steht im Text?",
        "Que dit l’auteur sur les congés ?",
        "¿Qué dice el autor sobre las vacaciones?",
        "Which items are in the following list?",
        "What is shown in the second table?",
        "What do those rules say about leave?",
        "What does the statement say about leave?",
    ],
)
def test_makes_sense_only_beside_the_passage(question: str) -> None:
    assert needs_passage(question, "en", lambda terms: False)


@cases(
    "question",
    [
        "How many days can harbour staff carry over?",
        "How long does it take to inspect the salt reserve?",
        "Is it allowed to sell the reserve of coarse salt?",
        "Which document proves that a sick mate was ill?",
        "When do mates lose the days that they carried over?",
        "Which vessel delivers the salt, and how much can it carry?",
        "Which element comes first in the periodic table?",
        "Who keeps the copy of the waiting list at the harbour?",
        "Which colors are in the context menu of the editor?",
        "Who signs the statement of account at the salt works?",
        "Which prizes were won by the author Selma Lagerlöf?",
        "What is the deadline for those who join the cooperative in May?",
        "What happens on the following Monday after Herring Week?",
    ],
)
def test_makes_sense_by_itself(question: str) -> None:
    assert not needs_passage(question, "en", lambda terms: False)


def test_one_rare_word_says_what_is_meant() -> None:
    assert not needs_passage("What is bittern?", "en", lambda terms: True)
    assert needs_passage("What is bittern?", "en", lambda terms: False)


@cases(
    "question, answer",
    [
        ("Can up to six unused days be carried over?", "Up to six unused days."),
        ("May you carry up to six unused days into the next leave year?", "Yes, you may."),
    ],
)
def test_given_away(question: str, answer: str) -> None:
    assert gives_away(candidate("carry up to six", question=question, answer=answer))


def test_not_given_away() -> None:
    assert not gives_away(candidate("carry up to six"))
    assert not gives_away(
        candidate(
            "carry up to six", question="How many unused days can you carry over?", answer="6"
        )
    )


@cases(
    "answer",
    [
        "Up to seven unused days.",
        "Up to six unused weeks may be paid out in money at the end of the year.",
        "No unused days may be carried into the next leave year.",
        "Yes.",
        "The island nurse.",
        "Up to six unused days, 40 hours each.",
    ],
)
def test_not_supported(answer: str) -> None:
    assert is_unsupported(candidate("carry up to six", answer=answer))


@cases(
    "answer",
    [
        "Up to six unused days.",
        "6 days",
        "Six days.",
        "Staff may carry up to six unused days into the next leave year.",
    ],
)
def test_supported(answer: str) -> None:
    assert not is_unsupported(candidate("carry up to six", answer=answer))


def test_the_passage_may_name_what_the_question_names() -> None:
    """The quote says when, the passage of whom."""
    known = candidate("fifth day", answer="A sick mate needs a note from the fifth day.")
    assert not is_unsupported(known)


def test_facts_that_the_evidence_does_not_name_are_left_out() -> None:
    facts = ["six unused days", "seven days", "31 March"]
    assert named_facts(candidate("carry up to six", facts=facts)) == ("six unused days",)


def test_near_duplicates() -> None:
    asked = AskedQuestions()
    here, there = Reference("a", 10, 60), Reference("b", 10, 60)
    asked.add("How many unused days can be carried over?", (here,), "en")
    same = "How many of the unused days can a mate carry over?"
    assert asked.has(same, (here,), "en")
    assert asked.has(same, (Reference("a", 20, 40),), "en")
    assert asked.has("how many unused days can be carried over", (there,), "en")
    assert not asked.has(same, (there,), "en")
    assert not asked.has("When do the days lapse that were carried over?", (here,), "en")
    assert not asked.has("How many lamps are lit?", (here,), "en")


def test_nothing_was_asked_before() -> None:
    assert not AskedQuestions().has(str(NOTE["question"]), (), "en")
