"""All measures over spans equal a second implementation made of sets of characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.core import Document, Hit, Passage, Query, Reference, Span
from chunkwise.metrics.cuts.boundary_issue_counts import split
from chunkwise.metrics.registry import known_metrics, parse
from chunkwise.metrics.scorer import span_scores, why_unscored
from chunkwise.metrics.span_tables import Chunking, Gold, HitTable
from chunkwise.metrics.spans.coverage import covered_references
from chunkwise.metrics.spans.ranking import relevant_chunks, relevant_hits
from chunkwise.metrics.spans.span_metric import SpanMetric
from chunkwise.metrics.token_budget import TokenCut, in_tokens
from how_many import examples
from metrics.spans import naive_spans
from metrics.spans.naive_spans import Place
from metrics.spans.span_cases import (
    DOCUMENTS,
    LENGTH,
    NUMBERS,
    Case,
    chunking_of,
    found_of,
    queries_and_hits,
)
from tables import cases

TEXTS = [Document(name, "x" * LENGTH) for name in DOCUMENTS]
CUT = TokenCut(TEXTS, "characters")
SPANS = (
    "recall",
    "precision",
    "density",
    "iou",
    "context_recall",
    "failure",
    "all_found",
    "first_hop",
    "last_hop",
)
CHROMA = ("chroma.recall", "chroma.precision", "chroma.iou")
RANKINGS = ("context_precision", "p", "hit", "mrr")
IDEAL = ("ndcg", "map", "chunk_recall")
ALL_AT = (*SPANS, *CHROMA, *RANKINGS, *IDEAL)


def scores(case: Case, *names: str) -> dict[str, list[float]]:
    found = span_scores([parse(n) for n in names], case.gold, case.found, case.chunking, CUT)
    return {name: values.tolist() for name, values in found.items()}


def one(queries: Reference | Sequence[Reference], *hits: Place, name: str) -> float:
    """The score of one question with these references."""
    own = (queries,) if isinstance(queries, Reference) else tuple(queries)
    return scores(Case([Query("q", "?", own)], [list(hits)], list(hits)), name)[name][0]


@settings(deadline=None)
@given(queries_and_hits(), st.integers(1, 7), st.integers(1, 60))
def test_every_measure_equals_the_naive_one(case: Case, k: int, budget: int) -> None:
    names = {*(f"{name}@{k}" for name in ALL_AT), "chroma.precision_omega", f"recall@{budget}t"}
    got = scores(case, *names)
    assert set(got) == names
    starts = {doc_id: list(range(LENGTH)) for doc_id in DOCUMENTS}
    for number, (query, hits) in enumerate(zip(case.queries, case.hits, strict=True)):
        expected = naive_spans.spans(query, hits[:k])
        expected |= naive_spans.rankings(query, hits, case.chunks, k)
        expected = {f"{name}@{k}": value for name, value in expected.items()}
        expected["chroma.precision_omega"] = naive_spans.omega(query, case.chunks)
        within = naive_spans.cut_at(hits, budget, starts)
        expected[f"recall@{budget}t"] = naive_spans.spans(query, within)["recall"]
        if not query.references:
            expected = dict.fromkeys(expected, np.nan)
        own = {name: values[number] for name, values in got.items()}
        assert own == pytest.approx(expected, abs=1e-12, nan_ok=True)


@settings(max_examples=examples(20), deadline=None)
@given(queries_and_hits(), st.sampled_from([0.1, 0.5, 0.55, 1.0]))
def test_relevance_and_split_references_equal_the_naive_ones(case: Case, threshold: float) -> None:
    flat = [(query, hit) for query, own in zip(case.queries, case.hits, strict=True) for hit in own]
    expected = [naive_spans.relevant(query, hit, threshold) for query, hit in flat]
    assert relevant_hits(case.gold, case.found, threshold).tolist() == expected
    asked, chunk = relevant_chunks(case.gold, case.chunking, threshold)
    assert sorted(zip(asked.tolist(), chunk.tolist(), strict=True)) == [
        (q, c)
        for q, query in enumerate(case.queries)
        for c, each in enumerate(case.chunks)
        if naive_spans.relevant(query, each, threshold)
    ]
    assert split(case.gold, case.chunking).tolist() == [
        naive_spans.split(r, case.chunks) for query in case.queries for r in query.references
    ]


@settings(max_examples=examples(20), deadline=None)
@given(queries_and_hits(), st.integers(1, 7))
def test_bounds(case: Case, k: int) -> None:
    got = span_scores(
        [parse(f"{name}@{k}") for name in ALL_AT], case.gold, case.found, case.chunking, CUT
    )
    for values in got.values():
        assert np.all(np.isnan(values) | ((values >= 0) & (values <= 1 + 1e-12)))
    scored = ~np.isnan(got[f"iou@{k}"])
    assert np.all(got[f"precision@{k}"][scored] >= got[f"iou@{k}"][scored])
    assert np.all(got[f"precision@{k}"][scored] >= got[f"density@{k}"][scored])


@settings(max_examples=examples(30), deadline=None)
@given(queries_and_hits())
def test_hits_of_other_questions_never_matter(case: Case) -> None:
    names = [*(f"{name}@3" for name in ALL_AT), "recall@9t"]
    together = scores(case, *names)
    for number in range(len(case.queries)):
        alone = scores(Case([case.queries[number]], [case.hits[number]], case.chunks), *names)
        assert {n: v[0] for n, v in alone.items()} == pytest.approx(
            {n: v[number] for n, v in together.items()}, nan_ok=True
        )


@settings(max_examples=examples(30), deadline=None)
@given(queries_and_hits())
def test_a_unit_of_one_character_tokens_changes_nothing(case: Case) -> None:
    names = [*(f"{name}@3" for name in ALL_AT), "recall@9t", "chroma.precision_omega"]
    told = in_tokens(case.gold, case.found, case.chunking, TEXTS, "characters")
    got = span_scores([parse(n) for n in names], told.gold, told.found, told.chunking, told.cut)
    for name, values in scores(case, *names).items():
        assert got[name].tolist() == pytest.approx(values, nan_ok=True)


TEN = Reference("a", 10, 20)


@cases(
    "name, hits, expected",
    [
        ("recall@5", [Place("a", 8, 15), Place("a", 14, 22)], 1.0),  # overlapping: not 1.1
        ("recall@5", [Place("a", 10, 20), Place("a", 10, 20)], 1.0),
        ("context_recall@5", [Place("a", 5, 15), Place("a", 15, 25)], 1.0),  # halves
        ("hit@5", [Place("a", 5, 15), Place("a", 15, 25)], 1.0),
        ("precision@5", [Place("a", 0, 20), Place("a", 0, 20)], 0.5),
        ("density@5", [Place("a", 0, 20), Place("a", 0, 20)], 0.25),
        ("iou@5", [Place("a", 15, 25)], 5 / 15),
        ("recall@5", [Place("b", 10, 20)], 0.0),
        ("precision@5", [Place("b", 10, 20)], 0.0),
        ("hit@5", [Place("a", 15, 30)], 1.0),  # exactly half of it
        ("hit@5", [Place("a", 16, 30)], 0.0),
        ("hit@5", [Place("a", 12, 13)], 1.0),  # wholly inside
        ("mrr@5", [Place("b", 0, 5), Place("a", 10, 20)], 0.5),
        ("mrr@1", [Place("b", 0, 5), Place("a", 10, 20)], 0.0),
        ("p@5", [Place("a", 10, 20)], 0.2),
        ("context_precision@5", [Place("a", 10, 20)], 1.0),
        ("failure@20", [Place("b", 10, 20)], 1.0),
        ("all_found@5", [Place("a", 15, 30)], 1.0),  # half of it
        ("all_found@5", [Place("a", 16, 30)], 0.0),
        ("all_found@5", [Place("a", 10, 13), Place("a", 17, 20)], 1.0),  # the hits together
        ("all_found@1", [Place("b", 0, 5), Place("a", 10, 20)], 0.0),
    ],
)
def test_told_by_hand(name: str, hits: list[Place], expected: float) -> None:
    assert one(TEN, *hits, name=name) == pytest.approx(expected)


@cases("where", ["a", "b"])
def test_a_repeated_passage_is_found_wherever_it_stands(where: str) -> None:
    repeated = Reference("a", 10, 20, alternatives=(Passage("b", 0, 10),))
    hit = Place("a", 10, 20) if where == "a" else Place("b", 0, 10)
    for name in (*SPANS[:4], "context_recall", "hit", "mrr"):
        assert one(repeated, hit, name=f"{name}@5") == 1.0


def test_a_reference_weighs_the_same_whichever_of_its_places_is_found() -> None:
    short = Reference("a", 0, 20, alternatives=(Passage("b", 0, 10), Passage("c", 0, 1000)))
    halves = [Place("a", 0, 10), Place("b", 0, 5)]
    assert one(short, *halves, name="recall@5") == 0.5
    assert one(short, *halves, name="precision@5") == 1.0  # both are places of it
    assert one(short, *halves, name="iou@5") == pytest.approx(15 / 25)
    swapped = Reference("a", 0, 20, alternatives=(Passage("c", 0, 1000), Passage("b", 0, 10)))
    assert one(swapped, *halves, name="iou@5") == pytest.approx(15 / 25)


def test_more_hits_never_lower_recall() -> None:
    both = [Reference("a", 0, 10), Reference("b", 0, 10, alternatives=(Passage("c", 0, 40),))]
    hits = [Place("a", 0, 10), Place("c", 0, 4), Place("b", 0, 9)]
    found = [one(both, *hits, name=f"recall@{k}") for k in (1, 2, 3)]
    assert found == pytest.approx([0.5, 0.55, 0.95])


def test_documents_that_are_not_there_are_not_one_document() -> None:
    wanted = [Reference(name, 0, 10) for name in ("a", "nope", "neither")]
    assert one(wanted, Place("a", 0, 10), name="recall@1") == pytest.approx(1 / 3)


def test_a_chunk_listed_twice_is_one_chunk() -> None:
    chunk, other = Place("a", 0, 10), Place("b", 0, 10)
    case = Case(
        [Query("q", "?", (Reference("a", 0, 10),))], [[chunk, other]], [chunk, chunk, other]
    )
    got = scores(case, "ndcg@5", "map@5", "chunk_recall@5")
    assert set(got["ndcg@5"] + got["map@5"] + got["chunk_recall@5"]) == {1.0}


def test_a_reference_is_covered_at_95_per_cent() -> None:
    reference = Reference("a", 0, 20)
    assert one(reference, Place("a", 0, 19), name="context_recall@5") == 1.0
    assert one(reference, Place("a", 0, 18), name="context_recall@5") == 0.0


def test_a_question_nothing_is_relevant_to_keeps_its_zero() -> None:
    unfound = [Query("q", "?", (TEN,)), Query("r", "?", (Reference("a", 0, 5),))]
    chunk = Place("a", 0, 5)
    case = Case(unfound, [[chunk], [chunk]], [chunk])
    for name, values in scores(case, *(f"{n}@5" for n in (*IDEAL, *RANKINGS, "recall"))).items():
        assert values[0] == 0.0, name
        assert values[1] > 0.0, name


def test_no_hits_score_zero_and_no_references_are_unscored() -> None:
    case = Case([Query("q", "?", (TEN,)), Query("r", "?")], [[], []], [Place("a", 0, 5)])
    for name, values in scores(case, *(f"{n}@5" for n in ALL_AT), "recall@9t").items():
        assert values[0] == (1.0 if name == "failure@5" else 0.0), name
        assert np.isnan(values[1]), name


def test_white_space_at_the_edges_of_a_reference_does_not_count() -> None:
    texts = {"a": "\n\n A lamp.\n\nIt is lit. \n", "b": " \n "}
    places = (
        Reference("a", 0, 24),
        Reference("a", 9, 12),
        Reference("b", 0, 3),
        Reference("c", 0, 3),
    )
    gold = Gold.of([Query("q", "?", places)], NUMBERS, texts)
    assert gold.start.tolist() == [3, 9, 0, 0]
    assert gold.end.tolist() == [22, 10, 3, 3], (
        "nothing but white space, and a text nobody knows, stay"
    )


def test_without_an_index_only_ideal_measures_are_unscored() -> None:
    gold = Gold.of([Query("q", "?", (TEN,))], NUMBERS)
    found = found_of([[Place("a", 10, 20)]])
    got = span_scores(
        [parse(name) for name, each in known_metrics().items() if isinstance(each, SpanMetric)],
        gold,
        found,
        None,
        CUT,
    )
    unscored = {name.partition("@")[0] for name, values in got.items() if np.isnan(values[0])}
    assert unscored == {*IDEAL, "chroma.precision_omega"}


def test_a_hit_that_is_no_chunk_matters_from_its_rank_on() -> None:
    chunk, other = Place("a", 10, 20), Place("a", 11, 19)
    case = Case([Query("q", "?", (TEN,))], [[chunk, other]], [chunk])
    for name in IDEAL:
        assert scores(case, f"{name}@1")[f"{name}@1"] == [1.0]
        assert np.isnan(scores(case, f"{name}@2")[f"{name}@2"][0])


def test_a_reference_in_a_document_that_is_not_there_meets_no_hit() -> None:
    gone = [TEN, Reference("gone", 10, 20)]
    assert one(gone, Place("a", 10, 20), name="recall@5") == 0.5
    assert one(gone, Place("a", 10, 20), name="context_recall@5") == 0.5


def test_an_empty_reference_is_never_covered() -> None:
    assert one(Reference("a", 5, 5), Place("a", 0, 10), name="recall@5") == 0.0
    assert one(Reference("a", 5, 5), Place("a", 0, 10), name="context_recall@5") == 0.0


def test_a_repeated_hit_is_no_second_find() -> None:
    twice = [Place("a", 10, 20), Place("a", 10, 20)]
    case = Case([Query("q", "?", (TEN,))], [twice], twice[:1])
    assert scores(case, "ndcg@5", "map@5", "chunk_recall@5", "p@5") == {
        "ndcg@5": [1.0], "map@5": [1.0], "chunk_recall@5": [1.0], "p@5": [0.2]
    }  # fmt: skip


def test_covered_references_are_told_one_by_one() -> None:
    gold = Gold.of([Query("q", "?", (TEN, Reference("b", 0, 10)))], NUMBERS)
    assert covered_references(gold, found_of([[Place("a", 0, 30)]])).tolist() == [True, False]


def test_omega_counts_chunks_that_only_touch() -> None:
    chunks = [Place("a", 0, 10), Place("a", 10, 25), Place("a", 26, 40)]
    case = Case([Query("q", "?", (TEN,))], [[]], chunks)
    assert scores(case, "chroma.precision_omega")["chroma.precision_omega"] == [10 / 25]


def test_offsets_of_gigabytes_do_not_run_into_each_other() -> None:
    far = 10**12
    gold = Gold.of(
        [Query(str(n), "?", (Reference("c", far, far + 10),)) for n in range(50)], NUMBERS
    )
    found = found_of([[Place("c", far + 5, far + 10)]] * 50)
    chunking = chunking_of([Place("c", far + 5, far + 10)])
    got = span_scores([parse("recall@5"), parse("ndcg@5")], gold, found, chunking, CUT)
    assert got["recall@5"].tolist() == [0.5] * 50
    assert got["ndcg@5"].tolist() == [1.0] * 50


def test_a_summary_is_all_it_stands_for_and_counts_once() -> None:
    summary = Place("a", 0, 12, 16, ((18, 22),))
    assert one(TEN, summary, name="recall@5") == pytest.approx(4 / 10)
    assert one(TEN, summary, name="precision@5") == pytest.approx(4 / 16)
    assert one(TEN, summary, name="hit@5") == 0.0
    wider = Place("a", 0, 13, 17, ((18, 22),))
    assert one(TEN, wider, name="hit@5") == 1.0  # three and two characters are half of it
    inside = Place("a", 11, 12, 2, ((14, 15),))
    assert one(TEN, inside, wider, name="context_precision@5") == 1.0
    assert one(TEN, wider, wider, name="p@5") == 0.2  # the very same is found once


def test_a_budget_pays_for_the_text_a_summary_stands_for() -> None:
    summary = Place("a", 0, 12, 16, ((18, 22),))
    found = [one(TEN, summary, name=f"recall@{budget}t") for budget in (10, 12, 13, 14, 16)]
    assert found == pytest.approx([0.0, 0.2, 0.3, 0.4, 0.4])


def test_hits_become_all_their_places() -> None:
    document = Document("a", "x" * 40)
    spans = (Span(0, 12), Span(18, 22))
    hit = Hit(
        document, 0, 22, 1.0, 1, 3, summary="xx", summarized=spans, summarized_tokens=(12, 4), level=1
    )  # fmt: skip
    found = HitTable.of(
        [
            [
                hit,
                replace(hit, rank=2, level=0, summarized=(), summarized_tokens=(), token_count=12),
            ],
            [],
        ],
        NUMBERS,
    )
    assert found.first.tolist() == [0, 2, 2]
    assert found.start.tolist() == [0, 18, 0]
    assert found.end.tolist() == [12, 22, 22]
    assert found.tokens.tolist() == [12, 4, 12]
    assert found.rank.tolist() == [0, 0, 1]


def test_places_of_summaries_are_measured_in_tokens_too() -> None:
    texts = [Document("a", "one two three four five six seven eight "[:40])]
    chunking = chunking_of([Place("a", 0, 7), Place("a", 4, 13, 9, ((19, 23),))])
    told = in_tokens(Gold.of([], NUMBERS), found_of([]), chunking, texts, "words").chunking
    assert told is not None
    assert told.stood_for is not None
    assert told.stood_for.tolist() == [[1, 1, 3, 9], [1, 4, 5, 4]]


@settings(max_examples=examples(60), deadline=None)
@given(queries_and_hits(), st.integers(1, 7))
def test_summaries_in_the_index_change_no_figure_of_the_same_hits(case: Case, k: int) -> None:
    names = [*(f"{name}@{k}" for name in ALL_AT), "recall@9t", "chroma.precision_omega"]
    chunks = [chunk for chunk in case.chunks if not chunk.further]
    without = scores(case._replace(chunks=chunks), *names)
    for name, values in scores(case, *names).items():
        assert values == pytest.approx(without[name], abs=1e-12, nan_ok=True)


def test_a_summary_takes_the_ranks_of_the_chunks_it_stands_for() -> None:
    chunks = [Place("a", 0, 5), Place("a", 5, 10), Place("a", 10, 15), Place("a", 15, 20)]
    summary = Place("a", 0, 10, 15, ((15, 20),))
    asked = Query("q", "?", (Reference("a", 5, 10),))
    case = Case([asked], [[summary]], [*chunks, summary])
    assert scores(case, "ndcg@5")["ndcg@5"] == [pytest.approx(1 / log2(3))]  # second of three
    assert scores(case, "chunk_recall@1")["chunk_recall@1"] == [0.0]
    assert scores(case, "map@5")["map@5"] == [0.5]
    assert scores(case, "mrr@5")["mrr@5"] == [1.0]  # as a hit it is the first


def test_a_summary_of_one_place_is_no_chunk_of_that_place() -> None:
    """A chunk with its neighbors stays unscored where a summary happens to stand for the same text."""
    wide = Place("a", 0, 10)
    asked = Query("q", "?", (Reference("a", 0, 10),))
    chunks = chunking_of([Place("a", 0, 5), Place("a", 5, 10)])
    level, stood_for = np.array([0, 0, 1]), np.array([[2, 0, 10, 10]])
    columns = [np.append(each, last) for each, last in zip(
        (chunks.document, chunks.start, chunks.end, chunks.tokens), (0, 0, 10, 3), strict=True
    )]  # fmt: skip
    summarized = Chunking(*columns, level, stood_for)
    gold, found = Gold.of([asked], NUMBERS), found_of([[wide]])
    got = span_scores([parse("ndcg@5")], gold, found, summarized, CUT)["ndcg@5"]
    assert np.isnan(got).all()
    hit = replace(found, summary=np.array([True]))
    assert span_scores([parse("ndcg@5")], gold, hit, summarized, CUT)["ndcg@5"].tolist() == [1.0]


def test_why_a_question_is_unscored() -> None:
    wanted = parse("ndcg@5")
    assert "no references" in why_unscored(wanted, references=0, chunking=None)
    assert "ndcg needs the chunks" in why_unscored(wanted, references=1, chunking=None)
    assert "counts chunks, but these hits aren" in why_unscored(
        wanted, references=1, chunking=chunking_of([])
    )
