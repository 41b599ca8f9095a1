"""A question made by a rule, with where its answer stands."""

from __future__ import annotations

import re
from typing import NamedTuple

from chunkwise.core import Span
from chunkwise.generating.question_types import Kind
from chunkwise.testsets.finding.trimming import trimmed

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


def said_at(text: str, start: int, end: int) -> Span:
    """Without white space around it, and without the mark of a list before it."""
    mark = _BULLET.match(text[start:end])
    return trimmed(text, start + (mark.end() if mark else 0), end)
