"""Runs the configurations of a plan, in one process, several, or on a cluster; what is done is never done again."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.progress import Stages, unwatched
from chunkwise.base.runner import Cluster, Jobs, WorkerDied, check_jobs, map_parts
from chunkwise.core import Document, OnProgress, Query
from chunkwise.documents import distinct_documents
from chunkwise.models.embed.embedder import Embedder
from chunkwise.models.llm.client import LlmClient
from chunkwise.retrieval.indexing.lazy_models import LazyEmbedder
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER
from chunkwise.tuning.plan.plan import Plan
from chunkwise.tuning.plan.sweep_budget import TEXTS_AT_ONCE, is_endpoint, named_model
from chunkwise.tuning.run.race import Race
from chunkwise.tuning.run.score_configurations import Group, groups_of, outcomes_of
from chunkwise.tuning.run.shared_corpus import SharedCorpus, Sums
from chunkwise.tuning.run.sweep_folder import SweepRecord, run_unknown
from chunkwise.tuning.sweep import Configuration, Sweep, metrics_to_score
from chunkwise.tuning.sweep_result import Outcome


@dataclass(frozen=True, slots=True)
class SweepJob:
    """Can be sent to another process."""

    documents: Sequence[Document]
    queries: Sequence[Query]
    objective: str
    k: int
    model: str
    """By name; empty: none."""
    sums: Sums | None
    """What the model made of the documents, where it has read them."""
    tokenizer: str = DEFAULT_TOKENIZER
    race: Race | None = None

    def corpus(self) -> SharedCorpus:
        model = named_model(self.model) if self.model else None
        return SharedCorpus(self.documents, self.queries, model, self.sums, self.tokenizer)

    def outcomes(self, corpus: SharedCorpus, group: Group) -> Iterator[Outcome]:
        wanted = metrics_to_score(self.objective, self.k)
        return outcomes_of(corpus, group, wanted, self.k, self.race)


@dataclass
class _SumsReader:
    """Has the model read documents, wherever it is sent; it is loaded there once."""

    model: str
    tokenizer: str

    @cached_property
    def _lazy(self) -> LazyEmbedder:
        return named_model(self.model)

    def __call__(self, documents: list[Document]) -> Iterator[list[NDArray[np.float32]]]:
        yield SharedCorpus(documents, (), self._lazy, tokenizer=self.tokenizer).read()


_CHARACTERS = 200_000
"""Of documents that a worker of a cluster reads at once."""


def read_in_cluster(
    cluster: Cluster,
    documents: Sequence[Document],
    model: str,
    tokenizer: str,
    advance: OnProgress,
) -> list[NDArray[np.float32]]:
    """What the model made of every document, read where there is room."""
    sums: list[NDArray[np.float32]] = []
    reader = _SumsReader(model, tokenizer)
    for found in map_parts(reader, _batches(documents), cluster, "embed", _raise):
        done = documents[len(sums) : len(sums) + len(found)]
        sums += found
        advance(sum(len(each.text) for each in done), "one pass serves every chunking")
    return sums


def _raise(part: list[Document], error: WorkerDied) -> list[NDArray[np.float32]]:
    raise error


def _batches(documents: Sequence[Document]) -> Iterator[list[Document]]:
    some: list[Document] = []
    for each in documents:
        some.append(each)
        if sum(len(one.text) for one in some) >= _CHARACTERS or len(some) >= TEXTS_AT_ONCE:
            yield some
            some = []
    if some:
        yield some


@dataclass
class _GroupRunner:
    """Runs chunkings wherever it is sent; what they share is made there once."""

    job: SweepJob
    deadline: float
    """In `time.time()`: nothing is begun afterwards."""
    corpus: SharedCorpus | None = None

    def __call__(self, group: Group) -> Iterator[Outcome]:
        if self.corpus is None:
            self.corpus = self.job.corpus()
        outcomes = self.job.outcomes(self.corpus, group)
        while time.time() < self.deadline and (outcome := next(outcomes, None)) is not None:
            yield outcome


_DIED = "its process died, perhaps for lack of memory; run again with one job"


def _lost(group: Group, error: WorkerDied) -> Outcome:
    return Outcome(group[0], error=_DIED)


_A_CHARACTER = 3e-7
_A_QUESTION = 3e-4
"""Seconds, about, that one takes in a chunking, and in a search and its scores."""
_WORTH = 5.0
"""Seconds of work below which another process takes longer to start than it saves."""


def run_plan(
    plan: Plan,
    documents: Sequence[Document],
    queries: Sequence[Query],
    sweep: Sweep,
    record: SweepRecord,
    *,
    embedder: str | Embedder | LazyEmbedder | None = None,
    stages: Stages = unwatched,
    on_outcome: Callable[[Outcome], None] | None = None,
    jobs: Jobs = 1,
    deadline: float = math.inf,
    race: Race | None = None,
    client: LlmClient | None = None,
) -> list[Outcome]:
    """The outcomes of all configurations, in the plan's order; what the record knows is not run again.

    Without an `embedder` it is the sweep's model. `race` drops what cannot win any more. `client` writes contexts.
    After `deadline` seconds nothing more is begun. A model that needs most of them to read the documents is stopped,
    and words alone are searched in the rest.
    """
    ends = time.time() + deadline
    check_jobs(jobs)
    metrics_to_score(
        sweep.objective, sweep.k
    )  # a wrong objective is an error before any work is done
    documents = list(distinct_documents(documents))

    def run(todo: Sequence[Configuration]) -> Generator[Outcome, None, None]:
        model = _lazy(sweep.embedder if embedder is None else embedder)
        name = model.requested if model and isinstance(model.requested, str) else ""
        corpus = SharedCorpus(documents, queries, model, tokenizer=sweep.tokenizer, client=client)
        sums = None
        if queries and any(each.vectors == "late" for each in todo) and time.time() < ends:
            characters = sum(len(each.text) for each in documents)
            try:
                with stages("embedding", characters) as advance:
                    advance = _stopped_after(_READING * deadline, advance)
                    if isinstance(jobs, int) or not name or is_endpoint(name):
                        sums = corpus.read(advance)
                    else:
                        sums = read_in_cluster(jobs, documents, name, sweep.tokenizer, advance)
                        corpus = SharedCorpus(
                            documents, queries, model, sums, sweep.tokenizer, client
                        )
            except _TimeIsUp:
                todo = [each for each in todo if each.vectors == "none"]
            except Exception:  # where the model refuses, each configuration that needs it says so
                pass
        limited = race and replace(race, ends=ends)
        job = SweepJob(
            documents, queries, sweep.objective, sweep.k, name, sums, sweep.tokenizer, limited
        )
        groups = groups_of(todo)
        is_little = len(groups) < 2 or _seconds(job, groups) <= _WORTH
        # A model that is an object cannot travel to another process, nor can a limit of cost.
        stays = any(each.llm for each in todo) or (model is not None and not name)
        several = 1 if stays or (isinstance(jobs, int) and is_little) else jobs
        runner = _GroupRunner(job, ends, corpus if several == 1 else None)
        return map_parts(runner, groups, several, "configurations", _lost)

    return run_unknown(plan, documents, queries, sweep, record, run, stages, on_outcome)


_READING = 2 / 3
"""Share of the time limit in which the model may read the documents."""


class _TimeIsUp(Exception):
    """The model has read for as long as it may."""


def _stopped_after(seconds: float, advance: OnProgress) -> OnProgress:
    ends = time.time() + seconds

    def advance_or_stop(amount: int, note: str) -> None:
        advance(amount, note)
        if time.time() > ends:
            raise _TimeIsUp

    return advance_or_stop


def _lazy(embedder: str | Embedder | LazyEmbedder) -> LazyEmbedder | None:
    if isinstance(embedder, LazyEmbedder):
        return embedder
    return LazyEmbedder(embedder) if embedder else None


def _seconds(job: SweepJob, groups: Sequence[Group]) -> float:
    """About how long these take in one process."""
    characters = sum(len(document.text) for document in job.documents)
    searches = sum(map(len, groups))
    return len(groups) * characters * _A_CHARACTER + searches * len(job.queries) * _A_QUESTION
