"""An index made of what all chunkings share is, array by array, the one made from the documents."""

from __future__ import annotations

import pytest
from small_sweep import material

import chunkwise
from chunkwise.chunkers import get_strategy
from chunkwise.errors import InvalidParameter
from chunkwise.experiments.configuration import Kind
from chunkwise.experiments.running.workshop import Workshop
from chunkwise.retrieval.embedded.index import EmbeddedIndex
from chunkwise.retrieval.making.lazy_embedder import LazyEmbedder
from chunkwise.retrieval.settings import Context
from hash_embedder import HashEmbedder

DOCUMENTS, QUERIES = material()


@pytest.fixture(scope="module")
def workshop() -> Workshop:
    return Workshop(DOCUMENTS, QUERIES, LazyEmbedder(HashEmbedder()))


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
    workshop: Workshop, strategy: str, context: Context, vectors: Kind
) -> None:
    made = workshop.index_of(get_strategy(strategy), context, vectors)
    model = None if vectors == "none" else HashEmbedder()
    whole = chunkwise.index(
        DOCUMENTS, strategy, model=model, vectors=vectors, context=context
    ).source
    assert isinstance(whole, EmbeddedIndex)
    assert made.settings == whole.settings
    assert made.languages == whole.languages
    assert made.arrays.keys() == whole.arrays.keys()
    for name, array in whole.arrays.items():
        assert made.arrays[name].dtype == array.dtype, name
        assert made.arrays[name].tolist() == array.tolist(), name


def test_without_a_model_there_are_words() -> None:
    bare = Workshop(DOCUMENTS, QUERIES, None)
    assert bare.index_of(get_strategy("sentences"), "none", "none").chunk_count > 10
    with pytest.raises(InvalidParameter, match="names no model"):
        bare.index_of(get_strategy("sentences"), "none", "late")
