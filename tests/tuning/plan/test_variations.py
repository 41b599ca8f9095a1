"""Levers tried on the best alone: one differs from its parent in one thing, and none is tried twice."""

from dataclasses import replace

import pytest

from chunkwise.tuning.plan import plan as module
from chunkwise.tuning.plan.grid import default_retrieval
from chunkwise.tuning.plan.plan import WORD_VARIATIONS, plan_sweep, variations
from chunkwise.tuning.sweep import Configuration, Grid, Sweep

WORDS = Configuration(
    "sentences", "bm25", vectors="none", levers={"retriever": "bm25", "weights": "usual"}, baseline="x"
)  # fmt: skip
BOTH = replace(WORDS, retriever="hybrid(dense=1)", vectors="late", levers={"retriever": "hybrid"})
DENSE = replace(WORDS, retriever="dense", vectors="late")
SWEEP = Sweep(("docs",), None, (), default_retrieval("minilm"))


def test_bm25_is_varied_wherever_words_count() -> None:
    found = variations([WORDS, BOTH, DENSE], SWEEP)
    assert list(found) == ["minilm"]
    labels = [each.retriever for each in found["minilm"]]
    assert labels[:4] == ["bm25(k1=0.8)", "bm25(k1=2.5)", "bm25(b=0.4)", "bm25(b=1.0)"]
    assert len(set(labels)) == len(labels) == 2 * len(WORD_VARIATIONS)
    for each in found["minilm"]:
        assert each.varies in (WORDS.key, BOTH.key)
        assert each.baseline == ""
        assert {"k1", "b"} & each.levers.keys()
        assert each.strategy == "sentences"
    assert found["minilm"][0].levers["k1"] == "0.8"


def test_what_was_given_a_k1_is_left_as_it_is() -> None:
    assert variations([replace(WORDS, retriever="bm25(k1=2.0)")], SWEEP) == {}
    assert variations([DENSE], SWEEP) == {}
    # Nor where the plan says itself how to search.
    assert variations([WORDS], replace(SWEEP, retrieval=())) == {}
    assert variations([], replace(SWEEP, rerankers=("local",))) == {}


def test_a_language_model_writes_contexts_for_the_best_chunking_alone() -> None:
    (usual,) = variations(
        [replace(WORDS, retriever="bm25(k1=2.0)"), DENSE], replace(SWEEP, llm="local")
    ).values()
    assert [each.context for each in usual] == ["headings", "neighbors", "document"]
    assert [each.llm for each in usual] == ["", "local", "local"]
    assert all(each.strategy == WORDS.strategy for each in usual)
    named = replace(SWEEP, chunkers=(Grid(("sentences",), (("context", ("none", "neighbors")),)),))
    assert "language model" in plan_sweep(named).left_out[0].why
    planned = plan_sweep(replace(named, llm="local"))
    assert {(each.context, each.llm) for each in planned.configurations} == {
        ("none", ""),
        ("neighbors", "local"),
    }


def test_rerankers_read_the_best_and_other_models_embed_what_has_vectors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "vectors_of", lambda name: "own")
    asked = replace(SWEEP, rerankers=("local", "maxsim"), embedders=("bge-small",))
    found = variations([WORDS, DENSE, DENSE], asked)
    reranked = [each for each in found["minilm"] if each.reranker]
    assert [(each.retriever, each.reranker) for each in reranked] == [
        ("bm25", "local"), ("bm25", "maxsim"), ("dense", "local"), ("dense", "maxsim"),
    ]  # fmt: skip
    (embedded,) = found["bge-small"]
    assert (embedded.embedder, embedded.vectors, embedded.varies) == ("bge-small", "own", DENSE.key)
    assert embedded.levers["embedder"] == "bge-small"
    keys = [each.key for own in found.values() for each in own]
    assert len(set(keys)) == len(keys)
    assert "bge-small" in embedded.label
    assert "reranked by local" in reranked[0].label


SEVERAL = Configuration("", "multiscale", levers={"retriever": "multiscale"})


def test_several_sizes_take_token_vectors_and_rerankers_and_no_model_that_needs_chunks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kinds = {"bge-small": "own", "other": "late"}
    monkeypatch.setattr(module, "vectors_of", kinds.__getitem__)
    asked = replace(SWEEP, rerankers=("local",), maxsim="colbert-small", embedders=tuple(kinds))
    found = variations([DENSE, SEVERAL], asked)
    own = [each for each in found["minilm"] if not each.strategy]
    assert [(each.reranker, each.maxsim) for each in own] == [("local", ""), ("", "colbert-small")]
    compared = own[1]
    assert (compared.retriever, compared.varies) == ("multiscale", SEVERAL.key)
    assert compared.levers["token vectors"] == "colbert-small"
    assert "token vectors of colbert-small" in compared.label
    assert len({SEVERAL.key, *(each.key for each in own)}) == 3
    # Chunks have no token vectors of their own.
    assert not any(each.maxsim for each in found["minilm"] if each.strategy)
    assert [each.strategy for each in found["bge-small"]] == ["sentences"]
    assert [each.strategy for each in found["other"]] == ["sentences", ""]
