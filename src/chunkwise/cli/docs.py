"""`chunkwise docs`: the documentation that comes with the package, offline."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

import chunkwise
from chunkwise.base.errors import ChunkwiseError

SITE = Path(chunkwise.__file__).parent / "site" / "index.html"


@click.command("docs")
def command() -> None:
    """Open the documentation in the browser, offline."""
    if not SITE.is_file():
        raise ChunkwiseError(f"the documentation isn't built in {SITE.parent}; run: make site")
    click.echo(SITE.as_uri())
    webbrowser.open(SITE.as_uri())
