"""`chunkwise index`."""

from __future__ import annotations

import shlex
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import click

from chunkwise.base.allow_hosts_and_code_from_files import allowing
from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.schema import Name, Option
from chunkwise.base.wording import counted, format_number, thousands
from chunkwise.cli.dataclass_options import dataclass_command, is_typed
from chunkwise.cli.exit_status import leave
from chunkwise.cli.llm import (
    NO_MODEL,
    AskingStrategy,
    IndexBefore,
    LlmClients,
    asking_strategy,
    estimate_sources,
    refuse_unasked,
    show_estimate,
    show_spent,
)
from chunkwise.cli.options import (
    ConfigOption,
    EstimateOptions,
    JsonOption,
)
from chunkwise.cli.progress import bytes_of, progress
from chunkwise.cli.streams import SkippedInputs, print_json, say, shown_place, usable_place
from chunkwise.core import WRITTEN_CONTEXTS
from chunkwise.options import IndexOptions, LlmOptions, RankingOptions

if TYPE_CHECKING:
    from chunkwise.retrieval import Index
    from chunkwise.retrieval.indexing.lazy_models import NamedClient
    from chunkwise.retrieval.indexing.update import Changes
    from chunkwise.retrieval.settings import Settings


class IndexCommandOptions(
    IndexOptions, RankingOptions, LlmOptions, ConfigOption, EstimateOptions, JsonOption
):
    """The options of `chunkwise index`."""

    into: Annotated[Name, Option(
        "Index to write: a folder, postgresql://, qdrant:// …", metavar="PLACE", group="Configuration", common=True
    )]  # fmt: skip
    chunks: Annotated[Name | None, Option(
        "Chunks of any tool to index: .jsonl, .csv, .parquet", metavar="FILE", group="Configuration"
    )] = None  # fmt: skip
    add: Annotated[bool, Option(
        "Add documents without removing others", group="Configuration", common=True
    )] = False  # fmt: skip
    rebuild: Annotated[bool, Option("Rebuild the index", group="Configuration", common=True)] = (
        False
    )
    verify: Annotated[bool, Option(
        "Verify the checksums of an index folder, then exit", group="Configuration"
    )] = False  # fmt: skip


@dataclass_command("index", IndexCommandOptions)
def command(options: IndexCommandOptions) -> None:
    """Build or update a search index.

    SOURCE is as for `chunkwise chunk`. Afterwards, the index contains exactly these documents: new and changed ones
    are added, unchanged ones kept, missing ones removed (except with --add). Omitted options keep their stored
    values. Adding --maxsim or --graph to an existing index rebuilds it.

    Examples:
      chunkwise index docs/ --into kb
      chunkwise index docs/ --into kb -s "sentences(max_tokens=200)" --rebuild
      chunkwise index corpus.jsonl --into kb -e none
      chunkwise index new.md --into kb --add
    """
    if options.verify:
        _verify(options.into, options)
        return
    from chunkwise.retrieval import index
    from chunkwise.retrieval.indexes import settings_at

    paths = options.sources()
    began = time.monotonic()
    known = settings_at(options.into, rebuild=options.rebuild)
    clients = LlmClients(options, options.quiet or options.as_json)
    asking = None if options.chunks else _asking(options, known, clients)
    graph = _graph(options, known)
    reads = (graph or (known.graph if known else "")) == "relations"
    context = _context(options, known, is_asking=asking is not None or reads)
    llm = _named_client(options, context, known, clients, reads=reads)
    if options.dry_run or (
        options.estimate and (asking or llm)
    ):  # indexing takes no time beside asking
        if options.chunks:
            raise click.UsageError("--dry-run and --estimate can't be combined with --chunks")
        _dry_run(paths, options, context, known, llm, asking, reads=reads)
        return
    # What --config says of the strategy gives way to chunks that are there.
    named = None if options.chunks and not is_typed("strategy") else options.strategy
    strategy = asking.strategy if asking else named
    skip = SkippedInputs(options.strict)
    settings = replace(
        options.part(IndexOptions), strategy=strategy, context=context, llm=llm, graph=graph,
        search=kept if (kept := options.part(RankingOptions)).changed() else None,
    )  # fmt: skip
    total = bytes_of(paths)
    jobs = options.workers(total)
    if options.estimate:
        from chunkwise.retrieval.indexes import estimate_index

        if context != "headings":  # what a model writes takes time of its own
            settings = replace(settings, context=None)
        estimate = estimate_index(
            paths, settings, chunks=options.chunks, into=options.into, options=options.loading(),
            rebuild=options.rebuild,
        )  # fmt: skip
        options.say_time(estimate)
        return
    with progress("indexing", total, options.quiet) as advance:
        built = index(
            paths, chunks=options.chunks, into=options.into, settings=settings,
            options=options.loading(on_unreadable=skip), jobs=jobs, advance=advance,
            rebuild=options.rebuild, keep_others=options.add,
        )  # fmt: skip
    summary = _summary(built, options.into, time.monotonic() - began)
    if not options.quiet:
        assert built.changes is not None
        for note in built.changes.notes:
            say(note)
        text = _summary_text(summary, built.changes, usable_place(options.into))
        click.echo(text, err=True)
        _say_recall(built)
        for client in clients.used:
            show_spent(client.spent)
    if options.as_json:
        print_json(summary, indent=None)
    if not summary["documents"]:
        say("no documents; the index is empty")
    fell_short = clients.fell_short or summary["without_context"]
    leave(skipped=skip.count or not summary["documents"] or fell_short)


def _say_recall(built: Index) -> None:
    """Where an engine looks for vectors in its own way: what it finds of those that are nearest."""
    from chunkwise.retrieval.ann_recall import MeasuredRecall

    source = built.source
    if isinstance(source, MeasuredRecall) and not source.is_exact:
        say(f"approximate nearest-neighbor search by the database: {source.recall(sample=20)}")


def _verify(place: str, options: IndexCommandOptions) -> None:
    """What is damaged is an error that says so."""
    from chunkwise.retrieval import open_index

    opened = open_index(place)
    opened.verify()
    stats, into = opened.stats(), shown_place(place)
    if options.as_json:
        held = {"documents": stats.documents, "chunks": stats.chunks, "bytes": stats.bytes}
        print_json({"into": into, "sound": True, **held}, indent=None)
    elif not options.quiet:
        size = f"{counted(stats.documents, 'document')}, {counted(stats.chunks, 'chunk')}"
        click.echo(f"{into}: sound ({size}, {format_number(stats.bytes, 'bytes')} read)")


def _summary(built: Index, into: str, seconds: float) -> dict[str, Any]:
    """What became of the documents, what the index holds now, and how it was made."""
    from chunkwise.retrieval.graph.names_and_neighbors import name_count

    changes, stats, settings = built.changes, built.stats(), built.settings
    assert changes is not None
    return {
        "into": shown_place(into),
        "documents": stats.documents,
        **{name: getattr(changes, name) for name in _CHANGES},
        "chunks": stats.chunks,
        "without_context": changes.plain,
        **{name: getattr(stats, name) for name in _SIZES},
        **{name: getattr(settings, name) for name in _SETTINGS},
        # None: names are not kept, or not here.
        "name_count": name_count(built.source) if settings.graph and "://" not in into else None,
        "language": settings.language,
        "notes": list(changes.notes),
        "seconds": round(seconds, 3),
    }


_CHANGES = ("added", "changed", "removed", "unchanged", "skipped")
_SIZES = ("tokens", "indexed_tokens", "context_tokens", "bytes")
_SETTINGS = ("strategy", "embedder", "vectors", "context", "llm", "maxsim", "graph", "names")


def _summary_text(summary: dict[str, Any], changes: Changes, place: str) -> str:
    """What was done, what is there now, and what to do with it."""
    beside = summary["context_tokens"]
    tokens = counted(summary["indexed_tokens"] - beside, "token")
    more = f" ({thousands(beside)} more of contexts)" if beside else ""
    by = summary["embedder"] or "BM25 only"
    size, took = (
        format_number(summary["bytes"], "bytes"),
        format_number(summary["seconds"], "seconds"),
    )
    lines = [
        f"{summary['into']}: {counted(summary['documents'], 'document')} ({changes})",
        f"{counted(summary['chunks'], 'chunk')} of {tokens}{more} by {summary['strategy']}, "
        f"{by}; {size}, {took}",
    ]
    if summary["name_count"] is not None:
        names = counted(summary["name_count"], "name")
        lines.append(f"{names}; to list them: chunkwise list names {shlex.quote(place)}")
    if summary["documents"]:
        allowed = allowing(summary["embedder"])
        lines.append(f'try: chunkwise search {shlex.quote(place)} "your question"{allowed}')
    return "\n".join(lines)


def _context(
    options: IndexCommandOptions, known: Settings | None, is_asking: bool = False
) -> Literal["none", "headings", "neighbors", "document"] | None:
    """What is to stand beside the chunks; None: as the index was made, or as usual.

    `is_asking`: the model of `--llm` has work all the same.
    """
    context = options.context
    is_writing = (context or (known.context if known else None)) in WRITTEN_CONTEXTS
    if not (is_writing or is_asking):
        refuse_unasked("no language model is used; add --context neighbors or --graph")
    return context


def _asking(
    options: IndexCommandOptions, known: Settings | None, clients: LlmClients
) -> AskingStrategy | None:
    """The strategy where it asks a model itself; None: it does not, or the index will say what is wrong with it."""
    from chunkwise.chunkers import get_strategy

    strategy_spec = _strategy(options, known)
    try:
        strategy = get_strategy(strategy_spec)
    except ChunkwiseError:
        return None
    if not strategy.asks_a_model:
        return None
    is_known = not options.strategy and not (options.rebuild and is_typed("llm"))
    return asking_strategy(strategy_spec, options, clients, is_known=is_known)


def _graph(
    options: IndexCommandOptions, known: Settings | None
) -> Literal["names", "relations"] | None:
    """What of names is to be kept; None: as the index was made, or nothing.

    A model that only the environment names is not asked for relations: nothing here says that it may cost.
    """
    if not options.graph:
        return None
    before = known.graph if known else ""
    if before and (not is_typed("llm") or (known and known.llm and not options.rebuild)):
        return before
    return "relations" if is_typed("llm") else "names"


def _named_client(
    options: IndexCommandOptions,
    context: str | None,
    known: Settings | None,
    clients: LlmClients,
    *,
    reads: bool,
) -> NamedClient | None:
    """What may write, or read relations: the given model, or the one of the index; None: no model."""
    from chunkwise.retrieval.indexing.lazy_models import NamedClient

    kind = context or (known.context if known else None)
    name = options.llm_name
    if known is not None and not is_typed("llm") and name != known.llm:
        # Empty where it fell back to the headings context: it does so again, unless it is made anew.
        name = known.llm or (name if options.rebuild else "")
    if not name or (kind not in WRITTEN_CONTEXTS and not reads):
        return None
    return NamedClient(name, partial(clients.of, name))


def _dry_run(
    paths: list[str],
    options: IndexCommandOptions,
    context: str | None,
    known: Settings | None,
    llm: NamedClient | None,
    asking: AskingStrategy | None,
    *,
    reads: bool,
) -> None:
    """Says what the model would be asked about new and changed documents; nothing is sent and nothing is written."""
    from chunkwise.chunkers.context_writer import ContextWriter
    from chunkwise.retrieval.indexing.relations import RelationReader

    asking = asking if asking and asking.client else None
    kind: Any = context or (known.context if known else None)
    if llm is None and kind in WRITTEN_CONTEXTS:
        say(NO_MODEL)
    writer = ContextWriter(llm.client(), kind) if llm and kind in WRITTEN_CONTEXTS else None
    reader = RelationReader(llm.client(), _tokenizer(options, known)) if llm and reads else None
    strategy = asking.alone() if asking else _strategy(options, known)
    before = None if options.rebuild or not known else _before(options)
    estimate, is_skipped = estimate_sources(
        paths, options, strategy, asking, writer, before, reader
    )
    show_estimate(estimate, options.as_json)
    leave(skipped=is_skipped)


def _before(options: IndexCommandOptions) -> IndexBefore | None:
    """The index in a folder; on a server the answers that are kept tell what is new."""
    place = options.into
    if "://" in place:
        return None
    from chunkwise.retrieval.local.index import open_local_index

    return IndexBefore(open_local_index(Path(place)), options.add)


def _tokenizer(options: IndexCommandOptions, known: Settings | None) -> str:
    from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER

    return cast(str, options.tokenizer) or (known.tokenizer if known else DEFAULT_TOKENIZER)


def _strategy(options: IndexCommandOptions, known: Settings | None) -> str:
    from chunkwise.chunkers.chunk import DEFAULT_STRATEGY

    return cast(str, options.strategy) or (known.strategy if known else DEFAULT_STRATEGY)
