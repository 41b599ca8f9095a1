from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core import Passage, Query, Reference, Score
from chunkwise.metrics.answers.citations import (
    citation_attribution,
    citation_precision,
    citation_recall,
    citation_support,
)
from chunkwise.metrics.answers.question_evidence import CitedTexts, LlmMetric, QuestionEvidence
from chunkwise.metrics.evidence import Answer, AnswerCitation
from chunkwise.metrics.registry import known_metrics
from tables import cases

MANAGER = "Requests are approved by the manager within 5 days."
OFFICE = "The office opens at nine and closes at noon."
TEXTS = {"leave.md": f"{MANAGER} {OFFICE}", "other.md": "Nothing of interest stands here."}
OPENS = len(MANAGER) + 1
END = len(TEXTS["leave.md"])
QUERY = Query("q", "?", (Reference("leave.md", 0, len(MANAGER)),))
BARE = Query("q", "?")

ANSWER = "The manager approves requests within 5 days. The office closes at noon."


def answered(*citations: AnswerCitation, text: str = ANSWER) -> dict[str, Answer]:
    return {"q": Answer(text, citations)}


def to(
    start: int | None, end: int | None, claim: str = "", quote: str = "", doc_id: str = "leave.md"
) -> AnswerCitation:
    return AnswerCitation(claim, doc_id, start, end, quote)


FIRST, SECOND = "The manager approves requests within 5 days.", "The office closes at noon."


def support(*citations: AnswerCitation) -> float | None:
    return citation_support([BARE], answered(*citations), TEXTS)[0].value


def test_the_cited_place_must_contain_the_claim() -> None:
    assert support(to(0, len(MANAGER), FIRST)) == 1.0
    assert support(to(OPENS, END, FIRST)) == 0.0
    assert support(to(OPENS, END, SECOND), to(0, OPENS, SECOND)) == 0.5
    assert support(to(0, len(MANAGER), "The manager approves requests within 15 days.")) == 0.0
    assert support(to(0, len(MANAGER), "approved by THE manager")) == 1.0


@cases("mark", ["[1]", "(1)", "【1】", "[^1]", "[leave.md, p. 3]"])
def test_citation_marks_are_no_part_of_an_answer(mark: str) -> None:
    for text in (f"{FIRST[:-1]} {mark}.", f"{FIRST} {mark}"):
        for claim in ("", text):
            cited = answered(to(0, len(MANAGER), claim), text=text)
            assert citation_support([BARE], cited, TEXTS)[0].value == 1.0
            assert citation_precision([BARE], cited, TEXTS)[0].value == 1.0
            assert citation_recall([BARE], cited)[0].value == 1.0


def test_a_citation_of_no_claim_is_for_the_whole_answer() -> None:
    assert support(to(0, len(MANAGER))) == 1.0
    assert support(to(None, None, doc_id="other.md")) == 0.0


def test_a_citation_that_leads_nowhere_supports_nothing() -> None:
    assert support(to(0, 10, FIRST, doc_id="gone.md"), to(0, 9000, FIRST), to(-5, 4, FIRST)) == 0.0
    assert support(to(None, None, FIRST, quote="not there")) == 0.0


def test_a_quote_tells_the_place() -> None:
    assert support(to(None, None, FIRST, quote=MANAGER)) == 1.0


def test_a_quote_is_found_however_it_is_written() -> None:
    for quote in (MANAGER.upper(), MANAGER.replace(" ", " \n "), MANAGER.rstrip(".")):
        assert support(to(None, None, FIRST, quote=quote)) == 1.0
        assert attribution(QUERY, to(None, None, quote=quote)) == 1.0
    assert attribution(BARE, to(None, None, quote="5 day")) == 1.0, "by letter, inside a word"
    assert attribution(BARE, to(None, None, quote="approved by a manager")) == 0.0
    assert attribution(BARE, to(None, None, quote="…")) == 0.0


def test_a_quote_is_found_without_the_markdown_of_its_document() -> None:
    text = "It is so. The **manager** approves [all requests](r.md) within 5 days."
    place = text.index("The **")
    for start in (None, place):
        cited = answered(
            AnswerCitation("", "d", start, start and len(text), "the manager approves all requests")
        )
        assert citation_attribution([BARE], cited, {"d": text})[0].value == 1.0


def test_any_place_of_a_quote_may_be_the_right_one() -> None:
    texts = {"d": "Same line. Other words. same LINE. End."}
    for start, right in ((0, 1.0), (24, 1.0), (11, 0.0)):
        query = Query("q", "?", (Reference("d", start, start + 9),))
        cited = answered(AnswerCitation("", "d", quote="Same line."))
        assert citation_attribution([query], cited, texts)[0].value == right


def test_a_citation_for_two_words_does_not_support_the_sentence() -> None:
    text = "The manager approves every request for a raise within 99 hours."

    def precision(*claims: str) -> float | None:
        cited = answered(*(to(0, len(MANAGER), claim) for claim in claims), text=text)
        assert citation_recall([BARE], cited)[0].value == 1.0
        return citation_precision([BARE], cited, TEXTS)[0].value

    assert precision("The manager") == 0.0
    assert precision("The manager", "manager", "The manager") == 0.0


def test_parts_that_make_up_a_sentence_support_it() -> None:
    text = "Requests are approved by the manager and the office closes at noon."
    parts = (
        to(0, len(MANAGER), "Requests are approved by the manager"),
        to(OPENS, END, "closes at noon"),
    )
    both, one = answered(*parts, text=text), answered(*parts[:1], text=text)
    assert citation_precision([BARE], both, TEXTS)[0].value == 1.0
    assert citation_precision([BARE], one, TEXTS)[0].value == 0.0
    denied = answered(*parts, text=text.replace("closes", "never closes"))
    assert citation_precision([BARE], denied, TEXTS)[0].value == 0.0


def test_a_document_is_read_once_however_often_it_is_cited() -> None:
    texts = CitedTexts(TEXTS)
    read = [texts.readable(each) for each in (to(None, None), to(None, None, FIRST), to(0, END))]
    assert read[0][0] is read[1][0] is read[2][0]


def attribution(query: Query, *citations: AnswerCitation) -> float | None:
    return citation_attribution([query], answered(*citations), TEXTS)[0].value


def test_the_right_document_and_place() -> None:
    assert attribution(QUERY, to(0, 10)) == 1.0
    assert attribution(QUERY, to(OPENS, END)) == 0.0
    assert attribution(QUERY, to(0, 10, doc_id="other.md")) == 0.0
    assert attribution(QUERY, to(None, None)) == 1.0, "the whole document holds the reference"
    assert attribution(QUERY, to(len(MANAGER), OPENS)) == 0.0, (
        "places that only touch do not overlap"
    )


def test_an_alternative_is_as_right_as_the_reference() -> None:
    reference = Reference("gone.md", 0, 5, (Passage("leave.md", 0, 8),))
    assert attribution(Query("q", "?", (reference,)), to(4, 20)) == 1.0


def test_the_quote_must_stand_there() -> None:
    assert attribution(BARE, to(0, len(MANAGER), quote="APPROVED by the manager,")) == 1.0
    assert attribution(BARE, to(OPENS, END, quote="approved by the manager")) == 0.0
    assert attribution(QUERY, to(OPENS, END, quote="opens at nine")) == 0.0


def test_without_anything_to_check_there_is_no_score() -> None:
    assert attribution(BARE, to(0, 10)) is None
    assert attribution(BARE, to(0, 10, doc_id="gone.md")) == 0.0
    assert attribution(BARE, to(0, 10), to(0, 99999)) == 0.0


def test_precision_is_of_cited_claims_and_recall_of_all() -> None:
    answers = answered(to(0, len(MANAGER), FIRST), to(0, 10, FIRST))
    assert citation_precision([BARE], answers, TEXTS)[0].value == 1.0, "one that supports is enough"
    assert citation_recall([BARE], answers)[0].value == 0.5
    wrong = answered(to(0, len(MANAGER), FIRST), to(0, len(MANAGER), SECOND))
    assert citation_precision([BARE], wrong, TEXTS)[0].value == 0.5
    assert citation_recall([BARE], wrong)[0].value == 1.0


def test_what_is_not_there_is_unscored() -> None:
    no_citations = answered()
    for metric in (citation_support, citation_precision, citation_attribution):
        assert metric([BARE], {}, TEXTS)[0].reason == "no answer"
        assert metric([BARE], no_citations, TEXTS)[0].reason == "no citations"
        assert metric([BARE], no_citations, TEXTS)[0].value is None
    assert citation_recall([BARE], {})[0].value is None
    assert citation_recall([BARE], no_citations)[0].value == 0.0
    assert citation_recall([BARE], answered(text="…"))[0].value is None
    elsewhere = answered(to(0, 10, "Cats are grey."))
    assert citation_precision([BARE], elsewhere, TEXTS)[0].value is None


class Said:
    """Verdicts that are known beforehand, by claim and text."""

    def __init__(self, verdicts: dict[tuple[str, str], float | None]) -> None:
        self.verdicts = verdicts

    def tasks(self, question: str, claims: list[str], texts: list[str]) -> list[tuple[str, str]]:
        return [(claim, text) for claim in claims for text in texts]

    def score(self, question: str, claim: str, texts: list[str]) -> Score:
        (text,) = texts
        value = self.verdicts[claim, text]
        return Score(value, "" if value is not None else "not answered")


@given(st.lists(st.sampled_from([None, 0.0, 1.0]), min_size=8, max_size=8))
def test_a_model_must_find_one_place_that_supports_one_claim(said: list[float | None]) -> None:
    metric = known_metrics()["citation_accuracy.llm"]
    assert isinstance(metric, LlmMetric)
    whole, first, second = "A lamp. A boat.", "A lamp.", "A boat."
    texts = {"a": "Lamp here. Boat. Lamp here!", "b": "Nothing."}
    places = ["Lamp here", "Boat", texts["b"], texts["a"]]
    verdicts = dict(zip([(c, p) for c in (first, second) for p in places], said, strict=True))
    cited = [
        (to(0, 9, first, doc_id="a"), [(first, "Lamp here")]),
        (to(None, None, second, "Boat", "a"), [(second, "Boat")]),
        (to(None, None, doc_id="b"), [(first, texts["b"]), (second, texts["b"])]),
        (to(None, None, first, doc_id="gone"), []),
        (to(None, None, second, doc_id="a"), [(second, texts["a"])]),
    ]
    judgment: Any = Said(verdicts)
    for kept in (cited, cited[:1], cited[2:3], cited[3:4]):
        citations = tuple(citation for citation, _ in kept)
        evidence = QuestionEvidence(BARE, [], Answer(whole, citations), texts, CitedTexts(texts))
        asked = [pair for _, pairs in kept for pair in pairs]
        assert sorted(metric.plan_tasks(judgment, evidence)) == sorted(asked)
        expected: list[float | None] = []
        for _, pairs in kept:
            own = [verdicts[pair] for pair in pairs]
            expected.append(1.0 if 1.0 in own else None if None in own else 0.0)
        known = [value for value in expected if value is not None]
        mean = sum(known) / len(known) if len(known) == len(expected) else None
        assert metric.score_question(judgment, evidence).value == mean
    for answer in (None, Answer(whole), Answer(whole, (AnswerCitation("", "", unresolved="x"),))):
        evidence = QuestionEvidence(BARE, [], answer, texts, CitedTexts(texts))
        assert metric.score_question(judgment, evidence).value is None
        assert not metric.plan_tasks(judgment, evidence)


PLACED = "One is here. Two is there! One is here."


@cases(
    "citation, places",
    [
        (to(None, None, doc_id="a"), [(0, len(PLACED))]),
        (to(None, None, doc_id="gone"), []),
        (to(None, None, doc_id="empty"), []),
        (to(4, 6, doc_id="a"), [(4, 6)]),
        (to(0, len(PLACED), doc_id="a"), [(0, len(PLACED))]),
        (to(0, len(PLACED) + 1, doc_id="a"), []),
        (to(6, 6, doc_id="a"), []),
        (to(-1, 6, doc_id="a"), []),
        (to(13, None, doc_id="a"), [(13, 27)]),
        (to(14, None, doc_id="a"), [(13, 27)]),
        (to(0, None, doc_id="a"), [(0, 13)]),
        (to(len(PLACED) - 1, None, doc_id="a"), [(27, len(PLACED))]),
        (to(len(PLACED), None, doc_id="a"), []),
        (to(-1, None, doc_id="a"), []),
        (to(4, None, "", "is", "a"), [(4, 6)]),
        (to(None, None, "", "one IS here", "a"), [(0, 11), (27, 38)]),
        (to(None, None, "", "gone", "a"), []),
    ],
)
def test_a_citation_leads_to_places(citation: AnswerCitation, places: list[tuple[int, int]]) -> None:  # fmt: skip
    cited = CitedTexts({"a": PLACED, "empty": ""})
    assert [(each.start, each.end) for each in cited.places(citation)] == places
    assert {each.text for each in cited.readable(citation)} == {PLACED[a:b] for a, b in places}
