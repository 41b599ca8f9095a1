"""Any BERT-like encoder as an ONNX file with the tokenizer.json that belongs to it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.cores import cores
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.models.embed.embedder import Kind, TokenVectors, text_windows
from chunkwise.models.onnx_file import (
    OnnxSession,
    load_tokenizer,
    model_files,
    over_threads,
    said_pooling,
    said_window,
)
from chunkwise.models.weights.catalog import Pooling
from chunkwise.text.characters import SURROGATE

Long = Literal["windows", "truncate"]

_AT_ONCE = 256
"""Texts tokenized before the model reads them: enough to keep every core busy."""
_WINDOW = 256


class _Tokens(NamedTuple):
    """The tokens of one text, without special ones."""

    ids: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    windows: list[int]
    """Index behind the last token of each window."""

    def pieces(self) -> list[NDArray[np.int64]]:
        return np.split(self.ids, self.windows[:-1]) if self.windows else []


class OnnxEmbedder:
    """Pools and reads as much at once as the files beside the model say, where nothing else is asked for."""

    def __init__(
        self,
        model_path: str | Path,
        tokenizer_path: str | Path | None = None,
        pooling: Pooling | None = None,
        window: int | None = None,
        long: Long = "windows",
        threads: int | None = None,
        *,
        query_prefix: str = "",
        passage_prefix: str = "",
    ) -> None:
        self._files = model_files(model_path, tokenizer_path)
        self._model_path, self._tokenizer_path = self._files
        if pooling not in ("mean", "cls", None):
            raise InvalidParameter(f"pooling is {pooling!r}; allowed: mean, cls")
        self.pooling: Pooling = pooling or said_pooling(self._model_path) or "mean"
        if window is None:
            window = said_window(self._model_path) or _WINDOW
        check_reading(window, long, threads)
        self.window = window
        self.long = long
        self._threads = cores() if threads is None else threads
        self.query_prefix = query_prefix
        self.passage_prefix = passage_prefix

    def __reduce__(self) -> tuple[object, ...]:
        # A session stays in its process; another one opens the files anew.
        paths = (self._model_path, self._tokenizer_path)
        reading = (self.pooling, self.window, self.long, self._threads)
        make = partial(
            OnnxEmbedder, query_prefix=self.query_prefix, passage_prefix=self.passage_prefix
        )
        return make, (*paths, *reading)

    @property
    def suits_late(self) -> bool:
        """Not where the first token stands for the text: the others were never made to."""
        return self.pooling == "mean"

    @cached_property
    def identity(self) -> str:
        return identity_of(
            self._model_path.stem, *self._files.digests(), self.pooling, self.window, self.long,
            self.query_prefix, self.passage_prefix,
        )  # fmt: skip

    @cached_property
    def dimensions(self) -> int:
        declared = self._session.outputs[self._output][-1]
        # Some exports leave the width open; a token tells.
        return declared if isinstance(declared, int) else self._read(self._encode("a").ids).shape[1]

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """One row a text, special tokens included in the mean; a text without words gets zeros."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for first in range(0, len(texts), _AT_ONCE):
            encoded = [self._encode(text, kind) for text in texts[first : first + _AT_ONCE]]
            owner, pieces = [], []
            for row, tokens in enumerate(encoded, first):
                mine = tokens.pieces()[: 1 if self.long == "truncate" else None]
                owner.extend([row] * len(mine))
                pieces.extend(mine)
            sums = np.zeros((len(encoded), self.dimensions))
            read = over_threads(partial(self._pooled, kind=kind), pieces, self._threads)
            for row, pooled in zip(owner, read, strict=True):
                sums[row - first] += pooled
            length = np.linalg.norm(sums, axis=1, keepdims=True)
            vectors[first : first + len(encoded)] = sums / np.where(length > 0, length, 1)
        return vectors

    def token_starts(self, text: str) -> NDArray[np.int64]:
        return self._encode(text, whole=True).start

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The vectors of every token but the special ones; a text too long for one window is read in several."""
        encoded = [self._encode(text) for text in texts]
        pieces = [piece for row in encoded for piece in row.pieces()]
        _ = self._output  # opened once, before threads ask for it
        read = over_threads(self._inner, pieces, self._threads)
        result = []
        for tokens in encoded:
            parts = [next(read) for _ in tokens.windows]
            none = np.zeros((0, self.dimensions), dtype=np.float32)
            vectors = np.concatenate(parts) if parts else none
            result.append(TokenVectors(tokens.start, tokens.end, vectors))
        return result

    def count_long(self, texts: Sequence[str]) -> int:
        room = self._room("passage")
        return sum(len(self._encode(text, whole=True).ids) > room for text in texts)

    def _encode(self, text: str, kind: Kind = "passage", whole: bool = False) -> _Tokens:
        # Half a surrogate pair has no bytes; a stand-in of the same length keeps every offset. Spaces alone are no
        # text, though tokenizers that cut bytes have tokens for them.
        read = SURROGATE.sub("\ufffd", text) if text.strip() else ""
        encoding = self._tokenizer.encode(read, add_special_tokens=False)
        ids = np.array(encoding.ids, dtype=np.int64)
        places = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
        # Normalisers that re-order marks may report a start out of order.
        start = np.maximum.accumulate(places[:, 0])
        windows = [len(ids)] if whole else text_windows(text, start, self._room(kind))
        return _Tokens(ids, start, np.maximum(places[:, 1], start), windows)

    def _pooled(self, ids: NDArray[np.int64], kind: Kind) -> NDArray[np.float64]:
        """The sum of a window's token vectors: windows weigh as much as they have tokens."""
        vectors = self._read(ids, kind)
        if self.pooling == "cls":
            return vectors[0].astype(np.float64) * len(ids)
        return vectors.sum(axis=0, dtype=np.float64)

    def _inner(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        first = len(self._before["passage"])
        return self._read(ids)[first : first + len(ids)]

    def _read(self, ids: NDArray[np.int64], kind: Kind = "passage") -> NDArray[np.float32]:
        """The model's last layer for one window, special tokens around it and the prefix before it."""
        row = np.concatenate((self._before[kind], ids, self._behind))
        vectors: NDArray[np.float32] = self._session.run(self._output, row)[0]
        if not np.isfinite(vectors).all():
            raise ChunkwiseError(
                f"{self._model_path} returns non-finite vectors; the export is broken: export the "
                "model again as float32, or use another"
            )
        return vectors

    @cached_property
    def _session(self) -> OnnxSession:
        return OnnxSession(self._model_path, self.window)

    @cached_property
    def _output(self) -> str:
        """The one output that has a vector a token."""
        outputs = self._session.outputs
        named = [name for name in ("last_hidden_state", "token_embeddings") if name in outputs]
        name = next(iter(named or outputs))
        if len(outputs[name]) != 3:
            raise ChunkwiseError(
                f"{self._model_path} has the outputs {', '.join(outputs)}; expected one vector "
                "per token (last_hidden_state): export the model without pooling"
            )
        return name

    @cached_property
    def _tokenizer(self) -> Any:
        return load_tokenizer(self._tokenizer_path)

    @cached_property
    def _special(self) -> tuple[list[int], list[int]]:
        """What the tokenizer puts before and behind a text."""
        encoding = self._tokenizer.encode("a")
        inner = [at for at, special in enumerate(encoding.special_tokens_mask) if not special]
        if not inner:
            raise InvalidParameter(f"{self._tokenizer_path} returns no token for the text 'a'")
        return encoding.ids[: inner[0]], encoding.ids[inner[-1] + 1 :]

    @cached_property
    def _before(self) -> dict[Kind, NDArray[np.int64]]:
        """What stands before every window: special tokens, and the prefix of the kind."""
        prefixes: dict[Kind, str] = {"query": self.query_prefix, "passage": self.passage_prefix}
        return {
            kind: np.array(
                self._special[0] + self._tokenizer.encode(prefix, add_special_tokens=False).ids,
                dtype=np.int64,
            )
            for kind, prefix in prefixes.items()
        }

    @cached_property
    def _behind(self) -> NDArray[np.int64]:
        return np.array(self._special[1], dtype=np.int64)

    def _room(self, kind: Kind) -> int:
        """Tokens of the text that fit into a window."""
        others = len(self._before[kind]) + len(self._behind)
        if self.window <= others:
            prefix = " and the prefix" if len(self._before[kind]) > len(self._special[0]) else ""
            raise InvalidParameter(
                f"window is {self.window}; {self._tokenizer_path} puts {others} special "
                f"tokens{prefix} around a text; the minimum is {others + 1}"
            )
        return self.window - others


def check_reading(window: int, long: Long, threads: int | None) -> None:
    """Refuses what no model could be read with."""
    if window < 3:
        raise InvalidParameter(f"window is {window}; the minimum is 3 tokens")
    if long not in ("windows", "truncate"):
        raise InvalidParameter(f"long is {long!r}; allowed: windows, truncate")
    if threads is not None and threads < 1:
        raise InvalidParameter(f"threads is {threads}; expected at least 1, or None for all cores")


def identity_of(
    name: str,
    model: str,
    tokenizer: str,
    pooling: str,
    window: int,
    long: Long,
    query_prefix: str = "",
    passage_prefix: str = "",
) -> str:
    """Says what a vector depends on, in one line."""
    plain = f"{name}:{model[:12]}:{tokenizer[:12]}:{pooling}:{window}:{long}"
    has_prefix = query_prefix or passage_prefix
    return f"{plain}:{query_prefix!r}:{passage_prefix!r}" if has_prefix else plain
