"""Judges say 1, 0 or why not; never a number in place of a verdict."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Document, Hit, Label, Passage, Query, Reference, Score
from chunkwise.metrics.judges.judge import Judge
from chunkwise.metrics.judges.relevance_judges import LabelJudge, SimilarityJudge, SpanJudge
from chunkwise.models.embed.embedder import Kind
from hash_embedder import PlainHashEmbedder
from tables import cases

A, B = Document("a", "x" * 100), Document("b", "y" * 100)


def hit(start: int, end: int, document: Document = A, rank: int = 1) -> Hit:
    return Hit(document, start, end, 1.0, rank, end - start)


def values(scores: Sequence[Score]) -> list[float | None]:
    return [score.value for score in scores]


def by_spans(query: Query, *hits: Hit) -> list[Score]:
    return SpanJudge().judge([query], [list(hits)])[0]


def test_a_hit_is_relevant_by_half_of_a_place_or_from_inside_one() -> None:
    query = Query("q", "?", (Reference("a", 20, 40, (Passage("b", 0, 10),)),))
    hits = [
        hit(20, 30), hit(21, 23), hit(31, 60), hit(20, 29), hit(0, 29), hit(0, 30),
        hit(0, 5, B), hit(4, 40, B), hit(6, 40, B), hit(20, 40, B),
    ]  # fmt: skip
    found = by_spans(query, *hits)
    assert values(found) == [1, 1, 0, 1, 0, 1, 1, 1, 0, 0]


def test_a_question_without_references_is_not_judged_by_them() -> None:
    assert by_spans(Query("q", "?"), hit(0, 5)) == [Score(None, "no references")]
    assert SpanJudge().judge([Query("q", "?")], [[]]) == [[]]


def test_verdicts_come_in_the_order_of_the_hits_not_of_their_ranks() -> None:
    query = Query("q", "?", (Reference("a", 20, 40),))
    assert values(
        by_spans(query, hit(20, 40, rank=3), hit(60, 80, rank=1), hit(22, 40, rank=2))
    ) == [1, 0, 1]


def test_spans_agree_with_a_plain_count_of_characters() -> None:
    chance = random.Random(5)
    documents = [A, B]

    def place() -> tuple[str, int, int]:
        start = chance.randrange(95)
        return chance.choice("ab"), start, chance.randint(start + 1, 100)

    queries, hits = [], []
    for number in range(200):
        references = tuple(
            Reference(*place(), alternatives=tuple(Passage(*place()) for _ in range(chance.randrange(3))))
            for _ in range(chance.randrange(4))
        )  # fmt: skip
        queries.append(Query(str(number), "?", references))
        own = [place() for _ in range(chance.randrange(6))]
        ranks = chance.sample(range(1, 10), len(own))
        hits.append(
            [hit(s, e, documents[d == "b"], r) for (d, s, e), r in zip(own, ranks, strict=True)]
        )
    for query, own_hits, scores in zip(
        queries, hits, SpanJudge(0.4).judge(queries, hits), strict=True
    ):
        for each, score in zip(own_hits, scores, strict=True):
            covered = set(range(each.start, each.end))
            places = [p for r in query.references for p in r.places if p.doc_id == each.doc_id]
            chars = [set(range(p.start, p.end)) for p in places]
            relevant = any(len(covered & c) >= 0.4 * len(c) or covered <= c for c in chars)
            assert score.value == (float(relevant) if query.references else None)


@cases("threshold", [0, -1, 1.1, float("nan")])
def test_a_share_is_over_0_and_at_most_1(threshold: float) -> None:
    with pytest.raises(InvalidParameter, match="relevance_threshold is"):
        SpanJudge(threshold)


def by_labels(labels: list[tuple[str, int, int, bool]], *hits: Hit) -> list[Score]:
    query = Query("q", "?", labels=tuple(Label(*label) for label in labels))
    return LabelJudge().judge([query], [list(hits)])[0]


def test_a_hit_takes_the_rating_of_the_place_it_shares_most_with() -> None:
    labels = [("a", 0, 20, True), ("a", 20, 60, False)]
    found = by_labels(labels, hit(0, 20), hit(5, 10), hit(30, 40), hit(15, 40), hit(10, 60))
    # The fourth shares most with the second place, which neither holds it nor is half of both.
    assert values(found) == [1, 1, 0, None, 0]


def test_a_passage_in_a_hit_speaks_for_it_only_if_it_is_relevant() -> None:
    relevant, irrelevant = ("a", 50, 53, True), ("a", 60, 63, False)
    assert by_labels([irrelevant], hit(0, 100)) == [Score(None, "not labeled")]
    assert values(by_labels([relevant], hit(0, 100))) == [1]
    assert values(by_labels([relevant, irrelevant, ("a", 70, 99, False)], hit(0, 100))) == [1]
    # Nearly the same place rated irrelevant does not take back what is relevant in it.
    assert values(by_labels([relevant, ("a", 0, 99, False)], hit(0, 100))) == [1]
    # Of the very hit people said what they think.
    assert values(by_labels([relevant, ("a", 0, 100, False)], hit(0, 100))) == [0]
    # A part of the relevant passage is no whole one.
    assert values(by_labels([relevant], hit(51, 100))) == [None]


def test_people_who_disagree_on_the_passage_in_a_hit_settle_nothing() -> None:
    passage = ("a", 50, 53)
    torn = [(*passage, True), (*passage, False)]
    (unsettled,) = by_labels(torn, hit(0, 100))
    assert unsettled.value is None
    assert "disagree" in unsettled.reason
    assert values(by_labels([*torn, ("a", 0, 90, False)], hit(0, 100))) == [0]
    assert values(by_labels([*torn, ("a", 60, 70, True)], hit(0, 100))) == [1]


def test_a_place_that_says_too_little_about_a_hit_is_no_label() -> None:
    labels = [("a", 0, 20, True)]
    found = by_labels(labels, hit(15, 40), hit(30, 40), hit(0, 20, B), hit(4, 21))
    assert values(found) == [None, None, None, 1]
    assert found[0].reason == "not labeled"
    assert by_labels([], hit(0, 5)) == [Score(None, "not labeled")]


def test_of_several_people_the_majority_decides_and_a_draw_nobody() -> None:
    place = ("a", 0, 20)
    assert values(by_labels([(*place, True), (*place, False), (*place, True)], hit(0, 20))) == [1]
    assert values(by_labels([(*place, False), (*place, False), (*place, True)], hit(0, 20))) == [0]
    equal = [("a", 0, 40, True), ("a", 10, 50, False)]
    draws = [
        *by_labels([(*place, True), (*place, False)], hit(0, 20)),
        *by_labels(equal, hit(15, 35)),
    ]
    assert values(draws) == [None, None]
    assert all("disagree" in draw.reason for draw in draws)


def test_an_empty_label_says_nothing() -> None:
    assert values(by_labels([("a", 5, 5, True)], hit(0, 10))) == [None]


def texts(*given: str) -> list[Hit]:
    return [
        Hit(Document(f"d{n}", text), 0, len(text), 1.0, n + 1, 1) for n, text in enumerate(given)
    ]


def test_similarity_is_the_cosine_of_question_and_text() -> None:
    embedder = PlainHashEmbedder()
    hits = texts("the lamp is lit", "the lamp is", "gulls sleep on roofs", " \n ")
    found = SimilarityJudge(embedder, 0.8).judge([Query("q", "the lamp is lit")], [hits])[0]
    question, *rest = embedder.embed(["the lamp is lit", *(each.text for each in hits)])
    expected = [float(np.dot(question, each) >= 0.8 - 1e-6) for each in rest[:3]]
    assert values(found) == [*expected, None]
    assert expected[0] == 1.0
    assert expected[2] == 0.0
    assert found[3].reason == "no words to compare"


@cases("wrong", [np.nan, np.inf, -np.inf])
@cases("failing", ["query", "passage"])
def test_a_model_that_gives_no_vector_gives_no_verdict(wrong: float, failing: str) -> None:
    class Failing(PlainHashEmbedder):
        identity = f"failing {wrong} {failing}"

        def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
            vectors = super().embed(texts, kind).copy()
            vectors[[kind == failing and "lamp" in text for text in texts], 1] = wrong
            return vectors

    hits = texts("the lamp is lit", "gulls sleep on roofs", " ")
    found = SimilarityJudge(Failing()).judge([Query("q", "is the lamp lit")], [hits])[0]
    assert found[0] == Score(None, "the model returned no vector")
    if failing == "passage":
        assert values(found) == [None, 0, None]
        assert found[2].reason == "no words to compare"
    else:
        assert {score.reason for score in found} == {"the model returned no vector"}


def test_every_text_is_embedded_once_and_all_together() -> None:
    class Counting(PlainHashEmbedder):
        identity = "counting"

        def __init__(self) -> None:
            super().__init__()
            self.calls: list[tuple[Kind, int]] = []

        def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
            self.calls.append((kind, len(texts)))
            return super().embed(texts, kind)

    embedder = Counting()
    queries = [Query("1", "who lit the lamp"), Query("2", "where do gulls sleep")]
    hits = [texts("the lamp", "a gull"), texts("a gull", "the lamp", "the roof")]
    found = SimilarityJudge(embedder).judge(queries, hits)
    assert [len(own) for own in found] == [2, 3]
    assert sorted(embedder.calls) == [("passage", 3), ("query", 2)]


def test_no_hits_and_no_questions() -> None:
    assert SimilarityJudge(PlainHashEmbedder()).judge([], []) == []
    assert SimilarityJudge(PlainHashEmbedder()).judge([Query("q", "lamp")], [[]]) == [[]]
    assert LabelJudge().judge([Query("q", "lamp")], [[]]) == [[]]


def test_a_cosine_is_between_minus_1_and_1() -> None:
    with pytest.raises(InvalidParameter, match="similarity_threshold is 70"):
        SimilarityJudge(threshold=70)


def test_each_has_the_name_of_its_column() -> None:
    judges: list[Judge] = [LabelJudge(), SpanJudge(), SimilarityJudge(PlainHashEmbedder())]
    assert [judge.name for judge in judges] == ["labels", "spans", "similarity"]
