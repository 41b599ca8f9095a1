"""`chunkwise list names`."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from itertools import takewhile
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from chunkwise.base.schema import Option, argument
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.exit_status import leave
from chunkwise.cli.options import (
    AllowOption,
)
from chunkwise.cli.report_options import ReportOptions
from chunkwise.cli.streams import shown_place
from chunkwise.report.report import Report

if TYPE_CHECKING:
    from chunkwise.retrieval.graph.names_and_neighbors import NameLookup


_LISTED, _BRIEF, _IN_JSON = 80, 15, 20
"""Names that a page and -v list, a terminal, and data."""
_READ = 40
"""Names of a page with what is said of them."""


class NamesOptions(AllowOption, ReportOptions):
    """The options of `chunkwise list names`."""

    source: Annotated[str, argument("SOURCE")]
    words: Annotated[tuple[str, ...], argument("[NAME]...")] = ()
    show: Annotated[Annotated[int, Meta(ge=1, le=10_000)] | None, Option(
        "Number of names, mentions, neighbors and passages", metavar="N", default_text="15, with -v 80", group="Output"
    )] = None  # fmt: skip


@dataclass_command("names", NamesOptions)
def command(options: NamesOptions) -> None:
    """List the names in an index built with --graph.

    SOURCE is the index. NAME, in any spelling of the documents, shows its passages and neighbors; without it, the
    most linked names are listed.

    Examples:
      chunkwise index docs/ --into kb --graph
      chunkwise list names kb
      chunkwise list names kb "Salt Kitchen"
      chunkwise list names kb Salt Kitchen --show 100 --json
    """
    from chunkwise.retrieval import open_index
    from chunkwise.retrieval.graph.names_and_neighbors import NameLookup

    lookup = NameLookup(open_index(options.source).source)
    name = " ".join(options.words)
    in_json = options.show or _IN_JSON
    is_written = options.print_and_write(
        lambda: _report(lookup, options, name),
        lambda: asdict(lookup.details(name, in_json) if name else lookup.overview(in_json)),
    )
    leave(failed=not is_written)


def _report(lookup: NameLookup, options: NamesOptions, name: str) -> Report:
    from chunkwise.report.graph_report import name_report, names_report

    title, source = shown_place(options.source), shlex.quote(options.source)
    show = options.show or _LISTED
    if name:
        name_details = lookup.details(name, show)
        links = lookup.links([neighbor.name for neighbor in name_details.neighbors])
        following = f"chunkwise search {source} {shlex.quote(name)} -r graph --explain"
        return name_report(name_details, links, title, following)
    overview = lookup.overview(show)
    details = []
    if options.page:
        read = takewhile(lambda at: lookup.knows(at.name), overview.most_linked[:_READ])
        details = [lookup.details(count.name, 6) for count in read]
    first = next((count.name for count in overview.most_linked), "")
    following = f"chunkwise list names {source} {shlex.quote(first)}" if first else ""
    brief = options.show or _BRIEF
    return names_report(overview, details, title, brief_names=brief, next_command=following)
