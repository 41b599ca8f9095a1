"""Comparison questions made of paragraphs with titles: which of two films came out first, who of two was born first."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence

from benchmarks.question_sets import Place, Question
from chunkwise.core import Document

_MOST = 70
"""Questions of a kind."""
_REACH = 400
"""Characters of a paragraph in which its attribute is looked for."""
_YEAR = r"\b(?:1\d|20)\d\d\b"
KINDS = {
    "film": (rf"\bis an? [^.]*?{_YEAR}[^.]*\bfilm\b", "Which film came out first, {} or {}?"),
    "album": (rf"\balbum\b[^.]*{_YEAR}", "Which album was released earlier, {} or {}?"),
    "person": (
        r"\((?:[^()]*\bborn\b[^()]*\d{4}|[^()]*\d{4}[^()]*[–-][^()]*\d{4})[^()]*\)",
        "Who was born first, {} or {}?",
    ),
    "place": (
        r"\bis an? [^.]*?\b(?:village|town|city|municipality|river|lake|district)\b[^.]*? (?:in|of) ",
        "Are {} and {} located in the same country?",
    ),
    "founded": (
        rf"\b(?:founded|established|formed)\b[^.]*{_YEAR}",
        "Which was founded first, {} or {}?",
    ),
}
"""The sentence that has the attribute, and how it is asked for."""


def comparison_questions(documents: Sequence[Document]) -> list[tuple[str, Question]]:
    """Pairs of titles of one kind, at random but the same in every run; the references are both sentences."""
    titles = Counter(document.title for document in documents)
    having: dict[str, list[tuple[str, Place]]] = {kind: [] for kind in KINDS}
    for document in documents:
        begin = document.text.find("\n") + 1
        if titles[document.title] > 1:
            continue
        for kind, (attribute, _) in KINDS.items():
            found = re.compile(attribute).search(document.text, begin, begin + _REACH)
            if found is not None:
                name = re.sub(r" \([^)]*\)$", "", document.title)
                having[kind].append((name, _sentence(document, found, begin)))
                break
    questions = []
    for kind, places in having.items():
        random.Random(3).shuffle(places)
        pairs = zip(places[::2], places[1::2], strict=False)
        for number, ((one, first), (other, second)) in enumerate(list(pairs)[:_MOST]):
            text = KINDS[kind][1].format(one, other)
            questions.append((kind, Question(f"{kind}{number}", text, ((first,), (second,)))))
    return questions


def _sentence(document: Document, found: re.Match[str], begin: int) -> Place:
    start = document.text.rfind(". ", begin, found.start())
    end = document.text.find(". ", found.end())
    return Place(
        document.id, begin if start < 0 else start + 2, len(document.text) if end < 0 else end + 1
    )
