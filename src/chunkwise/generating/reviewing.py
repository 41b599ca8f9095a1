"""A person's decisions about questions: each is in the file before the next question is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from chunkwise.generating.question_rows import REVIEW
from chunkwise.generating.questions_store import dropped_file
from chunkwise.generating.rows_file import Row, RowsFile

Only = Literal["all", "unreviewed", "accepted", "edited"]

_QUESTION = ("query", "question", "user_input", "text")
_ANSWER = ("expected_answer", "reference_answer", "ground_truth", "gold_answer", "answer")


class Review:
    """The questions of a file, one of them at hand; all other fields stay as they are."""

    def __init__(self, path: Path, only: Only = "all") -> None:
        self._file = RowsFile.read(path)
        gone = dropped_file(path)
        self._gone = RowsFile.read(gone) if gone.is_file() else RowsFile.new(gone)
        self._line = [row for row in self._file.rows if only in ("all", state_of(row))]
        self._dropped: dict[int, int] = {}
        """Of rows dropped in this sitting, where each stood in the file."""
        first = (at for at, row in enumerate(self._line) if state_of(row) == "unreviewed")
        self.at = next(first, 0)

    def __len__(self) -> int:
        return len(self._line)

    @property
    def row(self) -> Row | None:
        """The question at hand; None: there is none behind the last."""
        return self._line[self.at] if self.at < len(self._line) else None

    @property
    def is_dropped(self) -> bool:
        """Whether the question at hand was dropped in this sitting."""
        return id(self.row) in self._dropped

    def accept(self) -> None:
        """Edited ones stay edited: somebody has changed what was generated."""
        row = self._here()
        if state_of(row) != "edited":
            row[REVIEW] = "accepted"
        self._file.write()
        self.at += 1

    def edit_question(self, text: str) -> None:
        self._edit(_key(self._here(), _QUESTION), text)

    def edit_answer(self, text: str) -> None:
        self._edit(_key(self._here(), _ANSWER), text)

    def drop(self) -> None:
        """Out of the file and into the one beside it, first of all there: a question is never in neither."""
        row = self._here()
        self._gone.rows.append(row)
        self._gone.write()
        self._dropped[id(row)] = self._file.rows.index(row)
        self._file.rows.remove(row)
        self._file.write()
        self.at += 1

    def skip(self) -> None:
        self.at += 1

    def back(self) -> None:
        """To the question before; one that was dropped just now is back in the file."""
        self.at = max(0, self.at - 1)
        row = self.row
        if row is not None and self.is_dropped:
            self._file.rows.insert(self._dropped.pop(id(row)), row)
            self._file.write()
            self._gone.rows.remove(row)
            self._gone.write()

    def counts(self) -> dict[str, int]:
        """Questions in the file by what was decided, and those dropped so far."""
        states = [state_of(row) for row in self._file.rows]
        found = {name: states.count(name) for name in ("accepted", "edited", "unreviewed")}
        return {**found, "dropped": len(self._gone.rows)}

    def _edit(self, key: str, text: str) -> None:
        row = self._here()
        if text.strip() and text != row.get(key):
            row[key] = text.strip()
            row[REVIEW] = "edited"
            self._file.write()

    def _here(self) -> Row:
        row = self.row
        if row is None or self.is_dropped:
            raise LookupError("no question is at hand")
        return row


def state_of(row: Row) -> str:
    """accepted, edited or unreviewed."""
    state = row.get(REVIEW)
    return state if state in ("accepted", "edited") else "unreviewed"


def question_of(row: Row) -> str:
    return str(row.get(_key(row, _QUESTION)) or "")


def answer_of(row: Row) -> str:
    return str(row.get(_key(row, _ANSWER)) or "")


def _key(row: Row, names: tuple[str, ...]) -> str:
    """The name the file uses; ours where it has none."""
    return next(
        (name for name in names if name in row), names[0] if names is _QUESTION else "answer"
    )
