"""One question as a person sees it: what is asked, what is answered, and the place that proves it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from chunkwise.core import SECTION_SEPARATOR, Document, Query, Reference
from chunkwise.report.plain_text import one_line
from chunkwise.testsets.reading import read_testset
from chunkwise.testsets.reviewing import Review, answer_of, question_of, state_of
from chunkwise.testsets.testset import Problem
from chunkwise.text.analysis import Analyzed

_AROUND = 240
"""Characters of the document on either side of a quote."""
_LONGEST = 1500


class ReviewCard:
    """Knows where the references of a file's questions stand."""

    def __init__(self, file: str, documents: Sequence[Document]) -> None:
        self._documents = {document.id: document for document in documents}
        self._problems: dict[str, str] = {}
        found = read_testset(file, documents, self._take) if documents else None
        self._queries: dict[str, Query] = {each.id: each for each in found.queries} if found else {}

    def _take(self, problem: Problem) -> None:
        self._problems[problem.query_id] = problem.text

    def question(self, review: Review) -> str:
        return question_of(review.row or {})

    def answer(self, review: Review) -> str:
        return answer_of(review.row or {})

    def show(self, review: Review) -> None:
        """On stdout; text of documents and models is made harmless first."""
        row = review.row or {}
        types = row.get("types") or row.get("type") or []
        told = ", ".join(map(str, types)) if isinstance(types, list) else str(types)
        click.echo()
        where = f"{review.at + 1:,} of {len(review):,}"
        click.secho(one_line(f"{where} · {told or 'no type'} · {state_of(row)}"), dim=True)
        click.secho(one_line(question_of(row)), bold=True)
        click.echo(f"→ {one_line(answer_of(row)) or '(no answer)'}")
        for line in self._evidence(row):
            click.echo(line)

    def _evidence(self, row: dict[str, object]) -> Iterator[str]:
        name = str(row.get("query_id", row.get("id", "")))
        query = self._queries.get(name)
        if query is not None and query.references:
            for reference in query.references:
                yield from self._place(reference)
            return
        if name in self._problems:
            yield click.style(one_line(self._problems[name]), fg="red")
        for text in _quoted(row):
            yield f"  {_marked(text)}"

    def _place(self, reference: Reference) -> Iterator[str]:
        document = self._documents[reference.doc_id]
        text, start, end = document.text, reference.start, reference.end
        section = SECTION_SEPARATOR.join(Analyzed(document).section(start, end))
        more = (
            f" · and {len(reference.alternatives):,} more places" if reference.alternatives else ""
        )
        place = f"{document.id} {start:,}–{end:,}{f' · {section}' if section else ''}{more}"
        yield click.style(one_line(place), fg="cyan")
        low, high = max(0, start - _AROUND), min(len(text), end + _AROUND)
        before = ("…" if low else "") + one_line(text[low:start])
        behind = one_line(text[end:high]) + ("…" if high < len(text) else "")
        yield f"  {before}{_marked(text[start:end])}{behind}"


def _marked(text: str) -> str:
    """With marks as well as a colour: not every terminal has one."""
    return click.style(f"»{one_line(text, _LONGEST)}«", bold=True, fg="green")


def _quoted(row: dict[str, object]) -> list[str]:
    """What the file itself says stands there."""
    found: list[str] = []
    for name in ("references", "relevant_text"):
        given = row.get(name)
        for each in given if isinstance(given, list) else [given]:
            text = each.get("text") if isinstance(each, dict) else each
            if isinstance(text, str) and text:
                found.append(text)
    return found
