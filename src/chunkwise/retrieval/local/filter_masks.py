"""Which documents, sections and chunks of an index as arrays a filter takes."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.filters import Filter, RowKind, page_mask
from chunkwise.retrieval.indexed_document import touched_atoms
from chunkwise.retrieval.local.arrays import Arrays, Strings


def document_mask(ids: Strings, only: Filter) -> NDArray[np.bool_]:
    """The documents a filter names."""
    if not only.documents:
        return np.ones(len(ids), np.bool_)
    return np.fromiter(map(only.takes_document, ids.all()), np.bool_, len(ids))


def section_mask(titles: Strings, only: Filter) -> NDArray[np.bool_]:
    """The section paths a filter names."""
    paths = (json.loads(path) for path in titles.all())
    return np.fromiter(map(only.takes_section, paths), np.bool_, len(titles))


def touching(arrays: Arrays, atoms: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The chunks in which one at least of these atoms lies, in part at least; of a summary, in one of its places."""
    before = np.concatenate(([0], np.cumsum(atoms)))
    first, last = _atoms_of(arrays, "chunk", np.diff(arrays["chunk.first"]))
    found: NDArray[np.bool_] = before[last] > before[first]
    if len(arrays["span.start"]):
        first, last = _atoms_of(arrays, "span", np.diff(_first_spans(arrays)))
        return _by_places(arrays, found, before[last] > before[first])
    return found


def on_pages(
    arrays: Arrays, table: RowKind, pages: Sequence[NDArray[np.int64]], only: Filter
) -> NDArray[np.bool_]:
    """The chunks or atoms that touch the pages asked for; a summary does where one of its places does."""
    start, end, first = (arrays[f"{table}.{name}"] for name in ("start", "end", "first"))
    found = page_mask(pages, first, start, end, only)
    if table == "chunk" and len(arrays["span.start"]):
        start, end = arrays["span.start"], arrays["span.end"]
        places = page_mask(pages, _first_spans(arrays), start, end, only)
        return _by_places(arrays, found, places)
    return found


def _first_spans(arrays: Arrays) -> NDArray[np.int64]:
    """Of each document, where the places of its summaries begin."""
    found: NDArray[np.int64] = arrays["span.first"][arrays["chunk.first"]]
    return found


def _by_places(
    arrays: Arrays, chunks: NDArray[np.bool_], places: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Chunks by themselves, summaries by whether one of their places is taken."""
    sizes = np.diff(arrays["span.first"])
    found = chunks & (sizes == 0)
    found[np.repeat(np.arange(len(sizes)), sizes)[places]] = True
    return found


def _atoms_of(
    arrays: Arrays, table: str, counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of each row of a table its first atom, and the one behind its last; a document has so many rows."""
    rows = arrays["atom.first"]
    # All texts in a row, so that one search serves all documents.
    ends = np.concatenate(([0], arrays["atom.end"]))
    length = np.where(np.diff(rows) > 0, ends[rows[1:]], 0)
    base = np.cumsum(length) - length
    starts = arrays["atom.start"] + np.repeat(base, np.diff(rows))
    shift = np.repeat(base, counts)
    return touched_atoms(starts, arrays[f"{table}.start"] + shift, arrays[f"{table}.end"] + shift)
