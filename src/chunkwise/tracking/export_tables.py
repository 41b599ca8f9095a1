"""Runs as tables: a row a run, a figure or a score, in CSV, JSON Lines or Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chunkwise.base.atomic_files import replacing, says_what_it_writes
from chunkwise.base.errors import InvalidParameter
from chunkwise.records.write import arrow, csv_file, json_lines_file, parquet_file
from chunkwise.tracking import RunKind
from chunkwise.tracking.history import History
from chunkwise.tracking.run import figure_rows, run_row

_OF_RUN = {
    "run": "int64", "when": "string", "kind": "string", "label": "string", "git_revision": "string",
    "git_branch": "string", "user": "string", "host": "string", "source": "string", "documents_hash": "string",
    "questions_hash": "string", "settings_hash": "string", "chunkwise": "string", "settings": "string",
    "seconds": "float64", "money": "float64",
}  # fmt: skip
_OF_FIGURE = {
    "metric": "string", "is_objective": "bool_", "mean": "float64", "low": "float64", "high": "float64",
    "scored": "int64", "questions": "int64", "detectable": "float64",
}  # fmt: skip
_OF_SCORE = {
    "question": "string", "text": "string", "types": "string", "metric": "string", "score": "float64"
}  # fmt: skip


def export_rows(
    history: History, *, by_question: bool = False, kind: RunKind | None = None
) -> Iterator[dict[str, object]]:
    """In the order of the runs."""
    for run in history.runs(kind):
        if by_question:
            yield from ({**run_row(run), **row} for row in _scores(history, run.number))
        else:
            yield from figure_rows(run)


def _scores(history: History, number: int) -> Iterator[dict[str, object]]:
    run = history.run(number)
    for at, question in enumerate(run.questions):
        for metric, scores in run.scores.items():
            yield {
                "question": question.id, "text": question.text, "types": ", ".join(question.types),
                "metric": metric, "score": scores[at],
            }  # fmt: skip


def write_rows(rows: Iterator[dict[str, object]], path: Path, *, by_question: bool = False) -> int:
    """How many there are; the file, of the form its name ends in, is whole or not there."""
    kinds = {**_OF_RUN, **(_OF_SCORE if by_question else _OF_FIGURE)}
    count = 0

    def counted() -> Iterator[dict[str, object]]:
        nonlocal count
        for row in rows:
            count += 1
            yield row

    with replacing(path) as temporary, says_what_it_writes(path):
        match path.suffix.lower():
            case ".csv":
                opened = csv_file(temporary, tuple(kinds))
            case ".jsonl":
                opened = json_lines_file(temporary)
            case ".parquet":
                pa: Any = arrow()
                schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in kinds.items()])
                opened = parquet_file(temporary, schema)
            case _:
                raise InvalidParameter(
                    f"output is {str(path)!r}; its name must end in .csv, .jsonl or .parquet"
                )
        with opened as append:
            append(counted())
    return count
