"""What an evaluation had to leave out, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from chunkwise.base.errors import UnreadableDocument
from chunkwise.base.user_warning import warn_user
from chunkwise.base.wording import counted
from chunkwise.core import Document
from chunkwise.documents import Unreadables, WhenUnreadable
from chunkwise.evaluation.results import Json
from chunkwise.records.read import OnBadRow
from chunkwise.testsets.testset import Problem

_SHOWN = 160
"""Characters of the nearest match."""
_ROWS_TOLD = 10
"""Lines about one file of rows: what ails one of them ails thousands, as a rule."""


class Skipped:
    """Remembers every line and passes it on; what was mended is used, and nobody must hear of it."""

    def __init__(
        self,
        on_bad: OnBadRow | None,
        on_mended: OnBadRow | None = None,
        on_unreadable: WhenUnreadable | None = None,
    ) -> None:
        self._on_bad = on_bad or warn_user
        if on_unreadable is None and on_bad is not None:
            on_unreadable = lambda problem: on_bad(str(problem))  # noqa: E731
        self._unreadables = Unreadables(on_unreadable or "warn")
        self._unreadables.read()  # told at once: that nothing is left is an error of its own
        self._on_mended = on_mended
        self.documents: list[str] = []
        self.questions: list[str] = []
        self.rows: list[str] = []
        self.mended: list[str] = []

    def document(self, problem: UnreadableDocument) -> None:
        self.documents.append(str(problem))
        self._unreadables.add(problem)

    def question(self, problem: Problem, documents: Sequence[Document] = ()) -> None:
        """With the nearest match of a passage that is not there, so that a person can correct it."""
        line = f"{problem.where}: {problem.text}"
        if problem.repaired:
            self.mended.append(line)
            if self._on_mended is not None:
                self._on_mended(line)
            return
        if (near := problem.nearest) is not None:
            text = next((each.text for each in documents if each.id == near.doc_id), "")
            shown = " ".join(text[near.start : near.end].split())[:_SHOWN]
            line += f"; nearest is {near.doc_id} {near.start:,}–{near.end:,}: {shown!r}"
        # What is skipped may be an alternative or a label alone.
        self._add(self.questions, line if problem.dropped else f"{line} (the question is kept)")

    def question_line(self, line: str) -> None:
        """A question that did not come from a file."""
        self._add(self.questions, line)

    @contextmanager
    def rows_of(self, path: str) -> Iterator[OnBadRow]:
        """What takes the lines about a file of hits, chunks or answers: all are kept, and the first few passed on."""
        before = len(self.rows)

        def row(line: str) -> None:
            self.rows.append(line)
            if len(self.rows) - before <= _ROWS_TOLD:
                self._on_bad(line)

        yield row
        more = len(self.rows) - before - _ROWS_TOLD
        if more > 0:
            self._on_bad(
                f"{path}: and {counted(more, 'more row')}; the results keep a line about each (left_out_rows)"
            )

    @property
    def any(self) -> bool:
        """Whether something is not used."""
        return bool(self.documents or self.questions or self.rows)

    def to_json(self) -> dict[str, Json]:
        """For the file of results."""
        return {
            "skipped_documents": list(self.documents),
            "left_out_questions": list(self.questions),
            "mended_questions": list(self.mended),
            "left_out_rows": list(self.rows),
        }

    def _add(self, lines: list[str], line: str) -> None:
        lines.append(line)
        self._on_bad(line)
