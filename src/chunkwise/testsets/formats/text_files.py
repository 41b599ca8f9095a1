"""Files of text as formats write them: whole or not there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from chunkwise.base.atomic import replacing, says_what_it_writes


@contextmanager
def text_file(path: Path) -> Iterator[IO[str]]:
    """An open file; what has no UTF-8 form is spelled out."""
    with (
        replacing(path) as temporary,
        says_what_it_writes(path),
        temporary.open("w", encoding="utf-8", newline="", errors="backslashreplace") as out,
    ):
        yield out


def write_json(path: Path, value: object) -> None:
    """One JSON value, to be read by people too."""
    with text_file(path) as out:
        out.write(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def write_json_lines(path: Path, values: Iterable[object]) -> None:
    """One JSON value a line."""
    with text_file(path) as out:
        for value in values:
            out.write(json.dumps(value, ensure_ascii=False) + "\n")
