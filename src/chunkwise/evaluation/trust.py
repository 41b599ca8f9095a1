"""Who judged, and how far that judge can be trusted: beside every figure that rests on a judge's opinion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeGuard

from chunkwise.base.errors import ChunkwiseError
from chunkwise.evaluation.judging import LlmJudging
from chunkwise.evaluation.options import ScoringOptions
from chunkwise.evaluation.results import Json, Results, short_name
from chunkwise.metrics.judges.calibration import (
    FEWEST_VERDICTS,
    Calibration,
    known_calibration,
    similarity_identity,
)
from chunkwise.metrics.judges.judge import judge_identity
from chunkwise.metrics.judges.similarity import SimilarityJudge
from chunkwise.metrics.registry import metric_of
from chunkwise.models import DEFAULT, get_embedder

NOT_MEASURED = "not measured: chunkwise judge calibrate"
_AGAINST = {"labels": "people's labels", "spans": "gold spans"}


class AskedJudge(NamedTuple):
    """Whose opinion was asked."""

    model: str
    identity: str
    """All its verdicts depend on: by this it is calibrated."""


def judges_of(measuring: ScoringOptions, judging: LlmJudging | None) -> dict[str, AskedJudge]:
    """By the method that asked them; empty: nobody's opinion was asked."""
    found: dict[str, AskedJudge] = {}
    asked = {each.metric.judge for each in measuring.wanted}
    if SimilarityJudge.name in asked:
        try:
            model = get_embedder(measuring.judge_model or DEFAULT).identity
        except ChunkwiseError:
            pass  # it judged nothing; the figure says why
        else:
            identity = similarity_identity(model, measuring.scoring.similarity_threshold)
            found[SimilarityJudge.name] = AskedJudge(model, identity)
    for name in measuring.judges:
        found[name] = AskedJudge(name, judge_identity(measuring.judges[name]))
    if judging is not None:
        found["llm"] = AskedJudge(judging.model_identity, judging.judge_identity)
    return found


def judges_told(judges: Mapping[str, AskedJudge], judging: LlmJudging | None) -> dict[str, Json]:
    """Who judged, as part of the results."""
    found: dict[str, dict[str, Json]] = {name: {**each._asdict()} for name, each in judges.items()}
    if judging is not None and (unanswered := str(judging.unanswered)):
        found["llm"]["error"] = unanswered
    return {"judges": {**found}} if found else {}


def calibrations_told(judges: Mapping[str, AskedJudge], question_set: str = "") -> dict[str, Json]:
    """What is known here of those that were ever measured, on these questions where it was: no part of the results,
    another machine knows other."""
    known = {name: known_calibration(each.identity, question_set) for name, each in judges.items()}
    return {
        name: _calibration_row(each, question_set)
        for name, each in known.items()
        if each is not None
    }


def judged_by(results: Results, metric: str) -> str:
    """One line for a metric of this name; empty: it rests on nobody's opinion."""
    judges = results.data.get("judges")
    judge = _judge_of(metric)
    told = judges.get(judge) if isinstance(judges, dict) else None
    if not isinstance(told, dict):
        return ""
    known = results.calibrations.get(judge)
    return f"judged by {short_name(str(told.get('model')))}; {_measured(known, metric)}"


def _judge_of(metric: str) -> str:
    """Whose opinion a metric is, by its name in a table; empty: nobody's."""
    known = metric_of(metric)
    return known.opinion_of if known else ""


def is_weak(results: Results, metric: str) -> bool:
    """Whether whoever judged is known to be little better than chance: what it praises is not praised."""
    known = results.calibrations.get(_judge_of(metric))
    return bool(judged_by(results, metric) and _says_something(known) and known.get("weakness"))


def judge_error(results: Results) -> str:
    """Why the language model could not be asked everything; empty: it was, or none judged."""
    judges = results.data.get("judges")
    told = judges.get("llm") if isinstance(judges, dict) else None
    return str(told.get("error", "")) if isinstance(told, dict) else ""


def _says_something(known: Json) -> TypeGuard[dict[str, Json]]:
    """Whether enough verdicts were held against what is so."""
    verdicts = known.get("verdicts") if isinstance(known, dict) else None
    return isinstance(verdicts, int) and verdicts >= FEWEST_VERDICTS


def _measured(known: Json, metric: str) -> str:
    is_own = isinstance(known, dict) and known.get("same_questions") is True
    if not _says_something(known):
        few = f"measured with fewer than {FEWEST_VERDICTS} verdicts: chunkwise judge calibrate"
        return few if is_own else NOT_MEASURED
    figures = [
        f"{name} {value:.2f}"
        for name, value in (("accuracy", known.get("accuracy")), ("κ", known.get("kappa")))
        if isinstance(value, int | float)
    ]
    declared = metric_of(metric)
    what = "" if declared and declared.judge else " as a judge of relevance"
    weak = f": weak, {known['weakness']}" if known.get("weakness") else ""
    # How a judge fares depends on the documents and on how people ask: figures of other questions are a hint.
    where = "on these questions" if is_own else "measured elsewhere"
    return (
        f"against {_AGAINST.get(str(known.get('against')), '')}{what}: {', '.join(figures)} "
        f"({where}, {known.get('verdicts'):,} verdicts){weak}"
    )


def _calibration_row(known: Calibration, question_set: str) -> dict[str, Json]:
    return {
        "against": known.against,
        "same_questions": known.question_set == question_set,
        "accuracy": known.accuracy.mean if known.accuracy else None,
        "kappa": known.kappa.mean if known.kappa else None,
        "verdicts": known.confusion.scored,
        "weakness": known.weakness,
    }
