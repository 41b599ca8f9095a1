"""Who is run again with vectors of its own."""

from chunkwise.tuning.sweep import Configuration, VectorKind
from chunkwise.tuning.sweep_result import Outcome
from chunkwise.tuning.tune import finalists

SPLITS = ("validation", "test", "validation")


def outcome(name: str, *scores: float | None, **more: str) -> Outcome:
    retriever, baseline = more.get("retriever", "dense"), more.get("baseline", "")
    vectors: VectorKind = "none" if retriever == "bm25" else "late"
    configuration = Configuration(name, retriever, vectors=vectors, baseline=baseline)
    return Outcome(
        configuration, {"recall@5": scores, "failure@5": scores}, error=more.get("error", "")
    )


EVERY = [
    outcome("a", 0.5, 1.0, 0.5),
    outcome("b", 0.9, 0.0, 0.9),
    outcome("c", 0.9, 0.0, 0.9),
    outcome("words", 1.0, 1.0, 1.0, retriever="bm25"),
    outcome("", 1.0, 1.0, 1.0, retriever="multiscale"),
    outcome("failed", 1.0, 1.0, 1.0, error="why"),
    outcome("usual", 0.1, 0.1, 0.1, baseline="usual"),
    outcome("half", None, 1.0, 0.6),
    outcome("never", None, 1.0, None),
]  # fmt: skip


def names(most: int, objective: str = "recall@5") -> list[str]:
    found = finalists(EVERY, SPLITS, objective, most)
    assert all(each.vectors == "own" for each in found)
    return [each.strategy for each in found]


def test_the_best_on_validation_and_the_defaults() -> None:
    assert names(1) == ["b", "usual"]
    assert names(3) == ["b", "c", "half", "usual"]
    assert names(9) == ["b", "c", "half", "a", "usual"], "a default is not named twice"


def test_lower_may_be_better() -> None:
    assert names(2, "failure@5") == ["usual", "a"]


def test_without_scores_there_are_none() -> None:
    assert finalists([], SPLITS, "recall@5") == []
    assert finalists(EVERY, (), "recall@5") == []
    assert finalists(EVERY, SPLITS, "ndcg@5") == []
