"""A cross-encoder from a local ONNX file: question and passage read together, one pair a call."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from chunkwise.errors import InvalidParameter, MissingExtra
from chunkwise.text.characters import SURROGATE

_INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_WINDOW = 512
_LONGEST_WINDOW = 32_768
"""Configurations say "without end" with numbers such as 10 ** 30."""


class OnnxReranker:
    """A score depends on its pair alone: no batch, no padding, one thread a call and a call a core."""

    def __init__(
        self,
        path: str | Path,
        *,
        window: int | None = None,
        scores: Literal["raw", "sigmoid"] = "raw",
    ) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise InvalidParameter(f"reranker is {str(path)!r}; no such file")
        if scores not in ("raw", "sigmoid"):
            raise InvalidParameter(f"scores is {scores!r}; allowed: 'raw', 'sigmoid'")
        self.tokenizer_path = _beside(self.path, "tokenizer.json")
        if self.tokenizer_path is None:
            raise InvalidParameter(
                f"{self.path} has no tokenizer.json beside it; put the model's there"
            )
        self.window = window or _window(self.path, self.tokenizer_path)
        if self.window < 8:
            raise InvalidParameter(f"window is {self.window}; the least allowed is 8 tokens")
        self._sigmoid = scores == "sigmoid"

    @cached_property
    def identity(self) -> str:
        """The hash of weights and tokenizer, the window and the scale."""
        assert self.tokenizer_path is not None
        digest = hashlib.sha256()
        # Large models keep their weights in a second file.
        outside = sorted(self.path.parent.glob(f"{self.path.name}[._]data*"))
        for file in (self.path, *outside, self.tokenizer_path):
            with file.open("rb") as opened:
                digest.update(hashlib.file_digest(opened, "sha256").digest())
        scale = "sigmoid" if self._sigmoid else "raw"
        return f"onnx-reranker:{digest.hexdigest()[:32]} window={self.window} {scale}"

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """One score a text; what is too long for the model is cut at the end of the longer of the two."""
        query = SURROGATE.sub("\ufffd", query)
        _ = self._session, self._tokenizer  # loaded once, before threads ask for them
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        if len(texts) < 2 or (cores or 1) < 2:
            found = [self._score(query, text) for text in texts]
        else:
            with ThreadPoolExecutor(cores) as pool:
                found = list(pool.map(lambda text: self._score(query, text), texts))
        return np.array(found, np.float32)

    @cached_property
    def _tokenizer(self) -> Any:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtra(f"the reranker {self.path}", "search") from None
        try:
            tokenizer = Tokenizer.from_file(str(self.tokenizer_path))
        except Exception as error:  # the library raises bare Exception for a malformed file
            raise InvalidParameter(f"{self.tokenizer_path} is no tokenizer.json: {error}") from None
        tokenizer.no_padding()
        tokenizer.enable_truncation(self.window, strategy="longest_first")
        tokenizer.encode_special_tokens = True  # a passage that says [SEP] does not end there
        return tokenizer

    @cached_property
    def _session(self) -> Any:
        try:
            import onnxruntime
        except ImportError:
            raise MissingExtra(f"the reranker {self.path}", "search") from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            session = onnxruntime.InferenceSession(
                str(self.path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the library has its own tree of errors, without a public root
            first = str(error).splitlines()[0][:200]
            raise InvalidParameter(
                f"{self.path} is no ONNX model that can be run: {first}"
            ) from None
        self._check_inputs(session)
        return session

    def _check_inputs(self, session: Any) -> None:
        known = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
        for each in session.get_inputs():
            if each.name not in known or each.type not in _INTEGERS:
                raise InvalidParameter(
                    f"{self.path} wants the input {each.name!r} ({each.type}); a cross-encoder's are"
                    f" whole numbers named {', '.join(sorted(known))}"
                )

    def _score(self, query: str, text: str) -> float:
        pair = self._tokenizer.encode(query, SURROGATE.sub("\ufffd", text))
        values = {
            "input_ids": pair.ids,
            "attention_mask": pair.attention_mask,
            "token_type_ids": pair.type_ids,
            "position_ids": range(len(pair.ids)),
        }
        feed = {
            each.name: np.array([values[each.name]], _INTEGERS[each.type])
            for each in self._session.get_inputs()
        }
        names = [each.name for each in self._session.get_outputs()]
        chosen = "logits" if "logits" in names else names[0]
        (output,) = self._session.run([chosen], feed)
        logits = np.asarray(output, np.float64).reshape(-1)
        if logits.size not in (1, 2) or not np.isfinite(logits).all():
            raise InvalidParameter(
                f"{self.path} gives {np.shape(output)} numbers for one pair, or such as are not finite;"
                " a cross-encoder gives one score or two classes"
            )
        # Of two classes the second is "relevant"; the difference is the logit of its probability.
        score = float(logits[0] if logits.size == 1 else logits[1] - logits[0])
        return float(0.5 * (1.0 + np.tanh(0.5 * score))) if self._sigmoid else score


def _beside(path: Path, name: str) -> Path | None:
    """In the model's folder, or in the one above as in exports that keep `onnx/model.onnx`."""
    for folder in (path.parent, path.parent.parent):
        if (folder / name).is_file():
            return folder / name
    return None


def _window(path: Path, tokenizer: Path) -> int:
    """The most tokens the model reads: the least of what the files beside it say."""
    said = (
        (tokenizer, ("truncation", "max_length")),
        (_beside(path, "tokenizer_config.json"), ("model_max_length",)),
        (_beside(path, "config.json"), ("max_position_embeddings",)),
    )
    found = []
    for file, names in said:
        if file is None:
            continue
        try:
            value: Any = json.loads(file.read_text("utf-8"))
        except ValueError:
            continue  # says nothing usable; the tokenizer itself is checked when it is loaded
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        if isinstance(value, int | float) and 0 < value <= _LONGEST_WINDOW:
            found.append(int(value))
    return min(found, default=_WINDOW)
