"""Lines on stderr; what comes from outside is made harmless first."""

from __future__ import annotations

import click

from chunkwise.report.plain_text import one_line


def say(message: object) -> None:
    """One line: names of files and members are anyone's, and a terminal obeys some characters."""
    click.echo(f"chunkwise: {one_line(str(message))}", err=True)


def say_skipped(problem: object) -> None:
    say(f"skipped {problem}")
