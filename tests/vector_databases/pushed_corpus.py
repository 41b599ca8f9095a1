"""What every database is held to: documents with hostile ids and metadata, pushed, pushed again, and pruned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

import numpy as np

import chunkwise
from chunkwise.core import Document
from chunkwise.vector_databases.database import StoredChunk, open_database, parse_database
from retrieval.tiny_embedder import Tiny

DOCUMENTS = [
    Document(
        "a \"quoted\" id' or 1=1 --.md",
        "The lamp is lit at dusk. The keeper trims it at dawn. Oil is in the cellar. Ropes are tarred in spring.",
        metadata={"year": 2024, "draft": False, "tags": ["light", "oil"], "nested": {"a": [1]}, "nothing": None,
                  "start": "mine", "size": 1.5, "Größe des Dings": "groß"},
    ),
    Document("ß/дом.txt", "Salt the fish well. Leave it for a day. Then hang it in the wind. 👍🏽 Done."),
]  # fmt: skip
THEIRS = "their own row"
STRATEGY = "sentences(max_tokens=8, overlap=0)"
SHORTER = [
    Document(DOCUMENTS[0].id, "The lamp is lit at dusk.", metadata={"year": 2025}),
    DOCUMENTS[1],
]

ReadRows = Callable[[], Mapping[str, Mapping[str, Any]]]


def check_database(to: str, rows: ReadRows, **settings: Any) -> None:
    """Every chunk is there once with its text, place, metadata and vector; `prune` removes what is no more."""
    index = chunkwise.index(DOCUMENTS, STRATEGY, embedder=Tiny())
    vectors = dict(zip(*index.vectors(), strict=True))
    for _ in range(2):  # the second time: the same rows
        result = chunkwise.push(index, to, **settings)
        assert (result.chunks, result.documents, result.skipped) == (len(vectors), 2, 0)
        found = rows()
        assert {*found} == {*vectors}
    for chunk in index.chunks():
        row = found[chunk.id]
        assert row["text"] == chunk.text
        assert (row["doc_id"], row["start"], row["end"]) == (chunk.doc_id, chunk.start, chunk.end)
        own, other = np.array(row["vector"], np.float64), vectors[chunk.id].astype(np.float64)
        assert own @ other / np.linalg.norm(own) / np.linalg.norm(other) > 1 - 1e-5
        assert row["push"] == result.push
    first = next(row for row in found.values() if row["doc_id"] == DOCUMENTS[0].id)
    assert (first["year"], first["draft"], first["size"]) == (2024, False, 1.5)
    assert [*first["tags"]] == ["light", "oil"]
    assert first["nested"] == '{"a": [1]}'
    assert first["metadata_start"] == "mine"
    assert "nothing" not in first

    _add_theirs(to, (-next(iter(vectors.values()))).tolist(), settings.get("collection"))
    less = chunkwise.index(SHORTER, STRATEGY, embedder=Tiny())
    chunkwise.push(less, to, **settings)
    assert {*rows()} == {*vectors, THEIRS}  # nothing is removed that nobody asked to remove
    chunkwise.push(less, to, prune=True, **settings)
    assert {*rows()} == {*(chunk.id for chunk in less.chunks()), THEIRS}


def _add_theirs(to: str, vector: list[float], collection: str | None) -> None:
    """A row of the same document that no push wrote: it is the user's own."""
    fields = {"doc_id": DOCUMENTS[0].id, "chunk_id": THEIRS, "note": "by hand"}
    with closing(open_database(parse_database(to, collection))) as database:
        database.open(len(vector))
        database.write([StoredChunk(THEIRS, vector, "A note of ours.", fields)])
