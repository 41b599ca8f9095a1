"""`chunkwise push`."""

from __future__ import annotations

import sys
from typing import Annotated

import click

from chunkwise.base.schema import Name, Option, argument
from chunkwise.base.wording import thousands
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.exit_status import SKIPPED
from chunkwise.cli.options import (
    AllowOption,
    JsonOption,
    QuietOption,
)
from chunkwise.cli.progress import bytes_of, progress
from chunkwise.cli.streams import print_json, say, say_skipped


class PushOptions(AllowOption, QuietOption, JsonOption, group="Target"):
    """The options of `chunkwise push`."""

    source: Annotated[str, argument("SOURCE")]
    to: Annotated[Name, Option(
        "Database: chroma://, milvus://, qdrant://, weaviate://, pinecone://", metavar="ADDRESS", common=True
    )]  # fmt: skip
    collection: Annotated[Name | None, Option(
        "Collection, unless named in the URL", metavar="NAME", default_text="chunkwise", common=True
    )] = None  # fmt: skip
    embedder: Annotated[Name | None, Option(
        "Embedding model for chunks without vectors", flag="-e", metavar="NAME", common=True
    )] = None  # fmt: skip
    prune: Annotated[bool, Option(
        "Delete stale rows of these documents", common=True
    )] = False  # fmt: skip


@dataclass_command("push", PushOptions)
def command(options: PushOptions) -> None:
    """Upload chunks, vectors and metadata to a vector database.

    SOURCE is an index, a file of chunks (.parquet, .jsonl or .csv, with a `text` column and `vector` or --embedder),
    or a folder of such files. Row ids are chunk ids, so pushing again updates rows, and the same command completes an
    interrupted push. API keys are read from CHROMA_API_KEY, MILVUS_API_KEY, PINECONE_API_KEY, QDRANT_API_KEY or
    WEAVIATE_API_KEY.

    Examples:
      chunkwise push kb --to chroma:///home/you/chroma --collection handbook
      chunkwise push chunks.parquet --to qdrant://localhost:6333/kb -e minilm
      chunkwise push kb --to chroma://localhost:8000/handbook --prune
    """
    from chunkwise.retrieval.indexes import is_index
    from chunkwise.vector_databases.push import push, summary

    total = 0 if is_index(options.source) else bytes_of([options.source])
    with progress("pushing", total, options.quiet) as advance:
        result = push(
            options.source, options.to, collection=options.collection, embedder=options.embedder,
            prune=options.prune, on_bad=say_skipped, advance=advance,
        )  # fmt: skip
    if options.as_json:
        print_json(result.to_dict())
    elif not options.quiet:
        click.echo(summary(result), err=True)
    if result.skipped:
        kept = (
            "; nothing was deleted, since they may replace existing rows" if options.prune else ""
        )
        say(f"not pushed: {thousands(result.skipped)}, see above{kept}")
        sys.exit(SKIPPED)
