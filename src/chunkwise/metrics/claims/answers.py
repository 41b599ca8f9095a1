"""Answers with what they cite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

NO_ANSWER = "no answer"
REFUSED = "the answer is that the documents do not say it"


class Citation(NamedTuple):
    """A place that is said to support a claim."""

    claim: str
    """A sentence of the answer, or a part of one; empty: the whole answer."""
    doc_id: str
    start: int | None = None
    """None: the place is told by the quote, or is the whole document."""
    end: int | None = None
    quote: str = ""
    """What is said to stand there; empty: it is not said."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody answered to a question."""

    text: str
    citations: tuple[Citation, ...] = ()
    is_refusal: bool = False
    """Whether it says that the documents do not answer the question: it claims nothing of what they say."""
