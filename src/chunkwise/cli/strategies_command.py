"""`chunkwise strategies`."""

from __future__ import annotations

import json
from typing import Any

import click

_EXAMPLES = """
\b
Examples:
  chunkwise strategies --brief        # all of them, in a line or two each
  chunkwise strategies sentences      # one, with every parameter
  chunkwise strategies                # all of them, with every parameter
  chunkwise strategies --json
"""


@click.command("strategies", epilog=_EXAMPLES)
@click.argument("names", nargs=-1)
@click.option("--brief", is_flag=True, help="What each one does, without its parameters.")
@click.option("--json", "as_json", is_flag=True, help="Only JSON on stdout.")
def command(names: tuple[str, ...], brief: bool, as_json: bool) -> None:
    """List every strategy, its parameters, defaults and bounds, and when to use it."""
    from chunkwise.chunkers import describe_all, describe_strategy, registry

    if brief and as_json:
        raise click.UsageError("--brief and --json: give one of them; JSON is always complete")
    found = (
        [describe_strategy(name, registry.get(name)) for name in names] if names else describe_all()
    )
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=2, default=str))
        return
    from rich.console import Console

    console = Console()
    if brief:
        _list(console, found)
    else:
        for strategy in found:
            _show(console, strategy)
    console.print(
        '[dim]Write a strategy as "name(parameter=value, …)". Third parties add their own.[/]'
    )


def _list(console: Any, strategies: list[dict[str, Any]]) -> None:
    from rich.markup import escape
    from rich.padding import Padding
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(style="bold cyan", no_wrap=True)
    for strategy in strategies:
        table.add_row(escape(strategy["name"]), escape(strategy["purpose"]))
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
    return f"{parameter['low']:,}–{parameter['high']:,} {parameter['unit']}"
