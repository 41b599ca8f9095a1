"""Questions kept on disk as they come; what is there already stays, with what people did to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from chunkwise.core import Document, Query
from chunkwise.errors import ChunkwiseError
from chunkwise.generating.question_rows import GENERATED, query_of, row_of
from chunkwise.generating.rows_file import RowsFile


def dropped_file(path: Path) -> Path:
    """Where questions go that a person has dropped: queries.json, queries.dropped.json."""
    return path.with_name(f"{path.stem}.dropped{path.suffix}")


class QuestionsStore:
    """Of a file, or of none: then nothing is written."""

    def __init__(self, path: Path | None, documents: Sequence[Document]) -> None:
        self._documents = {document.id: document for document in documents}
        self.queries: list[Query] = []
        self._known: set[str] = set()
        self._file: RowsFile | None = None
        if path is None:
            return
        self._file = RowsFile.read(path) if _is_there(path) else RowsFile.new(path)
        self.queries = list(_generated(self._file))
        if _is_there(gone := dropped_file(path)):
            self._known = {str(row.get("query_id")) for row in RowsFile.read(gone).rows}
        self._known |= {query.id for query in self.queries}

    def knows(self, id: str) -> bool:
        """Whether it is there, or was and a person dropped it."""
        return id in self._known

    def add(self, query: Query, made: Mapping[str, str]) -> None:
        """On disk when this returns."""
        self.queries.append(query)
        self._known.add(query.id)
        if self._file is not None:
            self._file.rows.append(row_of(query, self._documents, made))
            self._file.write()


def _is_there(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size > 0
    except OSError:
        return False


def _generated(file: RowsFile) -> Iterator[Query]:
    """An error for questions that were not made by us: they are not ours to add to."""
    for number, row in enumerate(file.rows, 1):
        if GENERATED not in row:
            raise ChunkwiseError(
                f"{file.path} is there, and its question {number} was not generated; name another file to write"
            )
        try:
            yield query_of(row)
        except (KeyError, TypeError, AttributeError) as error:
            raise ChunkwiseError(
                f"{file.path}, question {number} cannot be read ({error!r}); name another file to write"
            ) from error
