"""A line of text changed by a person: in their editor, or in the terminal with the old text there to begin with."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import click


def edited(text: str, what: str) -> str:
    """In the user's editor where one is set, else in the terminal; nothing at all: as it was."""
    if os.environ.get("VISUAL") or os.environ.get("EDITOR"):
        changed = click.edit(text)
        return text if changed is None else " ".join(changed.split())
    from chunkwise.report.plain_text import one_line

    offered = one_line(text)
    with _beginning_with(offered) as is_there:
        shown = "" if is_there or not offered else f" [{offered}]"
        click.echo(f"new {what}; Enter alone leaves it as it is{shown}")
        typed = " ".join(input("> ").split())
    # What was not touched is not an edit, even where it could not be shown as it is.
    return text if typed in ("", offered) else typed


@contextmanager
def _beginning_with(text: str) -> Iterator[bool]:
    """The next line typed has this in it from the start; False: the platform has no way to do so."""
    try:
        import readline
    except ImportError:
        yield False
        return
    readline.set_startup_hook(lambda: readline.insert_text(text))
    try:
        yield True
    finally:
        readline.set_startup_hook(None)
