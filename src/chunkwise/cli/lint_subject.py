"""What `chunkwise lint` examines: documents cut now, the chunks of an index, or those of another tool."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click

from chunkwise.chunkers.chunk import DEFAULT_STRATEGY, Chunked, ChunkOutcome
from chunkwise.cli.chunk_summary import Cutter
from chunkwise.cli.inputs import load_options, worker_count
from chunkwise.text.tokens.tokenizers import TokenizerLike


class Subject(NamedTuple):
    """Documents with their chunks, and what made them."""

    cutter: Cutter
    outcomes: Iterator[ChunkOutcome]
    size: int
    """About the bytes there are to read; 0: not known."""


class _Known(NamedTuple):
    """Chunks that were there before."""

    label: str
    limit: tuple[TokenizerLike, int] | None = None
    unit: str = "tokens"


def subject(paths: list[str], outputs: list[Path], options: dict[str, Any]) -> Subject:
    """Told apart by the inputs and `--chunks`."""
    if any(map(_is_index, paths)):
        return _of_index(paths, options)
    if options["chunks"]:
        return _of_file(paths, outputs, options)
    from chunkwise.chunkers import get_strategy
    from chunkwise.chunkers.chunk import chunk_each
    from chunkwise.cli.progress import bytes_of

    total = bytes_of(paths)
    strategy = get_strategy(options["strategy"] or DEFAULT_STRATEGY)
    # Summaries have no cuts: nobody is asked to write them.
    plain = getattr(strategy.chunker, "without_summaries", None)
    outcomes = chunk_each(
        paths,
        plain() if plain else options["strategy"] or DEFAULT_STRATEGY,
        options=load_options(options),
        jobs=worker_count(options["jobs"], total),
        leave_out=outputs,
    )
    return Subject(strategy, outcomes, total)


def _is_index(name: str) -> bool:
    if "://" in name:  # a server; what is none is refused when it is opened
        return True
    if not Path(name).is_dir():
        return False
    from chunkwise.retrieval.indexes import settings_at

    return settings_at(name) is not None


def _of_index(paths: list[str], options: dict[str, Any]) -> Subject:
    from chunkwise.cli.messages import shown_place

    if len(paths) > 1:
        raise click.UsageError("an index is examined by itself: name nothing beside it")
    for name in ("strategy", "chunks"):
        if options[name]:
            raise click.UsageError(
                f"{shown_place(paths[0])} is an index and has its chunks already: leave out --{name}, "
                "or name the documents"
            )
    from chunkwise.evaluation.subjects.index_chunks import index_chunks
    from chunkwise.retrieval import open_index

    index = open_index(paths[0])
    return Subject(_Known(index.settings.strategy), index_chunks(index), 0)


def _of_file(paths: list[str], outputs: list[Path], options: dict[str, Any]) -> Subject:
    if options["strategy"]:
        raise click.UsageError("--strategy and --chunks: give one of them")
    if options["chunks"] == "-" and "-" in paths:
        raise click.UsageError("standard input can be the documents or the chunks, not both")
    return Subject(_Known(options["chunks"]), _given(paths, outputs, options), 0)


def _given(
    paths: list[str], outputs: list[Path], options: dict[str, Any]
) -> Iterator[ChunkOutcome]:
    """Rows that say nothing usable are lines on stderr as documents are that cannot be read."""
    from chunkwise.base.errors import UnreadableDocument
    from chunkwise.chunkers import get_strategy
    from chunkwise.documents import read
    from chunkwise.evaluation.files.chunks_file import read_chunks
    from chunkwise.text.analysis import Analyzed

    skipped: list[UnreadableDocument] = []
    file = Path(options["chunks"]).resolve()
    documents = list(read(paths, load_options(options), skipped.append, [*outputs, file]))

    def bad(problem: str) -> None:
        where, _, why = problem.partition(": ")
        skipped.append(UnreadableDocument(where, why))

    given = read_chunks(options["chunks"], documents, bad)
    yield from skipped
    strategy = get_strategy(given.strategy())
    for document in documents:
        analyzed = Analyzed(document)
        yield Chunked(document, list(strategy.chunks(analyzed)), analyzed)
