"""Document text made harmless for a terminal."""

from __future__ import annotations

import re

# A terminal obeys these: colours, cursor moves, window titles, links.
_ESCAPES = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)?"
    "|\x1b."
)
_SPACE = re.compile(r"\s+")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def one_line(text: str) -> str:
    """The text on one line, without escape sequences, control or direction characters."""
    text = _SPACE.sub(" ", _ESCAPES.sub("", text))
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("", text))
