"""Sentences of a small model, whose places are sought afterwards."""

from answering.rule_model import answers, hits_of
from chunkwise.answering.answer import answer_question
from chunkwise.answering.answered import Answered
from chunkwise.answering.checking import NOT_ALL, NOT_SAID

LEAVE = "# Leave\n\nLeave is approved by the head of the section within 5 days. Sick leave needs no note."
FERRY = "The ferry carries 120 passengers and 14 cars.\nIn fog the ferry sails at half speed."


def said(text: str) -> Answered:
    return answer_question("how?", hits_of(LEAVE, FERRY), answers(text), form="plain")


def test_a_sentence_is_cited_with_the_sentence_that_says_it() -> None:
    answered = said(
        "The ferry sails at half speed in fog. Leave is approved by the section's head."
    )
    assert [claim.state for claim in answered.claims] == ["supported", "supported"]
    assert [cited.quote for cited in answered.citations] == [
        "In fog the ferry sails at half speed.",
        "Leave is approved by the head of the section within 5 days.",
    ]
    assert [cited.id for cited in answered.citations] == ["b.md::0", "a.md::0"]


def test_a_sentence_that_nothing_says_is_marked() -> None:
    answered = said(
        "The ferry carries 14 cars. The ferry carries 90 cars. Lima is the capital of Peru."
    )
    assert [claim.state for claim in answered.claims] == ["supported", "unsupported", "unsupported"]
    assert answered.claims[1].note == NOT_SAID
    assert answered.text == "The ferry carries 14 cars."
    assert answered.marked.count("[unsupported]") == 2


def test_a_sentence_with_words_of_its_own_is_marked() -> None:
    answered = said("Leave is approved within 5 days by the head of the painted wooden section.")
    assert [claim.state for claim in answered.claims] == ["quoted"]
    assert answered.claims[0].note == NOT_ALL
    assert answered.marked.endswith("[1?]")


def test_not_in_these_documents_is_an_answer() -> None:
    for text in (
        "Not in these documents.",
        "not in these documents",
        "It is not in these documents. Sorry.",
        "—",
    ):
        answered = said(text)
        assert (answered.found, answered.claims, answered.text) == (
            False,
            (),
            "Not in these documents.",
        )


def test_what_is_said_again_is_said_once() -> None:
    assert len(said("The ferry carries 14 cars. " * 5).claims) == 1


def test_a_heading_is_no_claim_and_a_claim_is_one_line() -> None:
    answered = said("## Leave\n\nLeave is approved by\nthe head of the section.")
    assert [claim.text for claim in answered.claims] == [
        "Leave is approved by the head of the section."
    ]
