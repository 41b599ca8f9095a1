"""`--config`: what `chunkwise tune` recommends, as the options of a command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


def config_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Values of the file are those of options that are not given."""
    return click.option(
        "--config", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", is_eager=True,
        expose_value=False, callback=_take, help="Options from a file, such as recommendation.toml.",
    )(command)  # fmt: skip


def _take(context: click.Context, parameter: click.Parameter, file: Path | None) -> None:
    if file is None:
        return
    from chunkwise.tuning.recommendation import read_recommendation

    known = {each.name for each in context.command.params}
    given = read_recommendation(file).options()
    mine = {name: value for name, value in given.items() if name in known}
    context.default_map = {**(context.default_map or {}), **mine}
