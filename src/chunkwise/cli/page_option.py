"""The option that writes a page: whatever a command calls it, the names other commands have for it work, too."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any

import click

_NAMES = ("--page", "--report", "--view")


def page_option(
    name: str, metavar: str, help: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`name` is what `--help` shows; the value goes by it."""
    others = [each for each in _NAMES if each != name]
    return click.option(
        name, *others, name.removeprefix("--"), cls=_OneNameShown, metavar=metavar, help=help,
        type=click.Path(path_type=Path, dir_okay=False),
    )  # fmt: skip


class _OneNameShown(click.Option):
    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        shown = copy(self)
        shown.opts = self.opts[:1]
        return super(_OneNameShown, shown).get_help_record(ctx)
