"""A question made by a rule, with where its answer stands."""

from __future__ import annotations

import re
from typing import NamedTuple

from chunkwise.core import Span
from chunkwise.generating.question_types import Kind

_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)]|\(?[a-z]\))\s+")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"\*{1,3}|`+|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)|\\(?=[^\w\s])")


class PlainQuestion(NamedTuple):
    """One question, its answer where one sentence is it, and the evidence."""

    question: str
    answer: str | None
    span: Span
    kind: Kind
    subject: str = ""
    """What has to be rare for the question to make sense; empty: it says itself what is meant."""


def without_marks(text: str) -> str:
    """On one line, without marks of lists, emphasis and links."""
    return " ".join(_MARKS.sub("", _LINK.sub(r"\1", _BULLET.sub("", text))).split())


def trimmed(text: str, start: int, end: int) -> Span:
    """Without white space around it, and without the mark of a list before it."""
    part = text[start:end]
    mark = _BULLET.match(part)
    head = mark.end() if mark else len(part) - len(part.lstrip())
    return Span(start + head, start + len(part.rstrip()))
