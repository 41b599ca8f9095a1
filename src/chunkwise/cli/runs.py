"""`chunkwise runs` and its commands."""

from __future__ import annotations

import sys
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated

import click
from msgspec import Meta

from chunkwise.base.amounts import parse_time
from chunkwise.base.schema import Count, Name, Option, argument
from chunkwise.base.wording import counted, thousands
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.exit_status import FAILED, SKIPPED, WRONG_USAGE, leave
from chunkwise.cli.groups import DefaultGroup
from chunkwise.cli.keep_run import HistoryOption
from chunkwise.cli.options import Force, JsonOption, Output
from chunkwise.cli.report_options import JsonOrReport, ReportOptions
from chunkwise.cli.runs_baseline import command as baseline
from chunkwise.cli.streams import json_stdout, say, shown_place
from chunkwise.records.write import json_line
from chunkwise.report.report import Report
from chunkwise.report.runs_report import (
    metric_history_report,
    run_difference_report,
    run_report,
    runs_report,
)
from chunkwise.tracking import RunKind
from chunkwise.tracking.export_tables import export_rows, write_rows
from chunkwise.tracking.history import History, run_number
from chunkwise.tracking.import_runs import import_results
from chunkwise.tracking.run import time_text
from chunkwise.tracking.run_rows import list_runs as runs_of
from chunkwise.tracking.run_rows import metric_history

Kind = Annotated[RunKind | None, Option(
    "Only runs of this kind", metavar="KIND", group="Output", common=True
)]  # fmt: skip


class ListOptions(HistoryOption, JsonOrReport):
    """The options of `chunkwise runs list`."""

    last: Annotated[Count, Option(
        "Runs to show, latest first", metavar="N", group="Output", common=True
    )] = 20  # fmt: skip
    kind: Kind = None


@dataclass_command("runs", ListOptions)
def list_runs(options: ListOptions) -> None:
    """List saved runs: scores, trends, and changes since the previous run.

    `evaluate`, `tune`, `compare`, `testset calibrate`, `lint` and `profile` save runs with --save.

    Examples:
      chunkwise evaluate docs/ -Q q.json --save
      chunkwise runs
      chunkwise runs --last 5 --kind evaluate
      chunkwise runs show 41
    """

    history = options.opened()
    runs = runs_of(history, kind=options.kind, last=options.last)
    if not options.as_json and not runs.rows:
        _say_empty(history, options.kind if runs.total else None)
        return

    def report() -> Report:
        latest = runs.rows[0]
        before = latest.before
        which = f"show {latest.number}" if before is None else f"diff {before} {latest.number}"
        return runs_report(runs, f"chunkwise runs {which}{history.option}")

    options.print_result(report, lambda: runs)


def _say_empty(history: History, kind: str | None = None) -> None:
    what = f"no runs of kind {kind!r}" if kind else "no runs"
    say(
        f"{what} in {shown_place(history.place)} yet; save one: chunkwise {kind or 'evaluate'} "
        f"… --save, or import files: chunkwise runs import FILE..."
    )


class ShowOptions(HistoryOption, JsonOrReport):
    """The options of `chunkwise runs show`."""

    run: Annotated[str, argument("RUN")]


@dataclass_command("show", ShowOptions)
def show(options: ShowOptions) -> None:
    """Show one run: scores, settings, versions, origin and changes.

    RUN is its number, `last` or `baseline`.

    Examples:
      chunkwise runs show 41
      chunkwise runs show last --json
    """

    history = options.opened()
    number = run_number(history, options.run)
    options.print_result(lambda: run_report(history, number), lambda: history.run(number).to_dict())


class DiffOptions(HistoryOption, JsonOrReport):
    """The options of `chunkwise runs diff`."""

    before: Annotated[str, argument("BEFORE")]
    after: Annotated[str, argument("AFTER")]


@dataclass_command("diff", DiffOptions)
def diff(options: DiffOptions) -> None:
    """Show what changed between two runs, and why their scores differ.

    BEFORE and AFTER are run numbers, `last` or `baseline`.

    Examples:
      chunkwise runs diff 41 57
      chunkwise runs diff baseline last -v
      chunkwise runs diff 41 57 --json

    The difference is attributed to questions, documents, settings and versions; the parts add up. See
    docs/how-to/monitor.md.
    """

    history = options.opened()
    before = run_number(history, options.before, beside=options.after)
    after = run_number(history, options.after, beside=options.before)
    if before == after:
        raise click.UsageError(f"cannot compare run {before} with itself; give two runs")
    options.print_result(
        lambda: run_difference_report(history, before, after),
        lambda: history.difference(before, after).to_dict(),
    )


class ChartOptions(HistoryOption, ReportOptions):
    """The options of `chunkwise runs chart`."""

    metric: Annotated[Name | None, argument("[METRIC]")] = None
    kind: Kind = None
    last: Annotated[Count | None, Option(
        "Latest runs to show", metavar="N", default_text="all", group="Output", common=True
    )] = None  # fmt: skip


@dataclass_command("chart", ChartOptions)
def chart(options: ChartOptions) -> None:
    """Chart one metric over all runs, with confidence intervals and the baseline.

    METRIC is a name such as recall@1000t [default: main metric of the latest run].

    Examples:
      chunkwise runs chart
      chunkwise runs chart recall@1000t --last 40
      chunkwise runs chart boundary_issues --kind lint
      chunkwise runs chart recall@1000t --html recall.html
    """

    history = options.opened()
    if not len(history):
        _say_empty(history)
        return
    result = metric_history(history, options.metric, kind=options.kind, last=options.last)
    is_written = options.print_and_write(lambda: metric_history_report(result), lambda: result)
    leave(failed=not is_written)


class ExportOptions(HistoryOption, JsonOption):
    """The options of `chunkwise runs export`."""

    output: Output = None
    by_question: Annotated[bool, Option(
        "One row per question and metric", group="Output", common=True
    )] = False  # fmt: skip
    kind: Kind = None
    force: Force = False


@dataclass_command("export", ExportOptions)
def export(options: ExportOptions) -> None:
    """Export runs as a table, one row per metric of each run.

    The end of the file's name says the form: .csv, .jsonl or .parquet.

    Examples:
      chunkwise runs export -o runs.csv
      chunkwise runs export -o scores.parquet --by-question
      chunkwise runs export -o runs.jsonl --kind evaluate
      chunkwise runs export --json
    """

    file = options.output
    if file is None and not options.as_json:
        raise click.UsageError("no output given: -o runs.csv or --json")
    rows = partial(
        export_rows, options.opened(), by_question=options.by_question, kind=options.kind
    )
    if file is not None:
        count = write_rows(rows(), file, by_question=options.by_question)
        click.echo(f"written: {file} ({counted(count, 'row')})", err=True)
    if options.as_json:
        json_stdout().writelines(map(json_line, rows()))


class PruneOptions(HistoryOption, JsonOption):
    """The options of `chunkwise runs prune`."""

    older: Annotated[Annotated[float, Meta(gt=0, le=36_525 * 86_400)], Option(
        "Delete runs older than this: 12h, 90d, 8w, 6mo, 1y", metavar="AGE", parse=parse_time, common=True
    )]  # fmt: skip
    yes: Annotated[bool, Option("Don't ask for confirmation", common=True)] = False


@dataclass_command("prune", PruneOptions)
def prune(options: PruneOptions) -> None:
    """Delete old runs with their scores; baselines are kept.

    Examples:
      chunkwise runs prune --older 1y
      chunkwise runs prune --older 90d --yes
    """

    since = time_text(datetime.now(UTC) - timedelta(seconds=options.older))
    history = options.opened()
    gone = history.prunable(since)
    if gone and not options.yes:
        ends = dict.fromkeys((gone[0].number, gone[-1].number))
        which = (
            f"{counted(len(gone), 'run')} from before {since[:10]} ({' to '.join(map(str, ends))})"
        )
        if not sys.stdin.isatty() or options.as_json:
            say(f"would delete {which}; to confirm, add --yes")
            sys.exit(WRONG_USAGE)
        if not click.confirm(f"Delete {which}?", err=True):
            say("nothing was deleted")
            return
    gone = history.prune(since) if gone else []
    options.answer(
        {"forgotten": [run.number for run in gone], "kept": len(history)},
        f"deleted {counted(len(gone), 'run')}, kept {thousands(len(history))}",
    )


class ImportOptions(HistoryOption, JsonOption):
    """The options of `chunkwise runs import`."""

    files: Annotated[tuple[str, ...], argument("FILE...")]


@dataclass_command("import", ImportOptions)
def import_files(options: ImportOptions) -> None:
    """Import result files into the history.

    Files are those written by `evaluate --output` and `tune`, or folders of them. The oldest becomes the first run;
    importing a file twice adds it once.

    Examples:
      chunkwise runs import results/before.json results/after.json
      chunkwise runs import chunkwise-tune/results.json
      chunkwise runs import results
    """

    bad: list[str] = []

    def on_bad(error: Exception) -> None:
        bad.append(str(error))
        say(f"not imported: {error}")

    history = options.opened()
    files = import_results(history, options.files, on_bad)
    new = [file for file in files if file.is_new]
    ends = list(dict.fromkeys((new[0].number, new[-1].number))) if new else []
    numbers = f" as {' to '.join(map(str, ends))}" if ends else ""
    had = f"; skipped {counted(known, 'known file')}" if (known := len(files) - len(new)) else ""
    options.answer(
        {"imported": [asdict(file) for file in files], "skipped": bad},
        f"imported {counted(len(new), 'run')}{numbers} into {shown_place(history.place)}{had}",
    )
    if bad:
        sys.exit(SKIPPED if files else FAILED)


command = DefaultGroup(list_runs, (show, diff, chart, baseline, export, import_files, prune))
command.add_command(list_runs, "list")
