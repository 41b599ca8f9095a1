"""Texts that are one line of prose, as records of a corpus often are: not worth a look at their layout."""

from __future__ import annotations

import re

from chunkwise.text.heading_words import ROMAN, division, shouts

_LONG_LINE = 200
"""Longer than any heading."""
_STARTS_LIKE_PROSE = re.compile(r"[^\W\d_]{2}")
_LINE_BREAK = re.compile("[\n\r\v\f\x85\u2028\u2029]")
_ITEM = re.compile(r"[ivx]{2,5}[.)]", re.IGNORECASE)


def is_one_paragraph(text: str) -> bool:
    """Whether a text is one line that can be no heading and no item; where it is not plain to see, False."""
    if _STARTS_LIKE_PROSE.match(text) is None or _ITEM.match(text):
        return False
    if len(text) <= _LONG_LINE:
        line = text.rstrip()
        if shouts(line) or ROMAN.match(line) or division(line):
            return False
    return _LINE_BREAK.search(text.rstrip()) is None
