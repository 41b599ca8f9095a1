"""Which documents of a knowledge base on a server meet conditions on their metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.conditions import Condition, MetadataTable
from chunkwise.retrieval.indexed_document import metadata_of
from chunkwise.retrieval.postgres.schema import IndexState, TableNames

if TYPE_CHECKING:
    from psycopg import Connection

# The layout of a document, blocks and boxes at the end of its record, may be long and is left on the server.
_RECORDS = "select number, regexp_replace(record, %s, %s) from {documents} order by number"
_LAYOUT = (r'(, "blocks": \[[0-9, ]*\])?(, "boxes": "[^"]*")?\}$', "}")


class ServerMetadata:
    """Fetched once for each state of the knowledge base, and compared as that of an index in a folder is."""

    def __init__(self, names: TableNames) -> None:
        self._names = names
        self._state = ("", -1)
        self._numbers: NDArray[np.int32] = np.empty(0, np.int32)
        self._table = MetadataTable(())

    def documents(
        self, connection: Connection[Any], about: IndexState, where: tuple[Condition, ...]
    ) -> list[int] | None:
        """Numbers of the documents that meet them all; None: nothing is asked."""
        if not where:
            return None
        if self._state != (about.born, about.revision):
            rows = connection.execute(self._names(_RECORDS), _LAYOUT).fetchall()
            self._numbers = np.array([row[0] for row in rows], np.int32)
            self._table = MetadataTable(metadata_of(row[1]) for row in rows)
            self._state = about.born, about.revision
        found: list[int] = self._numbers[self._table.mask(where)].tolist()
        return found
