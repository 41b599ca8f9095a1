"""A part of an index as it is stored: texts as bytes, sums of vectors in four bits a number."""

from __future__ import annotations

import json
from collections.abc import Sized

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.embedded.layout import COLUMNS, Array, Portion
from chunkwise.retrieval.embedded.strings import encoded
from chunkwise.retrieval.part import Part, Rows, Summaries
from chunkwise.retrieval.record import record_of
from chunkwise.retrieval.small_vectors import SmallVectors


def encode(part: Part, language: str) -> Portion:
    """One document; `language` is what its terms were found by."""
    sizes, columns = encode_chunks(part, language)
    columns |= {
        "document.fingerprint": np.frombuffer(bytes.fromhex(part.fingerprint), np.uint8)[None],
        "page.start": np.array(part.document.pages, np.int64),
    }
    texts = {
        "id": [part.document.id],
        "record": [record_of(part.document)],
        "text": [part.document.text],
    }
    for name, values in texts.items():
        sizes[name], columns[f"{name}.bytes"] = encoded(values)
    sizes["atom_term"] = np.diff(part.atoms.terms.first)
    columns |= _columns("atom", part.atoms)
    if part.atom_sums is not None:
        vectors = SmallVectors.of(part.atom_sums)
        columns |= {"atom.vector": vectors.packed, "atom.scale": vectors.scale}
    sizes["page"] = _count(part.document.pages)
    sizes["atom"] = _count(part.atoms)
    return Portion(sizes, {name: _typed(name, each) for name, each in columns.items()})


def encode_chunks(part: Part, language: str) -> Portion:
    """Of one document what depends on how it is cut (`layout.OF_CHUNKING`), and its language."""
    summaries = part.summaries or Summaries.none(len(part.chunks))
    chunk, start, end, tokens = summaries.places.T
    columns: dict[str, Array] = {
        "chunk.level": summaries.level,
        "span.start": start,
        "span.end": end,
        "span.tokens": tokens,
        "document.language": np.array([language.encode()], "S8"),
        "chunk.parent": part.parents,
        **_columns("chunk", part.chunks),
    }
    if part.chunk_vectors is not None:
        columns["chunk.vector"] = part.chunk_vectors
    sizes = {
        "path": _count(part.paths),
        "chunk": _count(part.chunks),
        "chunk_term": np.diff(part.chunks.terms.first),
        "span": np.bincount(chunk, minlength=len(part.chunks)),
    }
    texts = {
        "title": [json.dumps(path) for path in part.paths],
        "context": part.contexts,
        "summary": summaries.texts,
    }
    for name, values in texts.items():
        sizes[name], columns[f"{name}.bytes"] = encoded(values)
    return Portion(sizes, {name: _typed(name, each) for name, each in columns.items()})


def _count(rows: Sized) -> NDArray[np.int64]:
    return np.array([len(rows)], np.int64)


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
