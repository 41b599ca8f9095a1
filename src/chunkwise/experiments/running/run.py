"""Runs the configurations of a plan; what is done is on disk at once, and never done again."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress

from chunkwise.core import Document, Query
from chunkwise.documents import distinct_documents
from chunkwise.errors import InvalidParameter
from chunkwise.evaluation.stages import Stages, unwatched
from chunkwise.experiments.outcome import Outcome
from chunkwise.experiments.planning.plan import Plan
from chunkwise.experiments.running.bench import Bench
from chunkwise.experiments.running.one_chunking import Group, groups_of
from chunkwise.experiments.running.record import Record, fingerprint
from chunkwise.experiments.running.together import together
from chunkwise.experiments.running.wanted_scores import wanted_scores
from chunkwise.experiments.running.workshop import Workshop
from chunkwise.experiments.sweep import Sweep
from chunkwise.models.embedder import Embedder
from chunkwise.retrieval.making.lazy_embedder import LazyEmbedder

_A_CHARACTER = 3e-7
_A_QUESTION = 3e-4
"""Seconds, about, that one takes in a chunking, and in a search and its scores."""
_WORTH = 5.0
"""Seconds of work below which another process takes longer to start than it saves."""


def run(
    plan: Plan,
    documents: Sequence[Document],
    queries: Sequence[Query],
    sweep: Sweep,
    record: Record,
    *,
    embedder: str | Embedder | LazyEmbedder | None = None,
    stages: Stages = unwatched,
    on_outcome: Callable[[Outcome], None] | None = None,
    jobs: int = 1,
    deadline: float | None = None,
) -> list[Outcome]:
    """The outcomes of all configurations, in the plan's order.

    What the record knows is not run again, unless it failed; `on_outcome` gets it first, then what is new as it
    becomes known. Without an `embedder` it is the sweep's model. After `deadline` seconds nothing more is begun; what
    is left is handed out with an error that says so, and is not in the record.
    """
    began = time.monotonic()
    if jobs < 1:
        raise InvalidParameter(f"jobs is {jobs}; the least allowed is 1")
    wanted_scores(sweep.objective, sweep.k)  # a wrong objective is an error before any work is done
    documents = list(distinct_documents(documents))
    record.matches(fingerprint(documents, queries, sweep))
    known = {key: each for key, each in record.known().items() if not each.error}
    todo = [each for each in plan.configurations if each.key not in known]
    if on_outcome is not None:
        for configuration in plan.configurations:
            if configuration.key in known:
                on_outcome(known[configuration.key])

    def over() -> bool:
        return deadline is not None and time.monotonic() - began >= deadline

    model = _lazy(sweep.model if embedder is None else embedder)
    workshop = Workshop(documents, queries, model)
    sums = None
    if queries and any(each.vectors == "late" for each in todo) and not over():
        characters = sum(len(each.text) for each in documents)
        # Where the model refuses, each configuration that needs it says so.
        with stages("embedding", characters) as advance, suppress(Exception):
            sums = workshop.read(advance)
    name = model.given if model and isinstance(model.given, str) else ""
    bench = Bench(documents, queries, sweep.objective, sweep.k, name, sums)
    # A model that is an object cannot travel to another process.
    several = jobs if model is None or name else 1
    with (
        stages("configurations", len(todo)) as advance,
        closing(_outcomes(bench, workshop, groups_of(todo), several, over)) as outcomes,
    ):
        for outcome in outcomes:
            record.keep(outcome)
            known[outcome.configuration.key] = outcome
            advance(1, outcome.configuration.label)
            if on_outcome is not None:
                on_outcome(outcome)
    undone = (
        f"not run: the time it was given ({deadline or 0:,.0f} s) was over before its turn came"
    )
    return [known.get(each.key) or Outcome(each, error=undone) for each in plan.configurations]


def _lazy(embedder: str | Embedder | LazyEmbedder) -> LazyEmbedder | None:
    if isinstance(embedder, LazyEmbedder):
        return embedder
    return LazyEmbedder(embedder) if embedder else None


def _outcomes(
    bench: Bench, workshop: Workshop, groups: Sequence[Group], jobs: int, over: Callable[[], bool]
) -> Generator[Outcome, None, None]:
    if over():
        return
    if jobs > 1 and len(groups) > 1 and _seconds(bench, groups) > _WORTH:
        yield from together(bench, groups, jobs, over)
        return
    for group in groups:
        for outcome in bench.outcomes(workshop, group):
            yield outcome
            if over():
                return


def _seconds(bench: Bench, groups: Sequence[Group]) -> float:
    """About how long these take in one process."""
    characters = sum(len(document.text) for document in bench.documents)
    searches = sum(map(len, groups))
    return len(groups) * characters * _A_CHARACTER + searches * len(bench.queries) * _A_QUESTION
