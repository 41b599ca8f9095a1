"""Not a question at all: too short, too long, or no text of a person."""

from __future__ import annotations

import re

LONGEST = 300
"""Characters of a question."""
LONGEST_ANSWER = 1000
_LEAST_WORDS = 3
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>|\{\{|\}\}|```|\]\(|[{}\[\]]\s*\"|\"\s*:")
_IDEOGRAPHS = re.compile("[\u2e80-\u9fff\uac00-\ud7a3\u0e00-\u0eff]{4}")


def malformed(question: str, answer: str) -> bool:
    """Markup, JSON inside JSON, a heap of letters, no question mark."""
    words = len(question.split()) if not _IDEOGRAPHS.search(question) else _LEAST_WORDS
    return (
        not answer
        or len(answer) > LONGEST_ANSWER
        or words < _LEAST_WORDS
        or len(question) > LONGEST
        or not question.rstrip(" \"'”»)").endswith(("?", "？", "؟", "。"))
        or _MARKUP.search(question) is not None
    )
