"""The files of a sweep: results, recommendation, and a report that shows the choice beside a default."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from chunkwise.base.errors import ChunkwiseError
from chunkwise.evaluation.evaluate import evaluate
from chunkwise.evaluation.results import Results
from chunkwise.evaluation.sources import in_reading_order
from chunkwise.metrics.cuts.boundary_issue_counts import QUESTION as OF_CUTS
from chunkwise.options import IndexOptions, SearchOptions
from chunkwise.records.read import OnBadRow
from chunkwise.report.side_by_side import SideBySide
from chunkwise.report.tuning_report import tuning_report
from chunkwise.report.write_report import write_report
from chunkwise.retrieval.indexes import index
from chunkwise.testsets.testset import GRADES
from chunkwise.tuning.recommendation_file_and_code import (
    recommendation_of,
    snippets,
    write_recommendation,
)
from chunkwise.tuning.run.sweep_folder import RECOMMENDATION, REPORT, RESULTS
from chunkwise.tuning.sweep import Configuration
from chunkwise.tuning.sweep_result import write_sweep_result
from chunkwise.tuning.tune import CompletedSweep


def write_sweep_files(
    completed: CompletedSweep,
    folder: Path,
    *,
    on_bad: OnBadRow | None = None,
    page: Path | None = None,
) -> list[str]:
    """The names of the files; an older recommendation goes where there is none now. `page` is the report once more."""
    written = [RESULTS, REPORT]
    tuning, sweep = completed.result, completed.prepared.sweep
    recommendation, code = completed.recommendation, None
    write_sweep_result(tuning, folder / RESULTS)
    if recommendation is None:
        (folder / RECOMMENDATION).unlink(missing_ok=True)
    else:
        why = f"{GRADES[tuning.grade]}. {tuning.sentence}"
        write_recommendation(recommendation, folder / RECOMMENDATION, why)
        documents = sweep.documents or ("documents/",)
        code = (
            None
            if recommendation.is_pipeline
            else snippets(
                recommendation, documents, str(folder / RECOMMENDATION), reading=sweep.reading
            )
        )
        written.insert(0, RECOMMENDATION)
    try:
        sides = side_by_side(completed)
    except (
        ChunkwiseError
    ) as error:  # a model that no longer answers: the rest of the report is as good
        if on_bad is not None:
            on_bad(f"the report has no results per question: {error}")
        sides = None
    report = tuning_report(tuning, sides, code)
    write_report(report, folder / REPORT)
    if page is not None:
        write_report(report, page)
    return written


def side_by_side(completed: CompletedSweep) -> SideBySide | None:
    """The choice and the default it is compared with, evaluated once more; None: one of them is missing."""
    tuning, material = completed.result, completed.prepared.inputs
    known = {outcome.configuration.key: outcome.configuration for outcome in tuning.outcomes}
    chosen = known.get(tuning.chosen)
    default = next((known[other.key] for other in tuning.against if other.key in known), None)
    if chosen is None or default is None or completed.prepared.sweep.pipeline:
        return None  # a pipeline of the user's own is not asked again to be drawn
    gold = {
        query.id: tuple(place for reference in query.references for place in reference.places)
        for query in material.questions.queries
    }
    return SideBySide(
        (chosen.label, default.label), (_evaluated(chosen, completed), _evaluated(default, completed)),
        {document.id: document for document in material.documents}, gold,
    )  # fmt: skip


def _evaluated(configuration: Configuration, completed: CompletedSweep) -> Results:
    sweep, material = completed.prepared.sweep, completed.prepared.inputs
    settings = recommendation_of(configuration, sweep)
    embedder = None if configuration.embedder else completed.prepared.embedder
    made = index(
        in_reading_order(material.documents), embedder=embedder,
        settings=replace(settings.part(IndexOptions), llm=None),
    )  # fmt: skip
    return evaluate(
        made,
        material.questions,
        search=settings.part(SearchOptions),
        metrics=[sweep.objective, OF_CUTS.name],
    )
