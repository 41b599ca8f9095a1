"""How near neighbouring stretches of a document are in meaning."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from multiprocessing import parent_process
from typing import cast

import numpy as np
from numpy.typing import NDArray

from chunkwise.errors import InvalidParameter
from chunkwise.models.embedder import Embedder, TokenEmbedder
from chunkwise.text.analysis import Analyzed

_AT_ONCE = 4096
"""Borders looked at together: sums of a long document's vectors are large."""


@cache
def named_embedder(model: str) -> Embedder:
    """The model of this name, loaded once a process."""
    from chunkwise.models import DEFAULT, get_embedder
    from chunkwise.models.onnx.minilm import MiniLM

    if model == DEFAULT and parent_process() is not None:
        # One worker among several: a thread each, or they are in each other's way.
        return get_embedder(MiniLM(threads=1))
    return get_embedder(model)


def unit_vectors(
    embedder: Embedder, document: Analyzed, starts: NDArray[np.int64], *, late: bool
) -> NDArray[np.float32]:
    """A vector of length 1 for each unit of a text they tile; zeros where a unit says nothing."""
    text = document.text
    bounds = np.append(starts, len(text))
    if late:
        from chunkwise.models.late import atom_sums, span_vectors

        # Not isinstance: that would ask for `dimensions`, and an endpoint would send a request.
        if not hasattr(type(embedder), "token_vectors"):
            raise InvalidParameter(
                f"vectors is 'late' and {embedder.identity} gives no vectors of tokens;"
                " allowed with it: vectors='own'; minilm and a model.onnx can do both"
            )
        # The atoms every index of this document is made of: what one has read, the other finds kept.
        atoms = document.atoms()
        sums = atom_sums(cast(TokenEmbedder, embedder), document, atoms)
        spans = np.column_stack((bounds[:-1], bounds[1:]))
        return span_vectors(atoms, len(text), sums, spans)
    return embedder.embed([text[start:end].strip() for start, end in pairwise(bounds.tolist())])


def border_similarity(vectors: NDArray[np.float32], buffer: int) -> NDArray[np.float64]:
    """Cosine of what precedes and what follows each border between units: `buffer` + 1 units on either side."""
    found = np.ones(max(len(vectors) - 1, 0))
    for first in range(0, len(found), _AT_ONCE):
        last = min(first + _AT_ONCE, len(found))
        low = max(first - buffer, 0)
        part = vectors[low : last + buffer + 1]
        found[first:last] = _similarity(part, np.arange(first, last) + 1 - low, buffer + 1)
    # Rounded: equal sentences are equally near.
    return found.round(4)


def _similarity(
    vectors: NDArray[np.float32], border: NDArray[np.int64], width: int
) -> NDArray[np.float64]:
    before = np.zeros((len(vectors) + 1, vectors.shape[1]))
    np.cumsum(vectors, axis=0, dtype=np.float64, out=before[1:])
    left = before[border] - before[np.maximum(border - width, 0)]
    right = before[np.minimum(border + width, len(vectors))] - before[border]
    length: NDArray[np.float64] = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    # Where nothing is said on one side there is no reason to cut.
    silent = length < 1e-6
    cosine = np.einsum("ij,ij->i", left, right) / np.where(silent, 1.0, length)
    return np.where(silent, 1.0, cosine)
