"""`--contextual`: contexts that a language model writes, for the commands that cut documents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from chunkwise.cli.messages import say

if TYPE_CHECKING:
    from chunkwise.chunkers.chunk import Chunked
    from chunkwise.chunkers.contextual.writer import ContextWriter
    from chunkwise.core import OnProgress

NO_MODEL = (
    "no language model is named (--llm NAME, or CHUNKWISE_LLM): --contextual falls back to the headings context, "
    "title and section path of each chunk"
)
_WEAK = (
    "the small local model writes weak contexts and summaries: compare an index with them and one without, by "
    "`chunkwise evaluate`, before you rely on it"
)
_DOCUMENTS, _CHUNKS, _CHARACTERS = 32, 128, 1_000_000
"""Of documents whose contexts are asked for together: enough to keep a server busy, little to hold in memory."""


def contextual_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--contextual`, with or without a value."""
    return click.option(
        "--contextual", is_flag=False, flag_value="neighbours", type=click.Choice(["neighbours", "document"]),
        help="A language model (--llm) writes 2 or 3 sentences about each chunk's place, from its neighbours or from "
        "the whole document; they go into its context.",
    )(command)  # fmt: skip


def check_contextual(options: Mapping[str, Any], *, asked: bool, otherwise: bool = False) -> None:
    """Options that make no sense together; `asked`: contexts will be written, `otherwise`: a model has other work."""
    two = options["contextual"] and options["context"] not in (None, options["contextual"])
    if two and is_typed("context"):
        raise click.UsageError(
            f"--context {options['context']} and --contextual are two contexts: give one of them"
        )
    if asked or otherwise:
        return
    if options["dry_run"]:
        raise click.UsageError(
            "--dry-run says what a language model would take, and none is asked here: add --contextual"
        )
    if options["llm"] and is_typed("llm"):
        raise click.UsageError("--llm names what writes contexts: add --contextual")


def is_typed(name: str) -> bool:
    """Whether an option was given on the command line, not by the environment or a file."""
    found = click.get_current_context().get_parameter_source(name)
    return found is ParameterSource.COMMANDLINE


def warn_of_weak(names: Collection[str | None], quiet: bool) -> None:
    """Said once, where the packaged model is among those that write."""
    if "local" in names and not quiet:
        say(_WEAK)


@contextmanager
def kept_when_stopped(is_asking: bool) -> Iterator[None]:
    """Who stops a run that asks a model is told that nothing it answered is lost."""
    try:
        yield
    except KeyboardInterrupt:
        if is_asking:
            say("what the model has answered is kept: the same command goes on from there")
        raise


def with_written_contexts(
    documents: Iterable[Chunked], writer: ContextWriter, advance: OnProgress
) -> Iterator[Chunked]:
    """The same documents in their order; `advance` gets characters as the contexts of their chunks come."""
    for batch in _batches(documents):
        done = 0

        def told(amount: int, note: str) -> None:
            nonlocal done
            done += amount
            advance(amount, note)

        for chunked, chunks in zip(batch, writer.write(batch, told), strict=True):
            chunked.chunks = chunks
            yield chunked
        whole = sum(len(chunked.document.text) for chunked in batch)
        count = writer.tally.chunks
        advance(max(0, whole - done), f"{count:,} chunk{'s' * (count != 1)} with a context")


def _batches(documents: Iterable[Chunked]) -> Iterator[list[Chunked]]:
    batch: list[Chunked] = []
    chunks = characters = 0
    for chunked in documents:
        batch.append(chunked)
        chunks += len(chunked.chunks)
        characters += len(chunked.document.text)
        if len(batch) >= _DOCUMENTS or chunks >= _CHUNKS or characters >= _CHARACTERS:
            yield batch
            batch, chunks, characters = [], 0, 0
    if batch:
        yield batch
