"""Grapheme clusters one place at a time: those of `\\X`, and conjuncts, which the `regex` module has not."""

import regex

CONSONANT = regex.compile(r"\p{InCB=Consonant}")
LINKER = regex.compile(r"\p{InCB=Linker}")
MARK = regex.compile(r"[\p{InCB=Extend}\p{InCB=Linker}]")


def breaks(text: str) -> list[int]:
    """Where clusters start, and the end of the text."""
    starts = [match.start() for match in regex.finditer(r"\X", text)]
    return [*(place for place in starts if not _in_conjunct(text, place)), len(text)]


def _in_conjunct(text: str, place: int) -> bool:
    """Whether a consonant stands there that a virama joins to another before it."""
    if not CONSONANT.match(text, place):
        return False
    before, linked = place - 1, False
    while before >= 0 and MARK.match(text, before):
        linked |= LINKER.match(text, before) is not None
        before -= 1
    return linked and before >= 0 and CONSONANT.match(text, before) is not None
