"""Late vectors: a document read once gives the vector of any span of it, by one subtraction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.cores import cores
from chunkwise.base.errors import InvalidParameter
from chunkwise.models.cache import CachedTokenEmbedder, ModelCache, kept_or_made, key_of
from chunkwise.models.embed.embedder import (
    PreferredEnds,
    TokenEmbedder,
    TokenEncoder,
    TokenVectors,
    window_ends,
)
from chunkwise.text.analyzed import Analyzed

_SPARE_TOKENS = 6
"""Two special tokens, and a few that a word cut in two may have more than the word."""
_LEAST_AT_ONCE = 16
"""Windows read before they are kept and the work done is told; more where there are many cores."""
_COLUMNS = 64
"""Dimensions summed up at once: a long document's cumulative sums are large."""


def atom_sums(
    embedder: TokenEmbedder,
    analyzed: Analyzed,
    starts: NDArray[np.int64],
    on_done: Callable[[int], None] | None = None,
) -> NDArray[np.float32]:
    """Row i: the sum of the vectors of the tokens that start in atom i; `on_done` gets characters read."""
    return atom_sums_of_many(embedder, [(analyzed, starts)], on_done)[0]


def atom_sums_of_many(
    embedder: TokenEmbedder,
    documents: Sequence[tuple[Analyzed, NDArray[np.int64]]],
    on_done: Callable[[int], None] | None = None,
) -> list[NDArray[np.float32]]:
    """The same for several documents at once: short ones, a window each, then keep every core busy."""
    cache = embedder.cache if isinstance(embedder, CachedTokenEmbedder) else None
    width = embedder.dimensions
    sums = [np.zeros((len(starts), width), dtype=np.float32) for _, starts in documents]
    for window, kept in read_windows(embedder, cache, documents, "late", _pack, on_done):
        rows = sums[window.document]
        rows[window.first : window.first + len(window.atoms)] += _unpack(kept, width)
    return sums


class TextWindow:
    """A stretch of text with the atoms that lie in it, the first and the last perhaps in part."""

    def __init__(
        self, document: int, text: str, starts: NDArray[np.int64], lo: int, hi: int
    ) -> None:
        self.document = document
        self.text = text[lo:hi]
        self.first = int(starts.searchsorted(lo, "right")) - 1
        last = int(starts.searchsorted(hi))
        # Counted from the start of the window: it means the same wherever the window stands.
        self.atoms = np.maximum(starts[self.first : last] - lo, 0)


def read_windows(
    model: TokenEmbedder | TokenEncoder,
    cache: ModelCache | None,
    documents: Sequence[tuple[Analyzed, NDArray[np.int64]]],
    kind: str,
    pack: Callable[[NDArray[np.int64], TokenVectors], bytes],
    on_done: Callable[[int], None] | None = None,
) -> Iterator[tuple[TextWindow, bytes]]:
    """The windows of documents with the starts of their atoms, each with its packed token vectors.

    They are kept in the cache by `kind`; `on_done` gets characters read.
    """
    windows: list[TextWindow] = []
    for number, (analyzed, starts) in enumerate(documents):
        bounds = window_bounds(model, cache, analyzed, starts).tolist()
        windows += [TextWindow(number, analyzed.text, starts, *pair) for pair in pairwise(bounds)]

    def read(missing: Sequence[TextWindow]) -> Iterator[bytes]:
        vectors = model.token_vectors([window.text for window in missing])
        for window, tokens in zip(missing, vectors, strict=True):
            if not np.isfinite(tokens.vectors).all():
                raise InvalidParameter(
                    f"{model.identity} returns non-finite vectors; choose another model, or fix "
                    "this one"
                )
            yield pack(window.atoms, tokens)

    at_once = max(_LEAST_AT_ONCE, 4 * cores())
    for first in range(0, len(windows), at_once):
        some = windows[first : first + at_once]
        keys = [
            key_of(model.identity, kind, text_window.text, text_window.atoms.tobytes())
            for text_window in some
        ]
        known = kept_or_made(cache, model.identity, dict(zip(keys, some, strict=True)), read)
        for key, window in zip(keys, some, strict=True):
            yield window, known[key]
        if on_done:
            on_done(sum(len(window.text) for window in some))


def window_bounds(
    embedder: TokenEmbedder | TokenEncoder,
    cache: ModelCache | None,
    analyzed: Analyzed,
    starts: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Where windows begin and end; kept too, so that a second run does not even tokenise."""
    if not len(starts):
        return starts
    if cache is None:
        return _bounds(embedder, analyzed, starts)
    key = key_of(embedder.identity, "windows", analyzed.text, starts.tobytes())
    kept = cache.get([key]).get(key)
    if kept is not None:
        return np.frombuffer(kept, dtype="<i8").astype(np.int64)
    bounds = _bounds(embedder, analyzed, starts)
    cache.put(embedder.identity, {key: bounds.astype("<i8").tobytes()})
    return bounds


def _bounds(
    embedder: TokenEmbedder | TokenEncoder, analyzed: Analyzed, starts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Windows end where atoms do; an atom too long for one is cut between words, or else between tokens."""
    tokens = embedder.token_starts(analyzed.text)
    limit = max(1, embedder.window - _SPARE_TOKENS)
    atoms = tokens.searchsorted(starts)
    places = [PreferredEnds(atoms, 1)]
    if (np.diff(np.append(atoms, len(tokens))) > limit).any():
        words = tokens.searchsorted(analyzed.characters.word_starts)
        places.append(PreferredEnds(words, limit // 2))
    behind = np.array(window_ends(len(tokens), limit, *places)[:-1], dtype=np.int64)
    cut = tokens[behind]
    atom = starts.searchsorted(cut, "right") - 1
    # A window ends with its atom, not with the white space that the next token lacks.
    cut = np.where(atoms[atom] == behind, starts[atom], cut)
    return np.unique(np.concatenate(([0], cut, [len(analyzed.text)])))


def _pack(atoms: NDArray[np.int64], tokens: TokenVectors) -> bytes:
    """Numbers of tokens and means in 16 bits, an atom each: what a fresh result is rounded to as well."""
    total = np.zeros((len(tokens.vectors) + 1, tokens.vectors.shape[1]))
    np.cumsum(tokens.vectors, axis=0, dtype=np.float64, out=total[1:])
    at = np.append(tokens.start.searchsorted(atoms), len(tokens.start))
    count = np.diff(at)
    mean = np.diff(total[at], axis=0) / np.maximum(count, 1)[:, None]
    return count.astype("<i4").tobytes() + mean.astype("<f2").tobytes()


def _unpack(kept: bytes, dimensions: int) -> NDArray[np.float32]:
    atoms = len(kept) // (4 + 2 * dimensions)
    count = np.frombuffer(kept, dtype="<i4", count=atoms)
    mean = np.frombuffer(kept, dtype="<f2", offset=4 * atoms).reshape(atoms, dimensions)
    return mean.astype(np.float32) * count[:, None].astype(np.float32)


def span_vectors(
    starts: NDArray[np.int64], length: int, sums: NDArray[np.float32], spans: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Unit vectors of spans (n×2) of a text this long; an atom a span cuts counts by the share of its characters."""
    places = np.asarray(spans, dtype=np.int64).reshape(-1, 2)
    vectors = np.zeros((len(places), sums.shape[1]), dtype=np.float32)
    if not len(starts) or not len(places):
        return vectors
    places = np.clip(places, 0, length)
    atom = starts.searchsorted(places, "right") - 1
    share = (places - starts[atom]) / np.maximum(np.diff(np.append(starts, length)), 1)[atom]
    square = np.zeros(len(places))
    for first in range(0, sums.shape[1], _COLUMNS):
        part = sums[:, first : first + _COLUMNS].astype(np.float64)
        before = np.cumsum(part, axis=0) - part
        low, high = (
            before[atom[:, side]] + part[atom[:, side]] * share[:, side, None] for side in (0, 1)
        )
        vectors[:, first : first + _COLUMNS] = high - low
        square += ((high - low) ** 2).sum(axis=1)
    length_of = np.sqrt(np.where(square > 0, square, 1)).astype(np.float32)
    return vectors / length_of[:, None]
