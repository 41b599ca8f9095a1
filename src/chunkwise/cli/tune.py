"""`chunkwise tune`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.schema import Name, Option, schema
from chunkwise.base.wording import counted, format_number, thousands
from chunkwise.cli.dataclass_options import dataclass_command, is_typed
from chunkwise.cli.exit_status import SKIPPED, leave
from chunkwise.cli.keep_run import KeepOptions, RunKeeper
from chunkwise.cli.llm import LlmClients, estimate_words, refuse_unlimited, show_spent
from chunkwise.cli.options import (
    AllowOption,
    JobsOption,
    Page,
    Queries,
    SourceOptions,
    check_questions_flag,
)
from chunkwise.cli.progress import progress
from chunkwise.cli.report_options import JsonOrReport, say_written
from chunkwise.cli.review_questions import refuse_without_terminal
from chunkwise.cli.review_sweep import review_sweep
from chunkwise.cli.streams import SkippedInputs, say
from chunkwise.core import OnProgress
from chunkwise.options import LiveOptions, LlmOptions, TuneOptions
from chunkwise.report.sanitize import one_line

if TYPE_CHECKING:
    from chunkwise.tuning.plan.prepare import PreparedSweep, SweepSource
    from chunkwise.tuning.sweep_result import Outcome
    from chunkwise.tuning.tune import CompletedSweep, RunOptions

FOLDER = "chunkwise-tune"
_WELL_OVER = 1.5
"""Times the limit: an estimate is no closer than that."""


class SweepOptions(AllowOption, JobsOption, SourceOptions, JsonOrReport):
    """How a sweep is run, whatever it tries."""

    output: Annotated[Path, Option(
        "Output folder", flag="-o", metavar="FOLDER", group="Output", common=True
    )] = Path(FOLDER)  # fmt: skip
    page: Page = None
    dry_run: Annotated[
        bool, Option("Estimate the work, then exit", group="Output", common=True)
    ] = False


class TuneCommandOptions(TuneOptions, LiveOptions, KeepOptions, SweepOptions, group="Sweep"):
    """The options of `chunkwise tune`."""

    test_queries: Queries = None
    pipeline: Annotated[Name | None, Option(
        "Pipeline to tune, with its PARAMETERS", metavar="FILE.py:NAME", common=True
    )] = None  # fmt: skip
    resume: Annotated[bool, Option("Resume the sweep in the output folder", common=True)] = False
    review: Annotated[bool, Option(
        "Review generated questions one by one", common=True
    )] = False  # fmt: skip


@dataclass_command("tune", TuneCommandOptions)
def command(options: TuneCommandOptions) -> None:
    """Recommend chunking and retrieval for your documents.

    SOURCE is documents (files, folders, globs, archives), an index or a plan (sweep.toml). All questions choose the
    configuration, and nested cross-validation estimates its score; questions with split `test` never choose. Results
    are cached: the same command resumes an interrupted sweep.

    Examples:
      chunkwise tune docs/ -Q q.json
      chunkwise tune docs/ -Q q.json --dry-run
      chunkwise tune sweep.toml -o out
      chunkwise tune docs/ -Q q.json --save
      chunkwise tune docs/ --review

    Next: chunkwise index docs/ --into kb -c chunkwise-tune/recommendation.toml
    """
    from chunkwise.evaluation.sources import SCRIPTS, documents_beside
    from chunkwise.tuning.plan.prepare import sweep_from_source, sweep_of_pipeline

    if options.review:
        refuse_without_terminal()
    given = {
        field.name: getattr(options, field.name)
        for field in schema(TuneOptions)
        if is_typed(field.name)
    }
    check_questions_flag(options, options.test_queries)
    source, pipeline = options.source, options.pipeline
    if pipeline is None:
        sweep = sweep_from_source(
            source, options.test_queries, resume=options.output if options.resume else None, **given
        )
    else:
        if not source and options.test_queries is not None:
            source = (documents_beside(options.test_queries, say),)
            options = replace(options, exclude=(*options.exclude, *SCRIPTS))
        sweep = sweep_of_pipeline(pipeline, source, options.test_queries, options.timeout, **given)
    if sweep.sweep.llm:
        limit = sweep.sweep.max_cost and sweep.sweep.max_cost.amount
        clients = LlmClients(LlmOptions(max_cost=limit), options.quiet)
        sweep = replace(sweep, client=clients.of(sweep.sweep.llm))
    tune_and_show(sweep, options, RunKeeper(options, quiet=options.quiet), options.review)


def tune_and_show(
    source: SweepSource,
    options: SweepOptions,
    keeper: RunKeeper | None = None,
    is_reviewed: bool = False,
) -> None:
    """Runs a sweep as its options say, shows what it found, and ends with the status that tells what was left out.

    One that is reviewed is run once more with the answers: its scores are known, but for those of edited questions.
    """
    from chunkwise.evaluation.sources import Skipped
    from chunkwise.tracking.record_run import run_of_sweep
    from chunkwise.tuning.run.sweep_folder import SweepFolder
    from chunkwise.tuning.tune import run_sweep

    if options.page is not None and SweepFolder(options.output).keeps(options.page):
        raise click.UsageError(
            f"{options.page} belongs to the sweep in {options.output}; write to another file"
        )
    left_out = Skipped(SkippedInputs(options.strict), say)
    if_interrupted = ""

    def prepared_to_run(prepared: PreparedSweep) -> RunOptions | None:
        nonlocal if_interrupted
        _check_and_announce(prepared, options)
        if_interrupted = f"progress is saved in {folder}: run the same command to resume"
        return None if options.dry_run else _run_options(prepared, options)

    def write(completed: CompletedSweep, folder: Path) -> None:
        nonlocal if_interrupted
        if_interrupted = (
            f"scores are saved in {folder}, but output files may be missing; write them: "
            f"chunkwise tune --resume -o {shlex.quote(str(folder))}"
        )
        if keeper is not None:
            inputs = completed.prepared.inputs
            keeper.keep(
                lambda: run_of_sweep(
                    completed.result, documents=inputs.documents, queries=inputs.questions.queries
                )
            )
        _write(completed, options)

    folder = options.output
    try:
        completed = run_sweep(
            source, folder, prepared_to_run, write, left_out=left_out,
            options=options.loading(), dry_run=options.dry_run,
        )  # fmt: skip
    except KeyboardInterrupt:
        if if_interrupted:
            say(if_interrupted)
        raise
    if completed and is_reviewed and review_sweep(completed, SweepFolder(folder).drafts):
        tune_and_show(source, options, keeper)
        return
    outcomes = completed.result.outcomes if completed else ()
    if failed := [outcome for outcome in outcomes if outcome.error and not outcome.waits]:
        say(
            f"{thousands(len(failed))} of {counted(len(outcomes), 'configuration')} failed: "
            f"{failed[0].error}"
        )
        sys.exit(SKIPPED)
    leave(
        not_reached=completed and completed.prepared.sweep.at_least and not completed.result.chosen
    )
    leave(skipped=left_out.any)


def _check_and_announce(prepared: PreparedSweep, options: SweepOptions) -> None:
    """Says how much work it is; refuses what would cost more than it may."""
    from chunkwise.base.runner import count_of
    from chunkwise.tuning.plan.sweep_budget import TOKENS_PER_SECOND
    from chunkwise.tuning.run.sweep_folder import SweepFolder

    sweep, material = prepared.sweep, prepared.inputs
    for strategy in sorted(
        {configuration.strategy for configuration in prepared.plan.configurations} - {""}
    ):
        refuse_unlimited(strategy)
    recorded = SweepFolder(options.output).known(prepared)
    known = {key for key, outcome in recorded.items() if not outcome.error}
    estimate = prepared.estimate(known, count_of(options.workers(material.characters)))
    lines = [
        f"{counted(len(material.documents), 'document')}, "
        + (
            f"up to {counted(material.expected, 'question')} generated from them"
            if material.expected
            else counted(len(material.questions), "question")
        ),
        *estimate.words,
    ]
    if sweep.pipeline:
        lines[1:] = [
            f"{counted(len(prepared.plan.configurations), 'configuration')} of {sweep.pipeline}"
        ]
    if estimate.tokens >= TOKENS_PER_SECOND:
        lines[-1] += f"; assumes {thousands(TOKENS_PER_SECOND)} tokens/s"
    if estimate.llm.calls:
        lines.append(f"language model: {estimate_words(estimate.llm)}")
    if done := sum(configuration.key in known for configuration in prepared.plan.configurations):
        lines.append(f"{counted(done, 'configuration')} done already")
    lines += prepared.notes
    if options.dry_run:
        lines += [*_doubts(prepared), *_left_out(prepared)]
    if estimate.over(_WELL_OVER * sweep.time, None):
        lines.append(f"stops at the time limit: {format_number(sweep.time, 'seconds')}")
    if not options.quiet:
        for line in lines:
            say(line)
    if over := estimate.over(None, sweep.max_cost and sweep.max_cost.amount):
        raise ChunkwiseError(f"{over}; try fewer chunkings, or raise --max-cost")


def _doubts(prepared: PreparedSweep) -> list[str]:
    """What the end would say of such a budget and so few questions."""
    from chunkwise.tuning.sweep import fits_nearly_all
    from chunkwise.tuning.validation import few_choose

    material = prepared.inputs
    if not len(material.questions):
        return []
    doubts = (
        fits_nearly_all(prepared.sweep.objective, material.tokens(prepared.sweep.tokenizer)),
        few_choose(material.splits.count("validation")),
    )
    return [line for line in doubts if line]


def _left_out(prepared: PreparedSweep) -> list[str]:
    """What the grid holds and is not tried, a line for each reason."""
    by_reason: dict[str, list[str]] = {}
    for what, why in prepared.plan.left_out:
        by_reason.setdefault(why, []).append(what)
    return [
        "skipped: "
        f"{'; '.join(names[:3])}{f' and {thousands(len(names) - 3)} more' if len(names) > 3 else ''} "
        f"({why})"
        for why, names in by_reason.items()
    ]


def _run_options(prepared: PreparedSweep, options: SweepOptions) -> RunOptions:
    from chunkwise.tuning.tune import RunOptions

    material = prepared.inputs
    leaders = Leaders(prepared.sweep.objective, material.splits, options.quiet)
    return RunOptions(options.workers(material.characters), leaders.add, leaders.stages)


def _write(completed: CompletedSweep, options: SweepOptions) -> None:
    from chunkwise.report.sweep_files import write_sweep_files
    from chunkwise.report.tuning_report import tuning_report

    written = write_sweep_files(completed, options.output, on_bad=say, page=options.page)
    if options.as_json or not options.quiet:
        following = _next_command(completed, options.output)
        options.print_result(
            lambda: tuning_report(completed.result, next_command=following),
            lambda: _shown_data(completed),
        )
    if not options.quiet:
        click.echo(f"written to {options.output}/: {', '.join(written)}", err=True)
        say_written(options.page)
        if client := completed.prepared.client:
            show_spent(client.spent)


def _next_command(completed: CompletedSweep, folder: Path) -> str:
    """Go on with what had no time, review questions, or apply the recommendation."""
    from chunkwise.tuning.plan.grid import YOUR_INDEX
    from chunkwise.tuning.run.sweep_folder import RECOMMENDATION

    result, sweep = completed.result, completed.prepared.sweep
    origins = completed.prepared.inputs.questions.origins.values()
    resume = f"chunkwise tune --resume -o {shlex.quote(str(folder))}"
    if any(outcome.waits for outcome in result.outcomes):
        return resume
    if result.chosen and result.grade == "early" and "generated" in origins:
        return f"{resume} --review"
    documents = " ".join(map(shlex.quote, sweep.documents))
    if any(outcome.configuration.baseline == YOUR_INDEX for outcome in result.outcomes):
        documents = "DOCUMENTS"  # an index cannot be made from an index
    if result.chosen and not sweep.pipeline:
        file = shlex.quote(str(folder / RECOMMENDATION))
        return f"chunkwise index {documents} --into kb -c {file}"
    return ""


def _shown_data(completed: CompletedSweep) -> dict[str, object]:
    result, recommendation = completed.result, completed.recommendation
    standing = next((item for item in result.standings if item.key == result.chosen), None)
    tested = None if standing is None else standing.test
    figures = {
        "questions_not_used": result.nested.figure if result.nested else tested,
        "questions_that_chose": None if standing is None else standing.validation,
    }
    return {
        "grade": result.grade,
        "sentence": result.sentence,
        "objective": result.objective,
        **{
            name: {
                "mean": figure.mean,
                "low": figure.low,
                "high": figure.high,
                "questions": figure.scored,
            }
            for name, figure in figures.items()
            if figure is not None
        },
        "caveats": list(result.caveats),
        "recommendation": recommendation and recommendation.changed(),
    }


class Leaders:
    """By their mean on the questions that choose: the others are not looked at before the choice is made."""

    def __init__(self, objective: str, splits: Sequence[str], quiet: bool) -> None:
        from chunkwise.metrics.registry import lower_is_better

        self._objective = objective
        self._chooses = [split == "validation" for split in splits]
        self._sign = 1 if lower_is_better(objective) else -1
        self._quiet = quiet
        self._best: tuple[float, str] | None = None

    def add(self, outcome: Outcome) -> None:
        """One more is known; of equals the first leads."""
        scores = outcome.scores.get(self._objective, ())
        # Of questions that are generated meanwhile, all.
        chooses = self._chooses or [True] * len(scores)
        chosen = [
            score
            for score, is_one in zip(scores, chooses, strict=False)
            if is_one and score is not None
        ]
        if chosen:
            mean = sum(chosen) / len(chosen)
            if self._best is None or self._sign * mean < self._sign * self._best[0]:
                self._best = mean, outcome.configuration.label

    @contextmanager
    def stages(self, name: str, total: int) -> Iterator[OnProgress]:
        """A stage of the sweep, with the leader in its lines."""
        done = 0

        def advance_with_best(amount: int, note: str) -> None:
            nonlocal done
            done += amount
            if name == "configurations":
                note = f"{thousands(done)} of {thousands(total)}{self.words()}"
            advance(amount, note)

        with progress(name, total, self._quiet) as advance:
            yield advance_with_best

    def words(self) -> str:
        """The leader so far; empty: none is known."""
        from chunkwise.metrics.registry import format_score

        if self._best is None:
            return ""
        mean, label = self._best
        return f"; best so far: {one_line(label, 80)} {format_score(self._objective, mean)}"
