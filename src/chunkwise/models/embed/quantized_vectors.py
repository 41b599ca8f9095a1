"""Vectors in a few bits a number: sums of token vectors in four, vectors of single tokens (late interaction) in two."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import counted
from chunkwise.models.cache import ModelCache
from chunkwise.models.embed.embedder import TokenEncoder, TokenVectors
from chunkwise.models.embed.late_chunking import read_windows
from chunkwise.text.analyzed import Analyzed

_LARGEST = 7
"""Number of four bits."""
_ALL = slice(None)
_BITS = 2
_A_BYTE = 8 // _BITS
_HALF = 1 << (_BITS - 1)
_STEP = 1.0
"""Between two numbers that are told apart, in standard deviations: what loses least of normally spread ones."""

_shifts = np.arange(_A_BYTE) * _BITS
_TABLE = (2 * ((np.arange(256)[:, None] >> _shifts) & (2 * _HALF - 1)) - (2 * _HALF - 1)).astype(
    np.float32
)
"""The odd numbers that a byte stands for."""


@dataclass(frozen=True, slots=True, eq=False)
class QuantizedVectors:
    """The numbers of row `i`, times `scale[i]`, are about those of the vector `i` once it is `turned`."""

    packed: NDArray[np.uint8]
    """Two numbers a byte: those of a row's first half in the low bits, those of its second in the high ones."""
    scale: NDArray[np.float32]

    @classmethod
    def of(cls, vectors: NDArray[np.float32]) -> QuantizedVectors:
        rows = rotated(vectors)
        scale = (np.abs(rows).max(axis=1, initial=0.0) / _LARGEST).astype(np.float32)
        rows /= np.where(scale > 0, scale, 1)[:, None]
        # The factor has fewer digits than the rows: the largest number may come out a little larger than it may be.
        low, high = np.hsplit(np.rint(rows).clip(-_LARGEST, _LARGEST).astype(np.int8), 2)
        return cls(((low & 15) | (high << 4)).view(np.uint8), scale)

    def __len__(self) -> int:
        return len(self.scale)

    def halves(
        self, rows: slice = _ALL, columns: slice = _ALL
    ) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """The numbers of the first and of the second half of these rows; columns are counted within a half."""
        packed = self.packed[rows, columns].view(np.int8)
        return packed << 4 >> 4, packed >> 4

    def turned(self, rows: slice) -> NDArray[np.float32]:
        """About the vectors, turned: angles between them are as they were."""
        return np.hstack(self.halves(rows)) * self.scale[rows, None]


def packed_width(dimensions: int) -> int:
    """Bytes a row."""
    return (dimensions + 1) // 2


def rotated(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """The same vectors looked at from elsewhere, an even number of dimensions: products of two stay as they are.

    Some models have a dimension or two that dwarf all others, which few bits would round to nothing. After the turn
    every number is a sum over all dimensions, and none stands out.
    """
    return vectors.astype(np.float64) @ _rotation(vectors.shape[1])


@lru_cache(maxsize=4)
def _rotation(dimensions: int) -> NDArray[np.float64]:
    """Rows of length 1, each at right angles to all others: cosines, half of them by chance the other way round."""
    even = 2 * packed_width(dimensions)
    across, down = np.meshgrid(np.arange(even), np.arange(dimensions))
    waves = np.cos(math.pi / even * (down + 0.5) * across) * math.sqrt(2 / even)
    waves[:, :1] /= math.sqrt(2)
    chance = Random(dimensions)
    signs = [chance.random() < 0.5 for _ in range(dimensions)]
    return np.where(np.array(signs, np.bool_)[:, None], -waves, waves)


class TokenCodes(NamedTuple):
    """The tokens of a document, those of an atom behind those of the one before it."""

    sizes: NDArray[np.int64]
    """Tokens that start in each atom."""
    packed: NDArray[np.uint8]
    """A row a token."""


def code_width(dimensions: int) -> int:
    """Bytes a token."""
    return dimensions // _A_BYTE


def check_dimensions(dimensions: int) -> None:
    if dimensions < _A_BYTE or dimensions % _A_BYTE:
        raise InvalidParameter(
            f"a token's vector has {counted(dimensions, 'number')}; expected a multiple of "
            f"{_A_BYTE}"
        )


def encode_rows(vectors: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Rows of length 1, whose numbers are spread about alike, as bytes: only their direction is kept."""
    steps = np.floor(vectors * (math.sqrt(vectors.shape[1]) / _STEP)) + _HALF
    codes = (
        steps.clip(0, 2 * _HALF - 1)
        .astype(np.uint8)
        .reshape(len(vectors), code_width(vectors.shape[1]), _A_BYTE)
    )
    return np.asarray(np.bitwise_or.reduce(codes << _shifts.astype(np.uint8), axis=2), np.uint8)


def decode_rows(packed: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Whole numbers in about the direction of the vectors."""
    return _TABLE.take(packed, axis=0).reshape(len(packed), packed.shape[1] * _A_BYTE)


def token_codes_of_many(
    encoder: TokenEncoder,
    documents: Sequence[tuple[Analyzed, NDArray[np.int64]]],
    cache: ModelCache | None = None,
    on_done: Callable[[int], None] | None = None,
) -> list[TokenCodes]:
    """Of documents with the starts of their atoms; `on_done` gets characters read.

    What a token gets depends on its document alone: windows end where atoms do, wherever chunks end.
    """
    check_dimensions(encoder.dimensions)
    width = code_width(encoder.dimensions)
    all_sizes = [np.zeros(len(starts), np.int64) for _, starts in documents]
    packed: list[list[NDArray[np.uint8]]] = [[] for _ in documents]
    for window, kept in read_windows(encoder, cache, documents, "token codes", _packed, on_done):
        atoms = len(window.atoms)
        sizes = np.frombuffer(kept, "<i4", atoms)
        all_sizes[window.document][window.first : window.first + atoms] += sizes
        codes = np.frombuffer(kept, np.uint8, offset=4 * atoms)
        packed[window.document].append(codes.reshape(-1, width))
    none = np.empty((0, width), np.uint8)
    return [
        TokenCodes(sizes, np.concatenate([none, *rows]))
        for sizes, rows in zip(all_sizes, packed, strict=True)
    ]


def _packed(atoms: NDArray[np.int64], tokens: TokenVectors) -> bytes:
    at = np.append(tokens.start.searchsorted(atoms), len(tokens.start))
    at[:1] = 0
    return np.diff(at).astype("<i4").tobytes() + encode_rows(tokens.vectors).tobytes()
