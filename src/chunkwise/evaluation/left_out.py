"""What an evaluation had to leave out, line by line."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from chunkwise.errors import UnreadableDocument
from chunkwise.evaluation.results import Json
from chunkwise.testsets.testset import Problem

OnBad = Callable[[str], None]
"""Gets a line for each document, question or row that is left out, or was mended."""


class LeftOut:
    """Remembers every line and passes it on."""

    def __init__(self, on_bad: OnBad | None) -> None:
        self._on_bad = on_bad or _warn
        self.documents: list[str] = []
        self.questions: list[str] = []
        self.rows: list[str] = []

    def document(self, problem: UnreadableDocument) -> None:
        self._add(self.documents, str(problem))

    def question(self, problem: Problem) -> None:
        self._add(self.questions, f"{problem.where}: {problem.text}")

    def row(self, line: str) -> None:
        """Of a file of hits, chunks or answers."""
        self._add(self.rows, line)

    def told(self) -> dict[str, Json]:
        """For the file of results."""
        return {
            "skipped_documents": list(self.documents),
            "left_out_questions": list(self.questions),
            "left_out_rows": list(self.rows),
        }

    def _add(self, lines: list[str], line: str) -> None:
        lines.append(line)
        self._on_bad(line)


def _warn(line: str) -> None:
    warnings.warn(line, stacklevel=2)
