"""Runs as they are kept, made by hand, for tests of what is done with them."""

from collections.abc import Mapping
from typing import Any

from chunkwise.tracking.run import KeptFigure, KeptHit, KeptQuestion, KeptRun


def kept_run(
    scores: Mapping[str, float | None] | None = None,
    *,
    documents: Mapping[str, str] | None = None,
    hits: Mapping[str, str] | None = None,
    metric: str = "recall@5",
    **more: Any,
) -> KeptRun:
    """An evaluation of questions by id, each about the document `hits` names, else about a.md."""
    scores = {"q1": 0.5, "q2": 1.0} if scores is None else scores
    found = {id: (hits or {}).get(id, "a.md") for id in scores}
    known = [score for score in scores.values() if score is not None]
    mean = sum(known) / len(known) if known else None
    questions = tuple(
        KeptQuestion(id, f"What of {id}?", f"p-{id}", ("list",), ("a.md",), (KeptHit(found[id], 0, 9),))
        for id in scores
    )  # fmt: skip
    given: dict[str, Any] = {
        "kind": "evaluate", "when": "2026-01-05T08:00:00Z", "label": "structure · bm25", "objective": metric,
        "figures": {metric: KeptFigure(mean, 0.1, 0.9, len(known), len(scores), 0.1)},
        "scores": {metric: tuple(scores.values())}, "questions": questions,
        "documents": {"a.md": "1", "b.md": "2"} if documents is None else documents,
        "settings": {"strategy": "structure", "k": 5}, "versions": {"chunkwise": "0.1.0"},
        "documents_hash": "d", "questions_hash": "q",
    }  # fmt: skip
    return KeptRun(**{**given, **more})
