"""Chunks that are longer than what the model reads at once: told, since their vectors say less about each part."""

from __future__ import annotations

from collections.abc import Iterator

from chunkwise.models.embedder import Embedder, Windowed
from chunkwise.models.kept.cached import CachedEmbedder
from chunkwise.retrieval.making.choice import Choice
from chunkwise.retrieval.part import Part


class LongTexts:
    """Counts the texts of an index whose chunks are embedded each by itself, if the model can tell."""

    def __init__(self, choice: Choice) -> None:
        self._is_wanted = choice.settings.vectors in ("own", "both")
        self._name = choice.settings.model.partition("(")[0]
        self._model: Windowed | None = None
        self._texts = self._long = 0

    def add(self, part: Part, embedder: Embedder | None) -> None:
        model = embedder.embedder if isinstance(embedder, CachedEmbedder) else embedder
        if not self._is_wanted or not isinstance(model, Windowed):
            return
        texts = list(_texts(part))
        self._model = model
        self._texts += len(texts)
        self._long += model.count_long(texts)

    def notes(self) -> tuple[str, ...]:
        """What a user should know of them."""
        if not self._long or self._model is None:
            return ()
        window = self._model.window
        how = (
            f"cut off after {window:,} tokens"
            if self._model.long == "truncate"
            else "read in windows and averaged"
        )
        many = f"{self._long:,} of {self._texts:,} texts {'is' if self._long == 1 else 'are'}"
        return (f"{many} longer than {self._name}'s window of {window:,} tokens: {how}",)


def _texts(part: Part) -> Iterator[str]:
    """What the model read of each chunk."""
    spans = zip(part.chunks.start.tolist(), part.chunks.end.tolist(), strict=True)
    own = [part.document.text[start:end] for start, end in spans]
    if part.summaries is not None:
        own = [summary or text for summary, text in zip(part.summaries.texts, own, strict=True)]
    for context, text in zip(part.contexts, own, strict=True):
        yield f"{context}\n{text}" if context else text
