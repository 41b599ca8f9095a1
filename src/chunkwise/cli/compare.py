"""`chunkwise compare`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chunkwise.cli.dataclass_options import argument, dataclass_command, option
from chunkwise.cli.keep import KeepOptions, RunKeeper
from chunkwise.cli.options import NOT_REACHED, check_outputs, json_flag, output_file, page_file

if TYPE_CHECKING:
    from chunkwise.evaluation.comparison import Comparison, Worse
    from chunkwise.tracking.kept_run import KeptRun

_EXAMPLES = """
\b
Examples:
  chunkwise compare a.json b.json                        # b against a, question by question
  chunkwise compare a.json b.json c.json d.json          # each against the first; which are tied with the best
  chunkwise compare a.json b.json --all                  # every metric, types of questions, every cost
  chunkwise compare a.json b.json --metrics recall,mrr   # fewer tests: smaller differences can be shown
  chunkwise compare a.json b.json --page comparison.html
  chunkwise compare a.json b.json --json > comparison.json
  chunkwise compare a.json b.json --keep                 # `chunkwise history` remembers it
  chunkwise compare main.json branch.json --fail-if-worse recall@1000t   # for CI
\b
Exit status: 0 compared, whatever came out, 4 a run is shown to be worse than the first by a metric of --fail-if-worse,
1 a file cannot be read or written or nothing can be compared, 2 wrong usage or value.
"""


@dataclass(frozen=True, kw_only=True)
class CompareOptions(KeepOptions):
    """The options of `chunkwise compare`."""

    files: tuple[str, ...] = argument("A.json B.json...", nargs=-1)
    metrics: str | None = option(
        "--metrics", metavar="NAMES", show_default="all that both have",
        help="Compare only these metrics, separated by commas: recall@5,mrr. A name without @ means every cut-off; "
        "groups work as for evaluate: completeness.",
    )  # fmt: skip
    whole: bool = option(
        "--all", is_flag=True, help="Show every metric and cost, not only the most important ones."
    )
    fail_if_worse: tuple[str, ...] = option(
        "--fail-if-worse", multiple=True, metavar="NAMES",
        help="Exit with status 4 when a run is shown to be worse than the first by one of these metrics, separated by "
        "commas, or by any: recall@1000t. What is not shown does not fail. May be repeated.",
    )  # fmt: skip
    as_json: bool = json_flag()
    output: Path | None = output_file("Write the comparison to this file, as JSON.")
    page: Path | None = page_file("Write one HTML page that shows the comparison.")


@dataclass_command("compare", CompareOptions, examples=_EXAMPLES)
def command(options: CompareOptions) -> None:
    """Say whether one run is better than another: paired on the same questions, with intervals and p-values.

    The files are what `chunkwise evaluate --output` wrote.
    """
    files = options.files
    chosen = _metric_names(options.metrics)
    gates = _gates(options.fail_if_worse)
    _check(files)
    check_outputs(list(files), options.output, page=options.page)
    from chunkwise.evaluation.compare import compare
    from chunkwise.evaluation.results import read_results

    keeper = RunKeeper(options)

    runs = [read_results(name) for name in files]
    comparison = compare(runs, metrics=chosen, sources=files)
    # An unknown name is told before anything is written.
    worse = comparison.worse(None if "any" in gates else gates) if gates else []
    try:
        is_written = _write_and_show(
            comparison, options, is_whole=options.whole or chosen is not None
        )
    finally:  # who reads the output may leave early
        keeper.keep(lambda: _kept(comparison))
    if not is_written:
        sys.exit(1)
    for each in worse:
        click.echo(f"chunkwise: {_worse_words(each)}", err=True)
    if worse:
        sys.exit(NOT_REACHED)


def _kept(comparison: Comparison) -> KeptRun:
    from chunkwise.tracking.record import run_of_comparison

    return run_of_comparison(comparison)


def _write_and_show(comparison: Comparison, options: CompareOptions, *, is_whole: bool) -> bool:
    """Writes and shows it; whether every file could be written. Where not, the comparison is shown instead."""
    from chunkwise.records.typed import json_text
    from chunkwise.report.page import write_page
    from chunkwise.report.views.comparison import comparison_view

    text = json_text(comparison.to_dict(), 2)
    wanted = [path for path in (options.output, options.page) if path is not None]
    written = []
    if options.output is not None and _write(options.output, lambda at: _save(text, at)):
        written.append(options.output)
    # A page has room for everything.
    whole = comparison_view(comparison, whole=True)
    if options.page is not None and _write(options.page, lambda at: write_page(whole, at)):
        written.append(options.page)
    if options.as_json:
        from chunkwise.cli.streams import json_stdout

        click.echo(text, file=json_stdout())
    elif options.output not in written or options.output is None:
        from chunkwise.cli.streams import stdout_console
        from chunkwise.report.terminal.comparison import render_comparison

        # Who names the measures wants to see them.
        console = stdout_console()
        render_comparison(comparison_view(comparison, whole=is_whole), console)
    return len(written) == len(wanted)


def _gates(named: tuple[str, ...]) -> list[str]:
    names = [name.strip() for each in named for name in each.split(",")]
    if named and not any(names):
        raise click.UsageError(
            f"--fail-if-worse {','.join(named)!r} names no metric; as in --fail-if-worse recall@1000t, or any"
        )
    return [name for name in names if name]


def _worse_words(worse: Worse) -> str:
    """ "recall@5: b is shown to be worse than a: -0.160 (-0.220 to -0.100), p < 0.001"."""
    from chunkwise.base.wording import signed

    found = worse.tested
    p = "p < 0.001" if found.adjusted < 0.001 else f"p = {found.adjusted:.3f}"
    ends = f"{signed(found.corrected.low)} to {signed(found.corrected.high)}"
    return (
        f"{worse.metric}: {worse.run} is shown to be worse than {worse.first}: "
        f"{signed(found.difference.mean)} ({ends}), {p}"
    )


def _save(text: str, path: Path) -> None:
    from chunkwise.base.atomic import replacing, says_what_it_writes

    with replacing(path) as temporary, says_what_it_writes(path):
        temporary.write_text(text + "\n", encoding="utf-8")


def _write(path: Path, save: Callable[[Path], None]) -> bool:
    """Whether it could be written."""
    from chunkwise.base.errors import ChunkwiseError
    from chunkwise.cli.streams import say

    try:
        save(path)
    except ChunkwiseError as error:
        say(error)
        return False
    click.echo(f"written: {path}", err=True)
    return True


def _metric_names(metrics: str | None) -> list[str] | None:
    if metrics is None:
        return None
    names = [name.strip() for name in metrics.split(",") if name.strip()]
    if not names:
        raise click.UsageError(f"--metrics {metrics!r} names no metric; as in --metrics recall,mrr")
    return names


def _check(files: tuple[str, ...]) -> None:
    if len(files) < 2:
        given = f"one file, {files[0]}" if files else "no file"
        raise click.UsageError(
            f"{given}: name two or more files of results, as in chunkwise compare a.json b.json"
        )
    seen: dict[Path, str] = {}
    for name in files:
        place = Path(name).resolve()
        if place in seen:
            raise click.UsageError(
                f"{seen[place]} and {name} are the same file: a run has no difference to itself"
            )
        seen[place] = name
