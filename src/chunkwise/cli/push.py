"""`chunkwise push`."""

from __future__ import annotations

from dataclasses import dataclass

import click

from chunkwise.cli.dataclass_options import argument, dataclass_command, option
from chunkwise.cli.options import json_flag
from chunkwise.cli.progress import progress
from chunkwise.cli.streams import print_json, shown_place

_EXAMPLES = """
\b
Examples:
  chunkwise push kb --to chroma://localhost:8000/handbook            # an index: its chunks with their vectors
  chunkwise push chunks.parquet --to weaviate://localhost:8080/Handbook
  chunkwise push kb --to milvus://localhost:19530/handbook
  chunkwise push kb --to pinecone://INDEX-HOST/namespace             # the key: PINECONE_API_KEY
  chunkwise push kb --to qdrant+https://host/handbook
\b
Exit status: 0 every chunk was sent, 1 an error (what was sent before stays), 2 wrong usage or value.
"""


@dataclass(frozen=True, kw_only=True)
class PushOptions:
    """The options of `chunkwise push`."""

    source: str = argument("SOURCE")
    to: str = option(
        "--to", metavar="ADDRESS", required=True,
        help="The database: chroma://, weaviate://, milvus://, pinecone:// or qdrant://, then host:port/collection; "
        "+https behind the name encrypts.",
    )  # fmt: skip
    batch: int = option(
        "--batch", type=click.IntRange(1, 1000), default=200, show_default=True, metavar="COUNT",
        help="Chunks sent at once.",
    )  # fmt: skip
    quiet: bool = option("-q", "--quiet", is_flag=True, help="Show no progress.")
    as_json: bool = json_flag("Print the summary as JSON on stdout and nothing else.")


@dataclass_command("push", PushOptions, examples=_EXAMPLES)
def command(options: PushOptions) -> None:
    """Send chunks, their vectors and metadata to a database that you run already.

    SOURCE is an index that `chunkwise index` made, or a file of chunks with vectors (.parquet, .jsonl, .csv), as
    `Index.export` writes it. A chunk that is there under its id is replaced, all others stay. Keys come from
    CHROMA_API_KEY, WEAVIATE_API_KEY, MILVUS_TOKEN, PINECONE_API_KEY and QDRANT_API_KEY.
    """
    from chunkwise.base.wording import counted
    from chunkwise.retrieval.indexes import is_index, open_index
    from chunkwise.retrieval.push import push

    is_kept = is_index(options.source)
    source = open_index(options.source).source if is_kept else options.source
    total = 0 if isinstance(source, str) else source.chunk_count
    with progress("sending", total, options.quiet) as advance:
        count = push(source, options.to, batch=options.batch, advance=advance)
    to = shown_place(options.to)
    if options.as_json:
        print_json({"source": shown_place(options.source), "to": to, "chunks": count}, indent=None)
    elif not options.quiet:
        click.echo(f"{to}: {counted(count, 'chunk')} sent")
