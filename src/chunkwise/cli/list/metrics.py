"""`chunkwise list metrics`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import click

from chunkwise.base.schema import Option, Options, argument
from chunkwise.base.wording import as_set
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.options import Json
from chunkwise.cli.streams import print_json, stdout_console

if TYPE_CHECKING:
    from chunkwise.metrics.metric import Metric

_EXAMPLES = """
  chunkwise list metrics
  chunkwise list metrics --brief
  chunkwise list metrics completeness
  chunkwise list metrics recall chunk_recall
"""

_AT = {"none": "", "hits": "@k", "hits or tokens": "@k or @Nt"}


class MetricsOptions(Options):
    """The options of `chunkwise list metrics`."""

    names: Annotated[tuple[str, ...], argument("[NAMES]...")] = ()
    brief: Annotated[bool, Option("Show only what each one says", common=True)] = False
    as_json: Json = False


@dataclass_command("metrics", MetricsOptions, examples=_EXAMPLES)
def command(options: MetricsOptions) -> None:
    """List every metric: its group, which way is better, bounds, targets, and what it needs.

    NAMES are metrics or groups; without any, all are listed, those of other packages, too.
    """
    if options.brief and options.as_json:
        raise click.UsageError("--brief and --json: give one of them; JSON is always complete")
    found = _named(options.names)
    if options.as_json:
        print_json([described(each) for each in found])
        return

    console = stdout_console()
    _list(console, found) if options.brief else _show(console, found)
    console.print(
        "[dim]@k looks at the best k hits, @1000t at 1,000 tokens of context. Third parties add their own.[/]"
    )


def described(metric: Metric) -> dict[str, Any]:
    """Everything a metric declares, as JSON has it."""
    from chunkwise.metrics.metric import NEEDS

    aims = metric.aims
    return {
        "name": metric.name,
        "help": metric.help,
        "group": metric.group,
        "question": metric.question.text if metric.question else None,
        "better": metric.better,
        "bounds": list(metric.bounds),
        "targets": {"good": aims.good, "excellent": aims.excellent} if aims else None,
        "needs": {need: NEEDS[need] for need in metric.needs},
        "at": metric.at,
        "scores": metric.per,
        "judge": metric.asks or None,
        "objective": metric.can_choose,
    }


def _named(names: tuple[str, ...]) -> list[Metric]:
    from chunkwise.metrics.registry import groups, known_metrics, parse

    known = known_metrics()
    if not names:
        return list(known.values())
    every = groups()
    found: dict[str, Metric] = {}
    for name in names:
        in_group = [each for each in known.values() if each.group == name]
        in_group += [known[each] for each in every.get(name, ()) if each in known]
        for metric in in_group or [parse(name).metric]:
            found[metric.name] = metric
    return list(found.values())


def _list(console: Any, metrics: list[Metric]) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(style="bold cyan", no_wrap=True)
    for metric in metrics:
        table.add_row(escape(metric.name), escape(metric.help))
    console.print(table)
    console.print()


def _show(console: Any, metrics: list[Metric]) -> None:
    from rich.markup import escape
    from rich.padding import Padding

    group = ""
    for metric in metrics:
        if metric.group != group:
            group = metric.group
            asked = metric.question
            beside = f"  [green]{escape(asked.text)}[/]" if asked and asked.name == group else ""
            console.print(f"[bold]{escape(group)}[/]{beside}")
        head = f"[bold cyan]{escape(metric.name)}[/]{_AT[metric.at]}  {escape(metric.help)}"
        console.print(Padding(head, (0, 0, 0, 2)))
        console.print(Padding(escape(facts_of(metric)), (0, 0, 0, 6)), style="dim")
    console.print()


def facts_of(metric: Metric) -> str:
    """Direction, bounds, targets and needs in one line."""
    from chunkwise.metrics.metric import NEEDS
    from chunkwise.metrics.registry import format_score

    low, high = metric.bounds
    told = [f"{metric.better} is better, {as_set(low)} to {as_set(high)}"]
    if aims := metric.aims:
        side = "under" if aims.lower_is_better else "over"
        good, excellent = (format_score(metric.name, aim) for aim in (aims.good, aims.excellent))
        told.append(f"good {side} {good}, excellent {side} {excellent}")
    if metric.per == "chunking":
        told.append("of the whole chunking")
    if metric.needs:
        told.append(f"needs {', '.join(NEEDS[need] for need in metric.needs)}")
    return "; ".join(told)
