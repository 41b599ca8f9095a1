"""What a model claims is held against the passages: hostile quotes, wrong passages, wrong numbers, plain sentences."""

import re
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from answering.rule_model import answers, claims, hit, hits_of
from chunkwise.answering.ask import answer_question
from chunkwise.answering.check_claims import (
    BY_WORDS,
    NO_QUOTE,
    NOT_ALL,
    NOT_SAID,
    NOT_SHOWN,
    NOWHERE,
    SMALL_WORDS,
)
from chunkwise.answering.cited_answer import UNSHOWN, CitedAnswer, Claim
from chunkwise.core import Document, Hit
from how_many import examples
from tables import cases

LEAVE = "# Leave\n\nLeave is approved by the head of the section within 5 days. Sick leave needs no note.\n"
FERRY = "The ferry carries 120 passengers and 14 cars.\nIn fog it sails at half speed."


def only(answered: CitedAnswer) -> Claim:
    assert len(answered.claims) == 1
    return answered.claims[0]


def asked(hits: list[Hit], *made: tuple[str, int, str]) -> CitedAnswer:
    answered = answer_question("how?", hits, answers(claims(*made)), form="claims")
    check_places(answered, hits)
    return answered


def check_places(answered: CitedAnswer, hits: list[Hit]) -> None:
    """A citation is a place of a document that the model was given."""
    texts = {each.doc_id: each.document.text for each in hits}
    for claim in answered.claims:
        assert (claim.citation is None) == (claim.state == "unsupported")
        assert bool(claim.note) == (claim.state != "supported")
        if (cited := claim.citation) is not None:
            assert texts[cited.doc_id][cited.start : cited.end] == cited.quote
            assert cited.quote.strip()
            assert any(
                each.number == cited.passage and each.start <= cited.start < each.end
                for each in answered.passages
            )


def test_a_claim_that_its_quote_says_is_supported() -> None:
    quote = "approved by the head of the section within 5 days"
    answered = asked(
        hits_of(LEAVE, FERRY), ("Leave is approved by the head of the section.", 1, quote)
    )
    claim = only(answered)
    assert (claim.state, claim.is_moved, claim.note) == ("supported", False, "")
    assert claim.citation is not None
    assert claim.citation.id == "a.md::0"
    assert claim.citation.lines == (3, 3)
    assert answered.found
    assert answered.text == "Leave is approved by the head of the section."
    assert answered.marked == "Leave is approved by the head of the section. [1]"


@cases(
    "text, quote, stands",
    [
        ("It is called “Old Anna” – by all.", 'called "Old Anna" - by all', "called “Old Anna” – by all"),
        ("One line\r\nand   the next\r\n", "line and the next", "line\r\nand   the next"),
        ("The cafe\u0301 is open.", "café is open", "cafe\u0301 is open"),
        ("The \ufb01rst ferry", "first FERRY", "\ufb01rst ferry"),
        ("Soft\u00adware and \u200bmore", "Software and more", "Soft\u00adware and \u200bmore"),
        ("潮汐钟每天校准一次。", "每天校准", "每天校准"),
        ("a 😀 b c", "😀 b", "😀 b"),
    ],
)  # fmt: skip
def test_signs_and_white_space_do_not_hide_a_quote(text: str, quote: str, stands: str) -> None:
    claim = only(asked(hits_of("Nothing.", text), ("Something else entirely is said.", 2, quote)))
    assert claim.state == "quoted"
    assert claim.citation is not None
    assert claim.citation.quote == stands


@cases("quote", ["", " \n\t", "\u200b", "the head of the harbour", "ection", "…", "a" * 10_000])
def test_a_quote_that_stands_nowhere_supports_nothing(quote: str) -> None:
    answered = asked(hits_of(LEAVE), ("Ferries are painted green every spring.", 1, quote))
    claim = only(answered)
    assert claim.state == "unsupported"
    assert claim.note == (NOWHERE if quote.strip() else NO_QUOTE)
    assert not answered.found
    assert answered.text == UNSHOWN
    assert answered.marked.endswith("every spring. [unsupported]")


@cases("quote", ["", " \n\t", "the head of the harbour"])
def test_a_claim_that_the_named_passage_says_needs_no_quote(quote: str) -> None:
    """The passage alone names the place: what was read is never said not to be there."""
    told = "Leave is approved by the head of the section."
    answered = asked(hits_of(FERRY, LEAVE), (told, 2, quote))
    claim = only(answered)
    assert claim.citation is not None
    assert "approved by the head of the section" in claim.citation.quote
    assert (claim.citation.passage, claim.is_moved, answered.text) == (2, False, told)
    assert claim.state == ("quoted" if quote.strip() else "supported")
    assert claim.note == (BY_WORDS if quote.strip() else "")
    elsewhere = only(asked(hits_of(FERRY, LEAVE), (told, 1, quote)))
    assert elsewhere.is_moved


@cases("short", ["Five days.", "5 days", "Within five days."])
def test_a_short_answer_is_found_in_what_was_read(short: str) -> None:
    assert said(short).found
    assert only(asked(hits_of(LEAVE), (short, 1, ""))).citation is not None
    assert not said("Six days.").found


def test_a_quote_of_another_passage_is_moved_there() -> None:
    claim = only(
        asked(hits_of(LEAVE, FERRY), ("It carries 14 cars.", 1, "120 passengers and 14 cars"))
    )
    assert (claim.state, claim.is_moved) == ("supported", True)
    assert claim.citation is not None
    assert (claim.citation.id, claim.citation.passage) == ("b.md::0", 2)


def test_of_equal_passages_the_one_that_was_named_is_cited() -> None:
    claim = only(asked(hits_of(FERRY, FERRY), ("It carries 14 cars.", 2, "14 cars")))
    assert claim.citation is not None
    assert (claim.citation.id, claim.is_moved) == ("b.md::0", False)


def test_a_number_that_is_not_in_the_quote_is_marked() -> None:
    claim = only(asked(hits_of(FERRY), ("The ferry carries 140 passengers.", 1, "120 passengers")))
    assert claim.state == "quoted"
    assert claim.note == "140 is not in the quote"
    claim = only(asked(hits_of(FERRY), ("The ferry carries fourteen cars.", 1, "14 cars")))
    assert claim.state == "supported"


def test_a_claim_of_other_words_than_its_quote_is_marked() -> None:
    quote = "Sick leave needs no note."
    answered = asked(hits_of(LEAVE), ("Ferries are painted green every spring.", 1, quote))
    assert only(answered).note == NOT_SHOWN
    assert answered.marked.endswith("[1?]")
    # Denied, with the same words.
    claim = only(asked(hits_of(LEAVE), ("Sick leave needs a note.", 1, quote)))
    assert claim.state == "quoted"


def test_a_quote_may_go_over_the_border_of_two_passages() -> None:
    document = Document("a.txt", FERRY)
    cut = FERRY.index("\n") + 1
    hits = [hit(document, cut, len(FERRY), 1), hit(document, 0, cut, 0, 2)]
    claim = only(asked(hits, ("It carries 14 cars.", 2, "14 cars. In fog it sails")))
    assert claim.citation is not None
    assert (claim.citation.id, claim.citation.lines) == ("a.txt::0", (1, 2))
    # Not where something lies between them.
    apart = [hits[0], replace(hits[1], end=FERRY.index("14"))]
    assert (
        only(asked(apart, ("It carries 14 cars.", 2, "14 cars. In fog it"))).state == "unsupported"
    )


def test_part_of_a_number_is_no_quote() -> None:
    document = Document("a.txt", "Paid after 115 days, in full.")
    hits = [hit(document, document.text.index("5 days"), len(document.text), 3)]
    claim = only(asked(hits, ("It is paid after 5.", 1, "5")))
    assert claim.state == "unsupported"


def test_found_false_is_an_answer() -> None:
    said = claims(("Leave is approved by the head.", 1, "approved by the head")) | {"found": False}
    answered = answer_question("how?", hits_of(LEAVE), answers(said), form="claims")
    assert (answered.found, answered.claims, answered.is_answered) == (False, (), True)
    # It was shown a part of the documents.
    assert answered.text == UNSHOWN


def test_the_same_claim_twice_is_one() -> None:
    made = ("It carries 14 cars.", 1, "14 cars")
    assert len(asked(hits_of(FERRY), made, made, (" ", 1, "14 cars")).claims) == 1


def test_of_several_quotes_for_one_claim_the_best_counts() -> None:
    said = "It carries 14 cars."
    for quotes in (
        ("contains these words", "14 cars"),
        ("In fog it sails at half speed", "14 cars"),
    ):
        claim = only(asked(hits_of(FERRY), *((said, 1, quote) for quote in quotes)))
        assert claim.state == "supported"
        assert claim.citation is not None
        assert claim.citation.quote == "14 cars"


@cases("quote", ["the", "In", "and the"])
def test_small_words_are_no_quote(quote: str) -> None:
    text = "In the evening the lamps of the harbour are lit by the keeper and the boy."
    said = ("The lamps of the harbour are lit by the keeper.", 1, quote)
    claim = only(asked(hits_of(text), said))
    assert (claim.state, claim.note) == ("unsupported", SMALL_WORDS)


@cases(
    "text, quote, stands",
    [
        ("**Bold** lamps are fine.", "Bold lamps are fine", "**Bold** lamps are fine"),
        ("Tie up at the [north dock](https://a) by `noon`.", "at the north dock by noon",
         "at the [north dock](https://a) by `noon`"),
    ],
)  # fmt: skip
def test_a_quote_without_the_marks_of_the_document(text: str, quote: str, stands: str) -> None:
    claim = only(asked(hits_of(text), (f"It says: {quote}.", 1, quote)))
    assert claim.state == "supported"
    assert claim.citation is not None
    assert claim.citation.quote == stands


@cases("mark", ["…", "...", " [...] ", " (…) "])
def test_a_quote_with_something_left_out(mark: str) -> None:
    quote = f"The ferry carries{mark}14 cars"
    claim = only(asked(hits_of(LEAVE, FERRY), ("The ferry carries 14 cars.", 1, quote)))
    assert (claim.state, claim.is_moved) == ("supported", True)
    assert claim.citation is not None
    assert claim.citation.quote == "The ferry carries 120 passengers and 14 cars"
    for wrong in (f"14 cars{mark}The ferry carries", f"The ferry carries{mark}15 cars", mark):
        assert only(asked(hits_of(FERRY), ("It carries 14 cars.", 1, wrong))).note == BY_WORDS
    between = f"The ferry carries{mark}needs no note"  # one part in each passage
    assert only(asked(hits_of(LEAVE, FERRY), ("It carries 14 cars.", 1, between))).note == BY_WORDS


def test_half_a_character_in_a_claim_does_no_harm() -> None:
    answered = asked(hits_of(FERRY), ("It carries\ud800 14 cars.", 1, "14 cars"))
    assert answered.text.encode() == "It carries\ufffd 14 cars.".encode()


SIGNS = st.sampled_from("ab 5\n\r“\"'’é\u0301ﬁ\u200b漢-–.İß")
PIECES = st.text(SIGNS, max_size=12)
TEXTS = st.text(SIGNS, min_size=1, max_size=30)


@settings(max_examples=examples(20))
@given(
    st.lists(TEXTS, min_size=1, max_size=3),
    st.lists(st.tuples(PIECES, st.integers(1, 3), PIECES), max_size=3),
)
def test_every_citation_is_a_place(texts: list[str], made: list[tuple[str, int, str]]) -> None:
    hits = hits_of(*texts)
    asked_for = [each for each in made if each[1] <= sum(bool(text.strip()) for text in texts)]
    asked(hits, *asked_for)


@settings(max_examples=examples(20))
@given(st.text(st.sampled_from("ab c\n.é\u0301İß’"), min_size=1, max_size=40), st.data())
def test_what_is_copied_is_found(text: str, data: st.DataObject) -> None:
    """A quote of whole words stands where it was taken from, or where the same words stand."""
    words = [(at, at + len(word)) for at, word in _words(text)]
    if not words:
        return
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    quote = text[words[first][0] : words[last][1]]
    if not any(map(str.isalnum, quote)):
        return
    claim = only(asked(hits_of(text), ("Something else is said here.", 1, quote)))
    if claim.citation is None:
        assert claim.note == SMALL_WORDS
        assert max(map(len, re.findall(r"\w+", quote))) < 3
    else:
        assert claim.citation.quote == quote


def _words(text: str) -> list[tuple[int, str]]:
    found, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        found.append((at, word))
        at += len(word)
    return found


PLAIN_LEAVE = "# Leave\n\nLeave is approved by the head of the section within 5 days. Sick leave needs no note."
PLAIN_FERRY = "The ferry carries 120 passengers and 14 cars.\nIn fog the ferry sails at half speed."


def said(text: str) -> CitedAnswer:
    return answer_question("how?", hits_of(PLAIN_LEAVE, PLAIN_FERRY), answers(text), form="plain")


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
            UNSHOWN,
        )


def test_what_is_said_again_is_said_once() -> None:
    assert len(said("The ferry carries 14 cars. " * 5).claims) == 1


def test_a_heading_is_no_claim_and_a_claim_is_one_line() -> None:
    answered = said("## Leave\n\nLeave is approved by\nthe head of the section.")
    assert [claim.text for claim in answered.claims] == [
        "Leave is approved by the head of the section."
    ]
