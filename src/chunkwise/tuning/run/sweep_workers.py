"""Runs the configurations of a plan, in one process, several, or on a cluster; what is done is never done again."""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.progress import Stages, unwatched
from chunkwise.base.workers import (
    Cluster,
    Jobs,
    WorkerDied,
    WorkerGroup,
    check_jobs,
    interrupts_held,
)
from chunkwise.core import Document, OnProgress, Query
from chunkwise.documents import distinct_documents
from chunkwise.models.embed.embedder import Embedder
from chunkwise.models.llm.client import LlmClient
from chunkwise.retrieval.indexing.lazy_models import LazyEmbedder
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER
from chunkwise.tuning.plan.plan import Plan
from chunkwise.tuning.plan.sweep_budget import TEXTS_AT_ONCE, is_endpoint, named_model
from chunkwise.tuning.run.race_and_finalists import Race
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


_DIED = "the process that ran it died, perhaps for lack of memory; run it again with one job"
_ALL_DIED = (
    "all worker processes died, perhaps for lack of memory: run again with one job; a script that uses several needs "
    'its code under `if __name__ == "__main__":`'
)


def run_in_processes(
    job: SweepJob, groups: Sequence[Group], jobs: int, over: Callable[[], bool]
) -> Iterator[Outcome]:
    """Outcomes as they are known; once it is `over`, no further chunking is begun."""
    waiting = list(reversed(groups))
    # Not forked: a fork copies locks that another thread of the caller may hold.
    workers = [_Worker(job) for _ in range(min(jobs, len(groups)))]
    try:
        for worker in workers:
            worker.take(waiting)
        while busy := [worker for worker in workers if worker.group]:
            ready = wait([worker.pipe for worker in busy])
            for worker in busy:
                if worker.pipe in ready:
                    yield from worker.receive()
                    if not worker.group and not over():
                        worker.take(waiting)
            if waiting and all(worker.is_dead for worker in workers):
                raise ChunkwiseError(_ALL_DIED)
    finally:
        # Stopped, or nobody wants the rest: a long document must not keep the caller waiting.
        for worker in workers:
            worker.stop()


@dataclass
class _SumsReader:
    """Has the model read documents, wherever it is sent; it is loaded there once."""

    model: str
    tokenizer: str

    @cached_property
    def _lazy(self) -> LazyEmbedder:
        return named_model(self.model)

    def __call__(self, documents: list[Document]) -> list[NDArray[np.float32]]:
        return SharedCorpus(documents, (), self._lazy, tokenizer=self.tokenizer).read()


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
    workers = cluster.workers(_SumsReader(model, tokenizer), "embed")
    waiting: deque[tuple[int, Future[list[NDArray[np.float32]]]]] = deque()
    sums: list[NDArray[np.float32]] = []

    def receive() -> None:
        characters, found = waiting.popleft()
        sums.extend(found.result())
        advance(characters, "one pass serves every chunking")

    try:
        for some in _batches(documents):
            waiting.append((sum(len(each.text) for each in some), workers.submit(some)))
            if len(waiting) >= workers.at_once:
                receive()
        while waiting:
            receive()
    finally:
        workers.stop()
    return sums


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

    @cached_property
    def _corpus(self) -> SharedCorpus:
        return self.job.corpus()

    def __call__(self, group: Group) -> list[Outcome]:
        return list(self.job.outcomes(self._corpus, group))


def run_in_cluster(
    job: SweepJob, groups: Sequence[Group], cluster: Cluster, over: Callable[[], bool]
) -> Iterator[Outcome]:
    """Outcomes in the order of the groups; once it is `over`, no further chunking is begun."""
    workers: WorkerGroup[Group, list[Outcome]] = cluster.workers(
        _GroupRunner(job), "configurations"
    )
    waiting: deque[tuple[Group, Future[list[Outcome]]]] = deque()
    try:
        for group in groups:
            if over():
                break
            waiting.append((group, workers.submit(group)))
            if len(waiting) >= workers.at_once:
                yield from _run(*waiting.popleft())
        while waiting:
            yield from _run(*waiting.popleft())
    finally:
        workers.stop()


def _run(group: Group, found: Future[list[Outcome]]) -> list[Outcome]:
    try:
        return found.result()
    except WorkerDied:
        return [Outcome(each, error=_DIED) for each in group]


class _Worker:
    """A process and the chunking it is at; each of its outcomes is told at once."""

    def __init__(self, job: SweepJob) -> None:
        context = get_context("spawn")
        self.pipe, there = context.Pipe()
        self._process: BaseProcess = context.Process(target=_work, args=(job, there), daemon=True)
        with interrupts_held():
            self._process.start()
        there.close()
        self.group: Group = ()
        """What of its chunking is still to come; empty: it has nothing to do."""
        self.is_dead = False

    def take(self, waiting: list[Group]) -> None:
        """The next chunking, where there is one."""
        if waiting and not self.is_dead:
            self.group = waiting.pop()
            with suppress(OSError):  # it died: that is heard, too
                self.pipe.send(self.group)

    def receive(self) -> Iterator[Outcome]:
        """One outcome; those of a process that died say so."""
        try:
            found: list[Outcome] = [self.pipe.recv()]
        except (EOFError, OSError):
            self.is_dead = True
            found = [Outcome(each, error=_DIED) for each in self.group]
        self.group = self.group[len(found) :]
        yield from found

    def stop(self) -> None:
        self.pipe.close()
        self._process.terminate()
        self._process.join()


def _work(job: SweepJob, pipe: Connection) -> None:
    # Ctrl-C reaches every process; the one that reads the results answers for all.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    corpus = job.corpus()
    # The other end closes when its process goes, however it goes.
    with suppress(EOFError, OSError):
        while True:
            for outcome in job.outcomes(corpus, pipe.recv()):
                pipe.send(outcome)


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
    deadline: float | None = None,
    race: Race | None = None,
    client: LlmClient | None = None,
) -> list[Outcome]:
    """The outcomes of all configurations, in the plan's order; what the record knows is not run again.

    Without an `embedder` it is the sweep's model. `race` drops what cannot win any more. `client` writes contexts.
    After `deadline` seconds nothing more is begun.
    """
    began = time.monotonic()
    check_jobs(jobs)
    metrics_to_score(
        sweep.objective, sweep.k
    )  # a wrong objective is an error before any work is done
    documents = list(distinct_documents(documents))

    def over() -> bool:
        return deadline is not None and time.monotonic() - began >= deadline

    def run(todo: Sequence[Configuration]) -> Generator[Outcome, None, None]:
        model = _lazy(sweep.embedder if embedder is None else embedder)
        name = model.requested if model and isinstance(model.requested, str) else ""
        corpus = SharedCorpus(documents, queries, model, tokenizer=sweep.tokenizer, client=client)
        sums = None
        if queries and any(each.vectors == "late" for each in todo) and not over():
            characters = sum(len(each.text) for each in documents)
            # Where the model refuses, each configuration that needs it says so.
            with stages("embedding", characters) as advance, suppress(Exception):
                if isinstance(jobs, int) or not name or is_endpoint(name):
                    sums = corpus.read(advance)
                else:
                    sums = read_in_cluster(jobs, documents, name, sweep.tokenizer, advance)
                    corpus = SharedCorpus(documents, queries, model, sums, sweep.tokenizer, client)
        job = SweepJob(
            documents, queries, sweep.objective, sweep.k, name, sums, sweep.tokenizer, race
        )
        # A model that is an object cannot travel to another process, nor can a limit of cost.
        is_asking = any(each.llm for each in todo)
        several: Jobs = jobs if (model is None or name) and not is_asking else 1
        return _outcomes(job, corpus, groups_of(todo), several, over)

    return run_unknown(plan, documents, queries, sweep, record, run, stages, on_outcome)


def _lazy(embedder: str | Embedder | LazyEmbedder) -> LazyEmbedder | None:
    if isinstance(embedder, LazyEmbedder):
        return embedder
    return LazyEmbedder(embedder) if embedder else None


def _outcomes(
    job: SweepJob,
    corpus: SharedCorpus,
    groups: Sequence[Group],
    jobs: Jobs,
    over: Callable[[], bool],
) -> Generator[Outcome, None, None]:
    if over():
        return
    if not isinstance(jobs, int):
        yield from run_in_cluster(job, groups, jobs, over)
        return
    if jobs > 1 and len(groups) > 1 and _seconds(job, groups) > _WORTH:
        yield from run_in_processes(job, groups, jobs, over)
        return
    for group in groups:
        for outcome in job.outcomes(corpus, group):
            yield outcome
            if over():
                return


def _seconds(job: SweepJob, groups: Sequence[Group]) -> float:
    """About how long these take in one process."""
    characters = sum(len(document.text) for document in job.documents)
    searches = sum(map(len, groups))
    return len(groups) * characters * _A_CHARACTER + searches * len(job.queries) * _A_QUESTION
