"""Contexts of one chunking, and the common defaults, by type of question: what is missed, how right answers are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from chunkwise.answering.ask import RetrievedQuestion, answer_each
from chunkwise.base.progress import Stages
from chunkwise.chunkers import get_strategy
from chunkwise.core import Query
from chunkwise.evaluation.evaluate_system import by_group, types_of
from chunkwise.metrics.answers.correctness import answer_correctness
from chunkwise.metrics.evidence import Answer
from chunkwise.metrics.registry import parse
from chunkwise.metrics.scorer import ScoreColumn
from chunkwise.models.llm.client import LlmClient
from chunkwise.retrieval.indexes import Index
from chunkwise.tuning.plan.grid import ANY_CONTEXT
from chunkwise.tuning.run.score_configurations import retriever_scores
from chunkwise.tuning.run.shared_corpus import SharedCorpus
from chunkwise.tuning.sweep import Configuration
from chunkwise.tuning.sweep_result import BaselineComparison, MethodByType, Outcome, SweepResult

FAILURE, CORRECTNESS = "failure@20", "answer_correctness.words"


def kept_scores_by_type(tuning: SweepResult, queries: Sequence[Query]) -> tuple[MethodByType, ...]:
    """The objective of the choice and of the common defaults, as it was scored; empty where all are of one type."""
    groups = {"all": range(len(queries)), **types_of(queries)}
    if len(groups) < 3:
        return ()
    names = {
        tuning.chosen: "choice",
        **{comparison.key: comparison.baseline for comparison in tuning.against},
    }
    types = []
    for outcome in tuning.outcomes:
        key = outcome.configuration.key
        if key in names:
            scores = np.array(outcome.scores[tuning.objective], np.float64)
            column = ScoreColumn(scores, ("not scored",) * len(queries))
            types.append(
                MethodByType(names[key], key, by_group({tuning.objective: column}, groups))
            )
    return tuple(sorted(types, key=lambda method_by_type: list(names).index(method_by_type.key)))


def methods_to_compare(
    best: Configuration, outcomes: Sequence[Outcome], against: Sequence[BaselineComparison]
) -> dict[str, Configuration]:
    """By name: the chunking of the `best` in every context it was tried with, then the common defaults."""
    known = [outcome.configuration for outcome in outcomes if not outcome.error]
    search = replace(best.search, reranker=None)
    result = {
        f"context {context}": configuration
        for context in ANY_CONTEXT
        for configuration in known
        if (
            configuration.strategy,
            configuration.search,
            configuration.vectors,
            configuration.embedder,
            configuration.context,
        )
        == (best.strategy, search, best.vectors, "", context)
    }
    keys = {comparison.key: comparison.baseline for comparison in against}
    return result | {
        keys[configuration.key]: configuration
        for configuration in known
        if configuration.key in keys
    }


def methods_by_type(
    corpus: SharedCorpus,
    methods: dict[str, Configuration],
    client: LlmClient,
    k: int,
    stages: Stages,
) -> Iterator[MethodByType]:
    """Scores of each method over all questions ("all") and by type; its answers are of its `k` best hits.

    Ends with the client's time: a method that some questions were not asked of is left out.
    """
    queries = corpus.queries
    asked = [query for query in queries if query.answer]
    groups = {"all": range(len(queries)), **types_of(queries)}
    with stages("answers", len(methods) * len(asked)) as advance:
        for name, configuration in methods.items():
            index = corpus.index_of(
                get_strategy(configuration.strategy), configuration.context, configuration.vectors
            )
            scores, _ = retriever_scores(corpus, index, configuration.search, [parse(FAILURE)], k)
            hits = Index(index, corpus.model).search(asked, k=k, options=configuration.search)
            answers: dict[str, Answer] = {}
            questions = [RetrievedQuestion(*pair) for pair in zip(asked, hits, strict=True)]
            for cited in answer_each(questions, client):
                if cited.is_answered:
                    answers[cited.query_id] = Answer(cited.text, is_refusal=bool(cited.refusal))
                advance(1, name)
            if client.time_is_up:
                return
            correct = ScoreColumn.of(answer_correctness(queries, answers))
            missed = ScoreColumn(scores[FAILURE], ("not scored",) * len(queries))
            yield MethodByType(
                name, configuration.key, by_group({FAILURE: missed, CORRECTNESS: correct}, groups)
            )
