"""Words that are written in two ways, in one: an e-mail is an email, Q & A is Q and A."""

from __future__ import annotations

import re

# No letter before it: fore-mail is another word. Digits may stand there, since they are parted from letters later.
_E_WORD = re.compile(r"(?<![^\W\d_])e-(?=[^\W\d_]{3})")
# Between letters alone: elsewhere it is a sign of code, of an address, or a list of numbers.
_AND = re.compile(r"(?<=[^\W\d_])\s*&\s*(?=[^\W\d_])")


def words_in_one_spelling(folded: str) -> str:
    """Of a text whose case is folded."""
    if "e-" in folded:
        folded = _E_WORD.sub("e", folded)
    return _AND.sub(" and ", folded) if "&" in folded else folded
