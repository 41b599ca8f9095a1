"""The questions of a command: words behind its place, or a file of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from chunkwise.base.errors import ChunkwiseError, InvalidParameter

if TYPE_CHECKING:
    from chunkwise.core import Query


def asked_questions(words: tuple[str, ...], file: str | None, skipped: list[str]) -> list[Query]:
    """At least one; what a file has that is no question is told, and added to `skipped`."""
    from chunkwise.cli.messages import say_skipped
    from chunkwise.core import Query
    from chunkwise.testsets.reading import read_questions

    if words and file:
        raise click.UsageError("a question and --queries: give one of them")
    if file:

        def bad(problem: str) -> None:
            skipped.append(problem)
            say_skipped(problem)

        queries = read_questions(file, bad)
        if not queries:
            raise ChunkwiseError(f"no question in {'standard input' if file == '-' else file}")
        return queries
    if not words:
        raise click.UsageError(
            'nothing to ask: write the question behind the index, or name a file: --queries FILE ("-": stdin)'
        )
    question = " ".join(words)
    if not question.strip():
        raise InvalidParameter("the question is empty; write what you look for")
    return [Query("1", question)]
