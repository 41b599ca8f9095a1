"""A cross-encoder from a local ONNX file: question and passage read together, one pair a call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.workers import cores
from chunkwise.models.onnx_file import (
    OnnxSession,
    beside,
    load_tokenizer,
    model_digest,
    over_threads,
    said_number,
    tokenizer_beside,
)
from chunkwise.models.weights.catalogue import digest
from chunkwise.text.characters import SURROGATE

_WINDOW = 512


class OnnxReranker:
    """A score depends on its pair alone: no batch, no padding, one thread a call and a call a core."""

    def __init__(
        self,
        path: str | Path,
        tokenizer_path: str | Path | None = None,
        *,
        window: int | None = None,
        scores: Literal["raw", "sigmoid"] = "raw",
    ) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise InvalidParameter(f"reranker is {str(path)!r}; no such file")
        if scores not in ("raw", "sigmoid"):
            raise InvalidParameter(f"scores is {scores!r}; allowed: 'raw', 'sigmoid'")
        self.tokenizer_path = (
            Path(tokenizer_path) if tokenizer_path else tokenizer_beside(self.path)
        )
        self.window = _said_window(self.path, self.tokenizer_path) if window is None else window
        if self.window < 8:
            raise InvalidParameter(f"window is {self.window}; the least allowed is 8 tokens")
        self._sigmoid = scores == "sigmoid"

    @cached_property
    def identity(self) -> str:
        """The hash of weights and tokenizer, the window and the scale."""
        hashed = sha256()
        for each in (model_digest(self.path), digest(self.tokenizer_path)):
            hashed.update(bytes.fromhex(each))
        scale = "sigmoid" if self._sigmoid else "raw"
        return f"onnx-reranker:{hashed.hexdigest()[:32]} window={self.window} {scale}"

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """One score a text; what is too long for the model is cut at the end of the longer of the two."""
        query = SURROGATE.sub("\ufffd", query)
        _ = self._output, self._tokenizer  # loaded once, before threads ask for them
        found = over_threads(lambda text: self._score(query, text), texts, cores())
        return np.array(list(found), np.float32)

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizer = load_tokenizer(self.tokenizer_path)
        tokenizer.enable_truncation(self.window, strategy="longest_first")
        return tokenizer

    @cached_property
    def _session(self) -> OnnxSession:
        return OnnxSession(self.path, self.window)

    @cached_property
    def _output(self) -> str:
        names = self._session.outputs
        return "logits" if "logits" in names else next(iter(names))

    def _score(self, query: str, text: str) -> float:
        pair = self._tokenizer.encode(query, SURROGATE.sub("\ufffd", text))
        output = self._session.run(self._output, pair.ids, pair.type_ids)
        logits = np.asarray(output, np.float64).reshape(-1)
        if logits.size not in (1, 2) or not np.isfinite(logits).all():
            raise InvalidParameter(
                f"{self.path} gives {np.shape(output)} numbers for one pair, or such as are not finite;"
                " a cross-encoder gives one score or two classes"
            )
        # Of two classes the second is "relevant"; the difference is the logit of its probability.
        score = float(logits[0] if logits.size == 1 else logits[1] - logits[0])
        return float(0.5 * (1.0 + np.tanh(0.5 * score))) if self._sigmoid else score


def _said_window(path: Path, tokenizer: Path) -> int:
    """The most tokens the model reads: the least of what the files beside it say."""
    said = (
        said_number(tokenizer, "truncation", "max_length"),
        said_number(beside(path, "tokenizer_config.json"), "model_max_length"),
        said_number(beside(path, "config.json"), "max_position_embeddings"),
    )
    return min((number for number in said if number), default=_WINDOW)
