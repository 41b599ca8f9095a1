"""`chunkwise tune`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chunkwise.base.atomic_files import shown_path
from chunkwise.base.wording import counted, score, thousands, time_words
from chunkwise.cli.dataclass_options import RealRange, dataclass_command, is_typed, option
from chunkwise.cli.exit_status import NOT_REACHED, SKIPPED
from chunkwise.cli.keep_run import KeepOptions, RunKeeper
from chunkwise.cli.llm import LlmClients, estimate_words, refuse_unlimited, show_spent
from chunkwise.cli.options import (
    COUNT,
    AllowOption,
    JobsOption,
    SourceOptions,
    check_outputs,
    json_flag,
    page_file,
    queries_file,
    tokenizer_name,
)
from chunkwise.cli.progress import fetch_weights, progress
from chunkwise.cli.streams import print_json, say, say_skipped, stdout_console
from chunkwise.options import LlmOptions

if TYPE_CHECKING:
    from rich.table import Table

    from chunkwise.core import OnProgress
    from chunkwise.records.read import OnBadRow
    from chunkwise.tracking.run import KeptRun
    from chunkwise.tuning.plan.prepare import PreparedSweep, SweepSource
    from chunkwise.tuning.sweep_result import Outcome
    from chunkwise.tuning.tune import CompletedSweep, RunOptions

FOLDER = "chunkwise-tune"
_UNASKED = (
    "without questions (--queries FILE) cuts, sizes and costs are compared, and nothing is recommended; "
    "chunkwise testset generate DOCUMENTS -o FILE makes questions"
)
_LEADERS = 5
"""Configurations shown while a sweep runs."""

_EXAMPLES = """
\b
Examples:
  chunkwise tune handbook/ -Q queries.json              # the usual sweep, a recommendation, report.html
  chunkwise tune handbook/ -Q queries.json --dry-run    # how much work it is; nothing else
  chunkwise tune sweep.toml -o out                                  # a plan of your own, kept under version control
  chunkwise tune handbook/ -Q queries.json --save       # `chunkwise runs` remembers it
  chunkwise tune --resume -o out                                    # continue; the same command again does it, too
  chunkwise tune handbook/ -Q queries.json --pipeline ./mine.py:build       # a pipeline of your own
  chunkwise tune handbook/ -Q queries.json --embedder none --time-limit "5 min"   # by words alone
\b
Then: chunkwise index handbook/ --into kb --config chunkwise-tune/recommendation.toml
\b
Exit status: 0 done, 4 no configuration has what --at-least asks for, 3 something was left out or failed (a line on
stderr), 1 an error, 2 wrong usage or value.
"""


@dataclass(frozen=True, kw_only=True)
class SweepOptions(AllowOption, JobsOption, SourceOptions):
    """How a sweep is run, whatever it tries."""

    output: Path = option(
        "-o", "--output", type=click.Path(path_type=Path, file_okay=False), default=Path(FOLDER),
        show_default=True, metavar="FOLDER", help="Folder for the recommendation, the report and all results so far.",
    )  # fmt: skip
    page: Path | None = page_file("Write the report, report.html of the folder, to this file, too.")
    dry_run: bool = option("--dry-run", is_flag=True, help="Only say how much work it is.")
    as_json: bool = json_flag("Print the recommendation as JSON on stdout and nothing else.")


@dataclass(frozen=True, kw_only=True)
class TuneOptions(KeepOptions, SweepOptions, LlmOptions):
    """The options of `chunkwise tune`."""

    test_queries: str | None = queries_file(
        "Questions with references (the passages that answer them), in any format that evaluate reads."
    )  # fmt: skip
    objective: str | None = option(
        "--objective", metavar="METRIC", show_default="recall@1000t",
        help="Metric that the best configuration is chosen by: one that scores questions by what is retrieved; "
        "recall@1000t is recall within 1,000 tokens. `chunkwise list metrics` lists them.",
    )  # fmt: skip
    at_least: tuple[str, ...] = option(
        "--at-least", multiple=True, metavar="NAME=VALUE",
        help="Choose only what has at least this mean: precision=0.3. May be repeated.",
    )  # fmt: skip
    count: int | None = option(
        "-k", type=COUNT, metavar="N", show_default="5", help="Number of hits for each question."
    )  # fmt: skip
    embedder: tuple[str, ...] = option(
        "--embedder", multiple=True, metavar="NAME", show_default="minilm",
        help="Embedding model; none: search by words only. May be repeated: the best are tried with the others.",
    )  # fmt: skip
    reranker: tuple[str, ...] = option(
        "--reranker", multiple=True, metavar="NAME",
        help="Model that reads hits once more, tried on the best: local, maxsim, https://HOST/rerank#NAME … "
        "May be repeated.",
    )  # fmt: skip
    maxsim: str | None = option(
        "--maxsim", metavar="NAME",
        help="Token vectors (late interaction), tried on the best that searches several sizes: colbert-small.",
    )  # fmt: skip
    tokenizer: str | None = tokenizer_name("o200k_base")
    time: str | None = option(
        "--time-limit", metavar="TIME", help='Time that the sweep may take: "10 min", "90 s".'
    )
    exact: bool = option(
        "--exact", is_flag=True,
        help="Embed every chunk of every configuration by itself, not only those of the finalists; slower.",
    )  # fmt: skip
    no_prior: bool = option(
        "--no-prior", is_flag=True,
        help="Use no prior knowledge: what parameters did on public question sets does not count.",
    )  # fmt: skip
    pipeline: str | None = option(
        "--pipeline", metavar="FILE.py:NAME",
        help="Tune your own pipeline: NAME builds it, and the PARAMETERS that FILE declares are tried, those of the "
        "index and those of a question.",
    )  # fmt: skip
    timeout: float = option(
        "--timeout", type=RealRange(0.001, 86_400), default=60.0, show_default=True, metavar="SECONDS",
        help="The longest your own pipeline may take for a question; what takes longer has no score.",
    )  # fmt: skip
    seed: int | None = option(
        "--seed", type=click.IntRange(0), metavar="N", show_default="0",
        help="Seed of the random numbers that divide the questions into folds and make confidence intervals.",
    )  # fmt: skip
    resume: bool = option("--resume", is_flag=True, help="Continue the sweep in the output folder.")


@dataclass_command("tune", TuneOptions, examples=_EXAMPLES)
def command(options: TuneOptions) -> None:
    """Find the chunking and the search that work for your documents, and prove it.

    SOURCE is any number of documents (files, folders, globs, archives), or a plan (sweep.toml). The choice is made on
    all questions and judged by leaving some out in turn; questions that the file marks as test never choose. Results
    are kept: the same command continues where it was stopped.
    """
    from chunkwise.evaluation.sources import SCRIPTS
    from chunkwise.tuning.plan.prepare import sweep_from_source

    if options.pipeline is not None:
        source = _of_pipeline(options)
        if not (options.source or options.include):
            options = replace(options, exclude=(*options.exclude, *SCRIPTS))
        tune_and_show(source, options, RunKeeper(options, quiet=options.quiet))
        return
    if is_typed("timeout"):
        raise click.UsageError(
            "--timeout is for a pipeline of your own: --pipeline ./mine.py:build"
        )
    first = options.embedder[0] if options.embedder else None
    source = sweep_from_source(
        options.source, options.test_queries,
        embedder=first,
        embedders=None if first is None else options.embedder[1:],
        rerankers=options.reranker or None, maxsim=options.maxsim,
        objective=options.objective, k=options.count, seed=options.seed, exact=options.exact or None,
        time=options.time, tokenizer=options.tokenizer, prior=False if options.no_prior else None,
        at_least=options.at_least, llm=options.llm_name if is_typed("llm") else None,
        resume=options.output if options.resume else None,
    )  # fmt: skip
    if source.sweep.llm:
        source = replace(source, client=LlmClients(options, options.quiet).of(source.sweep.llm))
    tune_and_show(source, options, RunKeeper(options, quiet=options.quiet))


def _of_pipeline(options: TuneOptions) -> SweepSource:
    """A sweep of the user's own pipeline, which knows its models and its chunks itself."""
    from chunkwise.evaluation.sources import documents_beside
    from chunkwise.tuning.plan.prepare import sweep_of_pipeline

    assert options.pipeline is not None
    for name in ("embedder", "reranker", "maxsim", "exact", "no_prior", "resume"):
        if getattr(options, name):
            flag = f"--{name.replace('_', '-')}"
            more = ": the same command goes on by itself" if name == "resume" else ""
            raise click.UsageError(
                f"{flag} is not for a pipeline of your own (--pipeline){more}; leave it out"
            )
    source = options.source
    if not source and options.test_queries is not None:
        source = (documents_beside(options.test_queries, say),)
    return sweep_of_pipeline(
        options.pipeline, source, options.test_queries, objective=options.objective, k=options.count,
        seed=options.seed, time=options.time, tokenizer=options.tokenizer, timeout=options.timeout,
        at_least=options.at_least,
    )  # fmt: skip


def tune_and_show(
    source: SweepSource, options: SweepOptions, keeper: RunKeeper | None = None
) -> None:
    """Runs a sweep as its options say, shows what it found, and ends with the status that tells what was left out."""
    from chunkwise.evaluation.sources import Skipped
    from chunkwise.tuning.tune import run_sweep

    outputs = _check_page(source, options)
    left_out = Skipped(*_listeners(options.strict), on_remark=say)
    if_interrupted = ""

    def prepared_to_run(prepared: PreparedSweep) -> RunOptions | None:
        nonlocal if_interrupted
        _check_and_announce(prepared, options)
        if_interrupted = f"what is done is kept in {folder}: the same command goes on with it"
        return None if options.dry_run else _run_options(prepared, options)

    def write(completed: CompletedSweep, folder: Path) -> None:
        nonlocal if_interrupted
        if_interrupted = (
            f"every figure is kept in {folder}, and what was being written may be missing: "
            f"chunkwise tune --resume -o {shlex.quote(str(folder))} writes it"
        )
        try:
            _write(completed, options)
        finally:  # who reads the output may leave early
            if keeper is not None:
                keeper.keep(lambda: _kept(completed))

    folder = options.output
    try:
        completed = run_sweep(
            source, folder, prepared_to_run, write, left_out=left_out, options=options.loading(outputs),
            dry_run=options.dry_run,
        )  # fmt: skip
    except KeyboardInterrupt:
        if if_interrupted:
            say(if_interrupted)
        raise
    outcomes = completed.result.outcomes if completed else ()
    if failed := [outcome for outcome in outcomes if outcome.error and not outcome.waits]:
        say(
            f"{thousands(len(failed))} of {counted(len(outcomes), 'configuration')} failed: {failed[0].error}"
        )
        sys.exit(SKIPPED)
    if completed and completed.prepared.sweep.at_least and not completed.result.chosen:
        sys.exit(NOT_REACHED)
    if left_out.any:
        sys.exit(SKIPPED)


def _check_page(source: SweepSource, options: SweepOptions) -> list[Path]:
    """Where it is written; over what the sweep reads, whoever names it, or what its folder keeps, it is refused."""
    from chunkwise.tuning.run.sweep_folder import SweepFolder

    sweep = source.sweep
    read = [*sweep.documents, sweep.test_queries, source.plan]
    outputs = check_outputs(
        [os.fspath(each) for each in read if each is not None], page=options.page
    )
    if options.page is not None and SweepFolder(options.output).keeps(options.page):
        raise click.UsageError(
            f"{options.page} is one of the files that the sweep keeps in {options.output} and would be overwritten; "
            "write to another file"
        )
    return outputs


def _kept(completed: CompletedSweep) -> KeptRun:
    from chunkwise.tracking.record_run import run_of_sweep

    inputs = completed.prepared.inputs
    return run_of_sweep(
        completed.result, documents=inputs.documents, queries=inputs.questions.queries
    )


def _listeners(strict: bool) -> tuple[OnBadRow, OnBadRow]:
    from chunkwise.base.errors import ChunkwiseError

    def bad(line: str) -> None:
        if strict:
            raise ChunkwiseError(line)
        say_skipped(line)

    return bad, lambda line: say(f"mended {line}")


def _check_and_announce(prepared: PreparedSweep, options: SweepOptions) -> None:
    """Says how much work it is; refuses what would cost more than it may."""
    from chunkwise.base.errors import ChunkwiseError
    from chunkwise.base.workers import count_of
    from chunkwise.tuning.plan.prepare import TOKENS_PER_SECOND
    from chunkwise.tuning.run.sweep_folder import SweepFolder

    sweep, material = prepared.sweep, prepared.inputs
    for strategy in sorted({each.strategy for each in prepared.plan.configurations} - {""}):
        refuse_unlimited(strategy)
    record = SweepFolder(options.output).record
    recorded = record.known(prepared.plan.configurations)
    known = {key for key, outcome in recorded.items() if not outcome.error}
    estimate = prepared.estimate(known, count_of(options.workers(material.characters)))
    lines = [
        f"{counted(len(material.documents), 'document')}, {counted(len(material.questions), 'question')}",
        *estimate.words,
    ]
    if sweep.pipeline:
        lines[1:] = [
            f"{counted(len(prepared.plan.configurations), 'configuration')} of {sweep.pipeline}"
        ]
    if estimate.tokens and estimate.embedding + estimate.finalists >= 1:
        lines[-1] += f"; the time is for {thousands(TOKENS_PER_SECOND)} a second"
    if estimate.llm.calls:
        lines.append(f"language model: {estimate_words(estimate.llm)}")
    if done := sum(each.key in known for each in prepared.plan.configurations):
        lines.append(f"{counted(done, 'configuration')} done already")
    if len(material.questions):
        lines += prepared.notes  # nobody asks: no vectors are made
    else:
        lines.append(_UNASKED)
    if options.dry_run:
        lines += [*_doubts(prepared), *_left_out(prepared)]
    if not options.quiet:
        for line in lines:
            say(line)
        if sweep.seconds is not None and estimate.over(sweep.seconds, None):
            say(
                f"that is more than {time_words(sweep.seconds)}: what is left then waits for the same command"
            )
    if over := estimate.over(None, sweep.money):
        raise ChunkwiseError(f"{over}; try fewer chunkings, or raise the budget in the plan")


def _doubts(prepared: PreparedSweep) -> list[str]:
    """What the end would say of such a budget and so few questions."""
    from chunkwise.tuning.sweep import fits_nearly_all
    from chunkwise.tuning.validation import few_choose

    material = prepared.inputs
    if not len(material.questions):
        return []
    chose = material.splits.count("validation")
    doubts = (
        fits_nearly_all(prepared.sweep.objective, material.tokens(prepared.sweep.tokenizer)),
        few_choose(chose, len(material.questions)),
    )
    return [line for line in doubts if line]


def _left_out(prepared: PreparedSweep) -> list[str]:
    """What the grid holds and is not tried, a line for each reason."""
    by_reason: dict[str, list[str]] = {}
    for what, why in prepared.plan.left_out:
        by_reason.setdefault(why, []).append(what)
    return [
        f"left out: {'; '.join(names[:3])}{f' and {thousands(len(names) - 3)} more' if len(names) > 3 else ''} ({why})"
        for why, names in by_reason.items()
    ]


def _run_options(prepared: PreparedSweep, options: SweepOptions) -> RunOptions:
    from chunkwise.tuning.tune import RunOptions

    material = prepared.inputs
    for name in (prepared.sweep.embedder, *prepared.sweep.embedders):
        fetch_weights(name, options.quiet)
    for name in prepared.sweep.rerankers:
        fetch_weights(name, options.quiet, "reranker")
    fetch_weights(prepared.sweep.maxsim, options.quiet, "token encoder")
    leaders = Leaders(prepared.sweep.objective, material.splits, options.quiet)
    return RunOptions(options.workers(material.characters), leaders.add, leaders.stages)


def _write(completed: CompletedSweep, options: SweepOptions) -> None:
    from chunkwise.report.sweep_files import write_sweep_files

    written = write_sweep_files(completed, options.output, on_bad=say, page=options.page)
    if options.as_json:
        _print_json(completed)
    elif not options.quiet:
        from chunkwise.report.terminal.tuning import render_tuning
        from chunkwise.report.views.tuning import tuning_view

        render_tuning(tuning_view(completed.result), stdout_console())
    if not options.quiet:
        sys.stdout.flush()
        click.echo(f"written to {options.output}/: {', '.join(written)}", err=True)
        if options.page is not None:
            click.echo(f"written: {shown_path(options.page)}", err=True)
        if client := completed.prepared.client:
            show_spent(client.spent)


def _print_json(completed: CompletedSweep) -> None:
    result, recommendation = completed.result, completed.recommendation
    standing = next((each for each in result.standings if each.key == result.chosen), None)
    tested = None if standing is None else standing.test
    figures = {
        "questions_not_used": result.nested.figure if result.nested else tested,
        "questions_that_chose": None if standing is None else standing.validation,
    }
    shown = {
        "sentence": result.sentence,
        "objective": result.objective,
        **{
            name: {"mean": each.mean, "low": each.low, "high": each.high, "questions": each.scored}
            for name, each in figures.items()
            if each is not None
        },
        "caveats": list(result.caveats),
        "recommendation": recommendation and recommendation.settings(),
    }
    print_json(shown, indent=None)


class Leaders:
    """By their mean on the questions that choose: the others are not looked at before the choice is made."""

    def __init__(self, objective: str, splits: Sequence[str], quiet: bool) -> None:
        from chunkwise.metrics.registry import lower_is_better

        self._objective = objective
        self._chooses = [split == "validation" for split in splits]
        self._sign = 1 if lower_is_better(objective) else -1
        self._quiet = quiet
        self._means: dict[str, float] = {}

    def add(self, outcome: Outcome) -> None:
        """One more is known."""
        scores = outcome.scores.get(self._objective, ())
        chosen = [
            score
            for score, chooses in zip(scores, self._chooses, strict=False)
            if chooses and score is not None
        ]
        if chosen:
            self._means[outcome.configuration.label] = sum(chosen) / len(chosen)

    @property
    def best(self) -> list[tuple[str, float]]:
        """At most five, the best first; of equals the one that was known first."""
        order = sorted(self._means, key=lambda label: self._sign * self._means[label])
        return [(label, self._means[label]) for label in order[:_LEADERS]]

    @contextmanager
    def stages(self, name: str, total: int) -> Iterator[OnProgress]:
        """A stage of the sweep, with the leaders below its bar or in its lines."""
        done = 0

        def advance_with_best(amount: int, note: str) -> None:
            nonlocal done
            done += amount
            if name == "configurations":
                note = f"{thousands(done)} of {thousands(total)}{self._told_best()}"
            advance(amount, note)

        with progress(name, total, self._quiet, below=self._table) as advance:
            yield advance_with_best

    def _told_best(self) -> str:
        """For a line; on a terminal the leaders stand below."""
        from chunkwise.report.sanitize import one_line

        if not self._means or sys.stderr.isatty():
            return ""
        label, mean = self.best[0]
        return f"; best so far: {one_line(label, 80)} {score(mean)}"

    def _table(self) -> Table | None:
        from rich.table import Table
        from rich.text import Text

        from chunkwise.report.sanitize import one_line

        if not self._means:
            return None
        table = Table.grid(padding=(0, 2))
        table.add_column()
        table.add_column(no_wrap=True, overflow="ellipsis")
        for label, mean in self.best:
            table.add_row(f"  {score(mean)}", Text(one_line(label, 100)))
        return table
