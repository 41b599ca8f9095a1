"""BM25 against an independent loop and against bm25s, and the table it stands on."""

from __future__ import annotations

import math
import pickle
import random
import tracemalloc
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkwise.core import Document
from chunkwise.retrieval import bm25
from chunkwise.retrieval import bm25 as bm25_module
from chunkwise.retrieval.bm25 import Bm25, TermTable
from chunkwise.testkit.hostile import hostile_documents
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.terms import (
    TermCounts,
    count_terms,
    counts_in_spans,
    document_terms,
    join_counts,
    query_terms,
)
from tables import cases

Row = list[int]
ROWS = st.lists(st.lists(st.integers(0, 12), max_size=12), max_size=12)
ONE = np.ones(1, np.int32)
QUESTIONS = st.lists(st.lists(st.integers(0, 15), max_size=6), max_size=5)


def counts_of(texts: Sequence[Row]) -> TermCounts:
    row = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    code = np.array([term for text in texts for term in text], dtype=np.int64)
    vocabulary = np.arange(16, dtype=np.uint64) << np.uint64(60)  # hashes use all 64 bits
    return count_terms(row, code, vocabulary, len(texts))


def asked(terms: Sequence[int]) -> NDArray[np.uint64]:
    return np.array(terms, dtype=np.uint64) << np.uint64(60)


def naive(texts: Sequence[Row], terms: Sequence[int], k1: float, b: float) -> list[float]:
    """The formula, read aloud."""
    mean = sum(map(len, texts)) / len(texts) if texts else 0.0
    scores = []
    for text in texts:
        score = 0.0
        for term in terms:
            frequency = sum(term in other for other in texts)
            if not (times := text.count(term)):
                continue
            idf = math.log(1 + (len(texts) - frequency + 0.5) / (frequency + 0.5))
            score += idf * times / (times + k1 * (1 - b + b * len(text) / mean))
        scores.append(score)
    return scores


@given(ROWS, QUESTIONS, st.sampled_from([(1.5, 0.75), (0.9, 0.4), (1.2, 0.0), (2.0, 1.0)]))
def test_scores_are_those_of_the_formula(
    texts: list[Row], questions: list[Row], parameters: tuple[float, float]
) -> None:
    scores = Bm25(TermTable.of(counts_of(texts)), *parameters).scores(list(map(asked, questions)))
    assert scores.shape == (len(questions), len(texts))
    assert scores.dtype == np.float32
    for found, question in zip(scores, questions, strict=True):
        assert found == pytest.approx(naive(texts, question, *parameters), abs=1e-5)


@given(ROWS, QUESTIONS, st.integers(0, 14), st.data())
def test_the_best_rows(
    texts: list[Row], questions: list[Row], depth: int, data: st.DataObject
) -> None:
    ranker = Bm25(TermTable.of(counts_of(texts)))
    queries = list(map(asked, questions))
    allowed = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))), bool
    )
    for mask in (None, allowed):
        rankings = ranker.top(queries, depth, mask)
        for scores, ranking in zip(ranker.scores(queries), rankings, strict=True):
            wanted = [n for n in range(len(texts)) if scores[n] > 0 and (mask is None or mask[n])]
            wanted.sort(key=lambda n: (-scores[n], n))
            assert ranking.numbers.tolist() == wanted[:depth]
            assert ranking.scores.tolist() == [scores[n] for n in wanted[:depth]]


def prose(seed: int, sentences: int) -> str:
    rng = random.Random(seed)
    words = [
        f"{a}{b}{c}" for a in "klmn" for b in ("ee", "ar", "o") for c in ("per", "ts", "ding", "ly")
    ]
    return " ".join(
        " ".join(rng.choices(words, [1 / (n + 1) for n in range(len(words))], k=rng.randint(4, 30)))
        + "."
        for _ in range(sentences)
    )


def chunked(text: str, size: int) -> TermCounts:
    terms = document_terms(Analyzed(Document("d", text)), "en")
    start = np.arange(0, len(text), size // 2)
    return counts_in_spans(terms, start, np.minimum(start + size, len(text)))


@cases("size", [60, 400])
def test_scores_are_those_of_bm25s(size: int) -> None:
    counts = join_counts([chunked(prose(seed, 60), size) for seed in range(4)])
    counts = join_counts(
        [counts, *(chunked(document.text, size) for document in hostile_documents())]
    )
    table = TermTable.of(counts)
    bounds = counts.first.tolist()
    number = table.hashes.searchsorted(counts.term)
    ids = [np.repeat(number[lo:hi], counts.times[lo:hi]).tolist() for lo, hi in pairwise(bounds)]
    other = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
    vocabulary = {str(term): place for place, term in enumerate(table.hashes.tolist())}
    other.index((ids, vocabulary), show_progress=False)
    rng = np.random.default_rng(5)
    questions = [rng.integers(0, len(table.hashes), rng.integers(1, 9)) for _ in range(80)]
    scores = Bm25(table).scores([table.hashes[question] for question in questions])
    assert scores.max() > 5
    for question, found in zip(questions, scores, strict=True):
        np.testing.assert_allclose(
            found, other.get_scores_from_ids(question.tolist()), rtol=1e-5, atol=1e-5
        )


def test_a_question_scores_the_same_alone_and_among_others(monkeypatch: pytest.MonkeyPatch) -> None:
    table = TermTable.of(join_counts([chunked(prose(seed, 80), 200) for seed in range(3)]))
    rng = np.random.default_rng(6)
    queries = [rng.choice(table.hashes, rng.integers(0, 12)) for _ in range(101)]
    queries += [np.repeat(query, times) for query in queries[:20] for times in (2, 3, 5)]
    together = Bm25(table).scores(queries)
    alone = np.concatenate([Bm25(table).scores([query]) for query in queries])
    assert (together == alone).all()
    with ThreadPoolExecutor(4) as pool:
        for again in pool.map(lambda _: Bm25(table).scores(queries), range(8)):
            assert (again == together).all()
    monkeypatch.setattr(bm25, "_CELLS", 2 * table.rows)
    assert (Bm25(table).scores(queries) == together).all()
    for one, other in zip(
        Bm25(table).top(queries, 5), [Bm25(table).top([q], 5)[0] for q in queries], strict=True
    ):
        assert one.numbers.tolist() == other.numbers.tolist()
        assert one.scores.tolist() == other.scores.tolist()


@given(ROWS)
def test_a_table_gives_back_what_it_was_made_of(texts: list[Row]) -> None:
    counts = counts_of(texts)
    table = TermTable.of(counts)
    for array in (table.hashes, table.first, table.row, table.times, table.length):
        array.flags.writeable = False  # as in an index mapped from a file
    for again in (table.counts(), pickle.loads(pickle.dumps(table)).counts()):
        for one, other in zip(counts, again, strict=True):
            assert one.dtype == other.dtype
            assert one.tolist() == other.tolist()
    assert table.rows == len(texts)
    assert table.length.tolist() == [len(text) for text in texts]
    assert [getattr(table, name).dtype.str[1:] for name in table.__slots__] == [
        "u8",
        "i8",
        "i4",
        "i4",
        "i4",
    ]


@given(
    st.lists(st.sampled_from([0, 1, 2, 3, 1 << 40, (1 << 40) + 1, 1 << 63, (1 << 64) - 1])),
    st.sampled_from([1, 3, 22]),
)
def test_terms_whose_hashes_begin_alike(terms: list[int], bits: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25_module, "_MOST_BITS", bits)
        counts = join_counts(
            [TermCounts(np.array([0, 1]), np.array([each], np.uint64), ONE) for each in terms]
        )
        table = TermTable.of(counts)
    assert table.hashes.tolist() == sorted(set(terms))
    assert table.counts().term.tolist() == terms


@given(ROWS, st.lists(st.integers(0, 15), max_size=8, unique=True))
def test_some_terms_of_a_table(texts: list[Row], wanted: list[int]) -> None:
    table = TermTable.of(counts_of(texts))
    some = table.columns(asked(wanted))
    found = np.zeros((len(texts), len(wanted)), np.int64)
    for at, (low, high) in enumerate(pairwise(some.first.tolist())):
        found[some.row[low:high], at] = some.times[low:high]
    assert found.tolist() == [[Counter(text)[term] for term in wanted] for text in texts]
    assert some.hashes.tolist() == asked(wanted).tolist()
    assert some.length is table.length
    present = {term for text in texts for term in text}
    assert [number >= 0 for number in table.find(asked(wanted))] == [w in present for w in wanted]


def test_lengths_may_be_given() -> None:
    length = np.array([7, 9], dtype=np.int32)
    assert TermTable.of(counts_of([[1], [2, 2]]), length).length is length


@cases(
    "text",
    ["", "\x00", "the", "'; DROP TABLE chunks; --", "\u202eשלום\u202c", "keeper " * 15_000, "天" * 100_000, "\ud800"],
)  # fmt: skip
def test_any_question_has_an_answer_or_none(text: str) -> None:
    counts = join_counts([chunked(document.text, 100) for document in hostile_documents()])
    ranker = Bm25(TermTable.of(counts))
    ranking = ranker.top([query_terms(text, ["en", "zh", "none"])], 10)[0]
    assert len(ranking.numbers) <= 10
    assert np.isfinite(ranking.scores).all()


def test_an_index_of_nothing() -> None:
    empty = TermTable.of(join_counts([]))
    assert Bm25(empty).scores([asked([1])]).shape == (1, 0)
    assert not len(Bm25(empty).top([asked([1])], 3)[0].numbers)
    blank = TermTable.of(counts_of([[], []]))
    assert Bm25(blank).scores([asked([1]), asked([])]).tolist() == [[0, 0], [0, 0]]
    assert Bm25(blank).scores([]).shape == (0, 2)


@given(ROWS, st.integers(1, 5))
def test_terms_numbered_in_blocks(texts: list[Row], block: int) -> None:
    counts = counts_of(texts)
    whole = TermTable.of(counts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25_module, "_BLOCK", block)
        found = TermTable.of(counts)
    for name in ("hashes", "first", "row", "times", "length"):
        assert getattr(found, name).tolist() == getattr(whole, name).tolist()


@pytest.mark.unwatched
def test_a_table_takes_little_more_room_than_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bm25_module, "_BLOCK", 1 << 14)
    monkeypatch.setattr(bm25_module, "_MOST_BITS", 12)
    rows, each = 4000, 100
    known = np.sort(np.random.default_rng(1).integers(0, 1 << 63, 1000).astype(np.uint64))
    term = np.tile(known[:each], rows)
    counts = TermCounts(np.arange(rows + 1) * each, term, np.ones(rows * each, np.int32))
    TermTable.of(counts)
    tracemalloc.start()
    try:
        TermTable.of(counts)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak / len(term) < 18


@given(rows=ROWS, most=st.integers(1, 20), shift=st.sampled_from([0, 1, 20, 60]))
def test_a_table_in_parts_is_the_whole_table(rows: list[Row], most: int, shift: int) -> None:
    counted = [Counter(each) for each in rows]
    terms = [sorted(each) for each in counted]
    counts = TermCounts(
        np.cumsum([0, *map(len, terms)]).astype(np.int64),
        np.array([each << shift for row in terms for each in row], np.uint64),
        np.array(
            [count[each] for row, count in zip(terms, counted, strict=True) for each in row],
            np.int32,
        ),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25_module, "_ENTRIES", most)
        parts = list(TermTable.in_parts(counts))
    whole = TermTable.of(counts)
    assert len(parts) == min(max(1, -(-len(counts.term) // most)), bm25_module._PARTS)
    before = np.cumsum([0, *(len(part.row) for part in parts)])
    firsts = [part.first[:-1] + begin for part, begin in zip(parts, before, strict=False)]
    assert np.concatenate([*firsts, before[-1:]]).tolist() == whole.first.tolist()
    for name in ("hashes", "row", "times"):
        joined = np.concatenate([getattr(part, name) for part in parts])
        assert joined.tolist() == getattr(whole, name).tolist()
    assert all(part.length.tolist() == whole.length.tolist() for part in parts)


def test_a_part_takes_room_for_its_terms_and_not_for_every_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bm25_module, "_ENTRIES", 1 << 12)
    monkeypatch.setattr(bm25_module, "_BLOCK", 1 << 12)
    rows = 200_000
    spread = np.arange(rows, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    counts = TermCounts(np.arange(rows + 1), spread, np.ones(rows, np.int32))
    tracemalloc.start()
    try:
        assert sum(len(part.row) for part in TermTable.in_parts(counts)) == rows
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak / rows < 10
