"""`chunkwise doctor`."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from chunkwise.cli.doctor_checks import Check

_EXAMPLES = """
\b
Examples:
  chunkwise doctor
  chunkwise doctor --json
  chunkwise doctor --postgres postgresql://localhost/handbook

The exit status is 0 where embedding and search work as they come (and the server, if
one is named), 1 otherwise.
"""
_SIGNS = {"works": ("✓", "green"), "absent": ("–", "dim"), "fails": ("✗", "red")}
_TITLES = {"machine": "This machine", "extras": "Extras", "model": "Model", "keys": "Keys"}


@click.command("doctor", epilog=_EXAMPLES)
@click.option("--postgres", metavar="URL", help="Ask whether this server answers and has pgvector.")
@click.option("--json", "as_json", is_flag=True, help="Only JSON on stdout.")
@click.pass_context
def command(context: click.Context, postgres: str | None, as_json: bool) -> None:
    """Tell what works on this machine, and the command for what does not."""
    from chunkwise.cli.doctor_checks import all_checks

    found = list(all_checks(postgres))
    works = all(check.state == "works" for check in found if check.needed)
    if as_json:
        told = {"works": works, "checks": [check._asdict() for check in found]}
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        _show(found, works)
    if not works:
        context.exit(1)


def _show(found: list[Check], works: bool) -> None:
    from rich.console import Console
    from rich.text import Text

    from chunkwise.report.plain_text import one_line

    console = Console(highlight=False)
    for group, checks in groupby(found, key=lambda check: check.group):
        console.print(Text(_TITLES.get(group, group), "bold"))
        console.print(_table(list(checks)))
    broken = [check for check in found if check.needed and check.state != "works"]
    if works:
        console.print(Text("Embedding and search work here as they come.", "bold green"))
    for check in broken:
        line = Text(f"{check.name}: ", "bold red")
        line.append(one_line(check.command or check.detail), "bold cyan")
        console.print(line, soft_wrap=True)


def _table(checks: list[Check]) -> Any:
    from rich.table import Table
    from rich.text import Text

    from chunkwise.report.plain_text import one_line

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=3, justify="right")
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in checks:
        sign, colour = _SIGNS[check.state]
        told = Text(one_line(check.detail), "" if check.state == "works" else colour)
        if check.command:
            told.append(f"\n{one_line(check.command)}", "cyan")
        table.add_row(Text(sign, f"bold {colour}"), one_line(check.name), told)
    return table
