"""A file of questions as it is: rows are added, changed or taken out, and everything else in it stays."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chunkwise.base.errors import ChunkwiseError
from chunkwise.records.json import parse_json
from chunkwise.records.read import json_lines, read_text
from chunkwise.records.write import write_json, write_json_lines
from chunkwise.testsets.question_record import ID, TEXT

QuestionRow = dict[str, Any]

_CONVERT = "bring it into our form: chunkwise testset convert FILE --to chunkwise -o NEW"
_LINES = (".jsonl", ".ndjson")
_LISTED = "queries"


def dropped_file(path: Path) -> Path:
    """Where questions go that a person has dropped: queries.json, queries.dropped.json."""
    return path.with_name(f"{path.stem}.dropped{path.suffix}")


def id_of_row(row: QuestionRow) -> str:
    """By which a question is known again; empty where it has none."""
    return next((str(row[name]) for name in ID if row.get(name) is not None), "")


class QuestionsFile:
    """Rows of a JSON list, of JSON lines, or of an object with a list under "queries"; written whole or not at all."""

    def __init__(
        self, path: Path, rows: Sequence[QuestionRow], form: str, around: Mapping[str, Any]
    ) -> None:
        self.path = path
        self.rows = list(rows)
        self._form = form
        self._around = around

    @classmethod
    def new(cls, path: Path) -> QuestionsFile:
        """No row yet, and nothing written."""
        return cls(path, (), "lines" if path.suffix.lower() in _LINES else "list", {})

    @classmethod
    def read(cls, path: Path) -> QuestionsFile:
        """What is there; an error where it is no file of questions of ours."""
        text = read_text(str(path))
        form, around, rows = _parsed(text, path)
        for number, row in enumerate(rows, 1):
            if not isinstance(row, dict):
                raise ChunkwiseError(
                    f"{path}, entry {number} is no record but {type(row).__name__}; {_CONVERT}"
                )
        # Other formats are JSON as well: adding to their records would spoil the file.
        if rows and not any(name in row for row in rows for name in TEXT):
            raise ChunkwiseError(f"{path} has no record with a question in it; {_CONVERT}")
        return cls(path, rows, form, around)

    def refresh(self) -> None:
        """Takes in what others have written meanwhile; a file that is not there leaves the rows as they are."""
        if is_there(self.path):
            now = QuestionsFile.read(self.path)
            self.rows, self._form, self._around = now.rows, now._form, now._around

    def position(self, row: QuestionRow) -> int | None:
        """Where a row that was read before stands now: by its id, else as it was; None: nowhere."""
        name = id_of_row(row)
        found = (
            at
            for at, each in enumerate(self.rows)
            if (id_of_row(each) == name if name else each == row)
        )
        return next(found, None)

    def write(self) -> None:
        """At once: the file before, or the file with all rows, is there at any time."""
        if self._form == "lines":
            write_json_lines(self.path, self.rows)
            return
        value = {**self._around, _LISTED: self.rows} if self._form == "object" else self.rows
        write_json(self.path, value, indent=2)


def is_there(path: Path) -> bool:
    """Whether it is a file that holds something."""
    try:
        return path.is_file() and path.stat().st_size > 0
    except OSError:
        return False


def _parsed(text: str, path: Path) -> tuple[str, dict[str, Any], list[Any]]:
    try:
        value = parse_json(text)
    except (ValueError, RecursionError):
        return "lines", {}, _lines(text, path)
    if isinstance(value, list):
        return "list", {}, value
    if isinstance(value, dict) and isinstance(value.get(_LISTED), list):
        return "object", value, value[_LISTED]
    if isinstance(value, dict):
        return "lines", {}, [value]
    raise ChunkwiseError(f"{path} holds no list of questions; chunkwise testset check says more")


def _lines(text: str, path: Path) -> list[Any]:
    found = []
    for row in json_lines(io.BytesIO(text.encode("utf-8"))):
        if row.problem:
            raise ChunkwiseError(
                f"{path}, {row.where}: {row.problem}; chunkwise testset check {path} DOCUMENTS says more"
            )
        found.append(row.value)
    return found
