"""Answers that are sentences of the documents: nothing in them is written by anybody else."""

import pytest
from hypothesis import given, settings

from answering.rule_model import hit, hits_of
from answering.shared_words import SharedWords
from chunkwise import Document, ask, index
from chunkwise.answering.ask import quoted_answer
from chunkwise.answering.cited_answer import NOT_FOUND, UNSHOWN, passages_of
from chunkwise.answering.extractive_answer import DOUBTFUL, NOTHING_NEAR, sentences_of
from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Query, Span
from chunkwise.models.weights.catalog import MS_MARCO_MINILM
from chunkwise.models.weights.installed import model_status
from chunkwise.report.answer_report import answer_report, claim_text
from chunkwise.report.to_terminal import terminal_text
from chunkwise.retrieval.tables_lists_code import whole_blocks
from chunkwise.testkit.hostile import hostile_documents
from how_many import examples
from tables import cases
from testkit.test_chunker_contract import TEXTS

FERRY = "The ferry carries 120 passengers and 14 cars. It sails at dawn. The mate sleeps. The cook counts the cars."


def asked(question: str, *texts: str):  # type: ignore[no-untyped-def]
    return quoted_answer(Query("1", question), hits_of(*texts), SharedWords())


def check(answered) -> None:  # type: ignore[no-untyped-def]
    """Every word of the answer stands in a passage that was read, at the place that is named."""
    by_number = {each.number: each for each in answered.passages}
    for claim in answered.claims:
        place = claim.citation
        passage = by_number[place.passage]
        assert passage.start <= place.start < place.end
        assert place.quote == passage.document.text[place.start : place.end]
        said = passage.document.text_without(
            Span(place.start, place.end),
            whole_blocks(passage.document).hidden(place.start, place.end),
        )
        assert claim.text.split() == said.replace("\ud800", "\ufffd").split()
    spans = [(claim.citation.doc_id, claim.citation.start) for claim in answered.claims]
    assert len(set(spans)) == len(spans) <= 3


def test_what_stands_in_two_places_is_quoted_once_and_leaves_room_for_others() -> None:
    again = "The ferry carries cars at dawn."
    texts = [again, again, again, again.replace("cars", "dogs"), again.replace("cars", "mail")]
    answered = asked("What carries the ferry at dawn?", *texts)
    quotes = [claim.citation.quote for claim in answered.claims]
    assert len(quotes) == len(set(quotes)) == 3
    assert again in quotes


@settings(max_examples=examples(60), deadline=None)
@given(text=TEXTS, question=TEXTS)
def test_no_word_is_invented(text: str, question: str) -> None:
    document = Document("any", text.replace("\ud800", ""), format="markdown")
    hits = [hit(document, 0, len(document.text))] if document.text else []
    check(quoted_answer(Query("1", question), hits, SharedWords()))


@pytest.mark.usefixtures("large_inputs")
def test_no_word_is_invented_of_hostile_documents() -> None:
    for document in hostile_documents():
        some = Document(document.id, document.text[:3000], format=document.format)
        hits = [hit(some, 0, len(some.text))] if some.text else []
        check(quoted_answer(Query("1", "the text of it"), hits, SharedWords()))


def test_the_best_sentence_comes_first_and_neighbors_are_one_quote() -> None:
    answered = asked("how many cars does the ferry carry?", FERRY)
    assert answered.text == "The ferry carries 120 passengers and 14 cars."
    assert [claim.state for claim in answered.claims] == ["supported"]
    two = asked("which lamp is lit?", "A lamp is lit. The lamp is lit at dusk. The rope is wet.")
    assert two.text == "A lamp is lit. The lamp is lit at dusk."
    assert len(two.citations) == 1
    far = asked("which lamp is lit?", "The lamp is lit. The rope is wet.", "A lamp was lit.")
    assert [each.passage for each in far.citations] == [1, 2]


def test_what_may_not_answer_is_marked_and_what_has_nothing_to_do_with_it_is_not_shown() -> None:
    doubtful = asked("does the ferry carry dogs on the aft deck?", FERRY)
    assert [(claim.state, claim.note) for claim in doubtful.claims] == [("quoted", DOUBTFUL)]
    assert doubtful.marked.endswith("[1?]")
    nothing = asked("who wrote Hamlet?", FERRY)
    assert (nothing.found, nothing.note, nothing.text) == (False, NOTHING_NEAR, UNSHOWN)
    assert asked("who?").text == NOT_FOUND


def test_headings_are_read_and_not_quoted_rows_have_their_header_code_is_whole() -> None:
    text = (
        "# Fares\n\n| who | fare |\n|---|---|\n| children | 2 |\n| dogs | free |\n\n```python\nfare = 2\n\nif dog:\n"
        "    fare = 0\n```\n\nAsk the mate.\n"
    )
    document = Document("fares", text, format="markdown")
    [passage] = passages_of([hit(document, 0, len(text))])
    sentences = {text[slice(*each.span)]: each.read for each in sentences_of(passage)}
    assert "# Fares" not in sentences
    assert sentences["| dogs | free |"].splitlines()[:2] == ["Fares", "| who | fare |"]
    code = next(each for each in sentences if each.startswith("```"))
    assert code.endswith("fare = 0\n```")


GUIDE = (
    "# Lamps\n\n<!-- lint: lamp lamp -->\nTo light the lamp, call this:\n\n"
    "```python\nlamp = kindle(\n    oil=5,\n)\n```\n\n"
    "The rope is wet.\n\nFor the stove, do the following:\n\n- Fill the stove.\n- Strike a match.\n"
)


@cases("question", ["how do I light the lamp?", "how much oil does kindle need?"])
def test_a_lead_in_is_quoted_with_its_code_line_by_line_and_without_comments(question: str) -> None:
    document = Document("guide.md", GUIDE, format="markdown")
    answered = quoted_answer(Query("1", question), [hit(document, 0, len(GUIDE))], SharedWords())
    assert answered.text.startswith(
        "To light the lamp, call this:\n```python\nlamp = kindle(\n    oil=5,\n)\n```"
    )
    assert (
        answered.citations[0].quote == GUIDE[GUIDE.index("To light") : GUIDE.index("\n\nThe rope")]
    )
    assert "  lamp = kindle(\n      oil=5,\n  )\n  ```\n" in terminal_text(answer_report(answered))


LOG = "# Leaks\n\nThis is a leak summary.\n\n```\nleaks lost: 48 bytes lost\n```\n\nA leak was lost.\n"


def test_a_listing_is_quoted_with_the_sentence_that_introduces_it_or_not_at_all() -> None:
    document = Document("leaks.md", LOG, format="markdown")
    query = Query("1", "leaks lost: how many bytes?")
    whole = quoted_answer(query, [hit(document, 0, len(LOG))], SharedWords())
    assert whole.text.startswith("This is a leak summary.\n```")
    cut_off = quoted_answer(query, [hit(document, LOG.index("```"), len(LOG))], SharedWords())
    assert "48" not in cut_off.marked


def test_the_command_between_two_quotes_is_quoted_with_them() -> None:
    text = "# Ferry\n\nThe ferry is started at dawn.\n\n```\nmake sail\n```\n\nThe ferry is stopped at dawn.\n"
    document = Document("ferry.md", text, format="markdown")
    hits = [hit(document, 0, len(text))]
    answered = quoted_answer(Query("1", "the ferry at dawn"), hits, SharedWords())
    assert "dawn.\n```\nmake sail\n```\nThe ferry is stopped" in answered.text


def test_a_lead_in_has_its_command_although_the_passage_ends_before() -> None:
    end = GUIDE.index("```python")
    document = Document("guide.md", GUIDE, format="markdown")
    answered = quoted_answer(
        Query("1", "how do I light the lamp?"), [hit(document, 0, end)], SharedWords()
    )
    assert "kindle(" in answered.text


def test_a_lead_in_is_quoted_with_its_list() -> None:
    document = Document("guide.md", GUIDE, format="markdown")
    hits = [hit(document, 0, len(GUIDE))]
    answered = quoted_answer(Query("1", "what do I do for the stove?"), hits, SharedWords())
    assert "For the stove, do the following:\n- Fill the stove.\n- Strike a match." in answered.text


def test_a_row_is_shown_below_its_header() -> None:
    text = "| code | meaning |\n|---|---|\n| 2 | the arguments are wrong |\n| 3 | the server refused the key |\n"
    document = Document("codes.md", text, format="markdown")
    answered = quoted_answer(
        Query("1", "the server refused the key"), [hit(document, 0, len(text))], SharedWords()
    )
    assert answered.text == "| 3 | the server refused the key |"
    assert (
        claim_text(answered, answered.claims[0])
        == f"| code | meaning |\n|---|---|\n{answered.text}"
    )


@cases("inside, fence", [("", "```"), ("```", "````")])
def test_code_of_a_file_is_quoted_between_fences_with_its_indentation(
    inside: str, fence: str
) -> None:
    body = f"    def board(self, cars):\n        {inside!r}\n        return self.deck.count(cars)\n"
    code = f"class Ferry:\n    name = 'Ada'\n\n{body}\n    def sail(self):\n        pass\n"
    document = Document("ferry.py", code, format="code", language="python")
    answered = quoted_answer(
        Query("1", "board cars deck count"), [hit(document, 0, len(code))], SharedWords()
    )
    shown = claim_text(answered, answered.claims[0])
    assert shown.startswith(f"{fence}python\n")
    assert shown.endswith(f"\n{fence}")
    assert "    def board(self, cars):\n" in shown
    check(answered)


def test_a_form_belongs_to_a_language_model() -> None:
    made = index([Document("a", FERRY)], vectors="none")
    with pytest.raises(InvalidParameter, match="form is 'plain'"):
        ask(made, "how many cars?", form="plain")


@pytest.mark.usefixtures("large_inputs")
def test_the_cross_encoder_itself_quotes_what_answers() -> None:
    if model_status(MS_MARCO_MINILM).state != "here":
        pytest.skip(f"no weights: chunkwise models get {MS_MARCO_MINILM.name}")
    made = index([Document("a", FERRY)], vectors="none")
    answered = ask(made, "How many cars does the ferry take?", retriever="bm25")
    check(answered)
    assert answered.quoted_by.startswith("ms-marco-minilm:")
    assert "14 cars" in answered.text
    assert ask(made, "Which cars did Napoleon paint?", retriever="bm25").text == UNSHOWN
