"""A part of an index as it is stored: texts as bytes, sums of vectors as small integers."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Document
from chunkwise.retrieval.embedded.layout import COLUMNS, Array, Portion
from chunkwise.retrieval.embedded.strings import encoded
from chunkwise.retrieval.part import Part, Rows

_MOST = 127


def encode(part: Part, language: str) -> Portion:
    """One document; `language` is what its terms were found by."""
    sizes: dict[str, NDArray[np.int64]] = {}
    columns: dict[str, Array] = {
        "document.fingerprint": np.frombuffer(bytes.fromhex(part.fingerprint), np.uint8)[None],
        "document.language": np.array([language.encode()], "S8"),
        "page.start": np.array(part.document.pages, np.int64),
        "chunk.parent": part.parents,
    }
    texts = {
        "id": [part.document.id],
        "record": [record_of(part.document)],
        "text": [part.document.text],
        "title": [json.dumps(path) for path in part.paths],
        "context": part.contexts,
    }
    for name, values in texts.items():
        sizes[name], columns[f"{name}.bytes"] = encoded(values)
    for name, rows in (("chunk", part.chunks), ("atom", part.atoms)):
        sizes[f"{name}_term"] = np.diff(rows.terms.first)
        columns |= _columns(name, rows)
    if part.chunk_vectors is not None:
        columns["chunk.vector"] = part.chunk_vectors
    if part.atom_sums is not None:
        columns["atom.vector"], columns["atom.scale"] = small(part.atom_sums)
    counts = {"page": len(part.document.pages), "path": len(part.paths)}
    counts |= {"chunk": len(part.chunks), "atom": len(part.atoms)}
    sizes |= {name: np.array([count], np.int64) for name, count in counts.items()}
    return Portion(1, sizes, {name: _typed(name, each) for name, each in columns.items()})


def _columns(name: str, rows: Rows) -> dict[str, Array]:
    return {
        f"{name}.start": rows.start,
        f"{name}.end": rows.end,
        f"{name}.tokens": rows.tokens,
        f"{name}.section": rows.section,
        f"{name}_term.hash": rows.terms.term,
        f"{name}_term.times": rows.terms.times,
    }


def _typed(name: str, values: Array) -> Array:
    return np.ascontiguousarray(values, COLUMNS[name].dtype)


def small(sums: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Each row as whole numbers up to 127 and the factor that makes them large again."""
    scale = np.abs(sums).max(axis=1, initial=0.0) / np.float32(_MOST)
    rows = np.rint(sums / np.where(scale > 0, scale, 1)[:, None])
    return rows.astype(np.int8), scale.astype(np.float32)


def record_of(document: Document) -> str:
    """What is known of a document besides its id, text and pages."""
    known = {
        "title": document.title,
        "source": document.source,
        "format": document.format,
        "language": document.language,
        "metadata": dict(document.metadata),
    }
    # Metadata of a loader of one's own may hold what JSON has no word for.
    return json.dumps(known, ensure_ascii=True, default=str)


def document_of(id: str, record: str, text: str, pages: tuple[int, ...]) -> Document:
    """The document again; its layout is not kept, the index has what was made of it."""
    return Document(id, text, **json.loads(record), pages=pages)
