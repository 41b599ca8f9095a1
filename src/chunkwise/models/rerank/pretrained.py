"""A cross-encoder by name: weights of the catalogue, on this machine; what it read is kept, and its time is limited."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter, warn_user
from chunkwise.base.workers import cores
from chunkwise.core import OnProgress
from chunkwise.models.cache import ModelCache, key_of
from chunkwise.models.rerank.onnx import OnnxReranker
from chunkwise.models.weights.catalogue import MS_MARCO_MINILM
from chunkwise.models.weights.installed import ensure

_SECONDS = 60.0
_WINDOW = 512


class PretrainedReranker:
    """ms-marco-MiniLM-L-12-v2: fetched when first used, one pair a call; a score depends on its pair alone."""

    def __init__(
        self,
        seconds: float = _SECONDS,
        *,
        advance: OnProgress | None = None,
        cache: ModelCache | None = None,
    ) -> None:
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
            raise InvalidParameter(
                f"seconds is {seconds!r}; a number above 0 is needed: what a question may take"
            )
        self.seconds = float(seconds)
        """What reading the passages of one question may take; those not reached stay behind, in their order."""
        self.advance = advance
        """Hears of passages as they are read."""
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
        return ":".join((MS_MARCO_MINILM.name, *(each[:12] for each in hashes), str(_WINDOW)))

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The model's logits; a text that was not reached in time has the least of those that were."""
        keys = {text: self._key(query, text) for text in texts}
        kept = self._cache.get(list(keys.values()))
        known = {
            text: float(np.frombuffer(kept[key], "<f4")[0])
            for text, key in keys.items()
            if len(kept.get(key, b"")) == 4  # a damaged one is read again
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
            if self.advance:
                self.advance(len(some), f"{first + len(some):,} of {len(missing):,} passages")

    def _key(self, query: str, text: str) -> bytes:
        return key_of(self._pairs, "pair", text, query.encode("utf-8", "surrogatepass"))

    def _warn(self, unread: int, count: int) -> None:
        if self._has_warned:
            return
        self._has_warned = True  # once is enough to know: a test set has hundreds of questions
        warn_user(
            f"the local reranker read {count - unread} of {count} passages of a question in {self.seconds:g} seconds; "
            f"the others stay in their order behind them: give it more time, local(seconds={2 * self.seconds:g}), "
            "or ask again, since what was read is kept"
        )

    @cached_property
    def model(self) -> OnnxReranker:
        """Reads every pair anew, without a limit."""
        files = ensure(MS_MARCO_MINILM, advance=self.advance)
        return OnnxReranker(files["model.onnx"], files["tokenizer.json"], window=_WINDOW)
