"""`chunkwise.tune`: from documents and questions to a proven choice, in one call."""

from __future__ import annotations

import os

from chunkwise.base.renamed import renamed
from chunkwise.documents import Inputs, LoadOptions, WhenUnreadable
from chunkwise.evaluation.evaluate import TestQueries
from chunkwise.evaluation.left_out import LeftOut, OnBad
from chunkwise.evaluation.progress import Stages, unwatched
from chunkwise.models.embed.embedder import Embedder
from chunkwise.report.tune_files import write_tuned
from chunkwise.report.tune_result import TuneResult
from chunkwise.tuning.plan.source import sweep_from_source
from chunkwise.tuning.tune import OnOutcome, RunOptions, run_sweep


@renamed(documents="source", test_queries="queries", model="embedder")
def tune(
    source: Inputs,
    queries: TestQueries | None = None,
    *,
    objective: str | None = None,
    k: int | None = None,
    embedder: str | Embedder | None = None,
    time: str | None = None,
    exact: bool | None = None,
    seed: int | None = None,
    output: str | os.PathLike[str] | None = None,
    options: LoadOptions | None = None,
    jobs: int = 1,
    on_unreadable: WhenUnreadable | None = None,
    on_bad: OnBad | None = None,
    on_outcome: OnOutcome | None = None,
    stages: Stages = unwatched,
) -> TuneResult:
    """The chunking and the search that work for these documents, chosen on one part of the questions and judged on
    the other.

    `source` are files, folders or `Document`s, or a plan (`sweep.toml`); what is said beside a plan wins. An empty
    `embedder`: words alone. `time` is what may be spent, such as "10 min". In the folder `output` what is done is kept,
    so that the same call goes on where the last one was stopped, and the report and the recommendation are written.
    """
    sweep = sweep_from_source(
        source, queries, embedder=embedder, objective=objective, k=k, seed=seed, exact=exact, time=time
    )  # fmt: skip
    completed = run_sweep(
        sweep, output, lambda prepared: RunOptions(jobs, on_outcome, stages), write_tuned,
        left_out=LeftOut(on_bad, on_unreadable=on_unreadable), options=options,
    )  # fmt: skip
    assert completed is not None  # only a dry run has no result
    return TuneResult(completed.result, completed.recommendation)
