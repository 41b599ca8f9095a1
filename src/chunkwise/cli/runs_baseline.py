"""`chunkwise runs baseline`: list, set and clear."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import click

from chunkwise.base.schema import Name, Option, argument
from chunkwise.base.wording import counted
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.groups import DefaultGroup
from chunkwise.cli.keep_run import HistoryOption
from chunkwise.cli.options import JsonOption
from chunkwise.cli.streams import print_json, say
from chunkwise.metrics.registry import format_score
from chunkwise.report.sanitize import one_line
from chunkwise.tracking.history import Baseline, History, run_number


class BaselineOptions(HistoryOption, JsonOption):
    """The options of `chunkwise runs baseline`."""


@dataclass_command("baseline", BaselineOptions)
def list_baselines(options: BaselineOptions) -> None:
    """Show the baselines, which later runs are compared with.

    Examples:
      chunkwise runs baseline
      chunkwise runs baseline set 41
      chunkwise runs baseline set last --name main
      chunkwise runs baseline clear --name main

    Each name has one baseline per kind of run. On a branch, the baseline with the branch's name is used if there is
    one, otherwise `default`.
    """
    history = options.opened()
    baselines = history.baselines()
    if options.as_json:
        print_json({"baselines": [asdict(baseline) for baseline in baselines]})
        return
    for baseline in baselines:
        click.echo(_words(baseline, history))
    if not baselines:
        say("no baseline yet; set one: chunkwise runs baseline set RUN")


def _words(baseline: Baseline, history: History) -> str:
    """ "default  evaluate  run 41  2026-01-31 08:00  recall@5 81% (79–83)  structure · hybrid"."""

    run = history.run(baseline.run)
    when = run.when[:16].replace("T", " ")
    metric = run.main_metric
    figure = run.figures.get(metric)
    message = (
        f"  {metric} {format_score(metric, figure.mean, figure.low, figure.high)}" if figure else ""
    )
    return one_line(f"{baseline.name}  {baseline.kind}  run {baseline.run}  {when}{message}  {run.label}")  # fmt: skip


class SetOptions(HistoryOption, JsonOption):
    """The options of `chunkwise runs baseline set`."""

    run: Annotated[str, argument("RUN")]
    name: Annotated[Name, Option(
        "Name of the baseline, such as a branch name", metavar="NAME", common=True
    )] = "default"  # fmt: skip


@dataclass_command("set", SetOptions)
def set_baseline(options: SetOptions) -> None:
    """Set the baseline for later runs of the same kind.

    RUN is its number, `last` or `baseline`.

    Examples:
      chunkwise runs baseline set 41
      chunkwise runs baseline set last --name main
    """
    history = options.opened()
    number = run_number(history, options.run)
    made = history.set_baseline(number, options.name)
    options.answer(asdict(made), f"run {made.run} is now the {made.kind} baseline {made.name!r}")


class ClearBaselineOptions(HistoryOption, JsonOption):
    """The options of `chunkwise runs baseline clear`."""

    name: Annotated[Name | None, Option(
        "Clear only this baseline", metavar="NAME", default_text="all", common=True
    )] = None  # fmt: skip


@dataclass_command("clear", ClearBaselineOptions)
def clear(options: ClearBaselineOptions) -> None:
    """Clear baselines; the runs themselves are kept.

    Examples:
      chunkwise runs baseline clear
      chunkwise runs baseline clear --name main
    """
    gone = options.opened().clear_baselines(options.name)
    options.answer(
        {"cleared": [asdict(baseline) for baseline in gone]},
        f"cleared {counted(len(gone), 'baseline')}",
    )


command = DefaultGroup(list_baselines, (set_baseline, clear))
