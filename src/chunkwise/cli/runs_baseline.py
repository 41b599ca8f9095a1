"""`chunkwise runs baseline`: list, set and clear."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import click

from chunkwise.base.schema import Name, Option, argument
from chunkwise.base.wording import counted
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.groups import DefaultGroup
from chunkwise.cli.keep_run import HistoryOption
from chunkwise.cli.options import Json
from chunkwise.cli.streams import print_json, say
from chunkwise.report.sanitize import one_line
from chunkwise.tracking.history import run_number

if TYPE_CHECKING:
    from chunkwise.tracking.history import Baseline, History


class BaselineOptions(HistoryOption):
    """The options of `chunkwise runs baseline`."""

    as_json: Json = False


@dataclass_command("baseline", BaselineOptions)
def list_baselines(options: BaselineOptions) -> None:
    """Show which runs later ones are compared with, and choose them.

    Examples:
      chunkwise runs baseline
      chunkwise runs baseline set 41
      chunkwise runs baseline set last --name main
      chunkwise runs baseline clear --name main

    There is one baseline of each kind of run under a name. Where a branch has one of its own name, that is taken; else
    the one named default.
    """
    history = options.opened()
    baselines = history.baselines()
    if options.as_json:
        print_json({"baselines": [asdict(baseline) for baseline in baselines]})
        return
    for baseline in baselines:
        click.echo(_words(baseline, history))
    if not baselines:
        say(
            "no baseline yet; `chunkwise runs baseline set RUN` sets one, `chunkwise runs` lists runs"
        )


def _words(baseline: Baseline, history: History) -> str:
    """ "default  evaluate  run 41  2026-01-31 08:00  recall@5 81% (79–83)  structure · hybrid"."""
    from chunkwise.metrics.registry import format_score

    run = history.run(baseline.run)
    when = run.when[:16].replace("T", " ")
    metric = run.main_metric
    figure = run.figures.get(metric)
    told = (
        f"  {metric} {format_score(metric, figure.mean, figure.low, figure.high)}" if figure else ""
    )
    return one_line(f"{baseline.name}  {baseline.kind}  run {baseline.run}  {when}{told}  {run.label}")  # fmt: skip


class SetOptions(HistoryOption):
    """The options of `chunkwise runs baseline set`."""

    run: Annotated[str, argument("RUN")]
    name: Annotated[Name, Option(
        "Name of the baseline; that of a branch is taken on it", metavar="NAME", common=True
    )] = "default"  # fmt: skip
    as_json: Json = False


@dataclass_command("set", SetOptions)
def set_baseline(options: SetOptions) -> None:
    """Hold later runs of its kind against this one. RUN is its number, `last`, or `baseline`.

    Examples:
      chunkwise runs baseline set 41
      chunkwise runs baseline set last --name main
    """
    history = options.opened()
    number = run_number(history, options.run)
    made = history.set_baseline(number, options.name)
    if options.as_json:
        print_json(asdict(made))
    else:
        say(f"run {made.run} is the baseline {made.name!r} of {made.kind}")


class ClearBaselineOptions(HistoryOption):
    """The options of `chunkwise runs baseline clear`."""

    name: Annotated[Name | None, Option(
        "Clear only the baseline of this name", metavar="NAME", default_text="all", common=True
    )] = None  # fmt: skip
    as_json: Json = False


@dataclass_command("clear", ClearBaselineOptions)
def clear(options: ClearBaselineOptions) -> None:
    """Forget which runs are baselines; the runs themselves stay.

    Examples:
      chunkwise runs baseline clear
      chunkwise runs baseline clear --name main
    """
    gone = options.opened().clear_baselines(options.name)
    if options.as_json:
        print_json({"cleared": [asdict(each) for each in gone]})
    else:
        say(f"{counted(len(gone), 'baseline')} cleared")


command = DefaultGroup(list_baselines, (set_baseline, clear))
