"""BM25's parameters, from the name of a retriever down to the scores."""

import numpy as np
import pytest

import chunkwise
from chunkwise.chunkers import get_strategy
from chunkwise.core import Document
from chunkwise.retrieval.bm25 import Bm25
from chunkwise.retrieval.filters import EVERYTHING
from chunkwise.retrieval.local.columns import term_table
from chunkwise.retrieval.local.index import LocalIndex
from chunkwise.retrieval.retrievers import ChunkRetriever, get_retriever
from chunkwise.retrieval.searchable import QueryBatch
from chunkwise.text.terms import query_terms
from chunkwise.tuning.run.shared_corpus import SharedCorpus
from tables import cases

DOCUMENTS = [
    Document("short", "The lamp is lit."),
    Document("long", "The lamp of the pier and the lamp of the gate, the rope, the winch and the crane."),
    Document("other", "The winch is locked, and so is the gate behind it."),
]  # fmt: skip
QUERIES = ["lamp", "the gate and the winch"]


@pytest.fixture(scope="module")
def index() -> LocalIndex:
    source = chunkwise.index(DOCUMENTS, "paragraphs", vectors="none").source
    assert isinstance(source, LocalIndex)
    return source


@cases(
    "name, k1, b",
    [
        ("bm25", 1.5, 0.75),
        ("bm25(k1=1.2, b=0.75)", 1.2, 0.75),
        ("bm25(b=0)", 1.5, 0.0),
        ("bm25(k1=0)", 0.0, 0.75),
    ],
)
def test_bm25_takes_its_parameters(index: LocalIndex, name: str, k1: float, b: float) -> None:
    retriever = get_retriever(name)
    assert isinstance(retriever, ChunkRetriever)
    terms = [query_terms(query, index.languages) for query in QUERIES]
    expected = Bm25(term_table(index.arrays, "chunk"), k1, b).top(terms, 3)
    found = retriever.rank(index, QueryBatch(QUERIES, index.settings), 3, EVERYTHING)
    for ranking, same in zip(found, expected, strict=True):
        assert ranking.numbers.tolist() == same.numbers.tolist()
        assert ranking.scores.tolist() == same.scores.tolist()


def test_a_long_chunk_pays_only_where_b_says_so(index: LocalIndex) -> None:
    def lamps(b: float) -> list[int]:
        return index.words(["lamp"], 3, EVERYTHING, b=b)[0].numbers.tolist()

    assert lamps(1.0) == [0, 1]
    assert lamps(0.0) == [1, 0]


def test_a_sweep_keeps_rankings_of_other_parameters_apart() -> None:
    corpus = SharedCorpus(DOCUMENTS, [], None)
    strategy = get_strategy("paragraphs")
    shared = corpus.index_of(strategy, "none", "none", corpus.chunks_of(strategy))
    usual, flat = (
        shared.words(QUERIES, 3, EVERYTHING),
        shared.words(QUERIES, 3, EVERYTHING, k1=0.5, b=0.1),
    )
    assert not np.array_equal(usual[0].scores, flat[0].scores)
    assert np.array_equal(shared.words(QUERIES, 3, EVERYTHING)[0].scores, usual[0].scores)
