"""Not a question at all: too short, too long, or no text of a person."""

from __future__ import annotations

import re

LONGEST = 300
"""Characters of a question."""
LONGEST_ANSWER = 1000
_LEAST_WORDS = 3
_END = 20
"""Characters among which the mark of a question is looked for."""
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>|\{\{|\}\}|```|\]\(|[{}\[\]]\s*\"|\"\s*:")
# A Greek question ends in a semicolon, a Chinese or Japanese one may end in the word that asks and a full stop.
_ASKS = re.compile(
    "(?:[?？؟\u037e]|[\u0370-\u03ff\u1f00-\u1fff][\"'”»)]*;|(?:か|吗|呢|嗎)。)[ \"'”»」』）)]*$"
)
_IDEOGRAPHS = re.compile("[\u2e80-\u9fff\uac00-\ud7a3\u0e00-\u0eff]{4}")


def malformed(question: str, answer: str) -> bool:
    """Markup, JSON inside JSON, a heap of letters, no question mark."""
    words = len(question.split()) if not _IDEOGRAPHS.search(question) else _LEAST_WORDS
    return (
        not answer
        or len(answer) > LONGEST_ANSWER
        or words < _LEAST_WORDS
        or len(question) > LONGEST
        or _ASKS.search(question[-_END:]) is None
        or _MARKUP.search(question) is not None
    )
