"""Outcomes of a sweep as a run makes them, seeded, for tests of what comes after it."""

from collections.abc import Mapping, Sequence

import numpy as np

from chunkwise.core import Document, Query, Reference
from chunkwise.tuning.choose.choose import choose
from chunkwise.tuning.plan.plan import Plan
from chunkwise.tuning.sweep import Configuration, Sweep, VectorKind
from chunkwise.tuning.sweep_result import Outcome, SweepResult
from chunkwise.tuning.validation import split

OBJECTIVE = "recall@1000t"
RECURSIVE, SENTENCES = "recursive 1000/200 characters", "sentences 1024/200"


def sweep(
    objective: str = OBJECTIVE,
    seed: int = 0,
    time: float = 300.0,
    test_share: float = 0.5,
    prior: bool = False,
) -> Sweep:
    return Sweep(
        ("docs",), "questions.json", (), (), objective=objective, seed=seed, time=time, test_share=test_share,
        prior=prior,
    )  # fmt: skip


def questions(
    count: int, documents: Sequence[str] = ("a.md", "b.md"), types: Sequence[str] = ("x", "y")
) -> list[Query]:
    """Every document gets every type in turn."""
    return [
        Query(
            f"q{number}",
            f"question {number}?",
            (Reference(documents[number % len(documents)], 0, 10),),
            types=(types[number // len(documents) % len(types)],),
        )
        for number in range(count)
    ]


def outcome(
    strategy: str,
    scores: Sequence[float | None],
    retriever: str = "bm25",
    *,
    objective: str = OBJECTIVE,
    storage: float = 1.0,
    context: float = 1000.0,
    chunks: int = 100,
    hurt: int = 10,
    vectors: VectorKind = "none",
    baseline: str = "",
    levers: Mapping[str, str] | None = None,
    error: str = "",
) -> Outcome:
    values = tuple(None if score is None else float(score) for score in scores)
    return Outcome(
        Configuration(strategy, retriever, vectors=vectors, levers=levers or {}, baseline=baseline),
        {} if error else {objective: values},
        {"chunks": chunks, "storage": storage, "context_tokens": context},
        {"chunks_with_issues": hurt},
        error,
    )


def tuned(
    outcomes: Sequence[Outcome],
    queries: Sequence[Query],
    *,
    splits: tuple[str, ...] | None = None,
    of: Sweep | None = None,
    planned: Sequence[Configuration] = (),
    documents: Sequence[Document] = (),
) -> SweepResult:
    asked = of or sweep()
    configurations = (*(each.configuration for each in outcomes), *planned)
    return choose(
        outcomes,
        queries,
        split(queries, asked.test_share, asked.seed) if splits is None else splits,
        asked,
        Plan(configurations),
        documents or [Document("a.md", "text"), Document("b.md", "text")],
    )


def noisy(seed: int, questions: int, lifts: Sequence[float], spread: float = 0.1) -> np.ndarray:
    """Questions × configurations: questions differ much, configurations by their lift and by chance."""
    rng = np.random.default_rng(seed)
    hard = rng.uniform(0.2, 0.6, (questions, 1))
    table: np.ndarray = hard + np.asarray(lifts) + rng.normal(0, spread, (questions, len(lifts)))
    return table
