"""Numbers in one spelling: no marks between thousands, a point before decimals, a space before a unit."""

from __future__ import annotations

import re

from chunkwise.text.language import language_of_text

# Only what begins with a digit is looked at: everything else in a text is passed over quickly.
_WRITTEN = re.compile(r"[0-9](?<![0-9.,][0-9])[0-9]*(?:[.,'’][0-9]+)+")
_SPACED = re.compile(r"[1-9](?<![\w.,][0-9])(?<![0-9] [0-9])[0-9]{0,2}(?: [0-9]{3})+(?! ?[0-9])")
_GROUPS = re.compile(r"[1-9][0-9]{0,2}(?:([,'’])[0-9]{3})(?:\1[0-9]{3})*(?:\.[0-9]+)?")
_INDIAN = re.compile(r"[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]+)?")
_POINTS = re.compile(r"[1-9][0-9]{0,2}(?:(?:\.[0-9]{3}){2,}|(?:\.[0-9]{3})+,[0-9]+)")
_ONE_POINT = re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}")
_DECIMALS = re.compile(r"[0-9]+,[0-9]+")
_MONEY_BEFORE = re.compile(r"(?:[$£¥€]|eur|chf) ?\Z", re.IGNORECASE)
_MONEY_BEHIND = re.compile(r"\s?(?:[$£¥€]|eur|chf)", re.IGNORECASE)
_UNIT = re.compile(
    r"[0-9](?<![\w.][0-9])[0-9]*(?:\.[0-9]+)*(?!(?:st|nd|rd|th)\b)(?=[^\W\d_]+(?![^\W_]))"
)
_MARKS = re.compile("[,'’]")
_WITH_POINTS = frozenset("da de el es fr id it nl pt ro tr".split())
"""Languages in which a point parts thousands."""


def in_one_spelling(text: str, points: bool | None = None) -> str:
    """The text with 1,000, 1 000, 1'000 and 12,34,567 without their marks, 3,5 as 3.5 and 5kg as 5 kg.

    A comma before exactly three digits parts thousands, any other one decimals; several (3,5,7) are a list. A point
    before exactly three digits parts thousands where there are several, where a decimal comma follows, or in money,
    which has two decimals; else `points` says it, or, where that is None, the text's language. A space parts
    thousands where no other number stands beside them.
    """

    def spelled(match: re.Match[str]) -> str:
        nonlocal points
        number = match[0]
        if _GROUPS.fullmatch(number) or _INDIAN.fullmatch(number):
            return _MARKS.sub("", number)
        if _POINTS.fullmatch(number):
            return number.replace(".", "").replace(",", ".")
        if _ONE_POINT.fullmatch(number):
            if not _is_money(text, *match.span()):
                if points is None:
                    points = points_part_thousands(language_of_text(text))
                if not points:
                    return number
            return number.replace(".", "")
        return number.replace(",", ".") if _DECIMALS.fullmatch(number) else number

    text = _SPACED.sub(lambda match: match[0].replace(" ", ""), text)
    return _UNIT.sub(r"\g<0> ", _WRITTEN.sub(spelled, text))


def points_part_thousands(language: str) -> bool:
    """Whether 1.000 is a thousand in a text of this language."""
    return language in _WITH_POINTS


def _is_money(text: str, start: int, end: int) -> bool:
    before = _MONEY_BEFORE.search(text[max(0, start - 4) : start])
    return bool(before or _MONEY_BEHIND.match(text, end))
