"""Markdown, kept to the character; what it says of itself before its text (YAML or TOML) is metadata."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import NamedTuple

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.loader import (
    LoadOptions,
    OnUnreadable,
    suffix_of,
    text_in,
    with_blank_head,
)
from chunkwise.documents.source import Source
from chunkwise.records.json import without_half_characters

_LONGEST_FRONT = 1 << 16
"""Characters; what goes on for longer is no front matter, and need not be parsed."""
_FENCES = {"---": ("---", "..."), "+++": ("+++",)}
_MOST_VALUES = 10_000
"""An alias of YAML may stand for a list of aliases that stand for lists, and so on: more than memory holds."""
_DEEPEST = 32
_HUGE = 10**100


class FrontMatter(NamedTuple):
    fields: dict[str, object]
    """What JSON can hold; dates as ISO writes them."""
    end: int
    """Where the text behind it begins."""


def front_matter(text: str) -> FrontMatter | None:
    """None where there is none; malformed, it is text."""
    start = 1 if text.startswith("\ufeff") else 0
    closings = _FENCES.get(text[start : start + 3])
    if closings is None:
        return None
    lines = text[: _LONGEST_FRONT + 1].splitlines(keepends=True)
    # Behind a rule comes an empty line, behind a fence its fields.
    if lines[0][start:].rstrip() not in _FENCES or len(lines) < 2 or not lines[1].strip():
        return None
    end = len(lines[0])
    for number, line in enumerate(lines[1:], 1):
        end += len(line)
        if end > _LONGEST_FRONT:
            return None
        if line.rstrip() in closings:
            fields = _parsed("".join(lines[1:number]), yaml=closings[0] == "---")
            return None if fields is None else FrontMatter(fields, end)
    return None


def _parsed(text: str, *, yaml: bool) -> dict[str, object] | None:
    value = _yaml(text) if yaml else _toml(text)
    if value is _MALFORMED:
        return None
    if value is None:
        return {}
    if not isinstance(value, dict):
        return None  # two rules with text between them
    try:
        return _Plain().fields(value)
    except _TooMuchError:
        return None


_MALFORMED = object()


def _yaml(text: str) -> object:
    # Imported here: most files have none.
    import yaml

    try:
        # Not the loader in C: it falls into nesting without end.
        return yaml.load(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError, OverflowError):
        return _MALFORMED  # ValueError: 2024-13-45, a number of thousands of digits
    except (LookupError, AttributeError):  # a value that is not what its tag says: !!bool maybe
        return _MALFORMED


def _toml(text: str) -> object:
    import tomllib

    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except (ValueError, RecursionError):
        return _MALFORMED


class _TooMuchError(Exception):
    """Nobody writes that many values, or so deep, by hand."""


class _Plain:
    """Values as JSON has them; what it cannot hold is left out."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def fields(self, value: dict[object, object], depth: int = 0) -> dict[str, object]:
        plain = {self._name(name): self._value(item, depth + 1) for name, item in value.items()}
        return {name: item for name, item in plain.items() if item is not _MALFORMED}

    @staticmethod
    def _name(name: object) -> str:
        if isinstance(name, int) and not -_HUGE < name < _HUGE:
            raise _TooMuchError  # Python does not write numbers of thousands of digits
        return without_half_characters(name.isoformat() if isinstance(name, date) else str(name))

    def _value(self, value: object, depth: int) -> object:
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            raise _TooMuchError
        if isinstance(value, date | datetime | time):
            return value.isoformat()
        if isinstance(value, dict):
            return self.fields(value, depth)
        if isinstance(value, list | set | tuple):
            items = (self._value(item, depth + 1) for item in value)
            return [item for item in items if item is not _MALFORMED]
        if isinstance(value, float) and not math.isfinite(value):
            return _MALFORMED
        if isinstance(value, int) and not -_HUGE < value < _HUGE:
            return _MALFORMED
        if isinstance(value, str):
            return without_half_characters(value)
        return value if isinstance(value, int | float | None) else _MALFORMED


_CHARACTERS = 20_000
"""How far down a heading may stand and still be the title of the whole."""
_LONGEST = 300


def markdown_title(text: str, given: FrontMatter | None = None) -> str:
    """What its front matter says, or its first heading of the first level; empty when there is none."""
    given = given or front_matter(text)
    if given is not None:
        title = given.fields.get("title")
        if isinstance(title, str) and title.strip():
            return " ".join(title.split())[:_LONGEST]
        text = with_blank_head(text, given.end)
    if len(text) > _CHARACTERS:
        text = text[:_CHARACTERS]
        text = text[: text.rfind("\n") + 1] or text  # the last line may be cut
    return _first_heading(text.removeprefix("\ufeff"))


def _first_heading(text: str) -> str:
    # Imported here: they bring NumPy, which a run over other formats need not wait for.
    from chunkwise.text.blocks.lines import Lines
    from chunkwise.text.blocks.markdown import markdown_blocks
    from chunkwise.text.blocks.sections import heading_title
    from chunkwise.text.characters import CharacterArrays

    blocks = markdown_blocks(Lines(CharacterArrays(text)))
    for index in blocks.of("heading").tolist():
        block = blocks[index]
        if block.level == 1:
            title = heading_title(text[block.start : block.end])
            if title:
                return title
    return ""


_LOOKED_AT = 200_000
_HEADING = re.compile(r"(#{1,6})[ \t]+\S")
_INLINE = re.compile(r"\*\*\w|\]\([^\s()]+\)")
_SIGNS = ("#", "|", "```", "~~~")
_DELIMITER_CELL = re.compile(r":?-+:?")


class MarkdownLoader:
    """By suffix; without one, when the text is evidently Markdown."""

    suffixes: tuple[str, ...] = (".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd")
    stream = False
    guarded = False

    def accepts(self, name: str, head: bytes) -> bool:
        suffix = suffix_of(name)
        if suffix:
            return suffix in self.suffixes
        return looks_like_markdown(head.decode("utf-8", "replace"))

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        text = text_in(source, options)
        given = front_matter(text)
        title = markdown_title(text, given)
        if given is not None:
            text = with_blank_head(text, given.end)
            if not text.strip():
                raise UnreadableDocument(source.origin, "empty after its front matter")
        yield Document(
            source.id,
            text,
            title=title,
            source=source.origin,
            format="markdown",
            metadata=given.fields if given is not None else {},
        )


def looks_like_markdown(text: str) -> bool:
    """Sure signs only: a fenced block, a table, or several headings; `# comment` lines are none."""
    if not any(sign in text for sign in _SIGNS):  # most records of most corpora
        return False
    fence = ""
    titles: list[bool] = []  # of each heading: is it set off by an empty line below?
    deep = False
    lines = text[:_LOOKED_AT].split("\n")
    before = ""
    for number, line in enumerate(lines):
        line = line.strip()
        if fence:
            if line.startswith(fence) and not line.strip(fence[0]):
                return True
        elif line.startswith(("```", "~~~")):
            fence = line[:3]
        elif "|" in before and _is_delimiter_row(line):
            return True
        elif not before and (heading := _HEADING.match(line)):
            titles.append(number + 1 == len(lines) or not lines[number + 1].strip())
            deep = deep or len(heading[1]) > 1
        before = line
    if len(titles) > 1 and (deep or all(titles)):
        return True
    return any(titles) and _INLINE.search(text[:_LOOKED_AT]) is not None


def _is_delimiter_row(line: str) -> bool:
    if "|" not in line or "-" not in line:
        return False
    return all(_DELIMITER_CELL.fullmatch(cell.strip()) for cell in line.strip("|").split("|"))
