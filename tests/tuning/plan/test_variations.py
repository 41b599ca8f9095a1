"""Levers tried on the best alone: one differs from its parent in one thing, and none is tried twice."""

from dataclasses import replace

from chunkwise.tuning.plan.grid import default_retrieval
from chunkwise.tuning.plan.plan import plan_sweep, variations
from chunkwise.tuning.sweep import Configuration, Grid, Sweep

WORDS = Configuration(
    "sentences", "bm25", vectors="none", levers={"retriever": "bm25", "weights": "usual"}, baseline="x"
)  # fmt: skip
BOTH = replace(WORDS, retriever="hybrid(dense=1)", vectors="late", levers={"retriever": "hybrid"})
DENSE = replace(WORDS, retriever="dense", vectors="late")
SWEEP = Sweep(("docs",), None, (), default_retrieval("minilm"))


def test_nothing_is_varied_unasked() -> None:
    assert variations([WORDS, BOTH, DENSE], SWEEP) == {}
    assert variations([], replace(SWEEP, rerankers=("local",))) == {}


def test_a_language_model_writes_contexts_for_the_best_chunking_alone() -> None:
    (usual,) = variations([WORDS, DENSE], replace(SWEEP, llm="local")).values()
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


def test_rerankers_read_the_best_and_other_models_embed_what_has_vectors() -> None:
    asked = replace(SWEEP, rerankers=("local", "maxsim"), embedders=("bge-small",))
    found = variations([WORDS, DENSE, DENSE], asked)
    reranked = [each for each in found["minilm"] if each.reranker]
    assert [(each.retriever, each.reranker) for each in reranked] == [
        ("bm25", "local"), ("bm25", "maxsim"), ("dense", "local"), ("dense", "maxsim"),
    ]  # fmt: skip
    (embedded,) = found["bge-small"]
    assert (embedded.embedder, embedded.vectors, embedded.varies) == (
        "bge-small",
        "late",
        DENSE.key,
    )
    assert embedded.levers["embedder"] == "bge-small"
    keys = [each.key for own in found.values() for each in own]
    assert len(set(keys)) == len(keys)
    assert "bge-small" in embedded.label
    assert "reranked by local" in reranked[0].label


SEVERAL = Configuration("", "multiscale", levers={"retriever": "multiscale"})


def test_several_sizes_take_token_vectors_rerankers_and_other_models() -> None:
    asked = replace(SWEEP, rerankers=("local",), maxsim="colbert-small", embedders=("bge-small",))
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
    assert [each.strategy for each in found["bge-small"]] == ["sentences", ""]
