"""The one scorer: which column comes from where, what others' metrics may give, and what evidence offers them."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document, Hit, Query, Reference, Score, Span
from chunkwise.metrics.evidence import Answer, AnswerCitation, Evidence, Hits
from chunkwise.metrics.metric import Metric, Value, WholeScore
from chunkwise.metrics.registry import MetricAt, known_metrics, parse
from chunkwise.metrics.scorer import ScoreColumn, Scorer, question_scores, whole_score
from chunkwise.metrics.span_tables import Chunking, HitTable
from how_many import examples
from tables import cases

DOCUMENTS = [Document("a", "one two three four"), Document("b", "five six seven eight nine")]
QUERIES = [
    Query("1", "first?", references=(Reference("a", 4, 13),)),
    Query("2", "second?"),
    Query("3", "third?", references=(Reference("b", 0, 8), Reference("a", 0, 3))),
]


def hit(document: Document, start: int, end: int, rank: int = 1) -> Hit:
    return Hit(document, start, end, 1.0, rank, token_count=len(document.text[start:end].split()))


HITS = [
    [hit(DOCUMENTS[0], 0, 7), hit(DOCUMENTS[0], 8, 18, 2)],
    [hit(DOCUMENTS[1], 0, 4)],
    [hit(DOCUMENTS[1], 0, 8), hit(DOCUMENTS[1], 9, 19, 2), hit(DOCUMENTS[0], 0, 7, 3)],
]
CHUNKS = [(0, 0, 7, 2), (0, 8, 18, 2), (1, 0, 8, 2), (1, 9, 25, 3)]
CHUNKING = Chunking(*np.array(CHUNKS).T)


class Run:
    """What was retrieved, and how deep somebody looked."""

    def __init__(self, found: Hits) -> None:
        self.found = found
        self.asked: list[str] = []

    def table(self, wanted: MetricAt) -> HitTable:
        return HitTable.of(self.found, {"a": 0, "b": 1})

    def hits(self, wanted: MetricAt) -> Hits:
        self.asked.append(wanted.label)
        return [own[: wanted.at] for own in self.found]


def metric(score: object, **more: object) -> Metric:
    return Metric("mine", "Mine.", score=score, **more)  # type: ignore[arg-type]


def constant(value: object, per: str = "question") -> Metric:
    return metric(lambda evidence: value, bounds=(0.25, 0.75), per=per)


def test_columns_stand_in_the_order_asked_for_and_each_comes_from_its_source() -> None:
    seen = list[Hits]()

    def counted(evidence: Evidence) -> Sequence[Value]:
        seen.append(evidence.hits)
        return [len(own) / 10 for own in evidence.hits]

    over_hits, alone = metric(counted, at="hits"), Metric("alone", "Alone.", score=counted)
    judged = known_metrics()["faithfulness.llm"]
    whole = Metric("whole", "Whole.", score=lambda evidence: 0.5, per="chunking")
    undescribed = Metric("nobody", "Nobody can score it.")
    run, evidence = Run(HITS), Evidence(QUERIES, HITS, DOCUMENTS, chunking=CHUNKING)
    verdicts = [Score(0.5), Score(None, "not asked"), Score(1.0)]
    scorer = Scorer(evidence, run, {"faithfulness.llm": verdicts})
    wanted = [
        MetricAt(alone), parse("recall@2"), MetricAt(over_hits, 2), MetricAt(whole), MetricAt(undescribed),
        MetricAt(judged), parse("p@1"), parse("recall@3t"),
    ]  # fmt: skip
    found = scorer.columns(wanted)
    assert list(found) == ["alone", "recall@2", "mine@2", "faithfulness.llm", "p@1", "recall@3t"]
    assert found["mine@2"].values.tolist() == [0.2, 0.1, 0.2]
    assert found["alone"].values.tolist() == [0.2, 0.1, 0.3]
    assert seen == [HITS, [own[:2] for own in HITS]]
    assert run.asked == ["mine@2"]
    same(found["faithfulness.llm"], ScoreColumn.of(verdicts))
    assert found["recall@2"].values.tolist() == pytest.approx(
        [8 / 9, math.nan, 8 / 11], nan_ok=True
    )
    assert [bool(reason) for reason in found["recall@2"].reasons] == [False, True, False]
    assert found["recall@3t"].values.tolist() == pytest.approx(
        [8 / 9, math.nan, 8 / 11], nan_ok=True
    )
    assert list(scorer.whole(wanted)) == ["whole"]
    assert scorer.whole(wanted)["whole"] == WholeScore(Score(0.5), 4)


def same(one: ScoreColumn, other: ScoreColumn) -> None:
    np.testing.assert_array_equal(one.values, other.values)
    assert one.reasons == other.reasons


LEVELS = st.lists(st.lists(st.sampled_from([0, 0, 1, 2]), max_size=3), max_size=3)


@given(LEVELS, st.randoms())
def test_hits_become_rows_by_rank_and_a_summary_all_its_places(
    levels: list[list[int]], chance: random.Random
) -> None:

    def made(level: int, rank: int) -> Hit:
        plain = hit(DOCUMENTS[rank % 2], 0, 7 + rank, rank)
        places = (Span(0, 2), Span(4, 7 + rank))
        summary = replace(plain, summary="S", summarized=places, summarized_tokens=(1, 2))
        return replace(summary, level=level) if level else plain

    hits = [[made(level, rank) for rank, level in enumerate(own, 1)] for own in levels]
    table = HitTable.of([chance.sample(own, len(own)) for own in hits], {"a": 0, "b": 1})
    flat = [(q, rank, each) for q, own in enumerate(hits) for rank, each in enumerate(own)]
    places = [(n, place) for n, (*_, each) in enumerate(flat) for place in each.places]
    assert np.diff(table.first).tolist() == [len(own) for own in hits]
    assert table.hit_question.tolist() == [q for q, *_ in flat]
    assert table.hit_rank.tolist() == [rank for _, rank, _ in flat]
    assert table.hit.tolist() == [n for n, _ in places]
    assert table.question.tolist() == [flat[n][0] for n, _ in places]
    assert table.rank.tolist() == [flat[n][1] for n, _ in places]
    assert table.document.tolist() == [int(place.doc_id == "b") for _, place in places]
    assert table.start.tolist() == [place.start for _, place in places]
    assert table.end.tolist() == [place.end for _, place in places]
    assert table.tokens.tolist() == [place.tokens for _, place in places]
    is_summary = [each.level > 0 for *_, each in flat]
    assert (table.summary is not None) == any(is_summary)
    assert table.summary is None or table.summary.tolist() == is_summary
    assert (table.hits_of is None) == (len(places) == len(flat))


def test_measured_in_tokens_lengths_change_and_counts_do_not() -> None:
    evidence = Evidence(
        QUERIES, HITS, DOCUMENTS, chunking=CHUNKING, unit="tokens", tokenizer="words"
    )
    found = Scorer(evidence, Run(HITS), {}).columns([parse("p@2"), parse("recall@1")])
    in_characters = Scorer(Evidence(QUERIES, HITS, DOCUMENTS, chunking=CHUNKING), Run(HITS), {})
    same(found["p@2"], in_characters.columns([parse("p@2")])["p@2"])
    assert found["recall@1"].values.tolist() == pytest.approx([1 / 2, math.nan, 2 / 3], nan_ok=True)
    gold, table = evidence.tables()
    assert (gold.end - gold.start).tolist() == [2, 2, 1]
    assert (table.end - table.start).tolist() == [2, 2, 1, 2, 2, 2]


def test_a_question_without_a_score_says_why() -> None:
    """Without references, without chunks to count, or with hits that are none of them."""
    scorer = Scorer(Evidence(QUERIES, HITS, DOCUMENTS), Run(HITS), {})
    ndcg = scorer.columns([parse("ndcg@2")])["ndcg@2"]
    assert np.isnan(ndcg.values).all()
    assert all(ndcg.reasons)
    assert len(set(ndcg.reasons)) == 2
    elsewhere = [[hit(DOCUMENTS[0], 1, 9)], [], []]
    found = Scorer(Evidence(QUERIES, elsewhere, DOCUMENTS, chunking=CHUNKING), Run(elsewhere), {})
    other = found.columns([parse("ndcg@2")])["ndcg@2"]
    assert np.isnan(other.values).tolist() == [True, True, False]
    assert other.reasons[0] not in ndcg.reasons
    assert other.reasons[1:] == (ndcg.reasons[1], "")


@cases("value", [0.25, 0.75, 0.5, 0.25 - 5e-10, 0.75 + 5e-10, Score(0.5), np.float32(0.5)])
def test_a_value_within_the_bounds_is_the_score(value: Value) -> None:
    number = value.value if isinstance(value, Score) else float(value)
    assert question_scores(constant([value] * 3), Evidence(QUERIES, HITS)) == [Score(number)] * 3
    assert whole_score(constant(value, "chunking"), Evidence(QUERIES, HITS)) == WholeScore(
        Score(number), 0
    )


@cases(
    "value",
    [0.2499, 0.7501, math.nan, math.inf, "why", "", Score(None, "why"), Score(0.1), None, object()],
)
def test_any_other_is_no_score_and_says_why(value: object) -> None:
    for found in question_scores(constant([value] * 3), Evidence(QUERIES, HITS)):
        assert found.value is None
        assert found.reason
        if value == "why" or (isinstance(value, Score) and value.value is None):
            assert found.reason == "why"
    whole = whole_score(constant(value, "chunking"), Evidence(QUERIES, HITS)).score
    assert (whole.value, bool(whole.reason)) == (None, True)


@cases("given", ["text", 0.5, [], [0.5] * 2, [0.5] * 4, {0.5}, None, iter([0.5] * 3)])
def test_one_value_a_question_is_needed(given: object) -> None:
    found = question_scores(constant(given), Evidence(QUERIES, HITS))
    assert [each.value for each in found] == [None] * 3
    assert all(each.reason for each in found)


def test_a_whole_chunking_has_one_value() -> None:
    given = WholeScore(Score(3.0), 7, {"why": 2})
    assert whole_score(constant(given, "chunking"), Evidence(QUERIES, HITS)) == given
    for several in ([0.5], (0.5, 0.5)):
        assert (
            whole_score(constant(several, "chunking"), Evidence(QUERIES, HITS)).score.value is None
        )


@cases("error", [ValueError(), ValueError("no"), ChunkwiseError("no"), KeyError("key")])
def test_only_what_others_wrote_may_fail(error: Exception) -> None:
    def fails(evidence: Evidence) -> Sequence[Value]:
        raise error

    evidence = Evidence(QUERIES, HITS)
    (reason,) = {each.reason for each in question_scores(metric(fails), evidence)}
    assert str(error) in reason
    assert isinstance(error, ChunkwiseError) or type(error).__name__ in reason
    assert whole_score(metric(fails), evidence) == WholeScore(Score(None, reason))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chunkwise.metrics.scorer.is_own", lambda metric: True)
        for scored in (question_scores, whole_score):
            with pytest.raises(type(error)):
                scored(metric(fails), evidence)


def test_of_an_answer_the_citations_count_that_point_somewhere() -> None:
    known, lost = AnswerCitation("A [1].", "a", 0, 3), AnswerCitation("", "", unresolved="gone")
    assert known.said == "A."
    uncited = Answer("It is so.")
    for answer, scored, is_cited in [
        (uncited, (), False),
        (Answer("It is so [1].", (known,)), (known,), True),
        (Answer("It is so [1].", (lost, known)), (known,), True),
        (Answer("It is so [1].", (lost,)), (), False),
    ]:
        assert answer.scored == Answer(answer.text, scored)
        assert (answer.why_uncited == "") == is_cited
        assert answer.said == uncited.said
    assert Answer("", (lost,)).why_uncited == "gone"


PLACES = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 8), st.integers(1, 9)), max_size=6)


@settings(max_examples=examples(30))
@given(st.lists(PLACES, max_size=3), st.one_of(st.none(), PLACES))
def test_the_chunks_of_a_document_are_those_known_or_those_found(
    found: list[list[tuple[int, int, int]]], known: list[tuple[int, int, int]] | None
) -> None:
    def places(own: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
        return [(number, start, start + length) for number, start, length in own]

    hits = [
        [hit(DOCUMENTS[number], start, end, at) for at, (number, start, end) in enumerate(places(own), 1)]
        for own in found
    ]  # fmt: skip
    chunking = None
    rows = sorted({place for own in found for place in places(own)})
    if known is not None:
        rows = sorted(places(known))
        columns = np.array([(*row, 1) for row in rows], np.int64).reshape(-1, 4).T
        chunking = Chunking(*columns)
    evidence = Evidence(QUERIES, hits, DOCUMENTS, chunking=chunking)
    told = {analyzed.text: spans for analyzed, spans in evidence.chunk_spans()}
    assert told == {
        document.text: spans
        for number, document in enumerate(DOCUMENTS)
        if (spans := [Span(start, end) for at, start, end in rows if at == number])
    }
    assert evidence.numbers == {"a": 0, "b": 1}
    assert evidence.texts == {each.id: each.text for each in DOCUMENTS}
