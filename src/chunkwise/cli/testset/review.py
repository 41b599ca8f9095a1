"""`chunkwise testset review`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import click

from chunkwise.base.schema import Option, argument
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.options import LoadingOptions, Sources
from chunkwise.cli.progress import bytes_of, progress
from chunkwise.cli.review_questions import (
    ReviewCard,
    counted_decisions,
    refuse_without_terminal,
    review_in_terminal,
)
from chunkwise.cli.streams import say_skipped
from chunkwise.cli.testset import named_documents
from chunkwise.core import Document


class ReviewOptions(LoadingOptions):
    """The options of `chunkwise testset review`."""

    file: Annotated[Path, argument("QUERIES")]
    source: Sources = ()
    only: Annotated[Literal["all", "unreviewed", "accepted", "edited"], Option(
        "Show only these questions", common=True
    )] = "all"  # fmt: skip


@dataclass_command("review", ReviewOptions)
def command(options: ReviewOptions) -> None:
    """Accept, edit or drop questions one by one.

    QUERIES is a file of questions; SOURCE is any number of documents, or an index. Shown are the question, its answer
    and types, and the passage that proves it with the quote marked. It begins with the first question that is not
    reviewed.

    Examples:
      chunkwise testset review q.json docs/
      chunkwise testset review q.json docs/ --only unreviewed
      chunkwise testset review q.json

    Keys: a accept, e edit the question, w edit the answer, d drop, s skip, b back (and undo a drop), q quit.

    Every decision is written at once, as "review": "accepted" or "edited". Dropped questions move to
    queries.dropped.json beside the file. Editing opens $VISUAL or $EDITOR where one is set, else a line with the old
    text in it. Facts that an edited answer names no more are dropped, and so are `easy` from an edited question and
    `numeric` where the number is gone; all of it is said.
    """
    from chunkwise.testsets.review import Review

    file = options.file
    refuse_without_terminal()
    review = Review(file, options.only)
    if not len(review):
        click.echo(f"no question to review in {file}: {counted_decisions(review)}")
        return
    review_in_terminal(review, ReviewCard(str(file), _documents(options)), file)


def _documents(options: ReviewOptions) -> list[Document]:
    if not options.source:
        return []
    reading = options.loading(options.file, on_unreadable=say_skipped)
    with progress("reading documents", bytes_of(options.source), False) as advance:
        return named_documents(options.source, reading, advance)
