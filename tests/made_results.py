"""Results as an evaluation makes them, seeded, for tests of what comes after it."""

from collections.abc import Mapping

import numpy as np

from chunkwise.evaluation.results import (
    Agreement,
    Figure,
    FoundSpan,
    MetricAdvice,
    Missed,
    QuestionResult,
    Results,
)
from chunkwise.metrics.metric import CutCounts, CutIssue
from chunkwise.stats.intervals import interval

METRICS = ("recall@5", "precision@5", "mrr@5", "failure@5")
TYPES = ("numeric", "list", "negation")


def question(number: int, scores: Mapping[str, float | None], text: str = "") -> QuestionResult:
    """Two hits and one miss each."""
    return QuestionResult(
        id=f"q{number:02}",
        text=text or f"What is said of the lamp in chapter {number}?",
        types=(TYPES[number % 3],),
        documents=("leave.md",),
        scores=scores,
        unscored={name: "no answer" for name, score in scores.items() if score is None},
        hits=tuple(
            FoundSpan("leave.md", start, start + 40, rank, 1 / rank, 9, {"spans": rank == 1})
            for rank, start in ((1, 0), (2, 30))
        ),
        missed=(Missed("leave.md", 70, 80, "in writing", 7),),
        context_tokens=18,
    )


def results(
    seed: int = 0, lift: float = 0.0, count: int = 40, strategy: str = "sentences", k: int = 5
) -> Results:
    """Scores of `count` questions; those of one lift go together, so that runs are alike."""
    common = np.random.default_rng(99).random(count)
    noise = np.random.default_rng(seed).normal(0, 0.05, (count, 3))
    values = np.clip(common[:, None] * 0.7 + noise + [lift, 0, lift / 2], 0, 1)
    questions = []
    for number, (recall, precision, mrr) in enumerate(values.tolist()):
        scores = dict(zip(METRICS, (recall, precision, mrr, 1 - recall), strict=True))
        questions.append(question(number, scores))
    return of_questions(tuple(questions), strategy=strategy, k=k)


def of_questions(
    questions: tuple[QuestionResult, ...], *, strategy: str = "sentences", k: int = 5
) -> Results:
    """With everything else that a file holds."""
    names = list(questions[0].scores) if questions else []
    summary = {name: _figure([own.scores[name] for own in questions]) for name in names}
    summary["boundary_issues"] = Figure(0.125, verdict="below")
    return Results(
        configuration={"strategy": strategy, "retriever": "hybrid", "k": k, "budget": None, "seed": 0},
        versions={"chunkwise": "0.1.0"},
        data={"documents": {"count": 3, "hash": "d1"}, "questions": {"count": len(questions), "hash": "q1"}},
        summary=summary,
        by_type={"numeric": {name: summary[name] for name in names}},
        by_document={"leave.md": {name: summary[name] for name in names}},
        cuts=CutCounts(
            8, 1, {"mid_word": 1, "split_list": 0}, (CutIssue("mid_word", "leave.md", 2, 80, "wri", "ting"),)
        ),
        cost={"chunks": 8, "storage": 1.25, "model": "minilm"},
        agreement=(Agreement("labels", "spans", None, 1.0, 80),),
        advice=(MetricAdvice("boundary_issues", "wrong separators: try a structure-aware strategy"),),
        worst=tuple(own.id for own in questions[:3]),
        objective="recall@5",
        detectable={"recall@5": 0.09},
        questions=questions,
        timing={"search": 0.25},
    )  # fmt: skip


def _figure(scores: list[float | None]) -> Figure:
    known = [score for score in scores if score is not None]
    found = interval(known)
    if found is None:
        return Figure(None, unscored={"no answer": len(scores)})
    gone = len(scores) - len(known)
    return Figure(*found, scored=len(known), unscored={"no answer": gone} if gone else {})
