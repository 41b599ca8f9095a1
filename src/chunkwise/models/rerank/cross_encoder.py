"""Cross-encoders, which read question and passage together: by name out of the catalog, or from a local ONNX file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.cores import cores
from chunkwise.base.errors import InvalidParameter, warn_user
from chunkwise.base.progress import model_stage
from chunkwise.base.wording import as_set, counted, thousands
from chunkwise.models.cache import ModelCache, key_of
from chunkwise.models.onnx_file import (
    OnnxSession,
    beside,
    load_tokenizer,
    model_files,
    over_threads,
    said_number,
)
from chunkwise.models.weights.catalog import MS_MARCO_MINILM
from chunkwise.models.weights.installed import ensure
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
    ) -> None:
        self._files = model_files(path, tokenizer_path, role="reranker")
        self.path, self.tokenizer_path = self._files
        self.window = _said_window(self.path, self.tokenizer_path) if window is None else window
        if self.window < 8:
            raise InvalidParameter(f"window is {self.window}; the minimum is 8 tokens")

    @cached_property
    def identity(self) -> str:
        """The hash of weights and tokenizer, and the window."""
        hashed = sha256()
        for digest in self._files.digests():
            hashed.update(bytes.fromhex(digest))
        return f"onnx-reranker:{hashed.hexdigest()[:32]} window={self.window}"

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """One score a text; what is too long for the model is cut at the end of the longer of the two."""
        query = SURROGATE.sub("\ufffd", query)
        _ = self._output, self._tokenizer  # loaded once, before threads ask for them
        result = over_threads(lambda text: self._score(query, text), texts, cores())
        return np.array(list(result), np.float32)

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
                f"{self.path} gives {np.shape(output)} numbers per pair, or non-finite ones; a "
                "cross-encoder returns one score or two classes"
            )
        # Of two classes the second is "relevant"; the difference is the logit of its probability.
        return float(logits[0] if logits.size == 1 else logits[1] - logits[0])


def _said_window(path: Path, tokenizer: Path) -> int:
    """The most tokens the model reads: the least of what the files beside it say."""
    said = (
        said_number(tokenizer, "truncation", "max_length"),
        said_number(beside(path, "tokenizer_config.json"), "model_max_length"),
        said_number(beside(path, "config.json"), "max_position_embeddings"),
    )
    return min((number for number in said if number), default=_WINDOW)


_SECONDS = 60.0
_CATALOGUE_WINDOW = 512


class PretrainedReranker:
    """ms-marco-MiniLM-L-12-v2: fetched when first used, one pair a call; a score depends on its pair alone."""

    def __init__(self, seconds: float = _SECONDS, *, cache: ModelCache | None = None) -> None:
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
            raise InvalidParameter(f"seconds is {seconds!r}; expected a time limit above 0")
        self.seconds = float(seconds)
        """What reading the passages of one question may take; those not reached stay behind, in their order."""
        self._cache = cache or ModelCache()
        self._has_warned = False

    def __repr__(self) -> str:
        return f"PretrainedReranker(seconds={self.seconds:g})"

    def __reduce__(self) -> tuple[object, ...]:
        return PretrainedReranker, (self.seconds,)

    @property
    def identity(self) -> str:
        limit = "" if self.seconds == _SECONDS else f" seconds={self.seconds:g}"
        return f"{self._pairs}{limit}"

    @cached_property
    def _pairs(self) -> str:
        """What the score of a pair depends on."""
        hashes = (MS_MARCO_MINILM.file(name).sha256 for name in ("model.onnx", "tokenizer.json"))
        return ":".join(
            (MS_MARCO_MINILM.name, *(digest[:12] for digest in hashes), str(_CATALOGUE_WINDOW))
        )

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The model's logits; a text that was not reached in time has the least of those that were."""
        keys = {text: self._key(query, text) for text in texts}
        kept = self._cache.get(list(keys.values()))
        known = {
            text: float(np.frombuffer(kept[key], "<f4")[0])
            for text, key in keys.items()
            if key in kept
        }
        self._read(query, [text for text in keys if text not in known], known)
        if unread := len(keys) - len(known):
            self._warn(unread, len(keys))
        least = min(known.values(), default=0.0)
        return np.array([known.get(text, least) for text in texts], np.float32)

    def _read(self, query: str, missing: Sequence[str], known: dict[str, float]) -> None:
        """From the first on, until all are read or the time is up; a few are read in any case."""
        if not missing:
            return
        model = self.model  # fetching and loading it is not what the time is for
        at_once = 2 * cores()
        began = time.monotonic()
        with model_stage("reranking", 0) as advance:
            for first in range(0, len(missing), at_once):
                if first and time.monotonic() - began >= self.seconds:
                    return
                some = missing[first : first + at_once]
                fresh = dict(zip(some, model.scores(query, some), strict=True))
                self._cache.put(
                    self._pairs,
                    {
                        self._key(query, text): score.astype("<f4").tobytes()
                        for text, score in fresh.items()
                    },
                )
                known.update((text, float(score)) for text, score in fresh.items())
                done = f"{thousands(first + len(some))} of {counted(len(missing), 'passage')}"
                advance(len(some), done)

    def _key(self, query: str, text: str) -> bytes:
        return key_of(self._pairs, "pair", text, query.encode("utf-8", "surrogatepass"))

    def _warn(self, unread: int, count: int) -> None:
        if self._has_warned:
            return
        self._has_warned = True  # once is enough to know: a test set has hundreds of questions
        warn_user(
            f"the local reranker scored {thousands(count - unread)} of "
            f"{counted(count, 'passage')} in {as_set(self.seconds)} seconds; the others keep "
            f"their order after them: allow more time, local(seconds={2 * self.seconds:g}), or "
            f"repeat the search, since scores are cached"
        )

    @cached_property
    def model(self) -> OnnxReranker:
        """Reads every pair anew, without a limit."""
        files = ensure(MS_MARCO_MINILM)
        return OnnxReranker(files["model.onnx"], files["tokenizer.json"], window=_CATALOGUE_WINDOW)
