"""`chunkwise.tune`: from documents and questions to a proven choice, in one call."""

from __future__ import annotations

import os
from dataclasses import dataclass

from chunkwise.base.renamed import renamed
from chunkwise.documents import Inputs, LoadOptions, WhenUnreadable
from chunkwise.evaluation.evaluate import TestQueries
from chunkwise.evaluation.left_out import LeftOut, OnBad
from chunkwise.evaluation.progress import Stages, unwatched
from chunkwise.models.embed.embedder import Embedder
from chunkwise.report.page import fragment
from chunkwise.report.tune_files import write_tuned
from chunkwise.report.views.tuning import tuning_view
from chunkwise.tuning.plan.source import sweep_from_source
from chunkwise.tuning.recommendation import Recommendation
from chunkwise.tuning.sweep_result import SweepResult
from chunkwise.tuning.tune import OnOutcome, RunOptions, run_sweep


@dataclass(frozen=True, slots=True)
class Tuned:
    """What was found out, and what to do; a notebook draws it."""

    tuning: SweepResult
    recommendation: Recommendation | None
    """None: without questions nothing can be recommended."""

    def __str__(self) -> str:
        return self.tuning.sentence

    def _repr_html_(self) -> str:
        return fragment(tuning_view(self.tuning))


@renamed(documents="source")
def tune(
    source: Inputs,
    test_queries: TestQueries | None = None,
    *,
    objective: str | None = None,
    k: int | None = None,
    model: str | Embedder | None = None,
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
) -> Tuned:
    """The chunking and the search that work for these documents, chosen on one part of the questions and judged on
    the other.

    `source` are files, folders or `Document`s, or a plan (`sweep.toml`); what is said beside a plan wins. An empty
    `model`: words alone. `time` is what may be spent, such as "10 min". In the folder `output` what is done is kept,
    so that the same call goes on where the last one was stopped, and the report and the recommendation are written.
    """
    sweep = sweep_from_source(
        source, test_queries, embedder=model, objective=objective, k=k, seed=seed, exact=exact, time=time
    )  # fmt: skip
    completed = run_sweep(
        sweep, output, lambda prepared: RunOptions(jobs, on_outcome, stages), write_tuned,
        left_out=LeftOut(on_bad, on_unreadable=on_unreadable), options=options,
    )  # fmt: skip
    assert completed is not None  # only a dry run has no result
    return Tuned(completed.result, completed.recommendation)
