"""A part of an index as it is stored: texts as bytes, sums of vectors as small integers."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.embedded.layout import COLUMNS, Array, Portion
from chunkwise.retrieval.embedded.strings import encoded
from chunkwise.retrieval.part import Part, Rows
from chunkwise.retrieval.record import record_of
from chunkwise.retrieval.small import small


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
    return Portion(sizes, {name: _typed(name, each) for name, each in columns.items()})


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
