"""What went wrong at a model's endpoint, in words that are safe to show and never hold the key."""

from __future__ import annotations

import re

from chunkwise.base.errors import ChunkwiseError

_LONGEST = 240
_SHORTEST_PART = 6
"""Characters of a key that give it away: servers like to quote its beginning."""


class EndpointError(ChunkwiseError):
    """An endpoint refused, failed or answered nonsense; says where, what it said and what to check."""

    def __init__(
        self, endpoint: str, reason: str, advice: str = "", status: int | None = None
    ) -> None:
        super().__init__(endpoint, reason, advice, status)
        self.endpoint = endpoint
        self.reason = reason
        self.advice = advice
        self.status = status

    def __str__(self) -> str:
        said = f"{self.endpoint} {self.reason}"
        return f"{said}; {self.advice}" if self.advice else said


def excerpt(text: str, key: str | None = None, most: int = _LONGEST) -> str:
    """The beginning on one line, only characters that show, and nothing of the key."""
    head = without_key(text[: 4 * most], key)
    shown = " ".join("".join(c if c.isprintable() else " " for c in head).split())
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def without_key(text: str, key: str | None) -> str:
    """Nothing of the key from its beginning on, should a server quote it, in part or with escapes."""
    if not key:
        return text
    if len(key) < _SHORTEST_PART:  # no secret but a word, as servers of one's own are given
        return re.sub(rf"(?<!\w){re.escape(key)}(?!\w)", "[key]", text)
    letters = [rf"(?:\\*{re.escape(each)}|(?:\\+u00|%){ord(each):02x})" for each in key]
    first, rest = "".join(letters[:_SHORTEST_PART]), "".join(letters[_SHORTEST_PART:])
    # However a server writes the rest, it ends where words end.
    return re.sub(rf"{first}(?:{rest})?(?:\\.|[^\s\"',])*", "[key]", text, flags=re.IGNORECASE)


def first_words(text: str) -> str:
    """Enough of a text to find it again."""
    return f"“{excerpt(text, most=60)}” ({len(text):,} characters)"
