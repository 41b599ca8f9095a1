"""`chunkwise list strategies`."""

from __future__ import annotations

import json
from typing import Annotated, Any

import click

from chunkwise.base.schema import Option, Options, argument
from chunkwise.base.wording import as_set
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.options import Json
from chunkwise.cli.streams import print_json, stdout_console

_EXAMPLES = """
  chunkwise list strategies --brief
  chunkwise list strategies sentences
  chunkwise list strategies
  chunkwise list strategies --json
"""


class StrategiesOptions(Options):
    """The options of `chunkwise list strategies`."""

    names: Annotated[tuple[str, ...], argument("[NAMES]...")] = ()
    brief: Annotated[bool, Option("Leave parameters out", common=True)] = False
    as_json: Json = False


@dataclass_command("strategies", StrategiesOptions, examples=_EXAMPLES)
def command(options: StrategiesOptions) -> None:
    """List every strategy, its parameters, defaults and bounds, and when to use it.

    NAMES are the strategies to show; without any, all are shown.
    """
    from chunkwise.chunkers import describe_strategies, describe_strategy, strategies

    if options.brief and options.as_json:
        raise click.UsageError("--brief and --json: give one of them; JSON is always complete")
    described = (
        [describe_strategy(name, strategies.get(name)) for name in options.names]
        if options.names
        else describe_strategies()
    )
    if options.as_json:
        print_json(json.loads(json.dumps(described, default=str)))
        return

    console = stdout_console(highlight=True)
    if options.brief:
        _list(console, described)
    else:
        for strategy in described:
            _show(console, strategy)
    console.print(
        '[dim]Write a strategy as "name(parameter=value, …)". Third parties add their own.[/]'
    )


def _list(console: Any, strategies: list[dict[str, Any]]) -> None:
    from rich.markup import escape
    from rich.padding import Padding
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(style="bold cyan", no_wrap=True)
    table.add_column("asks")
    table.add_column("MB/s", justify="right")
    table.add_column()
    for strategy in strategies:
        asked = ", ".join(strategy["asks"]) or "–"
        speed = strategy["megabytes_per_second"]
        shown = "–" if speed is None else f"{speed:g}"
        table.add_row(*map(escape, (strategy["name"], asked, shown, strategy["purpose"])))
    console.print(Padding(table, (0, 0, 1, 0)))


def _show(console: Any, strategy: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.padding import Padding
    from rich.table import Table

    console.print(f"[bold cyan]{escape(strategy['name'])}[/]  {escape(strategy['purpose'])}")
    console.print(Padding(escape(strategy["use"]), (0, 0, 0, 2)), style="green")
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    # A value that is cut off cannot be typed: what is too wide goes on in the next line.
    table.add_column(no_wrap=True)
    for widest in (20, 26, None):
        table.add_column(max_width=widest, overflow="fold")
    for parameter in strategy["parameters"]:
        default = parameter["default"]
        shown = "–" if default is None else json.dumps(default, default=str)
        table.add_row(
            *map(escape, (parameter["name"], shown, _allowed(parameter), parameter["help"]))
        )
    console.print(Padding(table, (0, 0, 1, 2)))


def _allowed(parameter: dict[str, Any]) -> str:
    if parameter["choices"]:
        return ", ".join(parameter["choices"])
    if parameter["low"] is None:
        return str(parameter["unit"])
    return f"{as_set(parameter['low'])} to {as_set(parameter['high'])} {parameter['unit']}"
