"""A sweep small enough for a test: a few documents of the corpus inside the package, and the questions on them."""

from functools import cache
from importlib.resources import files

from chunkwise.core import Document, Query
from chunkwise.documents import read
from chunkwise.testsets.reading import read_testset
from chunkwise.tuning.plan.plan import Plan
from chunkwise.tuning.sweep import Configuration, Sweep

_NAMES = ("glossary.md", "salt-works-supply-contract.txt")


@cache
def inputs() -> tuple[tuple[Document, ...], tuple[Query, ...]]:
    """Two documents, and every other of the questions whose references lie in them."""
    package = files("chunkwise")
    documents = tuple(read([str(package / "corpus" / name) for name in _NAMES]))
    ids = {document.id for document in documents}
    everything = list(read([str(package / "corpus")]))
    problems: list[object] = []
    questions = read_testset(
        str(package / "corpus_questions.json"), everything, problems.append
    ).queries
    own = tuple(
        query
        for query in questions
        if query.references
        and all(place.doc_id in ids for each in query.references for place in each.places)
    )
    few = own[1::2]
    assert {len(query.references) for query in few} == {1, 2}
    return documents, few


def sweep(objective: str = "recall@1000t", model: str = "minilm") -> Sweep:
    return Sweep((), None, (), (), objective=objective, embedder=model)


def plan_of(*configurations: Configuration) -> Plan:
    return Plan(tuple(configurations), ())


WORDS = plan_of(
    *(
        Configuration(f"sentences(max_tokens={size})", retriever, context, neighbors, "none")
        for size in (50, 200)
        for context in ("none", "headings")
        for retriever, neighbors in (("bm25", 0), ("bm25", 1))
    ),
    Configuration("", "multiscale(dense=0)", "none", 0, "none"),
)
"""Needs no model."""
