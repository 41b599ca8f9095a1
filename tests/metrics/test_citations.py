from chunkwise.core import Passage, Query, Reference
from chunkwise.metrics.citations.attribution import citation_attribution
from chunkwise.metrics.citations.precision import citation_precision
from chunkwise.metrics.citations.recall import citation_recall
from chunkwise.metrics.citations.support import citation_support
from chunkwise.metrics.claims.answers import Answer, Citation

MANAGER = "Requests are approved by the manager within 5 days."
OFFICE = "The office opens at nine and closes at noon."
TEXTS = {"leave.md": f"{MANAGER} {OFFICE}", "other.md": "Nothing of interest stands here."}
OPENS = len(MANAGER) + 1
END = len(TEXTS["leave.md"])
QUERY = Query("q", "?", (Reference("leave.md", 0, len(MANAGER)),))
BARE = Query("q", "?")

ANSWER = "The manager approves requests within 5 days. The office closes at noon."


def answered(*citations: Citation, text: str = ANSWER) -> dict[str, Answer]:
    return {"q": Answer(text, citations)}


def to(
    start: int | None, end: int | None, claim: str = "", quote: str = "", doc_id: str = "leave.md"
) -> Citation:
    return Citation(claim, doc_id, start, end, quote)


FIRST, SECOND = "The manager approves requests within 5 days.", "The office closes at noon."


def support(*citations: Citation) -> float | None:
    return citation_support([BARE], answered(*citations), TEXTS)[0].value


def test_the_cited_place_must_contain_the_claim() -> None:
    assert support(to(0, len(MANAGER), FIRST)) == 1.0
    assert support(to(OPENS, END, FIRST)) == 0.0
    assert support(to(OPENS, END, SECOND), to(0, OPENS, SECOND)) == 0.5
    assert support(to(0, len(MANAGER), "The manager approves requests within 15 days.")) == 0.0
    assert support(to(0, len(MANAGER), "approved by THE manager")) == 1.0


def test_a_citation_of_no_claim_is_for_the_whole_answer() -> None:
    assert support(to(0, len(MANAGER))) == 1.0
    assert support(to(None, None, doc_id="other.md")) == 0.0


def test_a_citation_that_leads_nowhere_supports_nothing() -> None:
    assert support(to(0, 10, FIRST, doc_id="gone.md"), to(0, 9000, FIRST), to(-5, 4, FIRST)) == 0.0
    assert support(to(None, None, FIRST, quote="not there")) == 0.0


def test_a_quote_tells_the_place() -> None:
    assert support(to(None, None, FIRST, quote=MANAGER)) == 1.0


def attribution(query: Query, *citations: Citation) -> float | None:
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
