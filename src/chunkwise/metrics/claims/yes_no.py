"""Yes and no at the start of an answer."""

from __future__ import annotations

import re
from typing import NamedTuple

_YES = "yes|yep|true|correct|ja|jawohl|doch|oui|sí|si|sì|sim|да|evet|是|是的|对|はい|예|네|نعم"
_NO = (
    "no|nope|false|incorrect|nein|non|não|nee|nej|nei|нет|hayır|否|不|不是|いいえ|아니요|아니오|لا"
)
_OPENING = re.compile(
    rf"\W*(?:(?P<yes>{_YES})|(?P<no>{_NO})(?!\.\s*\d))\s*(?:[.,;:!–—，。；：！-]+\s*|\Z)",
    re.IGNORECASE,
)


class YesNo(NamedTuple):
    """An answer with its first word told apart."""

    is_yes: bool | None
    """None: it says neither."""
    rest: str


def yes_no(text: str) -> YesNo:
    """Only a word that stands alone or before a sign: "No fee" is no answer no."""
    found = _OPENING.match(text)
    return (
        YesNo(None, text) if found is None else YesNo(found["yes"] is not None, text[found.end() :])
    )
