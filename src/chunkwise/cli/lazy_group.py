"""A group that knows its commands by name and imports only the one that is run."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import ClassVar

import click


class LazyGroup(click.Group):
    """A subclass says which commands there are, and where each one's module is."""

    helps: ClassVar[Mapping[str, str]]
    """By name: one line each."""
    module: ClassVar[str]
    """Of a command, its name in place of the braces."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.helps)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.helps:
            return None
        command: click.Command = importlib.import_module(self.module.format(cmd_name)).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.helps.items()))
