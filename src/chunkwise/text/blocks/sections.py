"""The section tree of a document: headings, what each covers, and the path to any place."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import SectionStretch
from chunkwise.text.blocks.blocks import Blocks

_ANCHOR = re.compile(r"\s*\{\s*#[^{}]*\}\s*$")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
# Behind a word or a bracket it is an index: rows[0][1].
_REFERENCE = re.compile(r"(?<![\w\])])!?\[([^\[\]]+)\]\[[^\[\]]*\]")
_INLINE_TAG = re.compile(
    r"</?(?:h[1-6]|a|abbr|b|br|code|dfn|em|i|img|kbd|small|span|strong|sub|sup)\b[^<>]*>",
    re.IGNORECASE,
)
_LITERAL = re.compile(r"\\([!-/:-@\[-`{-~])|(?<!`)(`{1,3})(?!`)(.+?)(?<!`)\2(?!`)")
"""A backslash escape or a piece of code: no mark in it is markup."""
_STARS = re.compile(r"(\*{1,3}|~~)(?=[^\s*~])([^*~]*[^\s*~])\1")
# Inside a word _ is a letter: snake_case, __init__ beside others of its kind.
_UNDERSCORES = re.compile(
    r"(?<!\w)(_{1,3})(?=[^\s_])([^_]*(?:(?<=[^\W_])_+(?=[^\W_])[^_]*)*)(?<!\s)\1(?!\w)"
)
_KEPT = 0xE000
"""Marks that are no markup stand aside as characters of the private use area while titles are read."""
_SET_ASIDE = re.compile("[\ue021-\ue07e]")
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_MARKED = re.compile(r"[\\`*_~&<\[{]")
_NESTED_MARKS = 3
_NESTED_LINKS = 2
"""A picture may be a link."""
_LONGEST_TITLE = 200
_READ = 8 * _LONGEST_TITLE
"""Characters of a heading with its marks that are looked at."""
_UNDERLINE = "=-~*^+#.:_'\"` \t"
"""Signs of a line below a title, in Markdown and in plain text."""
_DEEPEST = 32
"""Paths of hostile documents end here: a thousand nested headings are no outline."""


def heading_title(text: str) -> str:
    """A heading's words without its markup."""
    text = text[: 4 * _LONGEST_TITLE].strip().removeprefix("\ufeff")
    if text.startswith("#"):
        text = text.lstrip("#").strip()
        if text.endswith("#"):
            text = re.sub(r"(?:^|\s)#+$", "", text)
    lines = text.splitlines()
    if len(lines) > 1:
        if not lines[-1].strip(_UNDERLINE):
            lines.pop()
        text = " ".join(lines)
    text = " ".join(text.split())
    return _plain(text).strip()[:_LONGEST_TITLE]


def _plain(text: str) -> str:
    """Words without marks of emphasis, links and code, entities and escapes as what they stand for."""
    if not _MARKED.search(text):
        return text
    text = _LITERAL.sub(lambda match: _PUNCTUATION.sub(_keep, match[1] or match[3]), text)
    text = _ANCHOR.sub("", text)
    for _ in range(_NESTED_LINKS if "[" in text else 0):
        text = _REFERENCE.sub(r"\1", _LINK.sub(r"\1", text))
    if "<" in text:
        text = _INLINE_TAG.sub("", text)
    for _ in range(_NESTED_MARKS):
        text = _UNDERSCORES.sub(_without_marks, _STARS.sub(r"\2", text))
    text = html.unescape(text) if "&" in text else text
    return _SET_ASIDE.sub(lambda match: chr(ord(match[0]) - _KEPT), text)


def _keep(match: re.Match[str]) -> str:
    return chr(_KEPT + ord(match[0]))


def _without_marks(match: re.Match[str]) -> str:
    # __init__ and __name__ are names of Python more often than words in bold.
    return match[0] if match[1] == "__" and match[2].isidentifier() else match[2]


class HeadingAbove(NamedTuple):
    """A heading that holds a place: its level, and the titles down to its own."""

    level: int
    path: tuple[str, ...]


_NO_HEADING = HeadingAbove(0, ())


class SectionTree:
    """Section 0 is what precedes the first heading; section `i` runs from heading `i - 1` to the next one."""

    _near = SectionStretch(0, 0, ())
    """The section asked about last: chunks come in their order."""

    _above: Sequence[HeadingAbove] = ()

    def __init__(
        self,
        text: str,
        blocks: Blocks,
        title: Callable[[str], str] = heading_title,
        above: Sequence[HeadingAbove] = (),
    ) -> None:
        """`above`: the headings that hold the first place of the text, where it is a stretch of a longer one."""
        self._text = text
        self._title = title
        self._above = above
        index = blocks.of("heading")
        level = blocks.level[index].clip(1, _DEEPEST)
        self.level: NDArray[np.int64] = np.concatenate(([0], level))
        self.start: NDArray[np.int64] = np.concatenate(([0], blocks.start[index]))
        self.heading_end: NDArray[np.int64] = np.concatenate(([0], blocks.end[index]))
        self.end: NDArray[np.int64] = np.append(self.start[1:], len(text))

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def paths(self) -> list[tuple[str, ...]]:
        """Titles from the outermost heading down to each section's own."""
        stack = [_NO_HEADING, *self._above]
        paths = [stack[-1].path]
        for level, start, end in zip(
            self.level[1:].tolist(),
            self.start[1:].tolist(),
            self.heading_end[1:].tolist(),
            strict=True,
        ):
            while stack[-1].level >= level:
                stack.pop()
            title = self._title(self._text[start : min(end, start + _READ)])[:_LONGEST_TITLE]
            path = (*stack[-1].path, title) if title else stack[-1].path
            stack.append(HeadingAbove(level, path))
            paths.append(path)
        return paths

    def above(self, position: int) -> tuple[HeadingAbove, ...]:
        """The headings before this place that hold it, outermost first."""
        stack = [_NO_HEADING, *self._above]
        until = int(self.start[1:].searchsorted(position)) + 1
        for level, path in zip(self.level[1:until].tolist(), self.paths[1:until], strict=True):
            while stack[-1].level >= level:
                stack.pop()
            stack.append(HeadingAbove(level, path))
        return tuple(stack[1:])

    def at(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The section each position lies in."""
        return self.start.searchsorted(positions, "right") - 1

    @cached_property
    def bare(self) -> NDArray[np.bool_]:
        """Whether a section is a heading alone, or nothing."""
        bounds = zip(self.heading_end.tolist(), self.end.tolist(), strict=True)
        return np.array(
            [not self._text[start:end].strip() for start, end in bounds], dtype=np.bool_
        )

    @cached_property
    def regions(self) -> NDArray[np.int64]:
        """Starts of the stretches no chunk of `sections` may cross: a bare heading joins its first subsection."""
        joins = self.bare[:-1] & (self.level[1:] > self.level[:-1])
        return np.unique(self.start[np.concatenate(([True], ~joins))])

    def section(self, start: int, end: int) -> tuple[str, ...]:
        """The path of a span: what the paths of all sections it touches share."""
        return self.stretch(start, end).path

    def stretch(self, start: int, end: int) -> SectionStretch:
        """The path of a span, and the section that it lies in; the span itself where it touches several."""
        near = self._near
        if near.start <= start < near.end and end <= near.end:
            return near
        first = int(self.start.searchsorted(start, "right")) - 1
        last = int(self.start.searchsorted(max(start, end - 1), "right")) - 1
        path = self.path(first, last)
        if first != last:
            return SectionStretch(start, end, path)
        self._near = SectionStretch(int(self.start[first]), int(self.end[first]), path)
        return self._near

    def path(self, first: int, last: int) -> tuple[str, ...]:
        """What the paths of these sections share; bare headings on the way to a subsection do not count."""
        if first == last:
            return self.paths[first]
        told = [index for index in range(first, last + 1) if not self.bare[index]] or [last]
        low, high = min(self.paths[i] for i in told), max(self.paths[i] for i in told)
        shared = 0
        while shared < len(low) and shared < len(high) and low[shared] == high[shared]:
            shared += 1
        return low[:shared]
