"""Sweeps of every kind, sensible and not."""

from hypothesis import strategies as st

from chunkwise.tuning.sweep import Grid, Sweep

STRATEGIES = ("sentences", "recursive", "sections", "structure", "paragraphs", "tokens", "characters", "words",
              "semantic", "cluster", "parent_child", "sentences(overlap='10%')")  # fmt: skip
RETRIEVERS = (
    "bm25",
    "dense",
    "hybrid",
    "multiscale",
    "hybrid(dense=1)",
    "multiscale(dense=2)",
)

ISSUE = """
[sweep]
source = "handbook/"
queries = "queries.json"
objective = "recall@1000t"
k = 5
time = "10 min"                # optional
[[sweep.chunkers]]
strategy = ["sentences", "recursive", "sections", "structure", "semantic", "cluster", "parent_child"]
max_tokens = [100, 200, 300, 500, 1000]
overlap = [0, "10%", "25%"]
context = ["none", "headings"]
[sweep.retrieval]
retriever = ["bm25", "dense", "hybrid", "multiscale"]
neighbors = [0, 1]
"""


def _some(values, most=3):
    return st.lists(st.sampled_from(values), min_size=1, max_size=most).map(tuple)


def _values(**choices):
    def kept(chosen):
        return tuple((name, values) for name, values in chosen.items() if values)

    return st.fixed_dictionaries(
        {name: st.one_of(st.just(()), _some(values)) for name, values in choices.items()}
    ).map(kept)


chunker_grids = st.builds(
    Grid,
    _some(STRATEGIES, 4),
    _values(
        max_tokens=(8, 40, 200, 400, 1024, 1000, -3, "many"),
        chunk_size=(100,),
        overlap=(0, 10, 20, 200, 500, "5%", "10%", "25%", "100%", "ten"),
        context=("none", "headings"),
        tokenizer=("words", "characters", "o200k_base", "nobody's"),
        min_tokens=(0, 20),
        merge=(True, False, 1),
    ),
)
retrieval_grids = st.builds(
    Grid,
    _some(RETRIEVERS, 4),
    _values(
        neighbors=(0, 1, 2),
        dense=(0, 0.5, 1, 1.0, 99),
        words=(0, 1),
        fusion=("rrf", "sums"),
        k=(5,),
    ),
)
sweeps = st.builds(
    Sweep,
    st.just(("documents",)),
    st.none(),
    st.lists(chunker_grids, max_size=2).map(tuple),
    st.lists(retrieval_grids, max_size=2).map(tuple),
    embedder=st.sampled_from(("minilm", "")),
    exact=st.booleans(),
)
