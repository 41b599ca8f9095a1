"""Numbers that an answer brings: what makes a question one about an amount."""

from __future__ import annotations

from chunkwise.metrics.claims.amounts import counted
from chunkwise.metrics.claims.plain_form import plain_form


def brings_number(question: str, answer: str, language: str) -> bool:
    """Whether the answer has a number, in digits or in words, that the question has not."""
    asked, answered = (
        {amount.number for amount in counted(plain_form(text), language).amounts}
        for text in (question, answer)
    )
    return bool(answered - asked)
