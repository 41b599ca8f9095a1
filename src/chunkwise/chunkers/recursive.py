"""Separators in order of preference, merged up to the limit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.cuts import ArrayCuts, Cuts, NearCuts
from chunkwise.chunkers.places import Places, place_cuts
from chunkwise.chunkers.separators import LANGUAGES, MARKDOWN, TEXT, Level, separators_for
from chunkwise.chunkers.sized import Sized
from chunkwise.core import Piece
from chunkwise.errors import InvalidParameter
from chunkwise.parameters import param
from chunkwise.text.analysis import Analyzed

_SHORT = 50_000
"""Characters of a text in which separators are sought one by one sooner than all at once."""


@dataclass(frozen=True, kw_only=True)
class Recursive(Sized):
    """Blank lines, lines, sentences, words: the coarsest separator that fits, pieces merged up to the limit.

    Use it as the common default, made exact. `separators` names a list or is your own, coarsest first.
    """

    separators: str | tuple[str, ...] = param(
        "auto",
        "auto (by format), text, markdown, a programming language, or a list, coarsest first",
    )
    regex: bool = param(False, "the separators of an own list are regular expressions")

    def __post_init__(self) -> None:
        super().__post_init__()
        known = {"auto", "text", "markdown", *LANGUAGES}
        if isinstance(self.separators, str):
            if self.separators not in known:
                raise InvalidParameter(
                    f"separators is {self.separators!r}; allowed: {', '.join(sorted(known))}, or a list"
                )
            if self.regex:
                raise InvalidParameter(
                    f"regex is True and separators {self.separators!r}, a list of plain texts; "
                    "give a list of regular expressions, or leave regex out"
                )
        elif not isinstance(self.separators, tuple | list) or not all(
            isinstance(item, str) for item in self.separators
        ):
            raise InvalidParameter(f"separators is {self.separators!r}; a list of texts is needed")
        elif not any(self.separators):
            raise InvalidParameter(
                f"separators is {list(self.separators)!r}; at least one is needed that is not empty"
            )
        elif self.regex:
            for item in self.separators:
                try:
                    re.compile(item)
                except re.error as error:
                    raise InvalidParameter(
                        f"separators: {item!r} is no regular expression: {error}"
                    ) from None

    def split(self, document: Analyzed) -> Sequence[Piece]:
        packer = self.packer(document, self._levels(document), nested=True)
        return self.without_crumbs(document, packer.pack(0, len(document.text)))

    def _levels(self, document: Analyzed) -> list[Cuts]:
        if self.regex and not isinstance(self.separators, str):
            return [
                ArrayCuts(partial(_matches, document, pattern))
                for pattern in self.separators
                if pattern
            ]
        places, text, graphemes = Places(document.characters), document.text, document.graphemes
        return [
            # Long separators are found among the places of their first signs, which pays in a long text;
            # a single sign is near wherever it is sought.
            place_cuts(places, level, graphemes)
            if len(text) > _SHORT and any(len(separator) > 1 for separator in level)
            else NearCuts(text, level, graphemes)
            for level in self._lists(document)
        ]

    def _lists(self, document: Analyzed) -> tuple[Level, ...]:
        if not isinstance(self.separators, str):
            # An empty last separator, as other splitters write it, is what happens anyway.
            return tuple((item,) for item in self.separators if item)
        named = {"text": TEXT, "markdown": MARKDOWN, **LANGUAGES}
        if self.separators in named:
            return named[self.separators]
        return separators_for(document.document.format, document.document.language)


def _matches(document: Analyzed, pattern: str) -> NDArray[np.int64]:
    """Cuts before white space and behind anything else a pattern matches, as for literal separators."""
    cuts = {
        match.start() if match.group()[:1].isspace() or not match.group() else match.end()
        for match in re.finditer(pattern, document.text)
    }
    return document.graphemes.keep(np.array(sorted(cuts), dtype=np.int64))
