"""Functions and classes kept whole while they fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.code_outline import outline_levels
from chunkwise.chunkers.cuts import ArrayCuts
from chunkwise.chunkers.grammars import LANGUAGES
from chunkwise.chunkers.levels import word_level
from chunkwise.chunkers.sized import Sized
from chunkwise.core import Piece
from chunkwise.parameters import param
from chunkwise.text.analysis import Analyzed


@dataclass(frozen=True, kw_only=True)
class Code(Sized):
    """Functions, classes and their parts by the language's grammar; without one, by indentation and blank lines.

    Use it for source code. Grammars: pip install 'chunkwise[code]'.
    """

    language: str = param(
        "auto", "a programming language; auto: the document's own", choices=("auto", *LANGUAGES)
    )

    def split(self, document: Analyzed) -> Sequence[Piece]:
        language = document.document.language if self.language == "auto" else self.language
        measure, behind_gaps = document.measure(self.tokenizer), document.characters.next_solid

        def fit(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.bool_]:
            # White space behind a chunk takes no room.
            return behind_gaps(measure.reaches(starts, self.max_tokens)) >= ends

        outline = outline_levels(document, language, fit)
        levels = [*(ArrayCuts(cuts.copy) for cuts in outline), word_level(document)]
        packer = self.packer(document, levels, nested=True)
        return self.without_crumbs(document, packer.pack(0, len(document.text)))
