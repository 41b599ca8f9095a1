"""A sweep measures an index with summaries as an evaluation does."""

from __future__ import annotations

import pytest
from small_sweep import material

import chunkwise
from chunkwise.chunkers import get_strategy
from chunkwise.evaluation.evaluate import evaluate
from chunkwise.experiments.configuration import Configuration
from chunkwise.experiments.running.one_chunking import outcomes_of
from chunkwise.experiments.running.workshop import Workshop
from chunkwise.metrics.measures import parse
from chunkwise.models.llm.client import LlmClient
from chunkwise.retrieval.embedded.index import EmbeddedIndex
from chunkwise.retrieval.making.lazy_embedder import LazyEmbedder
from hash_embedder import HashEmbedder
from rule_summariser import FirstSentences

DOCUMENTS, QUERIES = material()
SPEC = "raptor(max_tokens=60, branching=4, summary_tokens=60)"
METRICS = ("recall@5", "precision@5", "context_precision@5", "ndcg@5", "recall@300t")


@pytest.fixture(autouse=True)
def _by_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of the models stand for ones that need no weights."""
    here = "chunkwise.chunkers.raptor.raptor"
    client = LlmClient(FirstSentences())
    monkeypatch.setattr(f"{here}._named_client", lambda name: client)
    monkeypatch.setattr(f"{here}.named_embedder", lambda name: HashEmbedder())


def test_it_is_the_same_index() -> None:
    workshop = Workshop(DOCUMENTS, QUERIES, LazyEmbedder(HashEmbedder()))
    made = workshop.index_of(get_strategy(SPEC), "headings", "late")
    whole = chunkwise.index(
        DOCUMENTS, SPEC, model=HashEmbedder(), vectors="late", context="headings"
    ).source
    assert isinstance(whole, EmbeddedIndex)
    assert whole.has_summaries
    assert made.arrays.keys() == whole.arrays.keys()
    for name, array in whole.arrays.items():
        assert made.arrays[name].tolist() == array.tolist(), name


@pytest.mark.parametrize("neighbours", [0, 1])
def test_it_has_the_scores_of_an_evaluation(neighbours: int) -> None:
    workshop = Workshop(DOCUMENTS, QUERIES, None)
    configuration = Configuration(SPEC, "bm25", "none", neighbours, "none")
    (outcome,) = outcomes_of(workshop, (configuration,), [parse(name) for name in METRICS], 5)
    assert not outcome.error
    whole = chunkwise.index(DOCUMENTS, SPEC, vectors="none")
    levels = {hit.level for own in whole.search(QUERIES, k=5) for hit in own}
    assert {0, 1} <= levels
    results = evaluate(whole, QUERIES, retriever="bm25", neighbours=neighbours, metrics=METRICS)
    for name in METRICS:
        told = [question.scores[name] for question in results.questions]
        assert list(outcome.scores[name]) == pytest.approx(told, nan_ok=True), name
