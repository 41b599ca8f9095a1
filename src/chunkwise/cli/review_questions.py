"""Questions reviewed in a terminal: each with the passage that proves it, a decision a key."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.wording import counted, from_to, shortened, thousands
from chunkwise.cli.streams import stdout_console
from chunkwise.core import SECTION_SEPARATOR, Document, Query, Reference
from chunkwise.report.report import Excerpt, Headline, Note, Report, ReportPart, TextRun
from chunkwise.report.sanitize import clean_lines, one_line

if TYPE_CHECKING:
    from chunkwise.testsets.check import Problem
    from chunkwise.testsets.formats.chunkwise import QuestionRow
    from chunkwise.testsets.review import Review

_AROUND = 240
"""Characters of the document on either side of a quote."""
_LONGEST = 1500

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
    for change in changes:
        click.echo(one_line(change))


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
            {query.id: query for query in testset.queries} if testset else {}
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
        """On stdout."""
        from chunkwise.report.to_terminal import print_report
        from chunkwise.testsets.review import answer_of, question_of, state_of

        row = review.row or {}
        types = row.get("types") or row.get("type") or []
        type_names = ", ".join(map(str, types)) if isinstance(types, list) else str(types)
        where = f"{thousands(review.at + 1)} of {thousands(len(review))}"
        answer = Note(f"→ {answer_of(row) or '(no answer)'}")
        parts = (Headline(question_of(row)), answer, *self._evidence(row))
        click.echo()
        title = f"{where} · {type_names or 'no type'} · {state_of(row)}"
        print_report(Report(title, parts), stdout_console())

    def _evidence(self, row: QuestionRow) -> Iterator[ReportPart]:
        from chunkwise.testsets.review import quotes_of_row

        name = str(row.get("query_id", row.get("id", "")))
        query = self._queries.get(name)
        if query is not None and query.references:
            yield from map(self._place, query.references)
            return
        if name in self._problems:
            yield Note(self._problems[name], is_warning=True)
        for text in quotes_of_row(row):
            yield Excerpt((_marked(text),))

    def _place(self, reference: Reference) -> Excerpt:
        from chunkwise.metrics.claims.hit_texts import whole_words
        from chunkwise.text.analyzed import Analyzed

        document = self._documents[reference.doc_id]
        text, start, end = document.text, reference.start, reference.end
        others = len(reference.alternatives)
        place = [
            f"{document.id} {from_to(start, end)}",
            SECTION_SEPARATOR.join(Analyzed(document).section(start, end)),
            f"and {counted(others, 'more place')}" if others else "",
        ]
        low, high = whole_words(text, max(0, start - _AROUND), min(len(text), end + _AROUND))
        before = TextRun(("…" if low else "") + clean_lines(text[low:start]))
        behind = TextRun(clean_lines(text[end:high]) + ("…" if high < len(text) else ""))
        runs = (before, _marked(text[start:end]), behind)
        return Excerpt(runs, place=" · ".join(filter(None, place)))


def _marked(text: str) -> TextRun:
    """With signs as well as a color: not every terminal has one."""
    return TextRun(f"»{shortened(clean_lines(text), _LONGEST)}«", "gold")


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
