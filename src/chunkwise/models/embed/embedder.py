"""What an embedder has to offer, a name for what it gives, and long texts in windows that a model can read."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.wording import counted
from chunkwise.text.characters import CharacterArrays
from chunkwise.text.sentences.boundaries import sentence_starts

Kind = Literal["query", "passage"]


class TokenVectors(NamedTuple):
    """The vectors of one text's tokens, each with its place: half-open spans in code points."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    vectors: NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Texts to vectors of length 1; a text's vector depends on the text, the kind and the model alone."""

    @property
    def identity(self) -> str:
        """Changes whenever a vector would: model, hash of the weights, pooling, treatment of long texts."""

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """One row a text; a text without words gets zeros."""


class LibraryEmbedder(ABC):
    """An embedder by another library, which need not know what to do with a text without words."""

    @abstractmethod
    def _encode(self, texts: list[str], kind: Kind) -> NDArray[np.float32]:
        """A row of length 1 a text."""

    @cached_property
    def dimensions(self) -> int:
        return int(self._encode(["dimensions"], "passage").shape[1])

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """One row of length 1 a text, read as question or passage where the model tells them apart."""
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        worded = [place for place, text in enumerate(texts) if text.strip()]
        if worded:
            vectors[worded] = self._encode([texts[place] for place in worded], kind)
        return vectors


_ON = re.compile(r" on=(?!cpu$)\w+$")


def made_on(identity: str, device: str) -> str:
    """The same model on an accelerator rounds otherwise, and by what is read beside a text: it goes by its own name."""
    return identity if device == "cpu" else f"{identity} on={device}"


def accelerator_of(identity: str) -> str:
    """The kind of device that made the vectors; empty: the processor."""
    match = _ON.search(identity)
    return match[0].removeprefix(" on=") if match else ""


def same_model(one: str, other: str) -> bool:
    """Whether the two differ by the device at most: near enough for a question, not for rows of one index."""
    return _ON.sub("", one) == _ON.sub("", other)


def vectors_of(embedder: Embedder, texts: Sequence[str], kind: Kind) -> NDArray[np.float32]:
    """A row a text, or an error that names the embedder."""
    return as_vectors(embedder.identity, embedder.embed(texts, kind), len(texts))


def as_vectors(identity: str, given: object, count: int) -> NDArray[np.float32]:
    """What an embedder gave for so many texts; lists of numbers are taken, too."""
    needed = "embed must return a float32 array with one row per text, in order"
    try:
        rows = np.asarray(given, np.float32)
    except (TypeError, ValueError) as error:
        raise ChunkwiseError(
            f"the embedder {identity} returned no numbers for {counted(count, 'text')} "
            f"({error}); {needed}"
        ) from error
    if rows.ndim != 2 or len(rows) != count:
        raise ChunkwiseError(
            f"the embedder {identity} returned an array of shape {rows.shape} for "
            f"{counted(count, 'text')}; {needed}"
        )
    return rows


_LENGTH = 1e-3
"""By how much the length of a vector may differ from 1: half precision does."""


def normalized(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length 1, as cosines take them for granted; those that are stay as they are to the bit, as do zeros."""
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    other = np.isfinite(lengths) & (lengths > 0) & (np.abs(lengths - 1) > _LENGTH)
    if not other.any():
        return vectors
    made = vectors.copy()
    made[other] = vectors[other] / lengths[other, None]
    return made


@runtime_checkable
class Windowed(Protocol):
    """An embedder that knows which texts it does not read in one pass."""

    @property
    def window(self) -> int:
        """Tokens."""

    @property
    def long(self) -> str:
        """What becomes of longer texts: `windows` (several, and their mean) or `truncate`."""

    def count_long(self, texts: Sequence[str]) -> int:
        """How many do not fit the window."""


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder that can look inside a text, which late vectors need."""

    @property
    def window(self) -> int:
        """The most tokens of its own that it reads in one pass."""

    def token_starts(self, text: str) -> NDArray[np.int64]:
        """Where each of the model's tokens starts, without reading the text with the model."""

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The vectors of every token of texts that fit the window; several are read at once where that pays."""


@runtime_checkable
class TokenEncoder(Protocol):
    """Texts to vectors of their tokens; a token's depends on the text around it, the kind and the model alone."""

    @property
    def identity(self) -> str:
        """Changes whenever a vector would."""

    @property
    def dimensions(self) -> int: ...

    @property
    def window(self) -> int:
        """The most tokens of its own that it reads in one pass."""

    def token_starts(self, text: str) -> NDArray[np.int64]:
        """Where each of the model's tokens starts, without reading the text with the model."""

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Of passages that fit the window; a row of length 1 a token."""

    def query_vectors(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Of questions, a row of length 1 a token; of a question too long for the window, its beginning."""


def suits_late(embedder: Embedder) -> bool:
    """Whether late vectors are its usual ones: it gives those of tokens, and does not say itself that they are poor."""
    return isinstance(embedder, TokenEmbedder) and getattr(embedder, "suits_late", True)


class PreferredEnds(NamedTuple):
    """Where windows like to end, as indices of the tokens that follow."""

    at: NDArray[np.int64]
    least: int
    """A window that would be shorter ends somewhere else."""


def window_ends(count: int, limit: int, *preferred: PreferredEnds) -> list[int]:
    """Token indices behind each window: at the furthest of the first places that offer one, else at the limit."""
    if limit < 1:
        raise InvalidParameter(f"limit is {limit}; the minimum is 1 token")
    ends = []
    start = 0
    while count - start > limit:
        end = start + limit
        for places in preferred:
            before = int(places.at.searchsorted(start + limit, "right")) - 1
            if before >= 0 and places.at[before] >= start + max(1, places.least):
                end = int(places.at[before])
                break
        ends.append(end)
        start = end
    if count > start:
        ends.append(count)
    return ends


def text_windows(text: str, tokens: NDArray[np.int64], limit: int) -> list[int]:
    """Windows over tokens that start at these offsets: they end with a sentence, or else with a word."""
    if len(tokens) <= limit:
        return [len(tokens)] if len(tokens) else []
    characters = CharacterArrays(text)
    half = limit // 2
    sentences = tokens.searchsorted(sentence_starts(characters))
    words = tokens.searchsorted(characters.word_starts)
    return window_ends(
        len(tokens), limit, PreferredEnds(sentences, half), PreferredEnds(words, half)
    )
