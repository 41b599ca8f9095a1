"""Where the text of an article is, on a page that says that it is one: news, a post.

The element with the most paragraphs is its body, as Readability has it, and the smallest element that also holds the
headline is the article. Comments and teasers of others stand outside of it, however many they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from chunkwise.core import Block

_TYPED = re.compile(r"schema\.org/(?:[A-Za-z]*Article|BlogPosting)\b")
_DESCRIBED = re.compile(r'"@type"\s*:\s*(?:\[\s*)?"(?:[A-Za-z]*Article|BlogPosting)"')
_ENTRY = re.compile(r"(?:^|\s)h-?entry(?:\s|$)")
_DATE = re.compile(
    r"\b(?:19|20)\d\d\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}"
    r"|\b\d{1,2}[./-]\d{1,2}[./-](?:19|20)\d\d\b"
    r"|\b\d{1,2}(?:\.|st|nd|rd|th|er)?\s+(?:de\s+)?[^\W\d_]{3,10}\.?,?\s+(?:de\s+)?(?:19|20)\d\d\b"
    r"|\b[^\W\d_]{3,10}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+(?:19|20)\d\d\b"
)
_ABOVE, _BELOW = 2, 3
"""Blocks beside the headline among which its date is looked for."""
_SHORT = 120
"""Characters that a line with the date has at most."""
_NAMED = 20
"""Characters of a heading that the title may name anywhere; a shorter one must be a third of it."""
_TITLE = 400
"""Characters of a title that are looked at."""
_PARAGRAPHS = 3
"""The body has at least so many; those one element deeper count half."""
_ALIKE = 0.25
"""Share of the body's prose with which elements as deep and near are more of it."""
_RIVAL = 0.5
"""Share of the body's prose with which another element, wherever it is, may be the article as well."""


class Part(NamedTuple):
    """Blocks of one element."""

    first: int
    end: int
    unlinked: int

    def holds(self, other: Part | ArticleBody) -> bool:
        return self.first <= other.first and other.end <= self.end


class ArticleBody(NamedTuple):
    """Blocks of the paragraphs of an article, and the elements that have about as many."""

    first: int
    end: int
    rivals: Sequence[Part]


def says_article(attributes: Mapping[str, str]) -> bool:
    """Whether an element says that it is one: by schema.org or a microformat."""
    return bool(
        _TYPED.search(attributes.get("itemtype") or "")
        or attributes.get("itemprop") == "articleBody"
        or _ENTRY.search(attributes.get("class") or "")
    )


def describes_article(linked_data: str) -> bool:
    """Whether JSON-LD says that the page is one."""
    return _DESCRIBED.search(linked_data) is not None


def headline(blocks: Sequence[Block], text: str, title: str, before: int) -> int | None:
    """The heading that the page's title names, or else the last one of the first level up to a block."""
    title = title[:_TITLE]
    named = f" {_words(title)} "
    result = None
    for number, block in enumerate(blocks):
        if block.kind == "heading":
            words = _words(text[block.start : min(block.end, block.start + len(title) + 1)])
            if len(words) > min(_NAMED, len(named) / 3) and f" {words} " in named:
                return number
            if number <= before and block.level == 1:
                result = number
    return result


def has_dateline(blocks: Sequence[Block], text: str, at: int | None) -> bool:
    """Whether a date stands beside the headline, as above a report or a post."""
    if at is None:
        return False
    beside = (*range(max(at - _ABOVE, 0), at), *range(at + 1, min(at + 1 + _BELOW, len(blocks))))
    lines = (blocks[number] for number in beside)
    return any(
        line.end - line.start <= _SHORT and _DATE.search(text, line.start, line.end)
        for line in lines
    )


def body_of_article(elements: Sequence[Part], paragraphs: Sequence[int]) -> ArticleBody | None:
    """The element with the most prose in paragraphs of its own, with those near it that are like it.

    `elements`: outer before inner, in their order; `paragraphs`: bytes of each block's prose, 0 where it has none.
    """
    own, counts = [0] * len(elements), [0] * len(elements)
    parents, depths = [-1] * len(elements), [0] * len(elements)
    open_, following = list[int](), 0
    for number, prose in enumerate(paragraphs):
        while following < len(elements) and elements[following].first <= number:
            while open_ and elements[open_[-1]].end <= elements[following].first:
                open_.pop()
            parents[following], depths[following] = open_[-1] if open_ else -1, len(open_)
            open_.append(following)
            following += 1
        while open_ and elements[open_[-1]].end <= number:
            open_.pop()
        if open_ and prose:
            own[open_[-1]] += prose
            counts[open_[-1]] += 1
    scores, counted = list[float](own), list[float](counts)
    for each, parent in enumerate(parents):
        if parent >= 0:
            scores[parent] += own[each] / 2
            counted[parent] += counts[each] / 2
    best = max(range(len(elements)), key=scores.__getitem__, default=None)
    if best is None or counted[best] < _PARAGRAPHS:
        return None
    first, end, _ = elements[best]
    near = (
        parents[parents[best]]
        if parents[best] >= 0 and parents[parents[best]] >= 0
        else parents[best]
    )
    if near >= 0:
        alike = [
            part for part, depth, score in zip(elements, depths, scores, strict=True)
            if depth == depths[best] and score >= _ALIKE * scores[best] and elements[near].holds(part)
        ]  # fmt: skip
        first, end = min(part.first for part in alike), max(part.end for part in alike)
    rivals = [
        part for part, score in zip(elements, scores, strict=True) if score >= _RIVAL * scores[best]
    ]
    return ArticleBody(first, end, rivals)


def with_headline(elements: Sequence[Part], body: ArticleBody, at: int | None) -> Part | None:
    """The smallest element with the headline, the body and all that may be the body as well."""
    if at is None:
        return None
    first = min(at, body.first, *(part.first for part in body.rivals))
    end = max(at + 1, body.end, *(part.end for part in body.rivals))
    holding = (part for part in elements if part.first <= first and end <= part.end)
    return min(holding, key=lambda part: part.end - part.first, default=None)


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
