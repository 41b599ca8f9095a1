"""A group that knows its commands by name and imports only the one that is run."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import ClassVar

import click


class LazyGroup(click.Group):
    """A subclass says which commands there are, and which package has their modules."""

    helps: ClassVar[Mapping[str, str]]
    """By name: one line each."""
    package: ClassVar[str]
    """Has a module for each command, of the same name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.helps)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.helps:
            return None
        found: click.Command = importlib.import_module(f"{self.package}.{cmd_name}").command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.helps.items()))
