"""Questions reviewed in a terminal: each with the passage that proves it, a decision a key."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

import click

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.wording import counted, from_to, shortened, thousands
from chunkwise.core import SECTION_SEPARATOR, Document, Query, Reference
from chunkwise.report.sanitize import one_line

if TYPE_CHECKING:
    from rich.padding import Padding
    from rich.text import Text

    from chunkwise.testsets.check import Problem
    from chunkwise.testsets.formats.chunkwise import QuestionRow
    from chunkwise.testsets.review import Review

_AROUND = 240
"""Characters of the document on either side of a quote."""
_LONGEST = 1500
_INDENT = 8
"""Blanks a line may begin with: enough for a list within a list."""

_KEYS = "[a]ccept  [e]dit question  edit ans[w]er  [d]rop  [s]kip  [b]ack  [q]uit"


def refuse_without_terminal() -> None:
    """Questions are put to a person."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise ChunkwiseError(
            "review needs a terminal, and standard input isn't one; to drop questions in a "
            "script, edit the JSON file"
        )


def review_in_terminal(
    review: Review, card: ReviewCard, file: object, goes_on: Callable[[], bool] | None = None
) -> None:
    """Until the last question, q or an interrupt; then what was decided is counted."""
    try:
        walk(review, card, click.getchar, goes_on)
    except (KeyboardInterrupt, EOFError):
        click.echo()
    click.echo(f"{counted_decisions(review)}; decisions saved in {file}")


def walk(
    review: Review,
    card: ReviewCard,
    key: Callable[[], str],
    goes_on: Callable[[], bool] | None = None,
) -> None:
    """Question by question until the last, or q; before each `goes_on` may bring another, or end it."""
    decisions: dict[str, Callable[[], None]] = {
        "a": review.accept,
        "e": lambda: _tell(review.edit_question(_edited(card.question(review), "question"))),
        "w": lambda: _tell(review.edit_answer(_edited(card.answer(review), "answer"))),
        "d": review.drop,
        "s": review.skip,
        "b": review.back,
    }
    while (goes_on is None or goes_on()) and review.row is not None:
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
    for each in changes:
        click.echo(one_line(each))


def counted_decisions(review: Review) -> str:
    """Of the whole file, in words."""
    return ", ".join(f"{thousands(count)} {name}" for name, count in review.counts().items())


class ReviewCard:
    """Knows where the references of a file's questions stand."""

    def __init__(self, file: str, documents: Sequence[Document]) -> None:
        from chunkwise.testsets.reading import read_testset

        self._documents = {document.id: document for document in documents}
        self._problems: dict[str, str] = {}
        testset = read_testset(file, documents, self._take) if documents else None
        self._queries: dict[str, Query] = (
            {each.id: each for each in testset.queries} if testset else {}
        )

    def _take(self, problem: Problem) -> None:
        self._problems[problem.query_id] = problem.text

    def question(self, review: Review) -> str:
        from chunkwise.testsets.review import question_of

        return question_of(review.row or {})

    def answer(self, review: Review) -> str:
        from chunkwise.testsets.review import answer_of

        return answer_of(review.row or {})

    def show(self, review: Review) -> None:
        """On stdout; text of documents and models is made harmless first."""
        from rich.console import Console
        from rich.text import Text

        from chunkwise.testsets.review import answer_of, question_of, state_of

        row = review.row or {}
        types = row.get("types") or row.get("type") or []
        type_names = ", ".join(map(str, types)) if isinstance(types, list) else str(types)
        console = Console(file=sys.stdout, highlight=False)
        where = f"{thousands(review.at + 1)} of {thousands(len(review))}"
        console.print()
        console.print(
            Text(one_line(f"{where} · {type_names or 'no type'} · {state_of(row)}"), "dim")
        )
        console.print(Text(one_line(question_of(row)), "bold"))
        console.print(Text(f"→ {one_line(answer_of(row)) or '(no answer)'}"))
        for part in self._evidence(row):
            console.print(part)

    def _evidence(self, row: QuestionRow) -> Iterator[Text | Padding]:
        from rich.text import Text

        from chunkwise.testsets.review import quotes_of_row

        name = str(row.get("query_id", row.get("id", "")))
        query = self._queries.get(name)
        if query is not None and query.references:
            for reference in query.references:
                yield from self._place(reference)
            return
        if name in self._problems:
            yield Text(one_line(self._problems[name]), "red")
        for text in quotes_of_row(row):
            yield _indented(_marked(text))

    def _place(self, reference: Reference) -> Iterator[Text | Padding]:
        from rich.text import Text

        from chunkwise.metrics.claims.hit_texts import whole_words
        from chunkwise.text.analyzed import Analyzed

        document = self._documents[reference.doc_id]
        text, start, end = document.text, reference.start, reference.end
        section = SECTION_SEPARATOR.join(Analyzed(document).section(start, end))
        more = (
            f" · and {counted(len(reference.alternatives), 'more place')}"
            if reference.alternatives
            else ""
        )
        place = f"{document.id} {from_to(start, end)}{f' · {section}' if section else ''}{more}"
        yield Text(one_line(place), "cyan")
        low, high = whole_words(text, max(0, start - _AROUND), min(len(text), end + _AROUND))
        before = ("…" if low else "") + _plain_lines(text[low:start])
        behind = _plain_lines(text[end:high]) + ("…" if high < len(text) else "")
        yield _indented(Text.assemble(before, _marked(text[start:end]), behind))


def _marked(text: str) -> Text:
    """With marks as well as a color: not every terminal has one."""
    from rich.text import Text

    return Text(f"»{shortened(_plain_lines(text), _LONGEST)}«", "bold green")


def _indented(text: Text) -> Padding:
    from rich.padding import Padding

    return Padding(text, (0, 0, 0, 2), expand=False)


def _plain_lines(text: str) -> str:
    """Headings, entries and rows stay lines of their own; many empty lines become one."""
    lines = [_plain(line) for line in text.split("\n")]
    kept = [lines[0], *(now for before, now in pairwise(lines) if now.strip() or before.strip())]
    return "\n".join(kept)


def _plain(line: str) -> str:
    blanks = len(line) - len(line.lstrip(" "))
    return " " * min(blanks, _INDENT) + one_line(line.lstrip(" "))


def _edited(text: str, what: str) -> str:
    """In the user's editor where one is set, else in the terminal; nothing at all: as it was."""
    if os.environ.get("VISUAL") or os.environ.get("EDITOR"):
        changed = click.edit(text)
        return text if changed is None else " ".join(changed.split())
    offered = one_line(text)
    with _beginning_with(offered) as is_there:
        shown = "" if is_there or not offered else f" [{offered}]"
        click.echo(f"new {what}; Enter keeps it{shown}")
        typed = " ".join(input("> ").split())
    # What was not touched is not an edit, even where it could not be shown as it is.
    return text if typed in ("", offered) else typed


@contextmanager
def _beginning_with(text: str) -> Iterator[bool]:
    """The next line typed has this in it from the start; False: the platform has no way to do so."""
    try:
        import readline
    except ImportError:
        yield False
        return
    readline.set_startup_hook(lambda: readline.insert_text(text))
    try:
        yield True
    finally:
        readline.set_startup_hook(None)
