"""`chunkwise tune`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chunkwise.cli.inputs import SKIPPED, document_options, jobs_option, load_options, worker_count

if TYPE_CHECKING:
    from chunkwise.evaluation.left_out import LeftOut, OnBad
    from chunkwise.tuning.plan.prepare import PreparedSweep
    from chunkwise.tuning.sweep import Sweep
    from chunkwise.tuning.sweep_result import SweepResult

FOLDER = "chunkwise-tune"
_UNASKED = (
    "without questions (--test-queries FILE) cuts, sizes and costs are compared, and nothing is recommended; "
    "chunkwise testset generate DOCUMENTS -o FILE makes questions"
)

_EXAMPLES = """
\b
Examples:
  chunkwise tune handbook/ --test-queries queries.json              # a sensible sweep, a recommendation, report.html
  chunkwise tune handbook/ --test-queries queries.json --dry-run    # how much work it is, and nothing else
  chunkwise tune sweep.toml -o out                                  # a plan of your own, kept under version control
  chunkwise tune --resume -o out                                    # or the same command again: goes on
  chunkwise tune handbook/ --test-queries queries.json --model none --time "5 min"   # by words alone
\b
Then: chunkwise index handbook/ --into kb --config chunkwise-tune/recommendation.toml
\b
Exit status: 0 done, 3 something was left out or failed (a line on stderr), 1 an error, 2 wrong usage or value.
"""


@click.command("tune", epilog=_EXAMPLES)
@click.option(
    "--test-queries",
    "--queries",
    metavar="FILE",
    help="Questions with references, in any known format.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), default=FOLDER,
              show_default=True, metavar="FOLDER", help="Where everything is kept, finished or not.")  # fmt: skip
@click.option(
    "--objective", metavar="METRIC", show_default="recall@1000t", help="What is to be high."
)
@click.option(
    "-k", "count", type=click.IntRange(1), metavar="N", show_default="5", help="Hits a question."
)
@click.option(
    "--model", metavar="NAME", show_default="minilm", help="What makes vectors; none: words alone."
)
@click.option(
    "--time", "budget", metavar="TIME", help='The time that may be spent: "10 min", "90 s".'
)
@click.option(
    "--exact", is_flag=True, help="Embed every distinct chunk by itself, not only the finalists'."
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    metavar="N",
    show_default="0",
    help="Of the split and the resamples.",
)
@click.option("--resume", is_flag=True, help="Go on with the sweep in the output folder.")
@click.option("--dry-run", is_flag=True, help="Say how much work it is, and stop.")
@click.option(
    "--json", "as_json", is_flag=True, help="The recommendation as JSON on stdout, nothing else."
)
@jobs_option
@document_options
def command(inputs: tuple[str, ...], **options: Any) -> None:
    """Find the chunking and the search that work for your documents, and prove it.

    INPUTS are documents, or a plan (sweep.toml). The choice is made on one part of the questions and judged on the
    other. What is done is kept: the same command goes on where it was stopped.
    """
    folder = Path(options["output"])
    sweep, plan = _sweep(inputs, folder, options)
    run_sweep(sweep, folder, options, plan)


def run_sweep(
    sweep: Sweep, folder: Path, options: dict[str, Any], plan: Path | None = None
) -> None:
    """All of it; `plan` is the file the sweep was read from."""
    from chunkwise.cli.messages import say
    from chunkwise.cli.strategy_llm import refuse_unlimited
    from chunkwise.evaluation.left_out import LeftOut
    from chunkwise.report.tuning.written import files_of, keep_plan, refuse_another
    from chunkwise.tuning.plan.prepare import prepare_sweep

    left_out = LeftOut(*_listeners(options["strict"]))
    _check_folder(folder, dry=options["dry_run"])
    written = [*files_of(folder), *([plan.resolve()] if plan else [])]
    prepared = prepare_sweep(sweep, left_out, options=load_options(options), leave_out=written)
    for strategy in sorted({each.strategy for each in prepared.plan.configurations} - {""}):
        refuse_unlimited(strategy)
    refuse_another(prepared, folder)
    _tell_work(prepared, folder, options)
    if not options["dry_run"]:
        keep_plan(prepared, folder)
        try:
            tuning = _run(prepared, folder, left_out, options)
        except KeyboardInterrupt:
            say(f"what is done is kept in {folder}: the same command goes on with it")
            raise
        try:
            _write(tuning, prepared, folder, options)
        except KeyboardInterrupt:
            say(
                f"every figure is kept in {folder}, and what was being written may be missing: "
                f"chunkwise tune --resume -o {shlex.quote(str(folder))} writes it"
            )
            raise
        if failed := [each for each in tuning.outcomes if each.error and not each.waits]:
            say(
                f"{len(failed):,} of {len(tuning.outcomes):,} configurations failed: {failed[0].error}"
            )
            sys.exit(SKIPPED)
    if left_out.any:
        sys.exit(SKIPPED)


def _listeners(strict: bool) -> tuple[OnBad, OnBad]:
    from chunkwise.base.errors import ChunkwiseError
    from chunkwise.cli.messages import say, say_skipped

    def bad(line: str) -> None:
        if strict:
            raise ChunkwiseError(line)
        say_skipped(line)

    return bad, lambda line: say(f"mended {line}")


def _check_folder(folder: Path, *, dry: bool) -> None:
    """That nothing can be written there is told before hours are spent."""
    from chunkwise.base.atomic import check_writable
    from chunkwise.report.tuning.written import RESULTS

    if not dry and folder.exists():
        check_writable(folder / RESULTS)


def _sweep(
    inputs: tuple[str, ...], folder: Path, options: dict[str, Any]
) -> tuple[Sweep, Path | None]:
    """From a plan, from the folder, or the usual one; what is said on the command line wins."""
    from chunkwise.report.tuning.tuned import changed, seconds_of
    from chunkwise.report.tuning.written import PLAN
    from chunkwise.tuning.plan.default_sweep import default_sweep
    from chunkwise.tuning.plan.sweep_file import read_sweep

    path: Path | None = None
    if options["resume"]:
        if inputs:
            raise click.UsageError(
                "--resume goes on with what is in the folder: name no documents beside it"
            )
        path = folder / PLAN
        if not path.is_file():
            raise click.UsageError(
                f"{folder} holds no sweep to go on with; name another folder: -o FOLDER"
            )
    elif any(name.lower().endswith(".toml") for name in inputs):
        if len(inputs) > 1:
            raise click.UsageError(
                "a plan names its documents itself: give the plan alone, or documents alone"
            )
        path = Path(inputs[0])
    elif not inputs:
        raise click.UsageError("no documents: name files or folders, or a plan: sweep.toml")
    sweep = default_sweep(inputs, None, has_headings=True) if path is None else read_sweep(path)
    model = options["model"]
    sweep = changed(
        sweep, test_queries=options["test_queries"], objective=options["objective"],
        k=options["count"], seed=options["seed"], exact=options["exact"] or None,
        seconds=options["budget"] and seconds_of(options["budget"]),
        model="" if model == "none" else model,
    )  # fmt: skip
    return sweep, path


def _tell_work(prepared: PreparedSweep, folder: Path, options: dict[str, Any]) -> None:
    """What there is to do, before it is done; what would cost more than it may is not begun."""
    from chunkwise.base.errors import ChunkwiseError
    from chunkwise.base.wording import counted
    from chunkwise.cli.messages import say
    from chunkwise.tuning.plan.prepare import TOKENS_PER_SECOND
    from chunkwise.tuning.tune import sweep_record
    from chunkwise.tuning.wording import time_words

    sweep, material = prepared.sweep, prepared.material
    known = {key for key, each in sweep_record(folder).known().items() if not each.error}
    told = prepared.estimate(known, worker_count(options["jobs"], material.characters))
    lines = [
        f"{counted(len(material.documents), 'document')}, {counted(len(material.questions), 'question')}",
        *told.words,
    ]
    if told.tokens and told.embedding + told.finalists >= 1:
        lines[-1] += f"; the time is for {TOKENS_PER_SECOND:,.0f} a second"
    if done := sum(each.key in known for each in prepared.plan.configurations):
        lines.append(f"{counted(done, 'configuration')} done already")
    if not len(material.questions):
        lines.append(_UNASKED)
    if options["dry_run"]:
        lines += [*_doubts(prepared), *_left_out(prepared)]
    if not options["quiet"]:
        for line in lines:
            say(line)
        if sweep.seconds is not None and told.over(sweep.seconds, None):
            say(
                f"that is more than {time_words(sweep.seconds)}: what is left then waits for the same command"
            )
    if over := told.over(None, sweep.money):
        raise ChunkwiseError(f"{over}; try fewer chunkings, or raise the budget in the plan")


def _doubts(prepared: PreparedSweep) -> list[str]:
    """What the end would say of such a budget and so few questions."""
    from chunkwise.tuning.choose.explain import few_choose, fits_nearly_all

    material = prepared.material
    if not len(material.questions):
        return []
    chose = material.splits.count("validation")
    found = (
        fits_nearly_all(prepared.sweep.objective, material.tokens()),
        few_choose(chose, len(material.questions)),
    )
    return [line for line in found if line]


def _left_out(prepared: PreparedSweep) -> list[str]:
    """What the grid holds and is not tried, a line for each reason."""
    by_reason: dict[str, list[str]] = {}
    for what, why in prepared.plan.left_out:
        by_reason.setdefault(why, []).append(what)
    return [
        f"left out: {'; '.join(names[:3])}{f' and {len(names) - 3:,} more' if len(names) > 3 else ''} ({why})"
        for why, names in by_reason.items()
    ]


def _run(
    prepared: PreparedSweep, folder: Path, left_out: LeftOut, options: dict[str, Any]
) -> SweepResult:
    from chunkwise.cli.tune_leaders import Leaders
    from chunkwise.cli.weights import fetch_weights
    from chunkwise.tuning.tune import run_and_choose, sweep_record

    material = prepared.material
    fetch_weights(prepared.sweep.model, options["quiet"])
    leaders = Leaders(prepared.sweep.objective, material.splits, options["quiet"])
    return run_and_choose(
        prepared, sweep_record(folder), left_out=left_out,
        jobs=worker_count(options["jobs"], material.characters),
        on_outcome=leaders.add, stages=leaders.stages,
    )  # fmt: skip


def _write(
    tuning: SweepResult, prepared: PreparedSweep, folder: Path, options: dict[str, Any]
) -> None:
    from chunkwise.cli.messages import say
    from chunkwise.report.tuning.written import write_tuned

    written = write_tuned(tuning, prepared, folder, on_bad=say)
    if options["as_json"]:
        _print_json(tuning, prepared)
    elif not options["quiet"]:
        from rich.console import Console

        from chunkwise.report.tuning.terminal import render_tuning

        render_tuning(tuning, Console(file=sys.stdout, highlight=False))
    if not options["quiet"]:
        sys.stdout.flush()
        click.echo(f"written to {folder}/: {', '.join(written)}", err=True)


def _print_json(tuning: SweepResult, prepared: PreparedSweep) -> None:
    import json

    from chunkwise.report.tuning.tuned import recommended

    found = recommended(tuning, prepared)
    told = {
        "sentence": tuning.sentence,
        "caveats": list(tuning.caveats),
        "recommendation": found and found.settings(),
    }
    click.echo(json.dumps(told, ensure_ascii=False))
