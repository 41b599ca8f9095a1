"""Runs a user's own pipeline with every combination of a plan: built once an index, asked once a question."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from chunkwise.base.errors import error_words
from chunkwise.base.progress import Stages, unwatched
from chunkwise.core import Document, Query
from chunkwise.documents import distinct_documents
from chunkwise.evaluation.evaluate_system import QuestionSet, depths, evaluate_system
from chunkwise.evaluation.live_answers import ask_live, latency
from chunkwise.evaluation.live_retriever import CallableRetriever, WithValues
from chunkwise.evaluation.pipeline import (
    build_pipeline,
    declared_parameters,
    parse_pipeline,
    pipeline_part,
    split_values,
)
from chunkwise.evaluation.results import LATENCY, Json
from chunkwise.evaluation.run_file import locate_records
from chunkwise.evaluation.scoring import Measures
from chunkwise.evaluation.system_under_test import hits_system
from chunkwise.options import LiveOptions
from chunkwise.records.read import OnBadRow
from chunkwise.tuning.plan.plan import Plan
from chunkwise.tuning.run.sweep_folder import SweepRecord, run_unknown
from chunkwise.tuning.sweep import Configuration, Sweep, metrics_to_score
from chunkwise.tuning.sweep_result import Outcome

_ASKED = "asked"
"""The folder of answers to questions of configurations that are not done yet."""
_DEPTH = 50
"""Hits that are asked for: recall within tokens looks at as many as fit."""


def run_pipeline_plan(
    plan: Plan,
    documents: Sequence[Document],
    queries: Sequence[Query],
    sweep: Sweep,
    record: SweepRecord,
    *,
    on_bad: OnBadRow,
    stages: Stages = unwatched,
    on_outcome: Callable[[Outcome], None] | None = None,
    deadline: float | None = None,
) -> list[Outcome]:
    """The outcomes of all combinations, in the plan's order; what the record knows is not run again."""
    began = time.monotonic()
    documents = list(distinct_documents(documents))

    def ask(built: object, values: Mapping[str, Any], configuration: Configuration) -> Outcome:
        wanted = metrics_to_score(sweep.objective, sweep.k)
        retriever = CallableRetriever(WithValues(built, values), configuration.label, sweep.timeout)
        options = LiveOptions(
            timeout=sweep.timeout, retrieved=_kept_answers(record.folder, configuration)
        )
        with closing(retriever):
            deepest = max(_DEPTH, *depths(wanted))
            answers = ask_live(retriever, queries, deepest, options, on_bad=on_bad)
        hits = locate_records(answers.records, queries, documents, on_bad, None, sweep.tokenizer)
        system = hits_system(documents, queries, hits, {}, sweep.tokenizer)
        system = replace(system, failed=answers.failed)
        labels = tuple(at.label for at in wanted)
        results = evaluate_system(system, QuestionSet(queries), Measures(labels, sweep.k))
        cost: dict[str, Json] = {"context_tokens": results.cost.get("context_tokens")}
        for key, seconds in latency(answers.seconds).items():
            cost[f"{key.removeprefix(LATENCY)}_seconds"] = seconds
        scores = {
            name: tuple(question.scores.get(name) for question in results.questions)
            for name in labels
        }
        return Outcome(configuration, scores, cost)

    def run(todo: Sequence[Configuration]) -> Generator[Outcome, None, None]:
        for outcome in _outcomes(todo, sweep.pipeline, ask):
            yield outcome
            with suppress(OSError):  # the outcome is kept: its answers are not needed any more
                _kept_answers(record.folder, outcome.configuration).unlink(missing_ok=True)
            if deadline is not None and time.monotonic() - began >= deadline:
                return

    return run_unknown(plan, documents, queries, sweep, record, run, stages, on_outcome)


def _kept_answers(folder: Path, configuration: Configuration) -> Path:
    return folder / _ASKED / f"{configuration.key}.jsonl"


def _outcomes(
    todo: Sequence[Configuration],
    pipeline: str,
    ask: Callable[[object, Mapping[str, Any], Configuration], Outcome],
) -> Iterator[Outcome]:
    """One index at a time: it may fill the memory."""
    name, _ = parse_pipeline(pipeline)
    part = pipeline_part(name)
    declared = declared_parameters(name, part)

    def values_of(configuration: Configuration) -> tuple[dict[str, Any], dict[str, Any]]:
        return split_values(declared, parse_pipeline(configuration.retriever)[1])

    for _, group in groupby(todo, key=lambda item: repr(values_of(item)[0])):
        configurations = list(group)
        began = time.monotonic()
        try:
            built = build_pipeline(name, part, values_of(configurations[0])[0])
        except Exception as error:  # somebody else's code: the other combinations go on
            message = f"it can't be built: {_words(error)}"
            yield from (Outcome(item, error=message) for item in configurations)
            continue
        building = time.monotonic() - began
        for configuration in configurations:
            began = time.monotonic()
            try:
                outcome = ask(built, values_of(configuration)[1], configuration)
            except Exception as error:
                outcome = Outcome(configuration, error=_words(error))
            took = time.monotonic() - began + building
            building = 0.0
            yield replace(outcome, seconds=round(took, 3))


def _words(error: Exception) -> str:
    return " ".join(error_words(error).split())[:300]
