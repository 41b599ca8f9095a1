"""Headings that name what they open: those right above their text, titles below them, and who encloses whom."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.blocks.heading_words import (
    CLOSERS,
    ROMAN,
    behind_number,
    division,
    goes_on_small,
    in_capitals,
    stands_in_front,
)
from chunkwise.text.blocks.lines import Lines

GOES_ON = -1
"""Level of a line that goes on with the heading above it: the title below "ARTICLE II"."""
_LONGEST_TITLE = 80
_MOST_WORDS = 10
_WORDS_OF_A_TITLE = 5
_LONG_WORD = 4
_ENDS_TEXT = frozenset(".,;:!?…")
_ENDS_CLAUSE = (".", "!", "?", "…", ":")
_INNER_STOP = re.compile(r"[\w\])][.!?]\s+\S")
_PARTED = re.compile(r"[.:–—-]\s*[^\W\d_]")
_DOTTED = re.compile(r"\w+\s+\d+\.\d")
_IN_CAPITALS = 2
"""Level of a line in capitals, above all numbers."""
_SECTION_IN_ARTICLE = 2
"""Levels below an article: the one between is its title's."""


def runs_in(text: str, named: re.Match[str]) -> bool:
    """Whether a line that opens with a division's name and number goes on as a sentence does."""
    if in_capitals(text):
        return False
    ends = text.rstrip(CLOSERS).endswith(_ENDS_CLAUSE)
    if ends and goes_on_small(text):
        return True
    if not named["section"]:
        return False  # chapters of old books sum up what happens in them
    rest = behind_number(text).lstrip(" .:–—-")
    behind_stops = [match.end() - 1 for match in _INNER_STOP.finditer(rest)]
    if behind_stops:
        return _like_prose(rest[behind_stops[-1] :])
    return ends and len(rest.split()) > _WORDS_OF_A_TITLE and _like_prose(rest)


def _like_prose(text: str) -> bool:
    """Whether most of the longer words behind the first are small, as they are not in titles."""
    words = [word for word in text.split()[1:] if len(word) >= _LONG_WORD]
    small = sum(word[0].islower() for word in words)
    return small > 0 and small * 2 >= len(words)


def has_title_below(text: str, below: str, after: str) -> bool:
    """Whether the next line is the title of a named one, as in "ARTICLE II" above "COMPENSATION"."""
    if not below[0].isalpha() or below[0].islower() or below[-1] in _ENDS_TEXT:
        return False
    if len(below) > _LONGEST_TITLE or len(below.split()) > _MOST_WORDS or division(below):
        return False
    bare = _bare(text)
    if not in_capitals(below):
        return bare and not after
    return not in_capitals(after) and (bare or (in_capitals(text) and not after))


def stands_above(text: str, below: str, after: str) -> bool:
    """Whether a named line behind a blank one, not its title's, is the heading of the text right below it."""
    bare = _bare(text)
    other = division(below)
    if other:
        same = other[0].lower() == text[: len(other[0])].lower()
        return bare and not same and _bare(below) and not division(after)
    if bare:
        return True
    if in_capitals(below):
        return False  # a paragraph in capitals, of which this is the first line
    if in_capitals(text):
        return True
    return _PARTED.match(behind_number(text)) is not None and text[-1] not in _ENDS_TEXT


def _bare(text: str) -> bool:
    """Whether a division has a number and no title."""
    return not any(map(str.isalnum, behind_number(text)))


def nest(lines: Lines, levels: NDArray[np.int64]) -> None:
    """Set titles below their chapters, sections below the articles that hold them, and none below a preface."""
    _nest_titles(lines, levels)
    _nest_sections(lines, levels)
    _lower_front(lines, levels)


def _nest_titles(lines: Lines, levels: NDArray[np.int64]) -> None:
    """A title that follows "CHAPTER I" with nothing between them is that chapter's: one level below."""
    headings, solid = np.flatnonzero(levels > 0), np.flatnonzero(~lines.blank)
    follows = np.append(solid, -1)[solid.searchsorted(headings, "right")][:-1]
    touching = np.flatnonzero(follows == headings[1:]).tolist()
    if not touching:
        return
    level, texts = levels[headings].tolist(), _texts(lines, headings)
    for above in touching:
        title = above + 1
        if level[title] > level[above]:
            continue
        if not division(texts[above]) or division(texts[title]):
            continue
        # A number has others of its rank further on, which stay where they are.
        numbered = texts[title][0].isdigit() or ROMAN.match(texts[title])
        if level[title] == level[above] or not numbered:
            level[title] = level[above] + 1
    levels[headings] = level


def _texts(lines: Lines, which: NDArray[np.int64]) -> list[str]:
    text, ends = lines.characters.text, lines.end[which].tolist()
    starts = lines.start[which].tolist()
    return [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]


def _nest_sections(lines: Lines, levels: NDArray[np.int64]) -> None:
    """Contracts part articles into sections, codes of law sections into articles: many are inside, few around them."""
    named: dict[str, list[int]] = {"section": [], "article": []}
    third = np.flatnonzero(levels == 3)
    for line, text in zip(third.tolist(), _texts(lines, third), strict=True):
        word = text[:7].lower()
        if word in named and division(text):
            named[word].append(line)
    sections, articles = named.values()
    if not (sections and articles and articles[0] < sections[0]):
        return
    dotted = [line for line in sections if _DOTTED.match(lines.text(line).strip())]
    inside = sections if len(sections) > len(articles) else dotted
    levels[inside] += _SECTION_IN_ARTICLE


def _lower_front(lines: Lines, levels: NDArray[np.int64]) -> None:
    """A table of contents or a preamble in capitals holds none of the numbered parts behind it: it is their like."""
    headings = np.flatnonzero(levels > 0)
    found = levels[headings]
    opened = np.flatnonzero((found[:-1] == _IN_CAPITALS) & (found[1:] > _IN_CAPITALS))
    if not len(opened):
        return
    # Where others in capitals hold numbers of their own, a preamble may, too; contents never do.
    alone = len(opened) == 1
    first = int(opened[0])
    for index in range(first, -1, -1):
        text = lines.text(headings[index]).strip()
        if found[index] != _IN_CAPITALS or not stands_in_front(text, contents_only=not alone):
            return
        levels[headings[index]] = found[first + 1]
