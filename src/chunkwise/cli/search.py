"""`chunkwise search`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, NamedTuple

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.schema import Option, argument, schema
from chunkwise.base.wording import counted, thousands
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.exit_status import leave
from chunkwise.cli.options import (
    ConfigOption,
    JsonOption,
    QuestionsOption,
    QuietOption,
)
from chunkwise.cli.progress import progress
from chunkwise.cli.streams import SkippedInputs, json_stdout, say, shown_place, stdout_console
from chunkwise.core import Hit, Query
from chunkwise.options import FilterOptions, SearchOptions
from chunkwise.report.sanitize import one_line

if TYPE_CHECKING:
    from chunkwise.retrieval.filters import Filter
    from chunkwise.retrieval.search.chains import HitChain
    from chunkwise.retrieval.search.named_documents import NamedTitle
    from chunkwise.retrieval.search.unmatched_words import UnmatchedWord
    from chunkwise.retrieval.searchable import Searchable


class Explanation(NamedTuple):
    """Why one question has its hits; nothing without `--explain`."""

    chains: Sequence[HitChain] = ()
    """Of names, one a hit."""
    named: Sequence[NamedTitle] = ()
    """The documents that the question names."""


Written = Callable[["Query", "Sequence[Hit]", Explanation], None]
"""Hands out the hits of one question."""

_AT_ONCE = 256
"""Questions answered together; their hits are written before the next are asked."""


class SearchCommandOptions(SearchOptions, QuestionsOption, ConfigOption, QuietOption, JsonOption):
    """The options of `chunkwise search`."""

    source: Annotated[str, argument("SOURCE")]
    explain: Annotated[bool, Option(
        "Show why hits were found: named documents, graph paths", group="Output", common=True
    )] = False  # fmt: skip
    verbose: Annotated[bool, Option(
        "Print the full text of every hit", flag="-v", group="Output", common=True
    )] = False  # fmt: skip


@dataclass_command("search", SearchCommandOptions)
def command(options: SearchCommandOptions) -> None:
    """Search an index; hits are exact spans of your documents.

    SOURCE is an index: a folder or a database URL. QUESTION needs no quotes.

    Higher scores are better; compare them only within one question and retriever. bm25: BM25 score; dense: cosine
    similarity; hybrid: sum of normalized scores, up to 1.5; multiscale: share of votes, up to 1; with --reranker: the
    reranker's score.

    Examples:
      chunkwise search kb "who approves leave?"
      chunkwise search kb "who approves leave?" --budget 1000
      chunkwise search kb leave in writing -k 3 -r bm25 --where year=2024
      chunkwise search kb -Q questions.jsonl -k 10 --json > hits.jsonl
    """
    skip = SkippedInputs()
    queries = options.queries(skip)
    from chunkwise.retrieval.engine import open_source
    from chunkwise.retrieval.filters import Filter

    only = Filter.of(options)

    index = open_source(options.source)
    if not index.document_count:
        shown = shown_place(options.source)
        raise ChunkwiseError(
            f"{shown} is an empty index; add documents: chunkwise index DOCUMENTS --into {shown}"
        )
    _check_documents(index, only)
    write = _writer() if options.as_json else _shower(index, len(queries) > 1, options)
    for query, hits, explanation in _answers(index, queries, options):
        write(query, hits, explanation)
        if not hits and not options.quiet:
            _why_nothing(index, query, options.retriever)
            _narrowed(options)
        elif len(queries) == 1 and not options.quiet and not options.as_json:
            _hint(index, query)
    leave(skipped=skip.count)


def _answers(
    index: Searchable, queries: Sequence[Query], options: SearchCommandOptions
) -> Iterator[tuple[Query, list[Hit], Explanation]]:
    """In the order they were asked, a block at a time."""
    from chunkwise.models import get_embedder, get_token_encoder
    from chunkwise.retrieval.retrievers import follows_names, get_retriever
    from chunkwise.retrieval.search.rerank import resolve_reranker
    from chunkwise.retrieval.search.search import search

    # Made once: a model is loaded for all blocks.
    embedder = cache(lambda: get_embedder(index.settings.embedder))
    token_encoder = cache(lambda: get_token_encoder(index.settings.maxsim))
    retriever = get_retriever(options.retriever) if options.retriever else None
    reranker = resolve_reranker(options.reranker)
    asked = replace(options.part(SearchOptions), retriever=retriever, reranker=reranker)
    if options.explain:
        from chunkwise.retrieval.search.chains import chains_of_hits, check_walks
        from chunkwise.retrieval.search.named_documents import named_documents, naming_retriever

        if naming_retriever(index, asked) is None:
            check_walks(retriever)
    out = sys.stdout  # a bar puts something of its own in its place, as long as it is drawn
    # Hits on a screen show how far the search is, and a bar would stand between them.
    quiet = options.quiet or out.isatty()
    with progress("searching", len(queries), quiet) as advance:
        for low in range(0, len(queries), _AT_ONCE):
            block = queries[low : low + _AT_ONCE]
            result = search(index, block, asked, embedder=embedder, token_encoder=token_encoder)
            explained = [Explanation()] * len(block)
            if options.explain:
                chains: list[list[HitChain]] = [[] for _ in block]
                if follows_names(retriever):
                    chains = chains_of_hits(
                        index, block, result, asked, embedder=embedder, token_encoder=token_encoder
                    )
                explained = [
                    Explanation(hit_chains, named_documents(index, query.text, asked, embedder))
                    for query, hit_chains in zip(block, chains, strict=True)
                ]
            yield from zip(block, result, explained, strict=True)
            out.flush()  # what reads a pipe need not wait for the last question
            advance(
                len(block), f"{thousands(low + len(block))} of {counted(len(queries), 'question')}"
            )


def _why_nothing(index: Searchable, query: Query, retriever: object) -> None:
    """Where words could have found nothing, whatever the documents say: why, and what could."""
    from chunkwise.retrieval.search.unmatched_words import unmatched_told, why_unfindable

    if str(retriever or "").startswith("dense"):
        return
    why = why_unfindable(query.text, index.languages) or unmatched_told(_missing(index, query))
    if not why:
        return
    instead = "try dense retrieval: --retriever dense"
    if index.settings.vectors == "none":
        instead = (
            "rephrase the question, or rebuild the index with vectors: chunkwise index --rebuild"
        )
    say(f"no BM25 hits for {one_line(query.text, 80)!r}: {why}; {instead}")


def _narrowed(options: SearchCommandOptions) -> None:
    """Name the filters that left nothing to find."""
    given = options.part(FilterOptions).changed()
    if named := [field.long_flag for field in schema(FilterOptions) if field.name in given]:
        say(f"no hits with {', '.join(named)}; search without the filter")


def _missing(index: Searchable, query: Query) -> list[UnmatchedWord]:
    from chunkwise.retrieval.search.unmatched_words import unmatched_words

    every = (index.document(number) for number in index.document_numbers())
    return unmatched_words(index, index.languages, query.text, every)


def _hint(index: Searchable, query: Query) -> None:
    """Where something was found all the same: a word that may be misspelt, and no other."""
    from chunkwise.retrieval.search.unmatched_words import unmatched_told

    if message := unmatched_told([row for row in _missing(index, query) if row.near]):
        say(message)


def _check_documents(index: Searchable, only: Filter) -> None:
    """A name that fits nothing is a slip more often than a wish."""
    from chunkwise.retrieval.filters import no_such_document

    ids = index.ids() if only.documents else []
    if only.documents and not any(map(only.takes_document, ids)):
        raise InvalidParameter(no_such_document(only, ids))
    if only.level and not getattr(index, "has_summaries", False):
        raise InvalidParameter(
            f"level is {only.level}, but the index has no summaries; leave it out, or rebuild: "
            f"chunkwise index DOCUMENTS --into FOLDER -s raptor --llm NAME"
        )


def _writer() -> Written:
    from chunkwise.chunkers.write_chunks import hit_row
    from chunkwise.records.write import json_line

    # Taken before a bar is drawn, which sends what is written there to the terminal.
    out = json_stdout()

    def write(query: Query, hits: Sequence[Hit], explanation: Explanation) -> None:
        chains = explanation.chains
        named = [asdict(title) for title in explanation.named]
        for at, hit in enumerate(hits):
            row = {**hit_row(query, hit), **(chains[at].to_dict() if chains else {})}
            row |= {"named": named} if named else {}
            out.write(json_line(row))

    return write


def _shower(index: Searchable, several: bool, options: SearchCommandOptions) -> Written:
    import msgspec

    from chunkwise.report.search_report import search_report
    from chunkwise.report.to_terminal import print_report
    from chunkwise.retrieval.search.named_documents import naming_told

    console = stdout_console()

    def show(query: Query, hits: Sequence[Hit], explanation: Explanation) -> None:
        report = search_report(
            hits, query.text, languages=index.languages, chains=explanation.chains,
            naming=naming_told(explanation.named), is_whole=options.verbose,
            next_command="" if several else f"chunkwise ask {shlex.join((options.source, query.text))}",
        )  # fmt: skip
        if several:
            report = msgspec.structs.replace(report, title=f"{query.id}  {query.text}")
        print_report(report, console)
        if several:
            console.print()

    return show
