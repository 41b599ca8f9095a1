"""Cosines of windows: dot products of atoms with questions, summed up and subtracted; no window's vector is made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.atom_table import AtomTable
from chunkwise.retrieval.multiscale.windows import Windows
from chunkwise.retrieval.small_vectors import turned

_FINE = 2.0**15
"""Steps of a question's components."""
_ATOMS_AT_ONCE = 8192
_NUMBERS_AT_ONCE = 4_000_000


def window_lengths(atoms: AtomTable, sizes: Sequence[Windows]) -> list[NDArray[np.float64]]:
    """How long the summed vectors of every window of every size are."""
    assert atoms.vectors is not None
    squares = [np.zeros(len(windows)) for windows in sizes]
    scale = atoms.vectors.scale[:, None].astype(np.float64)
    # A few dimensions of all atoms at a time: sums of whole documents need all their atoms.
    columns = max(1, _NUMBERS_AT_ONCE // (len(atoms) + 1))
    for left in range(0, atoms.vectors.packed.shape[1], columns):
        for part in atoms.vectors.halves(columns=slice(left, left + columns)):
            before = np.zeros((len(part) + 1, part.shape[1]))
            np.cumsum(part * scale, axis=0, out=before[1:])
            for square, windows in zip(squares, sizes, strict=True):
                _add_squares(square, before, windows)
    return [np.sqrt(square) for square in squares]


def _add_squares(
    square: NDArray[np.float64], before: NDArray[np.float64], windows: Windows
) -> None:
    for low in range(0, len(windows), _ATOMS_AT_ONCE):
        some = slice(low, low + _ATOMS_AT_ONCE)
        own = before[windows.behind[some]] - before[windows.first[some]]
        square[some] += np.einsum("ij,ij->i", own, own)


def running_products(atoms: AtomTable, questions: NDArray[np.float32]) -> NDArray[np.float64]:
    """Row `i`: the products of every question with the sum of all atoms before the `i`-th.

    The products are of whole numbers and exact in 64 bits, so no number of threads and no order of adding changes
    a result.
    """
    assert atoms.vectors is not None
    steps = np.vsplit(np.rint(turned(questions) * _FINE).T, 2)
    found = np.zeros((len(atoms) + 1, len(questions)))
    for low in range(0, len(atoms), _ATOMS_AT_ONCE):
        some = slice(low, low + _ATOMS_AT_ONCE)
        products = found[low + 1 : low + 1 + _ATOMS_AT_ONCE]
        for numbers, own in zip(atoms.vectors.halves(some), steps, strict=True):
            products += numbers.astype(np.float64) @ own
        products *= atoms.vectors.scale[some, None]
    return np.cumsum(found, axis=0, out=found)


def cosines(
    products: NDArray[np.float64], windows: Windows, length: NDArray[np.float64]
) -> NDArray[np.float32]:
    """Questions × windows; -inf for windows without any vector."""
    found = products[windows.behind]
    found -= products[windows.first]
    with np.errstate(divide="ignore", invalid="ignore"):
        found /= length[:, None] * _FINE
    found[length == 0] = -np.inf
    return np.ascontiguousarray(found.T, dtype=np.float32)
