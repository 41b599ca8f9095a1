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
        "Questions to show", common=True
    )] = "all"  # fmt: skip


@dataclass_command("review", ReviewOptions)
def command(options: ReviewOptions) -> None:
    """Accept, edit or drop questions one by one.

    QUERIES is a file of questions; SOURCE is documents or an index. Each question is shown with its answer, types and
    passage, with the quote marked. Review starts at the first unreviewed question.

    Examples:
      chunkwise testset review q.json docs/
      chunkwise testset review q.json docs/ --only unreviewed
      chunkwise testset review q.json

    Keys: a accept, e edit the question, w edit the answer, d drop, s skip, b back (and undo a drop), q quit.

    Decisions are saved immediately. Dropped questions move to queries.dropped.json. Edits open $VISUAL or $EDITOR, or
    a line editor. Editing an answer drops facts it no longer contains, and the `easy` and `numeric` tags if they no
    longer apply.
    """
    from chunkwise.testsets.review import Review

    file = options.file
    refuse_without_terminal()
    review = Review(file, options.only)
    if not len(review):
        click.echo(f"nothing to review in {file}: {counted_decisions(review)}")
        return
    review_in_terminal(review, ReviewCard(str(file), _documents(options)), file)


def _documents(options: ReviewOptions) -> list[Document]:
    if not options.source:
        return []
    reading = options.loading(options.file, on_unreadable=say_skipped)
    with progress("reading documents", bytes_of(options.source), False) as advance:
        return named_documents(options.source, reading, advance)
