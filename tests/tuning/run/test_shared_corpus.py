"""An index made of what all chunkings share is, array by array, the one made from the documents."""

from __future__ import annotations

from dataclasses import replace

import pytest

import chunkwise
import chunkwise.models
from chunkwise.base.errors import InvalidParameter
from chunkwise.chunkers import get_strategy
from chunkwise.options import IndexOptions
from chunkwise.retrieval.indexing.lazy_models import LazyEmbedder
from chunkwise.retrieval.local.index import LocalIndex
from chunkwise.retrieval.settings import Context
from chunkwise.tuning.run import shared_corpus
from chunkwise.tuning.run.score_configurations import outcomes_of
from chunkwise.tuning.run.shared_corpus import SharedCorpus
from chunkwise.tuning.sweep import Configuration, VectorKind, metrics_to_score
from hash_embedder import HashEmbedder
from retrieval.tiny_embedder import TinyTokens
from tuning.run.small_sweep import inputs

DOCUMENTS, QUERIES = inputs()


@pytest.fixture(scope="module")
def corpus() -> SharedCorpus:
    return SharedCorpus(DOCUMENTS, QUERIES, LazyEmbedder(HashEmbedder()))


@pytest.mark.unwatched
@pytest.mark.parametrize(
    ("strategy", "context", "vectors"),
    [
        ("sentences(max_tokens=60, overlap=10)", "none", "late"),
        ("structure(max_tokens=90)", "headings", "late"),
        ("parent_child(max_tokens=30)", "none", "none"),
        ("recursive(max_tokens=300, tokenizer='characters')", "headings", "own"),
    ],
)
def test_it_is_the_same_index(
    corpus: SharedCorpus, strategy: str, context: Context, vectors: VectorKind
) -> None:
    made = corpus.index_of(get_strategy(strategy), context, vectors)
    model = None if vectors == "none" else HashEmbedder()
    whole = chunkwise.index(
        DOCUMENTS, strategy, embedder=model, vectors=vectors, context=context
    ).source
    assert isinstance(whole, LocalIndex)
    assert made.settings == whole.settings
    assert made.languages == whole.languages
    assert made.arrays.keys() == whole.arrays.keys()
    for name, array in whole.arrays.items():
        assert made.arrays[name].dtype == array.dtype, name
        assert made.arrays[name].tolist() == array.tolist(), name


def test_without_a_model_there_are_words() -> None:
    bare = SharedCorpus(DOCUMENTS, QUERIES, None)
    assert bare.index_of(get_strategy("sentences"), "none", "none").chunk_count > 10
    with pytest.raises(InvalidParameter, match="needs an embedding model"):
        bare.index_of(get_strategy("sentences"), "none", "late")


def test_sentences_have_token_vectors_where_a_model_is_named(
    corpus: SharedCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_corpus, "get_token_encoder", lambda name: TinyTokens())
    made = corpus.sentences("late", maxsim="tiny")
    whole = chunkwise.index(
        DOCUMENTS, embedder=HashEmbedder(), settings=IndexOptions(maxsim=TinyTokens())
    ).source
    assert isinstance(whole, LocalIndex)
    assert made.settings.maxsim_identity == whole.settings.maxsim_identity
    for name in ("token.first", "token.codes", "atom.vector"):
        assert made.arrays[name].tolist() == whole.arrays[name].tolist(), name
    # What another configuration had read is no part of an index that wants none of it.
    assert "token.codes" not in corpus.sentences("late").arrays
    assert "token.codes" not in corpus.index_of(get_strategy("sentences"), "none", "late").arrays


def test_token_vectors_vote_in_a_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_corpus, "get_token_encoder", lambda name: TinyTokens())
    monkeypatch.setattr(chunkwise.models, "get_token_encoder", lambda name, **_: TinyTokens())
    bare = SharedCorpus(DOCUMENTS, QUERIES, None)
    plain = Configuration("", "multiscale(words=0, dense=0, maxsim=1)", vectors="none")
    group = plain, replace(plain, maxsim="tiny")
    without, beside = outcomes_of(bare, group, metrics_to_score("recall@250t", 5), 5)
    assert "token vectors" in without.error
    assert beside.error == ""
    index = chunkwise.index(DOCUMENTS, vectors="none", settings=IndexOptions(maxsim=TinyTokens()))
    asked = chunkwise.evaluate(index, QUERIES, retriever=plain.retriever, metrics="recall@250t")
    assert beside.scores["recall@250t"] == tuple(
        query.scores["recall@250t"] for query in asked.questions
    )
