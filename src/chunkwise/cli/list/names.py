"""`chunkwise list names`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Annotated

import click
from msgspec import Meta

from chunkwise.base.atomic_files import shown_path
from chunkwise.base.schema import Option, argument
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.options import (
    AllowOption,
    Json,
    Page,
    QuietOption,
    check_outputs,
)
from chunkwise.cli.streams import print_json, shown_place, stdout_console

if TYPE_CHECKING:
    from chunkwise.report.views.graph import GraphView
    from chunkwise.retrieval.graph.names_and_neighbors import NameLookup

_EXAMPLES = """
  chunkwise index docs/ --into kb --graph
  chunkwise list names kb
  chunkwise list names kb "Salt Kitchen"
  chunkwise list names kb Salt Kitchen --show 100 --json
"""

_ON_PAGE = 80
"""Names that a page lists."""
_READ = 40
"""Of these, with what is said of them."""


@dataclass(frozen=True, kw_only=True)
class NamesOptions(AllowOption, QuietOption):
    """The options of `chunkwise list names`."""

    source: Annotated[str, argument("SOURCE")]
    words: Annotated[tuple[str, ...], argument("[NAME]...")] = ()
    show: Annotated[Annotated[int, Meta(ge=1, le=10_000)], Option(
        "Names, mentions, neighbors and passages shown", metavar="N", group="Output"
    )] = 20  # fmt: skip
    page: Page = None
    as_json: Json = False


@dataclass_command("names", NamesOptions, examples=_EXAMPLES)
def command(options: NamesOptions) -> None:
    """Look at the names of an index: which link most passages, where each stands, what stands beside it.

    SOURCE is an index that `chunkwise index --graph` made. NAME is a name as any document writes it; without one, the
    names that link most are shown.
    """
    outputs = [options.source] if options.page else []
    check_outputs(outputs, page=options.page)
    from chunkwise.retrieval import open_index
    from chunkwise.retrieval.graph.names_and_neighbors import NameLookup

    lookup = NameLookup(open_index(options.source).source)
    name = " ".join(options.words)
    found = lookup.details(name, options.show) if name else lookup.overview(options.show)
    if options.as_json:
        print_json(asdict(found))
    if options.page:
        from chunkwise.report.page import write_page

        write_page(_view(lookup, options, name), options.page)
        if not options.quiet:
            click.echo(f"written: {shown_path(options.page)}", err=True)
    if not (options.as_json or options.page):
        from chunkwise.report.terminal.graph import render_name, render_overview
        from chunkwise.retrieval.graph.names_and_neighbors import NameDetails

        console = stdout_console()
        if isinstance(found, NameDetails):
            render_name(found, console)
        else:
            render_overview(found, console)


def _view(lookup: NameLookup, options: NamesOptions, name: str) -> GraphView:
    from chunkwise.report.views.graph import name_view, overview_view

    title = shown_place(options.source)
    if name:
        found = lookup.details(name, max(options.show, _READ))
        return name_view(found, lookup.links([each.name for each in found.neighbors]), title)
    every = lookup.overview(max(options.show, _ON_PAGE))
    read = takewhile(lambda each: lookup.knows(each.name), every.most_linked[:_READ])
    details = [lookup.details(each.name, 6) for each in read]
    return overview_view(every, details, title)
