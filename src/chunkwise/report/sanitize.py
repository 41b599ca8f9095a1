"""Document text made harmless to show: titles and sentences are anyone's."""

from __future__ import annotations

import re

from chunkwise.base.wording import shortened

# A terminal obeys these: colors, cursor moves, window titles, links.
_ESCAPES = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ "
    "-/]*[@-~]|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)?|\x1b."
)
_SPACE = re.compile(r"\s+")
# Control characters move a cursor, bidirectional ones reorder a line.
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]"
)
_UNSEEN = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]")
_EMPTY_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL_IN_LINES = re.compile(
    "\r(?=\n)|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]"
)
# Letters that nobody sees and models read; only flags of regions are made of them.
_TAGS = re.compile("(\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f)|[\U000e0000-\U000e007f]+")


def one_line(text: str, most: int = 0) -> str:
    """On one line, without characters that do more than show; cut with an ellipsis behind `most`."""
    # Most texts are printable and have single spaces: a page has many thousand of them.
    if not text.isprintable() or "  " in text:
        text = _SPACE.sub(" ", _ESCAPES.sub("", text))
        text = _SURROGATE.sub("\ufffd", _CONTROL.sub("", text))
    return shortened(text, most) if most else text


def few_lines(text: str, most: int, lines: int) -> str:
    """The first lines of a text, empty ones left out; an ellipsis tells that there are more."""
    filled = [line for line in text[:most].splitlines() if line.strip()]
    kept = "\n".join(one_line(line).strip() for line in filled[:lines])
    return f"{kept} …" if len(text) > most or len(filled) > lines else kept


def clean_lines(text: str) -> str:
    """With its line ends, each line made harmless; empty lines are one."""
    return "\n".join(one_line(line) for line in _EMPTY_LINES.sub("\n", text).split("\n"))


def harmless_text(text: str) -> str:
    """With its lines, tabs and spaces as they are, without what a terminal obeys and what a reader cannot see."""
    if text.isascii() and text.isprintable():
        return text
    # Signs alone, not what follows them: nothing that a document says gets lost.
    text = _CONTROL_IN_LINES.sub("", text)
    return _SURROGATE.sub("\ufffd", _TAGS.sub(lambda match: match[1] or "", text))


def harmless_json(text: str) -> str:
    """The same JSON with those characters spelled out which a terminal obeys: they stand in its strings alone."""
    if text.isprintable():
        return text
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
