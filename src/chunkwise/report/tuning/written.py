"""The files of a sweep: its plan before it runs, then the recommendation, the results and the report."""

from __future__ import annotations

import os
from pathlib import Path

from chunkwise.atomic import replacing, says_what_it_writes
from chunkwise.documents.walk import SWEEP_FILES, SWEEP_RECORD
from chunkwise.errors import ChunkwiseError
from chunkwise.evaluation.left_out import OnBad
from chunkwise.experiments.planning.sweep_text import sweep_text
from chunkwise.experiments.prepare import Prepared
from chunkwise.experiments.recommending.recommendation import write_recommendation
from chunkwise.experiments.recommending.recommended_settings import (
    chosen_configuration,
    recommendation_of,
)
from chunkwise.experiments.recommending.snippets import snippets
from chunkwise.experiments.running.record import fingerprint
from chunkwise.experiments.tune import record_of
from chunkwise.experiments.tuning import Tuning
from chunkwise.experiments.tuning_file import write_tuning
from chunkwise.models.embedder import Embedder
from chunkwise.report.tuning.asked_again import explorer
from chunkwise.report.tuning.page import write_tuning_page

PLAN, RECOMMENDATION, RESULTS, REPORT = SWEEP_FILES


def files_of(folder: str | os.PathLike[str]) -> list[Path]:
    """What a sweep writes into a folder, which is no document of it."""
    return [Path(folder).resolve() / name for name in SWEEP_FILES]


def keep_plan(prepared: Prepared, folder: Path) -> None:
    """What `--resume` goes on with; a folder that belongs to another sweep is refused, and stays as it is."""
    material = prepared.material
    told = fingerprint(material.documents, material.questions.queries, prepared.sweep)
    record_of(folder).matches(told)
    path = folder / PLAN
    with replacing(path) as temporary, says_what_it_writes(path):
        temporary.write_text(sweep_text(prepared.sweep, folder), encoding="utf-8")


def refuse_another(prepared: Prepared, folder: Path) -> None:
    """The same, and nothing is written."""
    if (folder / SWEEP_RECORD).exists():
        material = prepared.material
        told = fingerprint(material.documents, material.questions.queries, prepared.sweep)
        record_of(folder).matches(told)


def write_tuned(
    tuning: Tuning,
    prepared: Prepared,
    folder: Path,
    *,
    embedder: Embedder | None = None,
    on_bad: OnBad | None = None,
) -> list[str]:
    """The names of the files; an older recommendation goes where there is none now."""
    written = [RESULTS, REPORT]
    chosen, code = chosen_configuration(tuning), None
    write_tuning(tuning, folder / RESULTS)
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
