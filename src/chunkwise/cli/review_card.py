"""One question as a person sees it: what is asked, what is answered, and the place that proves it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from chunkwise.cli.plain_lines import plain_lines
from chunkwise.core import SECTION_SEPARATOR, Document, Query, Reference
from chunkwise.metrics.claims.whole_words import whole_words
from chunkwise.report.plain_text import one_line
from chunkwise.testsets.reading import read_testset
from chunkwise.testsets.review import Review, answer_of, question_of, quoted, state_of
from chunkwise.testsets.rows_file import Row
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
        console = Console(file=sys.stdout, highlight=False)
        where = f"{review.at + 1:,} of {len(review):,}"
        console.print()
        console.print(Text(one_line(f"{where} · {told or 'no type'} · {state_of(row)}"), "dim"))
        console.print(Text(one_line(question_of(row)), "bold"))
        console.print(Text(f"→ {one_line(answer_of(row)) or '(no answer)'}"))
        for part in self._evidence(row):
            console.print(part)

    def _evidence(self, row: Row) -> Iterator[Text | Padding]:
        name = str(row.get("query_id", row.get("id", "")))
        query = self._queries.get(name)
        if query is not None and query.references:
            for reference in query.references:
                yield from self._place(reference)
            return
        if name in self._problems:
            yield Text(one_line(self._problems[name]), "red")
        for text in quoted(row):
            yield _indented(_marked(text))

    def _place(self, reference: Reference) -> Iterator[Text | Padding]:
        document = self._documents[reference.doc_id]
        text, start, end = document.text, reference.start, reference.end
        section = SECTION_SEPARATOR.join(Analyzed(document).section(start, end))
        more = (
            f" · and {len(reference.alternatives):,} more places" if reference.alternatives else ""
        )
        place = f"{document.id} {start:,}–{end:,}{f' · {section}' if section else ''}{more}"
        yield Text(one_line(place), "cyan")
        low, high = whole_words(text, max(0, start - _AROUND), min(len(text), end + _AROUND))
        before = ("…" if low else "") + plain_lines(text[low:start])
        behind = plain_lines(text[end:high]) + ("…" if high < len(text) else "")
        yield _indented(Text.assemble(before, _marked(text[start:end]), behind))


def _marked(text: str) -> Text:
    """With marks as well as a colour: not every terminal has one."""
    said = plain_lines(text)
    cut = said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"
    return Text(f"»{cut}«", "bold green")


def _indented(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, 2), expand=False)
