"""Any BERT-like encoder as an ONNX file with the tokenizer.json that belongs to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from chunkwise.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.models.embedder import Kind, TokenVectors
from chunkwise.models.weights import digest
from chunkwise.models.windows import text_windows
from chunkwise.text.characters import SURROGATE

Pooling = Literal["mean", "cls"]
Long = Literal["windows", "truncate"]
Item = TypeVar("Item")
Result = TypeVar("Result")

_AT_ONCE = 256
"""Texts tokenised before the model reads them: enough to keep every core busy."""


class _Tokens(NamedTuple):
    """The tokens of one text, without special ones."""

    ids: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    windows: list[int]
    """Index behind the last token of each window."""

    def pieces(self) -> list[NDArray[np.int64]]:
        return np.split(self.ids, self.windows[:-1]) if self.windows else []


_KNOWN_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}


class OnnxEmbedder:
    """One text a call and no padding: a vector depends on the text and the model alone, to the bit."""

    def __init__(
        self,
        model_path: str | Path,
        tokenizer_path: str | Path | None = None,
        pooling: Pooling = "mean",
        window: int = 256,
        long: Long = "windows",
        threads: int | None = None,
    ) -> None:
        self._model_path = Path(model_path)
        beside = self._model_path.with_name("tokenizer.json")
        self._tokenizer_path = Path(tokenizer_path) if tokenizer_path else beside
        for what, path in (("model", self._model_path), ("tokenizer", self._tokenizer_path)):
            if not path.is_file():
                raise InvalidParameter(f"{what} is {str(path)!r}; no such file")
        if pooling not in ("mean", "cls"):
            raise InvalidParameter(f"pooling is {pooling!r}; it is one of: mean, cls")
        if long not in ("windows", "truncate"):
            raise InvalidParameter(f"long is {long!r}; it is one of: windows, truncate")
        if window < 3:
            raise InvalidParameter(f"window is {window}; it must be at least 3 tokens")
        self.pooling = pooling
        self.window = window
        self.long = long
        self._threads = threads or available_cores()

    def __reduce__(self) -> tuple[object, ...]:
        # A session stays in its process; another one opens the files anew.
        paths = (self._model_path, self._tokenizer_path)
        return OnnxEmbedder, (*paths, self.pooling, self.window, self.long, self._threads)

    @cached_property
    def identity(self) -> str:
        model, tokenizer = digest(self._model_path), digest(self._tokenizer_path)
        return identity_of(
            self._model_path.stem, model, tokenizer, self.pooling, self.window, self.long
        )

    @cached_property
    def dimensions(self) -> int:
        shapes = {each.name: each.shape for each in self._session.get_outputs()}
        declared = shapes[self._output][-1]
        # Some exports leave the width open; a token tells.
        return declared if isinstance(declared, int) else self._read(self._encode("a").ids).shape[1]

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """One row a text, special tokens included in the mean; a text without words gets zeros."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for first in range(0, len(texts), _AT_ONCE):
            encoded = [self._encode(text) for text in texts[first : first + _AT_ONCE]]
            owner, pieces = [], []
            for row, tokens in enumerate(encoded, first):
                mine = tokens.pieces()[: 1 if self.long == "truncate" else None]
                owner.extend([row] * len(mine))
                pieces.extend(mine)
            sums = np.zeros((len(encoded), self.dimensions))
            for row, pooled in zip(owner, self._spread(self._pooled, pieces), strict=True):
                sums[row - first] += pooled
            length = np.linalg.norm(sums, axis=1, keepdims=True)
            vectors[first : first + len(encoded)] = sums / np.where(length > 0, length, 1)
        return vectors

    def token_starts(self, text: str) -> NDArray[np.int64]:
        return self._encode(text, whole=True).start

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The vectors of every token but the special ones; a text too long for one window is read in several."""
        encoded = [self._encode(text) for text in texts]
        read = self._spread(self._inner, [piece for each in encoded for piece in each.pieces()])
        found = []
        for tokens in encoded:
            parts = [next(read) for _ in tokens.windows]
            none = np.zeros((0, self.dimensions), dtype=np.float32)
            vectors = np.concatenate(parts) if parts else none
            found.append(TokenVectors(tokens.start, tokens.end, vectors))
        return found

    def windows(self, texts: Sequence[str]) -> list[int]:
        """How many windows each text takes; with `long="truncate"` only the first is read."""
        return [len(self._encode(text).windows) for text in texts]

    def _encode(self, text: str, whole: bool = False) -> _Tokens:
        # Half a surrogate pair has no bytes; a stand-in of the same length keeps every offset.
        encoding = self._tokenizer.encode(SURROGATE.sub("\ufffd", text), add_special_tokens=False)
        ids = np.array(encoding.ids, dtype=np.int64)
        places = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
        # Normalisers that re-order marks may report a start out of order.
        start = np.maximum.accumulate(places[:, 0])
        limit = self.window - len(self._before) - len(self._behind)
        windows = [len(ids)] if whole else text_windows(text, start, limit)
        return _Tokens(ids, start, np.maximum(places[:, 1], start), windows)

    def _pooled(self, ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """The sum of a window's token vectors: windows weigh as much as they have tokens."""
        vectors = self._read(ids)
        if self.pooling == "cls":
            return vectors[0].astype(np.float64) * len(ids)
        return vectors.sum(axis=0, dtype=np.float64)

    def _inner(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        first = len(self._before)
        return self._read(ids)[first : first + len(ids)]

    def _read(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """The model's last layer for one window, special tokens around it."""
        row = np.concatenate((self._before, ids, self._behind))[None]
        known = {"input_ids": row, "attention_mask": np.ones_like(row)}
        known["token_type_ids"] = np.zeros_like(row)
        feed = {name: known[name] for name in self._inputs}
        try:
            return self._session.run([self._output], feed)[0][0]
        except Exception as error:  # the library raises errors of its own making, one a status
            raise ChunkwiseError(
                f"{self._model_path} cannot read {row.size} tokens at once ({error}); "
                f"window is {self.window}: a smaller one may help"
            ) from None

    def _spread(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Results in order, from as many threads as there are cores; one session serves them all."""
        if len(items) < 2 or self._threads == 1:
            yield from map(work, items)
            return
        pool = ThreadPoolExecutor(self._threads)
        try:
            yield from pool.map(work, items)
        finally:
            pool.shutdown(cancel_futures=True)

    @cached_property
    def _session(self) -> Any:
        try:
            import onnxruntime
        except ImportError:
            raise MissingExtra(f"the model {self._model_path}", "search") from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            session = onnxruntime.InferenceSession(
                str(self._model_path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the library raises errors of its own making, one a status
            raise ChunkwiseError(f"{self._model_path} cannot be opened: {error}") from None
        strange = {each.name for each in session.get_inputs()} - _KNOWN_INPUTS
        if strange:
            raise ChunkwiseError(
                f"{self._model_path} wants {', '.join(sorted(strange))}; "
                f"an encoder takes {', '.join(sorted(_KNOWN_INPUTS))}"
            )
        return session

    @cached_property
    def _inputs(self) -> list[str]:
        return [each.name for each in self._session.get_inputs()]

    @cached_property
    def _output(self) -> str:
        """The one output that has a vector a token."""
        outputs = {each.name: len(each.shape) for each in self._session.get_outputs()}
        named = [name for name in ("last_hidden_state", "token_embeddings") if name in outputs]
        name = next(iter(named or outputs))
        if outputs[name] != 3:
            raise ChunkwiseError(
                f"{self._model_path} gives {', '.join(outputs)}; an output with a vector a token "
                "(last_hidden_state) is needed: export the model without pooling"
            )
        return name

    @cached_property
    def _tokenizer(self) -> Any:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtra(f"the tokenizer {self._tokenizer_path}", "search") from None
        try:
            tokenizer = Tokenizer.from_file(str(self._tokenizer_path))
        except Exception as error:  # the library raises bare Exception for a malformed file
            raise InvalidParameter(
                f"{self._tokenizer_path} is no tokenizer.json: {error}"
            ) from None
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True  # text such as [SEP] is text
        return tokenizer

    @cached_property
    def _special(self) -> tuple[list[int], list[int]]:
        """What the tokenizer puts before and behind a text."""
        encoding = self._tokenizer.encode("a")
        inner = [at for at, special in enumerate(encoding.special_tokens_mask) if not special]
        if not inner:
            raise InvalidParameter(f"{self._tokenizer_path} finds no token in the text 'a'")
        return encoding.ids[: inner[0]], encoding.ids[inner[-1] + 1 :]

    @cached_property
    def _before(self) -> NDArray[np.int64]:
        return np.array(self._special[0], dtype=np.int64)

    @cached_property
    def _behind(self) -> NDArray[np.int64]:
        return np.array(self._special[1], dtype=np.int64)


def available_cores() -> int:
    """Cores this process may use, where the system tells; otherwise those there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def identity_of(
    name: str, model: str, tokenizer: str, pooling: Pooling, window: int, long: Long
) -> str:
    """Says what a vector depends on, in one line."""
    return f"{name}:{model[:12]}:{tokenizer[:12]}:{pooling}:{window}:{long}"
