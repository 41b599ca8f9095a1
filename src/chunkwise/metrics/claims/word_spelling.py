"""Words that are written in two ways, in one: an e-mail is an email, Q & A is Q and A."""

from __future__ import annotations

import re

# Only words that are written both ways: "vitamin E-rich" is no word "erich". A digit beside one is a word of its own.
_E_WORD = re.compile(
    r"(?<![^\W\d_])e-(?=(?:mail|book|commerce|learning|reader|banking|government|signature|ticket|sport|bike|scooter"
    r"|invoice|cigarette|waste|paper|health|voting)(?:s|ed|ing)?(?![^\W\d_]))"
)
# Between letters alone: elsewhere it is a sign of code or of a list of numbers.
_AND = re.compile(r"(?<=[^\W\d_])\s*&\s*(?=[^\W\d_])")


def words_in_one_spelling(folded: str) -> str:
    """Of a text whose case is folded."""
    if "e-" in folded:
        folded = _E_WORD.sub("e", folded)
    return _AND.sub(" and ", folded) if "&" in folded else folded
