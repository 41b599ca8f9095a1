"""A file of questions as it is: rows are added, changed or taken out, and everything else in it stays."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chunkwise.errors import ChunkwiseError
from chunkwise.testsets.formats.text_files import text_file

Row = dict[str, Any]

_LINES = (".jsonl", ".ndjson")
_LISTED = "queries"


class RowsFile:
    """Rows of a JSON list, of JSON lines, or of an object with a list under "queries"; written whole or not at all."""

    def __init__(
        self, path: Path, rows: Sequence[Row], form: str, around: Mapping[str, Any]
    ) -> None:
        self.path = path
        self.rows = list(rows)
        self._form = form
        self._around = around

    @classmethod
    def new(cls, path: Path) -> RowsFile:
        """No row yet, and nothing written."""
        return cls(path, (), "lines" if path.suffix.lower() in _LINES else "list", {})

    @classmethod
    def read(cls, path: Path) -> RowsFile:
        """What is there; an error where it is no file of questions of ours."""
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise ChunkwiseError(f"cannot read the questions in {path}: {error}") from error
        form, around, rows = _parsed(text, path)
        for number, row in enumerate(rows, 1):
            if not isinstance(row, dict):
                raise ChunkwiseError(
                    f"{path}, entry {number} is no record but {type(row).__name__}; bring the file into our form: "
                    "chunkwise testset convert FILE --to chunkwise -o NEW"
                )
        return cls(path, rows, form, around)

    def write(self) -> None:
        """At once: the file before, or the file with all rows, is there at any time."""
        with text_file(self.path) as out:
            if self._form == "lines":
                out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in self.rows)
                return
            value = {**self._around, _LISTED: self.rows} if self._form == "object" else self.rows
            out.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def _parsed(text: str, path: Path) -> tuple[str, dict[str, Any], list[Any]]:
    try:
        value = json.loads(text)
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
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            rows.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise ChunkwiseError(
                f"{path}, line {number} is no JSON ({error}); chunkwise testset check {path} DOCUMENTS says more"
            ) from error
    return rows
