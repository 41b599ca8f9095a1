"""`chunkwise testset calibrate`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import click
from msgspec import Meta

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.schema import Amount, Cosine, Name, Option
from chunkwise.base.wording import counted, one_or_many, thousands
from chunkwise.cli.dataclass_options import dataclass_command, is_typed
from chunkwise.cli.exit_status import SKIPPED
from chunkwise.cli.keep_run import KeepOptions, RunKeeper
from chunkwise.cli.llm import (
    llm_client,
    or_local,
    refuse_unasked,
    show_estimate,
    show_spent,
)
from chunkwise.cli.options import (
    NeededQueries,
    SourceOptions,
)
from chunkwise.cli.progress import progress
from chunkwise.cli.report_options import JsonOrReport
from chunkwise.cli.streams import SkippedInputs, say
from chunkwise.core import Document
from chunkwise.options import CalibrationOptions, LlmOptions

if TYPE_CHECKING:
    from chunkwise.evaluation.calibrate import CalibrationRun, KnownPairs
    from chunkwise.metrics.judges.judge import Judge
    from chunkwise.models.embed.embedder import Embedder
    from chunkwise.models.llm.client import LlmClient

JUDGES = ("llm", "similarity", "spans", "labels")


class _JudgeSetup(NamedTuple):
    """A judge, all its verdicts depend on, and what a judge by similarity compares with."""

    judge: Judge
    identity: str
    embedder: Embedder | None = None


class CalibrateOptions(
    CalibrationOptions, KeepOptions, LlmOptions, SourceOptions, JsonOrReport, group="Judge"
):
    """The options of `chunkwise testset calibrate`."""

    test_queries: NeededQueries
    judges: Annotated[Name | None, Option(
        "Judges: llm, similarity, spans, ./my.py:Class", long_flag="--judge", metavar="NAMES",
        default_text="llm with --llm, else similarity", common=True,
    )] = None  # fmt: skip
    embedder: Annotated[Name | None, Option(
        "Embedding model of the similarity judge", flag="-e", metavar="NAME", default_text="minilm"
    )] = None  # fmt: skip
    similarity_threshold: Annotated[Cosine, Option(
        "Minimum similarity of a relevant passage", metavar="COSINE"
    )] = 0.7  # fmt: skip
    relevance_threshold: Annotated[Annotated[float, Meta(gt=0, le=1)], Option(
        "Share of a reference that a relevant passage must cover", metavar="SHARE"
    )] = 0.5  # fmt: skip
    show: Annotated[Amount, Option("Wrong verdicts to print", metavar="N", group="Output")] = 4


@dataclass_command("calibrate", CalibrateOptions)
def command(options: CalibrateOptions) -> None:
    """Measure the accuracy of judges on passages of known relevance.

    SOURCE is documents or an index [default: the documents in the folder of the questions].

    Examples:
      chunkwise testset calibrate docs/ -Q q.json --judge llm --llm local
      chunkwise testset calibrate docs/ -Q q.json --judge similarity --json
      chunkwise testset calibrate docs/ -Q q.json --judge llm --max-cost 1

    Ground truth is human labels if the questions have any. Otherwise references count as relevant, and similar
    passages without overlap as irrelevant. `chunkwise evaluate` shows the accuracy next to the judge's scores.
    """
    from chunkwise.report.calibration_report import (
        calibration_json,
        calibration_report,
        warning_of,
    )
    from chunkwise.tracking.record_run import run_of_calibrations

    keeper = RunKeeper(options, quiet=options.quiet)
    names = _names(options)
    if "llm" in names:
        options = replace(options, llm=or_local(options.llm_name))
    client = llm_client(options, options.quiet or options.as_json) if "llm" in names else None
    pairs, documents, left_out = _pairs(options)
    _refuse_truth_itself(names, pairs)
    setups = [_setup(name, client, options) for name in names]
    if options.dry_run:
        _estimate(setups, pairs, options)
        return
    measured = [_measured(setup, pairs, options) for setup in setups]
    keeper.keep(
        lambda: run_of_calibrations(measured, pairs, documents=documents, seed=options.seed)
    )
    options.print_result(
        lambda: calibration_report(measured, pairs, show=options.show),
        lambda: calibration_json(measured, pairs),
    )
    for run in measured:  # where the report is not shown, a warning is not to get lost
        if (options.as_json or run.error) and (warning := warning_of(run)):
            say(f"{run.calibration.name}: {warning}")
    if client is not None and not options.quiet:
        show_spent(client.spent)
    if left_out or any(calibration_run.error for calibration_run in measured):
        sys.exit(SKIPPED)


def _names(options: CalibrateOptions) -> list[str]:
    from chunkwise.metrics.judges.judge import get_judge, judge_names

    asks = is_typed("llm")
    given = options.judges if options.judges is not None else "llm" if asks else "similarity"
    parted = [item.lower() if item.lower() in JUDGES else item for item in judge_names(given)]
    if not parted:
        raise click.UsageError(f"no judge given; known: {', '.join(JUDGES)}")
    names = list(dict.fromkeys(parted))
    for name in names:
        # Who names one that is not there is told before documents are read.
        if name not in JUDGES and (taken := get_judge(name).name) in JUDGES:
            raise click.UsageError(
                f"{name!r} is the built-in judge {taken!r}: use --judge {taken} and its "
                "threshold options"
            )
    if "llm" not in names:
        refuse_unasked("no judge uses a language model; add --judge llm")
    return names


def _pairs(options: CalibrateOptions) -> tuple[KnownPairs, list[Document], bool]:
    from chunkwise.evaluation.calibrate import documents_and_questions, known_pairs
    from chunkwise.evaluation.sources import Skipped

    left_out = Skipped(SkippedInputs(options.strict), say)
    paths = list(options.source)
    if not paths:
        path = Path(options.test_queries).parent
        say(f"no documents given: using those in {path}/")
        paths = [str(path)]
    with progress("drawing passages", 0, options.quiet) as advance:
        advance(0, "documents are read")
        documents, queries = documents_and_questions(
            paths, options.test_queries, left_out, options.loading()
        )
        advance(0, f"{counted(len(queries), 'question')}, {counted(len(documents), 'document')}")
        pairs = known_pairs(queries, documents, options)
    if len(pairs) < options.count and not options.quiet:
        were = one_or_many(options.count, "was", "were")
        say(
            f"using all {counted(len(pairs), 'passage')}; {thousands(options.count)} {were} "
            f"requested"
        )
    return pairs, documents, left_out.any


def _refuse_truth_itself(names: list[str], pairs: KnownPairs) -> None:
    if pairs.against in names:
        other = "labels" if pairs.against == "spans" else "spans"
        raise click.UsageError(
            f"{pairs.against} are both judge and ground truth here, so they would always be "
            f"right; add --against {other}, or leave out the judge {pairs.against}"
        )


def _setup(name: str, client: LlmClient | None, options: CalibrateOptions) -> _JudgeSetup:
    from chunkwise.evaluation.judge_calibrations import spans_identity

    if client is not None and name == "llm":
        from chunkwise.metrics.judges.llm_judge import LlmJudge

        judge = LlmJudge(client)
        return _JudgeSetup(judge, judge.identity)
    if name == "similarity":
        return _similarity(options)
    if name == "spans":
        from chunkwise.metrics.judges.relevance_judges import SpanJudge

        threshold = options.relevance_threshold
        return _JudgeSetup(SpanJudge(threshold), spans_identity(threshold))
    if name == "labels":
        from chunkwise.metrics.judges.relevance_judges import LabelJudge

        return _JudgeSetup(LabelJudge(), "labels")
    from chunkwise.metrics.judges.judge import get_judge, judge_identity

    result = get_judge(name)
    return _JudgeSetup(result, judge_identity(result))


def _similarity(options: CalibrateOptions) -> _JudgeSetup:
    from chunkwise.evaluation.judge_calibrations import similarity_identity
    from chunkwise.metrics.judges.relevance_judges import SimilarityJudge
    from chunkwise.models import DEFAULT, get_embedder

    model, threshold = options.embedder or DEFAULT, options.similarity_threshold
    embedder = get_embedder(model)
    identity = similarity_identity(embedder.identity, threshold)
    return _JudgeSetup(SimilarityJudge(embedder, threshold), identity, embedder)


def _estimate(setups: list[_JudgeSetup], pairs: KnownPairs, options: CalibrateOptions) -> None:
    from chunkwise.metrics.judges.llm_judge import LlmJudge

    for setup in setups:
        if isinstance(setup.judge, LlmJudge):
            show_estimate(setup.judge.estimate(pairs.queries, pairs.hits), options.as_json)


def _measured(setup: _JudgeSetup, pairs: KnownPairs, options: CalibrateOptions) -> CalibrationRun:
    from chunkwise.evaluation import calibrate as calibrate_module
    from chunkwise.evaluation.judge_calibrations import keep_calibration

    total = calibrate_module.steps(setup.judge, pairs)
    with progress(f"asking {setup.judge.name}", total, options.quiet) as advance:
        measured = calibrate_module.calibrate(
            setup.judge, pairs, identity=setup.identity, embedder=setup.embedder,
            seed=options.seed, advance=advance,
        )  # fmt: skip
    if measured.calibration.confusion.scored:
        try:
            keep_calibration(measured.of_the_judge)
        except ChunkwiseError as error:  # the figures are wanted all the same
            say(error)
    return measured
