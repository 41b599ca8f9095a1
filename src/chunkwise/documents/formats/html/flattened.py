"""A page without its nesting, for those in which looking for the element of every end tag would take long."""

from __future__ import annotations

import re

from chunkwise.documents.formats.html.elements import BLOCKS, DRAWING_TEXTS, SET_APART, SKIPPED

# Quotes count behind an equals sign only; possessive, so that no hostile tag is tried twice.
_TAG = re.compile(rb"</?([a-z][^\s/>]*+)(?:=\s*+(?:\"[^\"]*+\"|'[^']*+')|[^>])*+>", re.IGNORECASE)
_RAW = frozenset({"textarea", "xmp", "iframe", "noembed", "noframes"}) | SKIPPED - {"template"}
_KEPT = frozenset({"br", "img", "meta"})  # the parser ends each of these itself
_APART = SET_APART | DRAWING_TEXTS
_PLAIN_TAGS = re.compile(
    b"(?:</?(?:" + "|".join(sorted(BLOCKS - _RAW, reverse=True)).encode() + b")>)++", re.IGNORECASE
)
"""Tags of blocks one behind the other: a page may have a million of them, and two rules say as much as many."""


def flattened(data: bytes) -> bytes:
    """The page with a rule in place of each block's tags; scripts and their like stay whole."""
    out: list[bytes] = []
    lowered = data.lower()
    done = 0
    while (start := data.find(b"<", done)) >= 0:
        out.append(data[done:start])
        if tags := _PLAIN_TAGS.match(data, start):
            # Behind a tag that was cut open by what is left out, the first rule is taken for a part of it.
            kept, done = b"<hr><hr>" if tags[0].count(b"<") > 1 else b"<hr>", tags.end()
        else:
            kept, done = _markup(data, lowered, start)
        out.append(kept)
    out.append(data[done:])
    return b"".join(out)


def _markup(data: bytes, lowered: bytes, start: int) -> tuple[bytes, int]:
    """What stands for the markup that begins here, and where it ends."""
    follows = data[start + 1 : start + 3]
    if not (follows[:1].isalpha() or (follows[:1] == b"/" and follows[1:].isalpha())):
        if follows[:1] not in (b"!", b"?", b"/"):
            return b"<", start + 1
        mark = b"-->" if data.startswith(b"<!--", start) else b">"
        return b"", _behind(data, mark, start)
    tag = _TAG.match(data, start)
    if tag is None:  # it never ends, and hides all that follows
        return b"", len(data)
    name = tag[1].lower().decode("utf-8", "replace")
    starts = follows[:1] != b"/"
    if starts and name in _RAW:
        end = _behind(data, b">", _behind(lowered, f"</{name}".encode(), tag.end()))
        return data[start:end], end
    if name in BLOCKS:
        return b"<hr>", tag.end()
    if starts and name in _KEPT:
        return tag[0], tag.end()
    return b" " if name in _APART else b"", tag.end()


def _behind(data: bytes, mark: bytes, start: int) -> int:
    found = data.find(mark, start)
    return found + len(mark) if found >= 0 else len(data)
