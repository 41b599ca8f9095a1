import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core import Document, Fact, Hit, Query, Reference
from chunkwise.metrics.answers.completeness import answer_completeness, coverage, facts, spans
from chunkwise.metrics.claims.hit_texts import whole_words
from chunkwise.metrics.claims.text_normalization import holds, plain_form
from chunkwise.metrics.evidence import Answer
from chunkwise.metrics.span_tables import Gold, HitTable

TEXT = (
    "Requests are approved by the manager within 5 days. Parental leave lasts fourteen weeks and begins at birth. "
    "Contracts expire on 12/31/14. The office opens at nine."
)
DOCUMENT = Document("leave.md", TEXT)


def hit(part: str, rank: int = 1) -> Hit:
    start = TEXT.index(part)
    return Hit(DOCUMENT, start, start + len(part), 1.0, rank, len(part.split()))


WHOLE = hit(TEXT)
MANAGER = hit("Requests are approved by the manager within 5 days.")
PARENTS = hit("Parental leave lasts fourteen weeks and begins at birth.", 2)
EXPIRY = hit("Contracts expire on 12/31/14.")


def test_facts_are_sought_in_the_hits_and_in_the_answer_where_there_is_one() -> None:
    query = Query("q", "?", facts=(Fact("manager"), Fact("14 weeks", ("fourteen weeks",))))
    assert facts([query], [[MANAGER]])[0].value == 0.5
    assert facts([query], [[MANAGER, PARENTS]])[0].value == 1.0
    assert facts([query], [[]])[0].value == 0.0
    assert facts([query], [[MANAGER, PARENTS]], {"q": "Nobody knows."})[0].value == 0.0
    assert facts([query], [[]], {"q": "The manager; it lasts 14 weeks."})[0].value == 1.0
    assert facts([query], [[MANAGER]], {"other": "14 weeks"})[0].value == 0.5


def test_a_fact_is_not_found_in_a_word_that_was_cut() -> None:
    document = Document("d", "It needs 15 days notice, costs 1,000 and is kept at -5 degrees.")

    def found(fact: str, start: int, end: int) -> float | None:
        hits = [Hit(document, start, end, 1.0, 1, 1)]
        return facts([Query("q", "?", facts=(Fact(fact),))], [hits])[0].value

    at = document.text.index
    assert found("5 days", at("5 days"), 63) == 0.0
    assert found("15 days", at("15 days"), 63) == 1.0
    assert found("notic", 0, at("notice") + 5) == 0.0
    assert found("000", at("000"), 63) == 0.0
    assert found("1", 0, at(",000")) == 0.0
    assert found("5 degrees", at("5 degrees"), 63) == 0.0
    assert found("-5 degrees", at("-5 degrees"), 63) == 1.0


def test_a_fact_cut_between_two_hits_that_touch_is_found() -> None:
    query = [Query("q", "?", facts=(Fact("fourteen weeks"),))]
    cut = TEXT.index("weeks")
    halves = [
        Hit(DOCUMENT, cut - end, cut + start, 1.0, 1, 1) for end, start in ((30, 2), (-2, 20))
    ]
    for own in (halves, halves[::-1]):
        assert facts(query, [own])[0].value == 1.0
        assert coverage(query, [own])[0].value == 1.0
    apart = [hit("Parental leave lasts fourteen"), hit("and begins at birth.", 2)]
    assert facts(query, [apart])[0].value == 0.0
    other = Document("other.md", TEXT)
    assert facts(query, [[halves[0], Hit(other, cut + 2, cut + 20, 1.0, 1, 1)]])[0].value == 0.0


PIECES = "15 days 3,5 1,000 -5 notice 十五天 2.5kg –7 a,b don’t C++".split()


@given(st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join), st.data())
def test_what_is_read_of_a_hit_stands_in_the_document(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    first, last = whole_words(text, start, end)
    assert first == last or start <= first <= last <= end
    read = plain_form(text[first:last])
    assert read == " " or holds(plain_form(text), read)


def test_no_facts_are_no_score() -> None:
    score = facts([Query("q", "?", answer="The manager")], [[WHOLE]])[0]
    assert (score.value, score.reason) == (None, "no expected facts")


def covered(answer: str, *hits: Hit) -> float | None:
    return coverage([Query("q", "?", answer=answer)], [list(hits)])[0].value


def test_each_sentence_of_the_answer_must_be_in_one_hit() -> None:
    answer = "The manager approves requests within 5 days. Parental leave begins at birth and lasts fourteen weeks."
    assert covered(answer, MANAGER, PARENTS) == 1.0
    assert covered(answer, MANAGER) == 0.5
    assert covered(answer) == 0.0


def test_words_spread_over_several_hits_hold_no_sentence() -> None:
    first, second = hit("Parental leave lasts"), hit("fourteen weeks and begins at birth.", 2)
    assert covered("Parental leave lasts fourteen weeks.", first, second) == 0.0
    assert covered("Parental leave lasts fourteen weeks.", PARENTS) == 1.0


def test_another_number_is_another_statement() -> None:
    assert covered("The manager approves requests within 5 days.", MANAGER) == 1.0
    assert covered("The manager approves requests within 15 days.", MANAGER) == 0.0


def test_a_short_answer_must_stand_there() -> None:
    assert covered("12/31/14", EXPIRY) == 1.0
    assert covered("12/31/15", EXPIRY) == 0.0
    assert covered("31/12/14", EXPIRY) == 1.0  # there is no month 31: it is the same day
    assert covered("30/12/14", EXPIRY) == 0.0
    assert covered("The manager.", MANAGER) == 1.0
    assert covered("at nine", MANAGER) == 0.0


def test_expected_facts_stand_for_the_answer() -> None:
    query = Query("q", "?", answer="Something else.", facts=(Fact("birth"), Fact("death")))
    assert coverage([query], [[PARENTS]])[0].value == 0.5


def test_nothing_to_look_for_is_no_score() -> None:
    reasons = [
        coverage([Query("q", "?", answer=a)], [[WHOLE]])[0] for a in (None, " ", "…", "Is it?")
    ]
    assert [score.value for score in reasons] == [None] * 4
    assert reasons[0].reason == "no reference answer"
    assert reasons[2].reason == "the reference answer has no content words"


def test_spans_ask_for_every_reference() -> None:
    first, second = (Reference("leave.md", h.start, h.end) for h in (MANAGER, PARENTS))
    queries = [
        Query("both", "?", (first, second)), Query("one", "?", (first,)),
        Query("none", "?"), Query("missed", "?", (first,)),
    ]  # fmt: skip
    hits = [[MANAGER], [MANAGER], [MANAGER], []]
    numbers = {"leave.md": 0}
    scores = spans(Gold.of(queries, numbers), HitTable.of(hits, numbers))
    assert [score.value for score in scores] == [0.0, 1.0, None, 0.0]
    assert scores[2].reason == "no references"
    together = spans(Gold.of(queries[:1], numbers), HitTable.of([[PARENTS, MANAGER]], numbers))
    assert together[0].value == 1.0
    halves = [hit(MANAGER.text[:20]), hit(MANAGER.text[20:], 2)]
    cut = spans(Gold.of(queries[1:2], numbers), HitTable.of([halves], numbers))
    assert cut[0].value == 1.0, "a passage cut in two is found when both halves are"
    assert np.isfinite(cut[0].value)


def test_an_answer_is_complete_when_it_names_all() -> None:
    queries = [Query(id, "?", facts=(Fact("5 days"), Fact("manager"))) for id in "abc"]
    answers = {"a": Answer("Six days."), "b": Answer("The manager, in 5 days."), "d": Answer("")}
    scores = answer_completeness([*queries, Query("d", "?")], answers)
    assert [score.value for score in scores] == [0.0, 1.0, None, None]
    assert [score.reason for score in scores[2:]] == ["no answer", "no expected facts"]
