"""`chunkwise list names`."""

from __future__ import annotations

import shlex
from dataclasses import asdict
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
    VerboseOption,
)
from chunkwise.cli.streams import print_json, shown_place, stdout_console

if TYPE_CHECKING:
    from chunkwise.report.report import Report
    from chunkwise.retrieval.graph.names_and_neighbors import NameLookup

_EXAMPLES = """
  chunkwise index docs/ --into kb --graph
  chunkwise list names kb
  chunkwise list names kb "Salt Kitchen"
  chunkwise list names kb Salt Kitchen --show 100 --json
"""

_LISTED, _BRIEF, _IN_JSON = 80, 15, 20
"""Names that a page and -v list, a terminal, and data."""
_READ = 40
"""Names of a page with what is said of them."""


class NamesOptions(AllowOption, QuietOption, VerboseOption):
    """The options of `chunkwise list names`."""

    source: Annotated[str, argument("SOURCE")]
    words: Annotated[tuple[str, ...], argument("[NAME]...")] = ()
    show: Annotated[Annotated[int, Meta(ge=1, le=10_000)] | None, Option(
        "Names, mentions, neighbors and passages shown", metavar="N", default_text="15, with -v 80", group="Output"
    )] = None  # fmt: skip
    page: Page = None
    as_json: Json = False


@dataclass_command("names", NamesOptions, examples=_EXAMPLES)
def command(options: NamesOptions) -> None:
    """Look at the names of an index: which link most passages, where each stands, what stands beside it.

    SOURCE is an index that `chunkwise index --graph` made. NAME is a name as any document writes it; without one, the
    names that link most are shown.
    """
    from chunkwise.retrieval import open_index
    from chunkwise.retrieval.graph.names_and_neighbors import NameLookup

    lookup = NameLookup(open_index(options.source).source)
    name = " ".join(options.words)
    if options.as_json:
        show = options.show or _IN_JSON
        print_json(asdict(lookup.details(name, show) if name else lookup.overview(show)))
    if options.page:
        from chunkwise.report.write_report import write_report

        write_report(_report(lookup, options, name), options.page)
        if not options.quiet:
            click.echo(f"written: {shown_path(options.page)}", err=True)
    if not (options.as_json or options.page):
        from chunkwise.report.to_terminal import print_report

        print_report(_report(lookup, options, name), stdout_console(), verbose=options.verbose)


def _report(lookup: NameLookup, options: NamesOptions, name: str) -> Report:
    from chunkwise.report.graph_report import name_report, names_report

    title, source = shown_place(options.source), shlex.quote(options.source)
    show = options.show or _LISTED
    if name:
        found = lookup.details(name, show)
        links = lookup.links([each.name for each in found.neighbors])
        following = f"chunkwise search {source} {shlex.quote(name)} -r graph --explain"
        return name_report(found, links, title, following)
    overview = lookup.overview(show)
    details = []
    if options.page:
        read = takewhile(lambda each: lookup.knows(each.name), overview.most_linked[:_READ])
        details = [lookup.details(each.name, 6) for each in read]
    first = next((each.name for each in overview.most_linked), "")
    following = f"chunkwise list names {source} {shlex.quote(first)}" if first else ""
    brief = options.show or _BRIEF
    return names_report(overview, details, title, brief_names=brief, next_command=following)
