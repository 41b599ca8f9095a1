"""The files of a sweep: its plan before it runs, then the recommendation, the results and the report."""

from __future__ import annotations

import os
from pathlib import Path

from chunkwise.base.atomic import replacing, says_what_it_writes
from chunkwise.base.errors import ChunkwiseError
from chunkwise.documents.files import SWEEP_FILES, SWEEP_RECORD
from chunkwise.evaluation.left_out import OnBad
from chunkwise.models.embed.embedder import Embedder
from chunkwise.report.tuning.asked_again import explorer
from chunkwise.report.tuning.page import write_tuning_page
from chunkwise.tuning.choose.recommend import chosen_configuration, recommendation_of
from chunkwise.tuning.plan.prepare import PreparedSweep
from chunkwise.tuning.plan.sweep_file import sweep_text
from chunkwise.tuning.recommendation import snippets, write_recommendation
from chunkwise.tuning.run.record import sweep_fingerprint
from chunkwise.tuning.sweep_result import SweepResult, write_sweep_result
from chunkwise.tuning.tune import sweep_record

PLAN, RECOMMENDATION, RESULTS, REPORT = SWEEP_FILES


def files_of(folder: str | os.PathLike[str]) -> list[Path]:
    """What a sweep writes into a folder, which is no document of it."""
    return [Path(folder).resolve() / name for name in SWEEP_FILES]


def keep_plan(prepared: PreparedSweep, folder: Path) -> None:
    """What `--resume` goes on with; a folder that belongs to another sweep is refused, and stays as it is."""
    material = prepared.material
    told = sweep_fingerprint(material.documents, material.questions.queries, prepared.sweep)
    sweep_record(folder).matches(told)
    path = folder / PLAN
    with replacing(path) as temporary, says_what_it_writes(path):
        temporary.write_text(sweep_text(prepared.sweep, folder), encoding="utf-8")


def refuse_another(prepared: PreparedSweep, folder: Path) -> None:
    """The same, and nothing is written."""
    if (folder / SWEEP_RECORD).exists():
        material = prepared.material
        told = sweep_fingerprint(material.documents, material.questions.queries, prepared.sweep)
        sweep_record(folder).matches(told)


def write_tuned(
    tuning: SweepResult,
    prepared: PreparedSweep,
    folder: Path,
    *,
    embedder: Embedder | None = None,
    on_bad: OnBad | None = None,
) -> list[str]:
    """The names of the files; an older recommendation goes where there is none now."""
    written = [RESULTS, REPORT]
    chosen, code = chosen_configuration(tuning), None
    write_sweep_result(tuning, folder / RESULTS)
    if chosen is None:
        (folder / RECOMMENDATION).unlink(missing_ok=True)
    else:
        recommended = recommendation_of(chosen, prepared.sweep)
        write_recommendation(recommended, folder / RECOMMENDATION, tuning.sentence)
        named = prepared.sweep.documents or ("documents/",)
        code = snippets(recommended, named, str(folder / RECOMMENDATION))
        written.insert(0, RECOMMENDATION)
    try:
        shown = explorer(tuning, prepared, embedder)
    except (
        ChunkwiseError
    ) as error:  # a model that no longer answers: the rest of the report is as good
        if on_bad is not None:
            on_bad(f"the questions one by one are not in the report: {error}")
        shown = None
    write_tuning_page(tuning, folder / REPORT, explorer=shown, code=code)
    return written
