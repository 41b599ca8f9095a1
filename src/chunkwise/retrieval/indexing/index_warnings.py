"""What a user should know of the choices made for an index: lost summaries, long texts, foreign languages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from chunkwise.base.wording import counted, main_reason, one_or_many, thousands
from chunkwise.chunkers import Strategy
from chunkwise.models.cache import CachedEmbedder
from chunkwise.models.embed.embedder import Embedder, Windowed
from chunkwise.models.weights.catalog import USE_MULTILINGUAL
from chunkwise.retrieval.errors import REBUILD
from chunkwise.retrieval.indexed_document import IndexedDocument
from chunkwise.retrieval.indexing.resolve_settings import ResolvedSettings
from chunkwise.text.terms import CODE, NONE


class LostSummaries:
    """Counts from when it is made: a strategy may have served other indexes before."""

    def __init__(self, strategy: Strategy) -> None:
        self._chunker = strategy.chunker
        self._before = self._missing()

    def _missing(self) -> Counter[str]:
        """Why, and how often; of strategies that ask a model and tell."""
        result: object = getattr(self._chunker, "missing", None)
        return result.copy() if isinstance(result, Counter) else Counter()

    def notes(self) -> tuple[str, ...]:
        """What a user should know of them."""
        lost = self._missing() - self._before
        if not lost:
            return ()
        count = lost.total()
        many = counted(count, "summary")
        why = main_reason(lost)
        return (f"{many} failed: {why}; to retry them, {REBUILD} (others are cached)",)


class LongTexts:
    """Counts the texts of an index whose chunks are embedded each by itself, if the model can tell."""

    def __init__(self, resolved: ResolvedSettings) -> None:
        self._is_wanted = resolved.settings.vectors in ("own", "both")
        self._name = resolved.settings.embedder.partition("(")[0]
        self._model: Windowed | None = None
        self._texts = self._long = 0

    def add(self, part: IndexedDocument, embedder: Embedder | None, begin: int = 0) -> None:
        """`begin`: where the text of the part begins, in one that comes in segments."""
        model = embedder.embedder if isinstance(embedder, CachedEmbedder) else embedder
        if not self._is_wanted or not isinstance(model, Windowed):
            return
        texts = list(_texts(part, begin))
        self._model = model
        self._texts += len(texts)
        self._long += model.count_long(texts)

    def notes(self) -> tuple[str, ...]:
        """What a user should know of them."""
        if not self._long or self._model is None:
            return ()
        window = self._model.window
        how = (
            f"truncated after {counted(window, 'token')}"
            if self._model.long == "truncate"
            else "embedded in windows and averaged"
        )
        many = f"{thousands(self._long)} of {counted(self._texts, 'text')} {one_or_many(self._long, 'is', 'are')}"
        return (f"{many} longer than {self._name}'s window of {counted(window, 'token')}: {how}",)


class ForeignDocuments:
    """Counts documents in languages that the model was not made for, where it says for which it was."""

    def __init__(self, resolved: ResolvedSettings) -> None:
        self._name = resolved.settings.embedder.partition("(")[0].partition(":")[0]
        self._read = 0
        self._foreign: Counter[str] = Counter()

    def add(self, language: str, embedder: Embedder | None) -> None:
        model = embedder.embedder if isinstance(embedder, CachedEmbedder) else embedder
        known: tuple[str, ...] = getattr(model, "languages", ())
        if not known:
            return
        self._read += 1
        if language not in (*known, CODE, NONE):
            self._foreign[language] += 1

    def notes(self) -> tuple[str, ...]:
        """What a user should know of them; a few among many may be mistaken for another language."""
        count = self._foreign.total()
        if count < _FOREIGN * max(self._read, 1):
            return ()
        languages = " or ".join(code for code, _ in self._foreign.most_common(3))
        many = f"{thousands(count)} of {counted(self._read, 'document')} {one_or_many(count, 'is', 'are')}"
        return (
            f"{many} in a language that {self._name} doesn't support ({languages}), "
            f"so vectors help little; {self._other_model()}",
        )

    def _other_model(self) -> str:
        """What to take instead."""
        known = USE_MULTILINGUAL.encoding.languages if USE_MULTILINGUAL.encoding else ()
        if self._name != USE_MULTILINGUAL.spec and any(item in known for item in self._foreign):
            name = USE_MULTILINGUAL.spec
            return f'use a multilingual model: --embedder {name} (embedder="{name}"), {len(known)} languages'
        return "choose a model of that language with --embedder (embedder=)"


def _texts(part: IndexedDocument, begin: int) -> Iterator[str]:
    """What the model read of each chunk."""
    start, end = part.chunks.start - begin, part.chunks.end - begin
    spans = zip(start.tolist(), end.tolist(), strict=True)
    own = [part.document.text[start:end] for start, end in spans]
    if part.summaries is not None:
        own = [summary or text for summary, text in zip(part.summaries.texts, own, strict=True)]
    for context, text in zip(part.contexts, own, strict=True):
        yield f"{context}\n{text}" if context else text


_FOREIGN = 0.1
"""Share of the documents from which on it is told."""
