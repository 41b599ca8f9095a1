"""How much a passage has to say: rare words, numbers, definitions; length as far as it brings words."""

from __future__ import annotations

import math
import re

_FEW = 5
"""Distinct terms under which nothing can be asked."""
_MOST_NUMBERS = 4
"""More are a table of figures, and no more worth asking about."""
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,:/]*(?=[^\w]|$|[a-zA-Z%°])")
_LABEL = re.compile(r"^\s*(?:\d+[.)]|\d+(?:\.\d+)+\.?)(?=\s)", re.MULTILINE)
_DEFINES = re.compile(
    r"\b(?:means|is defined as|refers to|is called|are called|stands for|bedeutet|heißt|signifie|désigne|significa)\b"
    r"|^\s*(?:[-*]\s+)?\*\*[^*\n]{2,60}\*\*",
    re.MULTILINE,
)


def importance(rarity: float, distinct: int, numbers: int, defines: bool) -> float:
    """From the summed rarity of a passage's distinct terms; 0: not to be asked about."""
    if distinct < _FEW:
        return 0.0
    # The mean says how special the words are, the logarithm that more of them say more.
    return (
        rarity
        / distinct
        * math.log1p(distinct)
        * (1 + 0.05 * min(numbers, _MOST_NUMBERS))
        * (1.15 if defines else 1.0)
    )


def number_count(text: str) -> int:
    """Numbers that are said, not those that lists and headings are numbered by."""
    return len(_NUMBER.findall(_LABEL.sub("", text)))


def looks_defining(text: str) -> bool:
    """Whether a word is explained."""
    return _DEFINES.search(text) is not None
