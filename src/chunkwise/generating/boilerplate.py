"""Passages that say nothing of their own: contents pages, scraps of letters, text that stands elsewhere, too."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Span
from chunkwise.profile.fingerprints import fingerprints
from chunkwise.text.analysis import Analyzed

_ENTRY = re.compile(
    r"(?:\.{3,}|…|\s{3,}|\t|\s\|\s*)\s*\d+\s*\|?$|^\s*[-*\d.]*\s*\[[^\]]*\]\([^)]*\)\s*$"
)
_CONTENTS = re.compile(
    r"(?:table of )?contents|inhalt(?:sverzeichnis)?|sommaire|table des matières|índice|indice|index"
    r"|references|bibliography|further reading|literatur(?:verzeichnis)?|acknowledge?ments|imprint|impressum",
    re.IGNORECASE,
)
_ENTRIES = 3
_LETTERS = 0.45
"""Share of the characters to be seen, at least: below it is a table of figures or a drawing."""
_WORDS = 6
"""Of a sentence whose repetition tells something: "See above." stands anywhere."""
REPEATED = 0.5
"""Share of a passage that stands elsewhere, too, from which it is not asked about."""


def is_boilerplate(text: str, path: Sequence[str]) -> bool:
    """By its looks and its heading."""
    if path and _CONTENTS.fullmatch(path[-1].strip(" .:")):
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    entries = sum(_ENTRY.search(line) is not None for line in lines)
    if entries >= _ENTRIES and entries * 2 >= len(lines):
        return True
    solid = [each for each in text if not each.isspace()]
    return sum(map(str.isalpha, solid)) < _LETTERS * len(solid)


class Sentences:
    """Fingerprints of the sentences of all documents, to know which of them stand there twice."""

    def __init__(self) -> None:
        self._marks: list[NDArray[np.uint64]] = []
        self._spans: list[NDArray[np.int64]] = []

    def add(self, analyzed: Analyzed) -> None:
        bounds = np.append(analyzed.sentences, len(analyzed.text))
        spans = np.stack([bounds[:-1], bounds[1:]], axis=1)
        words = np.diff(analyzed.characters.word_starts.searchsorted(spans), axis=1)[:, 0]
        spans = spans[words >= _WORDS]
        self._spans.append(spans)
        self._marks.append(fingerprints(analyzed.characters, spans))

    def repeated(self, documents: Sequence[Sequence[Span]]) -> list[NDArray[np.float64]]:
        """Of every passage of every document, the share that stands elsewhere as well."""
        if not self._marks:
            return []
        marks, count = np.unique(np.concatenate(self._marks), return_counts=True)
        twice = marks[count > 1]
        return [
            _shares(spans[np.isin(own, twice)], passages)
            for own, spans, passages in zip(self._marks, self._spans, documents, strict=True)
        ]


def _shares(repeated: NDArray[np.int64], passages: Sequence[Span]) -> NDArray[np.float64]:
    bounds = np.array(passages, dtype=np.int64).reshape(-1, 2)
    if not len(repeated) or not len(bounds):
        return np.zeros(len(bounds))
    size = np.append(0, np.cumsum(repeated[:, 1] - repeated[:, 0]))
    first = repeated[:, 0].searchsorted(bounds[:, 0])
    last = np.maximum(repeated[:, 0].searchsorted(bounds[:, 1]), first)
    length = np.maximum(bounds[:, 1] - bounds[:, 0], 1)
    return np.asarray((size[last] - size[first]) / length, dtype=np.float64)
