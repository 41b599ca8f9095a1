"""`chunkwise index`."""

from __future__ import annotations

import json
import shlex
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from chunkwise.cli.config_option import config_option
from chunkwise.cli.contexts import contextual_option
from chunkwise.cli.inputs import (
    SKIPPED,
    chosen_inputs,
    document_options,
    jobs_option,
    load_options,
    worker_count,
)
from chunkwise.cli.llm_options import llm_options

if TYPE_CHECKING:
    from chunkwise.retrieval import Index
    from chunkwise.retrieval.settings import Settings

_EXAMPLES = """
\b
Examples:
  chunkwise index handbook/ --into kb                     # then: chunkwise search kb "who approves leave?"
  chunkwise index handbook/ --into kb                     # again: only what has changed is read
  chunkwise index docs.zip more/ --into kb -s "sentences(max_tokens=200)" --context headings
  chunkwise index corpus.jsonl --into kb --vectors none   # words alone: no model, and fast
  chunkwise index new.md --into kb --add                  # this one beside those that are there
  chunkwise index handbook/ --into kb --rebuild -s sections
  chunkwise index handbook/ --into kb2 --contextual --llm local   # a model writes where each chunk stands
  chunkwise index --verify --into kb                      # is every byte as it was written?
\b
Exit status: 0 all read, 3 something was skipped, or a model did not write all it was to (each with a line on stderr),
1 an error, 2 wrong usage or value.
"""


@click.command("index", epilog=_EXAMPLES)
@click.option("--into", metavar="PLACE",
              help="Folder of the index, new or old; or postgresql://user@host/database?kb=name.")  # fmt: skip
@click.option("-s", "--strategy", metavar="SPEC", show_default="structure",
              help='How documents are cut: "name(parameter=value, …)"; see `chunkwise strategies`.')  # fmt: skip
@click.option("--model", metavar="NAME", show_default="minilm",
              help="What makes vectors: minilm, openai:NAME, https://HOST/v1#NAME, PATH/model.onnx …; the name of an "
              "endpoint's may end with (timeout=10, attempts=2).")  # fmt: skip
@click.option("--vectors", metavar="KIND", show_default="late",
              help="late: one pass for chunks and all sizes; own: a pass a chunk; both; none: words.")  # fmt: skip
@click.option("--context", metavar="KIND", show_default="none",
              help="Indexed beside each chunk, not beside the sentences of multiscale: headings (title, section path, "
              "header of the table), or none.")  # fmt: skip
@contextual_option
@click.option("--language", metavar="CODE", show_default="auto",
              help="Of the words: auto (told for every document), en, de …, or none.")  # fmt: skip
@click.option("--add", is_flag=True,
              help="Add these documents, or put them in the place of their older selves; all others stay.")  # fmt: skip
@click.option(
    "--rebuild",
    is_flag=True,
    help="Make the index anew; settings that are not said stay as they were.",
)
@click.option("--verify", is_flag=True,
              help="Read an index in a folder byte by byte, and write nothing: is it sound?")  # fmt: skip
@click.option(
    "--json", "as_json", is_flag=True, help="The summary as JSON on stdout, nothing else."
)
@llm_options
@config_option
@jobs_option
@document_options
def command(inputs: tuple[str, ...], **options: Any) -> None:
    """Make an index that can be searched, or bring it up to date.

    INPUTS are files, folders, globs, archives or '-', as for `chunkwise chunk`. The index then holds exactly these
    documents: new and changed ones are read, unchanged ones kept, those that are gone removed (with --add none is).
    What is not said stays as the index was made before.
    """
    if not options["into"]:
        raise click.UsageError("where to? name a folder for the index: --into kb")
    if options["add"] and options["rebuild"]:
        raise click.UsageError(
            "--add keeps what the index has, --rebuild makes it anew: give one of them"
        )
    if options["verify"]:
        if inputs or options["add"] or options["rebuild"]:
            raise click.UsageError(
                "--verify only reads the index: leave the documents, --add and --rebuild out"
            )
        _verify(options["into"], options)
        return
    from chunkwise.cli.index_contexts import (
        asking,
        dry_run,
        named_client,
        say_weak,
        wanted_context,
    )
    from chunkwise.cli.llm_options import LlmClients, show_spent
    from chunkwise.cli.messages import say, say_skipped, usable_place
    from chunkwise.cli.progress import bytes_of, progress
    from chunkwise.retrieval import index
    from chunkwise.retrieval.indexes import settings_at

    paths = chosen_inputs(inputs)
    began = time.monotonic()
    known = settings_at(options["into"], of_any_version=options["rebuild"])
    clients = LlmClients(options)
    own = asking(options, known, clients)
    options["context"] = wanted_context(options, known, otherwise=own is not None)
    llm = named_client(options, known, clients)
    if options["dry_run"]:
        dry_run(paths, options, known, llm, own)
        return
    say_weak(options, known, llm, own)
    _fetch_weights(options, known)
    total = bytes_of(paths)
    with progress("indexing", total, options["quiet"]) as advance:
        made = index(
            paths, own.strategy if own else options["strategy"], into=options["into"], model=options["model"],
            vectors=options["vectors"], context=options["context"], llm=llm, language=options["language"],
            options=load_options(options),
            on_skip=None if options["strict"] else say_skipped, jobs=worker_count(options["jobs"], total),
            advance=advance, rebuild=options["rebuild"], keep_others=options["add"],
        )  # fmt: skip
    summary = _summary(made, options["into"], time.monotonic() - began)
    if not options["quiet"]:
        for note in summary["notes"]:
            say(note)
        click.echo(_told(summary, usable_place(options["into"])), err=True)
        for client in clients.made:
            show_spent(client.spent)
    if options["as_json"]:
        click.echo(json.dumps(summary, ensure_ascii=False))
    if not summary["documents"]:
        say("there is no document; the index is empty")
    fell_short = clients.fell_short or summary["without_context"]
    if summary["skipped"] or not summary["documents"] or fell_short:
        sys.exit(SKIPPED)


def _verify(place: str, options: dict[str, Any]) -> None:
    """What is damaged is an error that says so."""
    from chunkwise.base.wording import counted
    from chunkwise.cli.messages import shown_place
    from chunkwise.retrieval import open_index

    if "://" in place:
        raise click.UsageError(
            "--verify reads a folder; a server keeps watch over its own files: see pg_amcheck"
        )
    opened = open_index(place)
    opened.verify()
    stats, into = opened.stats(), shown_place(place)
    if options["as_json"]:
        told = {"into": into, "sound": True, "documents": stats.documents, "chunks": stats.chunks}
        click.echo(json.dumps({**told, "bytes": stats.bytes}, ensure_ascii=False))
    elif not options["quiet"]:
        held = f"{counted(stats.documents, 'document')}, {counted(stats.chunks, 'chunk')}"
        click.echo(f"{into}: sound ({held}, {_size(stats.bytes)} read)")


def _fetch_weights(options: dict[str, Any], known: Settings | None) -> None:
    """With a bar of their own, where the index will need them; wrong values are for the index itself to refuse."""
    from chunkwise.cli.weights import fetch_weights
    from chunkwise.models import DEFAULT
    from chunkwise.retrieval.settings import VECTORS

    model = known.model if known else DEFAULT  # empty: of words alone
    if known is None or options["rebuild"]:
        model = options["model"] or model or (DEFAULT if options["vectors"] else "")
        model = "" if options["vectors"] == "none" else model
    if options["vectors"] in (None, *VECTORS):
        fetch_weights(model, options["quiet"])


def _summary(made: Index, into: str, seconds: float) -> dict[str, Any]:
    from chunkwise.cli.messages import shown_place

    changes, stats, settings = made.changes, made.stats(), made.settings
    assert changes is not None
    return {
        "into": shown_place(into),
        "documents": stats.documents,
        "added": changes.added,
        "changed": changes.changed,
        "removed": changes.removed,
        "unchanged": changes.unchanged,
        "skipped": changes.skipped,
        "chunks": stats.chunks,
        "without_context": changes.plain,
        "tokens": stats.tokens,
        "indexed_tokens": stats.indexed_tokens,
        "context_tokens": stats.context_tokens,
        "bytes": stats.bytes,
        "strategy": settings.strategy,
        "model": settings.model,
        "vectors": settings.vectors,
        "context": settings.context,
        "llm": settings.llm,
        "language": settings.language,
        "notes": list(changes.notes),
        "seconds": round(seconds, 3),
    }


def _told(summary: dict[str, Any], asked: str) -> str:
    """What was done, what is there now, and what to do with it."""
    from chunkwise.base.wording import counted

    names = ("added", "changed", "removed", "unchanged", "skipped")
    done = ", ".join(f"{summary[name]:,} {name}" for name in names if summary[name])
    into = summary["into"]
    beside = summary["context_tokens"]
    tokens = counted(summary["indexed_tokens"] - beside, "token")
    more = f" ({beside:,} more of contexts)" if beside else ""
    lines = [
        f"{into}: {counted(summary['documents'], 'document')} ({done or 'nothing done'})",
        f"{counted(summary['chunks'], 'chunk')} of {tokens}{more} "
        f"by {summary['strategy']}, {summary['model'] or 'words alone'}; {_size(summary['bytes'])}, "
        f"{summary['seconds']:.1f} s",
    ]  # fmt: skip
    if summary["documents"]:
        lines.append(f'try: chunkwise search {shlex.quote(asked)} "your question"')
    return "\n".join(lines)


def _size(count: int) -> str:
    size = float(count)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"
