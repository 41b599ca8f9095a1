"""`chunkwise testset`: its commands by name, each in a file of its own."""

from __future__ import annotations

import importlib

import click

_COMMANDS = {
    "check": "Verify that questions and documents fit, and repair what is beyond doubt.",
    "convert": "Bring questions from one format into another.",
}

_EXAMPLES = """
\b
Examples:
  chunkwise testset check queries.json handbook/
  chunkwise testset check queries.json handbook/ -o repaired.json
  chunkwise testset convert squad.json --to chunkwise
"""


class _LazyGroup(click.Group):
    """Imports only the command that is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"chunkwise.cli.testset_{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group("testset", cls=_LazyGroup, epilog=_EXAMPLES)
def command() -> None:
    """Questions with references: check them against documents, bring them into other formats."""
