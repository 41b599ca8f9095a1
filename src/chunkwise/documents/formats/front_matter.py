"""What a Markdown file says of itself before its text: YAML between `---`, or TOML between `+++`.

It is metadata, not text. Its place stays white in the document, so that every position behind it is one in the file.
"""

from __future__ import annotations

import math
import re
from datetime import date, datetime, time
from typing import NamedTuple

from chunkwise.records.json import without_half_characters

_LONGEST = 1 << 16
"""Characters; what goes on for longer is no front matter, and need not be parsed."""
_FENCES = {"---": ("---", "..."), "+++": ("+++",)}
_MOST_VALUES = 10_000
"""An alias of YAML may stand for a list of aliases that stand for lists, and so on: more than memory holds."""
_DEEPEST = 32
_HUGE = 10**100
_INK = re.compile(r"\S")


class FrontMatter(NamedTuple):
    fields: dict[str, object]
    """What JSON can hold; dates as ISO writes them."""
    end: int
    """Where the text behind it begins."""

    def cut_from(self, text: str) -> str:
        """The text with white space in its place, every position and every line as before."""
        return _INK.sub(" ", text[: self.end]) + text[self.end :]


def front_matter(text: str) -> FrontMatter | None:
    """None where there is none; malformed, it is text."""
    start = 1 if text.startswith("\ufeff") else 0
    closings = _FENCES.get(text[start : start + 3])
    if closings is None:
        return None
    lines = text[: _LONGEST + 1].splitlines(keepends=True)
    # Behind a rule comes an empty line, behind a fence its fields.
    if lines[0][start:].rstrip() not in _FENCES or len(lines) < 2 or not lines[1].strip():
        return None
    end = len(lines[0])
    for number, line in enumerate(lines[1:], 1):
        end += len(line)
        if end > _LONGEST:
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
