"""Faults seen in released tools for evaluation, each on the input that shows it, and what is right instead."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from chunkwise.core import Document, Hit, Query, Reference
from chunkwise.evaluation.evaluate import evaluate
from chunkwise.evaluation.results import Results
from chunkwise.evaluation.scoring import Listeners
from chunkwise.metrics.judges.relevance_judges import SimilarityJudge
from chunkwise.models.embed.embedder import Kind
from chunkwise.options import ScoreOptions
from hash_embedder import PlainHashEmbedder

SENTENCE = "The lamp is lit at dusk. "
REPEATED = Document(
    "lamps.txt", "".join(f"{SENTENCE}Keeper {n} writes it down. " for n in range(8))
)
PROSE = Document(
    "gate.txt",
    "The gate opens at dawn. The guard counts the carts that pass through it and writes their number "
    "into the large book, which is kept in the tower. The gate closes at dusk. Nobody passes at night.",
)


def at(document: Document, text: str, nth: int = 0) -> tuple[int, int]:
    start = -1
    for _ in range(nth + 1):
        start = document.text.index(text, start + 1)
    return start, start + len(text)


def asked(document: Document, *spans: tuple[int, int], id: str = "q") -> Query:
    return Query(
        id, "When is the lamp lit?", tuple(Reference(document.id, *span) for span in spans)
    )


def of_hits(
    tmp_path: Path,
    document: Document,
    queries: list[Query],
    hits: list[dict[str, object]],
    metrics: str = "retrieval,retrieval_precision.spans",
    **more: object,
) -> Results:
    (tmp_path / "hits.json").write_text(
        json.dumps([{"query_id": "q", "doc_id": document.id, **hit} for hit in hits])
    )
    return evaluate([document], queries, hits=tmp_path / "hits.json", metrics=metrics, **more)  # type: ignore[arg-type]


def places(*spans: tuple[int, int]) -> list[dict[str, object]]:
    return [
        {"start": start, "end": end, "rank": rank} for rank, (start, end) in enumerate(spans, 1)
    ]


def test_offsets_are_kept_where_text_is_repeated_and_never_found_again() -> None:
    """chunking_evaluation finds chunks by searching for their text: 276 of 1,644 start in the wrong place."""
    gold = at(REPEATED, SENTENCE.strip(), 5)
    results = evaluate(
        [REPEATED], [asked(REPEATED, gold)], strategy="sentences(max_tokens=7, overlap=0)", retriever="bm25",
        k=20, metrics="recall,precision,citation_accuracy.position",
    )  # fmt: skip
    starts = [hit.start for hit in results.questions[0].hits]
    assert len(set(starts)) == len(starts) >= 8, "each repetition is found at a place of its own"
    assert any(hit.start <= gold[0] and gold[1] <= hit.end for hit in results.questions[0].hits)
    assert results.summary["recall@20"].mean == 1.0
    assert results.summary["citation_accuracy.position"].mean == 1.0


def test_hits_of_others_stay_where_they_say_they_are(tmp_path: Path) -> None:
    first, sixth = at(REPEATED, SENTENCE.strip()), at(REPEATED, SENTENCE.strip(), 5)
    for span, recall in ((first, 0.0), (sixth, 1.0)):
        hit = {"start": span[0], "end": span[1], "text": SENTENCE.strip()}
        results = of_hits(tmp_path, REPEATED, [asked(REPEATED, sixth)], [hit])
        assert results.summary["recall@5"].mean == recall


def test_every_mean_has_an_interval(tmp_path: Path) -> None:
    """chunking_evaluation and AutoRAG give means alone."""
    queries = [
        asked(PROSE, (number, number + 30), id=f"q{number}" if number else "q")
        for number in range(6)
    ]
    results = of_hits(tmp_path, PROSE, queries, places((0, 40)))
    for name, figure in results.summary.items():
        if figure.mean is not None:
            assert figure.low is not None, name
            assert figure.high is not None
            assert figure.low <= figure.mean <= figure.high


def test_a_passage_cut_in_two_is_found_when_both_halves_are(tmp_path: Path) -> None:
    """mtcb asks for the passage as a substring of one chunk: what is cut can never be found."""
    start, end = at(PROSE, "writes their number into the large book")
    middle = (start + end) // 2
    both = of_hits(
        tmp_path,
        PROSE,
        [asked(PROSE, (start, end))],
        places((start - 20, middle), (middle, end + 20)),
    )
    assert both.summary["recall@5"].mean == 1.0
    assert both.summary["context_recall@5"].mean == 1.0
    assert both.summary["failure@20"].mean == 0.0
    one = of_hits(tmp_path, PROSE, [asked(PROSE, (start, end))], places((start - 20, middle)))
    assert one.summary["recall@5"].mean == pytest.approx((middle - start) / (end - start))
    assert one.summary["context_recall@5"].mean == 0.0


def test_a_reference_inside_a_hit_and_a_hit_inside_a_reference_score(tmp_path: Path) -> None:
    """Ragas compares whole strings: a reference that a longer chunk contains scores 0."""
    inner, outer = at(PROSE, "which is kept in the tower"), (0, len(PROSE.text))
    contained = of_hits(tmp_path, PROSE, [asked(PROSE, inner)], places(outer))
    within = of_hits(tmp_path, PROSE, [asked(PROSE, outer)], places(inner))
    share = (inner[1] - inner[0]) / len(PROSE.text)
    assert contained.summary["recall@5"].mean == 1.0
    assert contained.summary["precision@5"].mean == pytest.approx(share)
    assert within.summary["recall@5"].mean == pytest.approx(share)
    assert within.summary["precision@5"].mean == 1.0
    for results in (contained, within):
        assert results.summary["hit@5"].mean == 1.0
        assert results.summary["retrieval_precision.spans"].mean == 1.0


def test_what_cannot_be_scored_is_counted_and_never_vanishes(tmp_path: Path) -> None:
    """Ragas makes errors NaN, and its mean passes over them without a word."""
    queries = [asked(PROSE, (0, 20)), Query("bare", "Who?"), Query("bare too", "Why?")]
    results = of_hits(tmp_path, PROSE, queries, places((0, 20)), "all")
    for name, figure in results.summary.items():
        assert figure.mean is None or not math.isnan(figure.mean), name
        if name in results.questions[0].scores:
            assert figure.scored + sum(figure.unscored.values()) == len(queries), name
    assert results.summary["recall@5"].scored == 1
    assert sum(results.summary["recall@5"].unscored.values()) == 2
    for told in results.questions:
        for name, score in told.scores.items():
            assert (score is None) == bool(told.unscored.get(name)), name


def test_a_judge_without_a_verdict_is_unscored_and_not_perfect(tmp_path: Path) -> None:
    """DeepEval scores 1.0 where there is no verdict at all."""
    queries = [asked(PROSE, (0, 20)), asked(PROSE, (0, 20), id="nothing found")]
    results = of_hits(tmp_path, PROSE, queries, places((0, 20)), "retrieval_precision,recall")
    labels = results.summary["retrieval_precision.labels"]
    assert (labels.mean, labels.scored) == (None, 0)
    assert sum(labels.unscored.values()) == 2
    nothing = results.questions[1]
    assert nothing.scores["retrieval_precision.spans"] == 0.0
    assert nothing.scores["retrieval_precision.similarity"] is None
    assert nothing.scores["recall@5"] == 0.0, "a question that found nothing is not dropped"


def test_overlapping_chunks_never_push_recall_over_one(tmp_path: Path) -> None:
    """LegalBench-RAG counts text as often as it is retrieved: recall 1.8."""
    gold = (10, 60)
    hits = places((0, 50), (5, 55), (10, 60), (15, 65), (20, 70))
    results = of_hits(tmp_path, PROSE, [asked(PROSE, gold)], hits, "retrieval,chroma")
    for name, figure in results.summary.items():
        assert figure.mean is None or 0 <= figure.mean <= 1, name
    assert results.summary["recall@5"].mean == 1.0
    assert results.summary["precision@5"].mean == pytest.approx(50 / 70)
    assert results.summary["density@5"].mean == pytest.approx(50 / 250)
    double = of_hits(tmp_path, PROSE, [asked(PROSE, gold, (20, 70))], hits)
    assert double.summary["recall@5"].mean == 1.0


def test_precision_falls_with_text_that_nobody_asked_for(tmp_path: Path) -> None:
    """rag-chunk's precision is always 1."""
    shares = []
    for size in (24, 60, len(PROSE.text)):
        results = of_hits(tmp_path, PROSE, [asked(PROSE, (0, 24))], places((0, size)))
        shares.append(results.summary["precision@5"].mean)
    wanted = len(PROSE.text[:24].rstrip())  # white space at the edges of a reference does not count
    assert shares == [pytest.approx(wanted / size) for size in (24, 60, len(PROSE.text))]
    missed = of_hits(tmp_path, PROSE, [asked(PROSE, (0, 24))], places((100, 150)))
    assert missed.summary["precision@5"].mean == missed.summary["context_precision@5"].mean == 0.0


def test_chunks_in_the_middle_of_a_reference_stay_relevant(tmp_path: Path) -> None:
    """AutoRAG maps gold to the chunks where it begins and ends, and loses those between."""
    gold = (5, 95)
    pieces = [(start, start + 10) for start in range(0, 100, 10)]
    rows = [{"doc_id": PROSE.id, "start": s, "end": e, "text": PROSE.text[s:e]} for s, e in pieces]
    (tmp_path / "chunks.json").write_text(json.dumps(rows))
    every = of_hits(
        tmp_path, PROSE, [asked(PROSE, gold)], places(*pieces[1:9]), "chunk_recall@10,ndcg@10,context_precision@10",
        chunks=tmp_path / "chunks.json", k=10,
    )  # fmt: skip
    assert every.summary["chunk_recall@10"].mean == 1.0, "eight chunks lie wholly inside"
    assert every.summary["ndcg@10"].mean == pytest.approx(1.0)
    inner = of_hits(
        tmp_path, PROSE, [asked(PROSE, gold)], places(pieces[4]), "chunk_recall@10,hit@10",
        chunks=tmp_path / "chunks.json", k=10,
    )  # fmt: skip
    assert inner.summary["hit@10"].mean == 1.0
    assert inner.summary["chunk_recall@10"].mean == pytest.approx(1 / 8)


def test_a_repeated_passage_is_found_wherever_it_stands(tmp_path: Path) -> None:
    """A snippet that is searched for counts at its first place alone."""
    queries = tmp_path / "queries.json"
    quoted = [
        {"id": "q", "question": "When is the lamp lit?", "references": [{"text": SENTENCE.strip()}]}
    ]
    queries.write_text(json.dumps(quoted))
    for nth in (0, 3, 7):
        (tmp_path / "hits.json").write_text(
            json.dumps([{"query_id": "q", "doc_id": REPEATED.id, "start": span[0], "end": span[1]}
                        for span in [at(REPEATED, SENTENCE.strip(), nth)]])
        )  # fmt: skip
        results = evaluate(
            [REPEATED],
            queries,
            hits=tmp_path / "hits.json",
            metrics="recall,hit",
            listeners=Listeners(on_bad=print),
        )
        assert results.summary["recall@5"].mean == 1.0, nth
        assert results.summary["hit@5"].mean == 1.0


class Contrary(PlainHashEmbedder):
    """Another model: what is near for the first is far for it."""

    identity = "contrary"

    def embed(self, texts: list[str], kind: Kind = "passage") -> NDArray[np.float32]:  # type: ignore[override]
        vectors = super().embed(texts, kind)
        return -vectors if kind == "query" else vectors


def test_what_one_model_said_is_not_given_out_as_another_ones() -> None:
    """The cache of Ragas knows no model: judge B gets the verdicts of judge A."""
    query = Query("q", "The gate opens at dawn.")
    hit = Hit(PROSE, *at(PROSE, "The gate opens at dawn."), 1.0, 1, 6)
    one, other = PlainHashEmbedder(), Contrary()
    judged = [
        SimilarityJudge(model).judge([query], [[hit]])[0][0].value for model in (one, other, one)
    ]
    assert judged == [1.0, 0.0, 1.0]
    assert other.asked, "it was asked itself"
    assert len(one.asked) == 2, "question and passage once: the second time they were remembered"


def test_many_hits_are_one_call_to_the_judges_model() -> None:
    """Ragas calls its judge once a chunk."""
    calls = []

    class Counting(PlainHashEmbedder):
        identity = "counting"

        def embed(self, texts: list[str], kind: Kind = "passage") -> NDArray[np.float32]:  # type: ignore[override]
            calls.append((kind, len(texts)))
            return super().embed(texts, kind)

    hits = [
        Hit(PROSE, start, start + 20, 1.0, rank, 5)
        for rank, start in enumerate(range(0, 100, 10), 1)
    ]
    SimilarityJudge(Counting()).judge([Query("q", "gate?")], [hits])
    assert calls == [("query", 1), ("passage", 10)]


def test_questions_can_be_held_out() -> None:
    """AutoRAG chooses and reports on the same questions."""
    queries = [
        Query(
            f"q{n}",
            "gate?",
            (Reference(PROSE.id, n, n + 20),),
            split="test" if n % 2 else "validation",
        )
        for n in range(6)
    ]
    found = [
        evaluate(
            [PROSE], queries, retriever="bm25", metrics="recall", score=ScoreOptions(split=split)
        )
        for split in ("validation", "test")
    ]
    ids = [{told.id for told in results.questions} for results in found]
    assert ids == [{"q0", "q2", "q4"}, {"q1", "q3", "q5"}]
