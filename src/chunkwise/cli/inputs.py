"""Options that say which documents are read and how, shared by all commands that read documents."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from chunkwise.base.cores import cores
from chunkwise.documents.loader import LoadOptions

SKIPPED = 3
"""Exit status when everything else worked but something could not be read."""


def document_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Inputs, and how to read them."""
    decorators = [
        click.argument("inputs", nargs=-1, metavar="[INPUTS]..."),
        click.option("--strict", is_flag=True, help="Stop at the first document that cannot be read."),
        click.option("--encoding", metavar="NAME", help="Encoding of text files that are not UTF-8."),
        click.option("--text-field", metavar="FIELD", help="Field or column of records that holds the text."),
        click.option("--id-field", metavar="FIELD", help="Field or column of records that holds the id."),
        click.option("--title-field", metavar="FIELD", help="Field or column of records that holds the title."),
        click.option("--loader", metavar="NAME", help="Read every file with this loader: text, markdown, html …"),
        click.option("-q", "--quiet", is_flag=True, help="No progress and no summary."),
    ]  # fmt: skip
    for decorate in reversed(decorators):
        command = decorate(command)
    return command


def jobs_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """How many processes share the work."""
    return click.option(
        "-j", "--jobs", type=click.IntRange(0), default=0, metavar="N", show_default="by size, up to 8",
        help="Processes to share the work; the output is the same.",
    )(command)  # fmt: skip


def chosen_inputs(inputs: tuple[str, ...]) -> list[str]:
    """The inputs given; a pipe is read when none are."""
    if inputs:
        return list(inputs)
    if sys.stdin is not None and not sys.stdin.isatty():
        return ["-"]
    raise click.UsageError("no documents: name files, folders or globs, or '-' for standard input")


def load_options(options: dict[str, Any]) -> LoadOptions:
    names = ("encoding", "text_field", "id_field", "title_field", "loader")
    return LoadOptions(**{name: options[name] for name in names})


def worker_count(jobs: int, total_bytes: int) -> int:
    """Up to eight processes, one where starting others would take longer than the work."""
    if jobs:
        return jobs
    return min(cores(), 8) if total_bytes > 4_000_000 else 1


def check_outputs(
    inputs: list[str], output: Path | None = None, *, page: Path | None = None
) -> list[Path]:
    """The files a command will write: none of them may be one of its inputs, and all of them can be written."""
    from chunkwise.base.atomic import check_writable

    if page is not None and page.suffix.lower() not in (".html", ".htm"):
        raise click.UsageError(f"{page} is to be a page: its name must end in .html")
    given = [path for path in (output, page) if path is not None]
    outputs = [_place(path) for path in given]
    if len(set(outputs)) < len(outputs):
        raise click.UsageError(f"{page} would be written twice; give the page another name")
    for name in inputs:
        if _place(name) in outputs:
            raise click.UsageError(
                f"{name} is read and would be overwritten; write to another file"
            )
    for path, place in zip(given, outputs, strict=True):
        if _holds_something(place):
            _refuse_if_read(path, place, inputs)
        if not place.is_dir():
            check_writable(path)
    return outputs


def _place(name: str | Path) -> Path:
    """Behind all links; unlike `Path.resolve` it takes a loop of them for a place."""
    return Path(os.path.realpath(name))


def _refuse_if_read(path: Path, place: Path, inputs: list[str]) -> None:
    for name in inputs:
        if _is_read(place, name):
            raise click.UsageError(
                f"{path} is one of the files of {name}, which are read, and would be overwritten; "
                "write to another file"
            )


def _is_read(path: Path, name: str) -> bool:
    """Whether a path lies in a folder that is read, or fits a pattern."""
    from chunkwise.documents.walk import is_pattern, split_pattern, to_regex

    if os.path.isdir(name):
        return path.is_relative_to(_place(name))
    if not is_pattern(name) or os.path.lexists(name):
        return False
    folder, rest = split_pattern(name)
    root = _place(folder)
    try:
        matches = to_regex(rest).fullmatch
    except re.error:  # reading will say so
        return False
    return path.is_relative_to(root) and bool(matches(path.relative_to(root).as_posix()))


def _holds_something(path: Path) -> bool:
    """Whether writing here would destroy what chunkwise cannot write again."""
    from chunkwise.documents.own_files import is_written_by_us

    try:
        if path.is_dir():
            return any(path.iterdir())
        return path.is_file() and path.stat().st_size > 0 and not is_written_by_us(path)
    except OSError:  # what cannot be looked at is not overwritten
        return True
