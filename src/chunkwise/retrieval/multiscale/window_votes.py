"""Windows of every size, scored by words and vectors, and the votes of the best ones for atoms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.models.embed.quantized_vectors import rotated
from chunkwise.retrieval.bm25 import TermTable, half_worth, inverse_document_frequency
from chunkwise.retrieval.fusion import scaled
from chunkwise.retrieval.searchable import AtomTable
from chunkwise.text.terms import ranges


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """Window `i` holds the atoms `first[i]` to `stop[i] - 1`; both increase, and every atom is in a window."""

    first: NDArray[np.int64]
    stop: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first)

    def covering(self, atoms: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Number of the first window that holds each atom, and the number behind its last."""
        return self.stop.searchsorted(atoms, "right"), self.first.searchsorted(atoms, "right")

    def touching(self, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which windows hold at least one of the atoms allowed."""
        before = np.append(0, np.cumsum(allowed))
        return np.asarray(before[self.stop] > before[self.first])


def windows_of(document: NDArray[np.integer], tokens: NDArray[np.integer], size: int) -> Windows:
    """Windows of up to `size` tokens, or of one longer atom, each starting half a window behind the last.

    None crosses documents, and none lies within another: one that reaches its document's end is the last.
    """
    count = len(document)
    number = np.arange(count, dtype=np.int64)
    before = np.append(0, np.cumsum(tokens, dtype=np.int64))
    start = before[:-1]
    end_of_document = document.searchsorted(document, "right")
    stop = np.maximum(before.searchsorted(start + size, "right") - 1, number + 1)
    stop = np.minimum(stop, end_of_document)
    # Half a window on, but never past an atom that this window does not hold.
    following = np.maximum(start.searchsorted(start + (size + 1) // 2), number + 1)
    following = np.where(stop == end_of_document, stop, np.minimum(following, stop))
    first = np.array(_chain(following.tolist()), dtype=np.int64)
    return Windows(first, stop[first])


def _chain(following: list[int]) -> list[int]:
    """From the first on, each that follows the one before it."""
    index, result = 0, []
    while index < len(following):
        result.append(index)
        index = following[index]
    return result


def whole_documents(document: NDArray[np.integer]) -> Windows:
    """Every document that has atoms as one window."""
    edges = np.flatnonzero(np.diff(document)) + 1
    bounds = np.concatenate(([0], edges, [len(document)])).astype(np.int64)
    if not len(document):
        bounds = bounds[:1]
    return Windows(bounds[:-1], bounds[1:])


def spread(
    first: NDArray[np.int64],
    stop: NDArray[np.int64],
    points: NDArray[np.float64],
    atoms: int,
) -> NDArray[np.float64]:
    """The points of the best window over each atom; 0 where there is none."""
    result = np.zeros(atoms)
    np.maximum.at(result, ranges(first, stop), np.repeat(points, stop - first))
    return result


class WindowPostings(NamedTuple):
    """What term `i` of a batch is worth to windows: the entries `first[i]` to `first[i + 1]`."""

    first: NDArray[np.int64]
    window: NDArray[np.int64]
    worth: NDArray[np.float64]

    def scores(self, terms: NDArray[np.int64], windows: int) -> NDArray[np.float32]:
        """Of one question, -inf for windows that hold none of its terms."""
        at = ranges(self.first[terms], self.first[terms + 1])
        if not len(at):
            return np.full(windows, -np.inf, np.float32)
        # Summed in the order of the terms: the same to the bit, whatever else is in the batch.
        result = np.bincount(self.window[at], self.worth[at], windows).astype(np.float32)
        result[result == 0] = -np.inf
        return result


@dataclass(frozen=True, slots=True, eq=False)
class WindowBm25:
    """What BM25 needs to know of the windows besides the terms."""

    windows: Windows
    half_worth: NDArray[np.float64]
    """The count at which a term is worth half of the most it can be: more in longer windows."""

    @classmethod
    def of(cls, windows: Windows, length: NDArray[np.integer]) -> WindowBm25:
        """`length`: terms of each atom, every occurrence counted."""
        before = np.append(0, np.cumsum(length, dtype=np.int64))
        own = (before[windows.stop] - before[windows.first]).astype(np.float64)
        return cls(windows, half_worth(own))

    def postings(self, terms: TermTable) -> WindowPostings:
        """Of a table that holds the terms of a batch alone, in its order."""
        count, size = len(terms.hashes), max(len(self.windows), 1)
        low, high = self.windows.covering(terms.row)
        covered = high - low
        term = np.repeat(np.arange(count), np.diff(terms.first))
        key = np.repeat(term, covered) * size + ranges(low, high)
        order = np.argsort(key, kind="stable")
        key = key[order]
        start = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: len(key)])
        times = np.repeat(terms.times, covered)[order].astype(np.float64)
        times = np.add.reduceat(times, start) if len(start) else times
        key = key[start]
        window = key % size
        first = key.searchsorted(np.arange(count + 1) * size)
        holding = np.diff(first)
        rarity = inverse_document_frequency(holding, len(self.windows))
        worth = np.repeat(rarity, holding) * times / (times + self.half_worth[window])
        return WindowPostings(first, window, worth)


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
        own = before[windows.stop[some]] - before[windows.first[some]]
        square[some] += np.einsum("ij,ij->i", own, own)


def running_products(atoms: AtomTable, questions: NDArray[np.float32]) -> NDArray[np.float64]:
    """Row `i`: the products of every question with the sum of all atoms before the `i`-th.

    The products are of whole numbers and exact in 64 bits, so no number of threads and no order of adding changes
    a result.
    """
    assert atoms.vectors is not None
    steps = np.vsplit(np.rint(rotated(questions) * _FINE).T, 2)
    result = np.zeros((len(atoms) + 1, len(questions)))
    for low in range(0, len(atoms), _ATOMS_AT_ONCE):
        some = slice(low, low + _ATOMS_AT_ONCE)
        products = result[low + 1 : low + 1 + _ATOMS_AT_ONCE]
        for numbers, own in zip(atoms.vectors.halves(some), steps, strict=True):
            products += numbers.astype(np.float64) @ own
        products *= atoms.vectors.scale[some, None]
    return np.cumsum(result, axis=0, out=result)


def cosines(
    products: NDArray[np.float64], windows: Windows, length: NDArray[np.float64]
) -> NDArray[np.float32]:
    """Questions × windows; -inf for windows without any vector."""
    values = products[windows.stop]
    values -= products[windows.first]
    with np.errstate(divide="ignore", invalid="ignore"):
        values /= length[:, None] * _FINE
    values[length == 0] = -np.inf
    return np.ascontiguousarray(values.T, dtype=np.float32)


class BestWindows(NamedTuple):
    """The best windows of one size by one signal (words or vectors), best first."""

    first: NDArray[np.int64]
    """Number of each window's first atom."""
    stop: NDArray[np.int64]
    """The number behind its last."""
    score: NDArray[np.float32]
    weight: float = 1.0
    floor: float | None = None
    """The score that is worth nothing: 0 for words; None, for vectors: that of the last window here."""


def atom_votes(best_windows: Iterable[BestWindows], atoms: int) -> NDArray[np.float64]:
    """For each atom the sum over the votes of its best window's share of the best score, times the weight."""
    total = np.zeros(atoms)
    for windows in best_windows:
        points = windows.weight * scaled(windows.score, windows.floor)
        total += spread(windows.first, windows.stop, points, atoms)
    return total


class SizeVotes(NamedTuple):
    """What windows of one size say of every atom by one signal: the share of the best score, 0 to 1."""

    size: int
    """Tokens; 0: whole documents."""
    signal: str
    """words, vectors or token vectors."""
    share: NDArray[np.float64]


def votes_of(windows: BestWindows, size: int, signal: str, atoms: int) -> SizeVotes:
    points = scaled(windows.score, windows.floor)
    return SizeVotes(size, signal, spread(windows.first, windows.stop, points, atoms))
