"""Lines on stderr; what comes from outside is made harmless first."""

from __future__ import annotations

import click

from chunkwise.report.plain_text import one_line


def say(message: object) -> None:
    """One line: names of files and members are anyone's, and a terminal obeys some characters."""
    click.echo(f"chunkwise: {one_line(str(message))}", err=True)


def shown_place(place: str) -> str:
    """Where an index is, on one line, without the password that the address of a server can hold."""
    if "://" in place:
        from chunkwise.retrieval.postgres.connection import masked

        place = masked(place)
    return one_line(place)


def usable_place(place: str) -> str:
    """The same, to be typed again: a password comes from the environment then."""
    if "://" in place:
        from chunkwise.retrieval.postgres.connection import without_password

        place = without_password(place)
    return one_line(place)


def say_skipped(problem: object) -> None:
    say(f"skipped {problem}")
