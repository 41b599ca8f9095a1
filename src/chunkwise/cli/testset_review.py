"""`chunkwise testset review`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chunkwise.cli.line_editing import edited
from chunkwise.cli.progress import bytes_of, progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from chunkwise.cli.review_card import ReviewCard
    from chunkwise.testsets.review import Review

_EXAMPLES = """
\b
Examples:
  chunkwise testset review queries.json handbook/
  chunkwise testset review queries.json handbook/ --only unreviewed
  chunkwise testset review queries.json                             # passages as the file quotes them
\b
Keys: a accept, e edit the question, w edit the answer, d drop, s skip, b back (and undo a drop), q quit.
\b
Every decision is written at once, as "review": "accepted" or "edited". Dropped questions move to
queries.dropped.json beside the file. Editing opens $VISUAL or $EDITOR where one is set, else a line with the old text
in it. Facts that an edited answer names no more are dropped, and so are `easy` from an edited question and `numeric`
where the number is gone; all of it is said.
"""
_KEYS = "[a]ccept  [e]dit question  edit ans[w]er  [d]rop  [s]kip  [b]ack  [q]uit"


@click.command("review", epilog=_EXAMPLES)
@click.argument(
    "file", metavar="QUERIES", type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
@click.argument("inputs", nargs=-1, metavar="[DOCUMENTS]...")
@click.option("--only", type=click.Choice(("all", "unreviewed", "accepted", "edited")), default="all",
              show_default=True, help="Which questions are shown.")  # fmt: skip
def command(file: Path, inputs: tuple[str, ...], **options: Any) -> None:
    """Accept, edit or drop questions one by one.

    Shown are the question, its answer and types, and the passage that proves it with the quote in it. It begins with
    the first question that is not reviewed.
    """
    from chunkwise.base.errors import ChunkwiseError
    from chunkwise.cli.review_card import ReviewCard
    from chunkwise.testsets.review import Review

    if sys.stdin is None or not sys.stdin.isatty():
        raise ChunkwiseError(
            "review asks a person, and standard input is no terminal; run it in one. To leave questions out "
            "without one, edit the file: it is plain JSON"
        )
    review = Review(file, options["only"])
    if not len(review):
        click.echo(f"no question to review in {file}: {_counted(review)}")
        return
    card = ReviewCard(str(file), _documents(file, inputs))
    try:
        walk(review, card, click.getchar)
    except (KeyboardInterrupt, EOFError):
        click.echo()
    click.echo(f"{_counted(review)}; every decision is in {file}")


def walk(review: Review, card: ReviewCard, key: Callable[[], str]) -> None:
    """Question by question until the last, or q."""
    decisions: dict[str, Callable[[], None]] = {
        "a": review.accept,
        "e": lambda: _tell(review.edit_question(edited(card.question(review), "question"))),
        "w": lambda: _tell(review.edit_answer(edited(card.answer(review), "answer"))),
        "d": review.drop,
        "s": review.skip,
        "b": review.back,
    }
    while review.row is not None:
        card.show(review)
        pressed = ""
        while pressed not in (*decisions, "q"):
            click.echo(f"{_KEYS} ", nl=False)
            pressed = key()  # as it is: an arrow key ends in a capital letter
            if pressed in ("\x03", "\x04"):
                raise KeyboardInterrupt
            click.echo(pressed if pressed.isprintable() else "")
        if pressed == "q":
            return
        decisions[pressed]()


def _tell(changes: list[str]) -> None:
    """What an edit took with it; text of files is made harmless first."""
    from chunkwise.report.plain_text import one_line

    for each in changes:
        click.echo(one_line(each))


def _documents(file: Path, inputs: tuple[str, ...]) -> list[Any]:
    if not inputs:
        return []
    from chunkwise.cli.messages import say_skipped
    from chunkwise.cli.testset_documents import named_documents
    from chunkwise.documents import LoadOptions

    leave_out = [Path(os.path.realpath(file))]
    with progress("reading documents", bytes_of(inputs), False) as advance:
        return named_documents(inputs, LoadOptions(), say_skipped, leave_out, advance)


def _counted(review: Review) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in review.counts().items())
