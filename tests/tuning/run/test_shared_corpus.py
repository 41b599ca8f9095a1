"""An index made of what all chunkings share is, array by array, the one made from the documents."""

from __future__ import annotations

import pytest

import chunkwise
from chunkwise.base.errors import InvalidParameter
from chunkwise.chunkers import get_strategy
from chunkwise.retrieval.indexing.lazy_models import LazyEmbedder
from chunkwise.retrieval.local.index import LocalIndex
from chunkwise.retrieval.settings import Context
from chunkwise.tuning.run.shared_corpus import SharedCorpus
from chunkwise.tuning.sweep import VectorKind
from hash_embedder import HashEmbedder
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
    with pytest.raises(InvalidParameter, match="names no model"):
        bare.index_of(get_strategy("sentences"), "none", "late")
