"""What JSON may hold and Python does not like: numbers of thousands of digits, bytes of another encoding."""

from __future__ import annotations

import re
from typing import Final

_MOST_DIGITS = 4000
"""Python refuses to read, or write, somewhat more."""
HUGE: Final = 10**400
"""From here on a number is none that anybody means."""

_ESCAPED = re.compile("[\udc80-\udcff]")


def whole_number(digits: str) -> int:
    """An integer; one of too many digits is huge all the same."""
    if len(digits) <= _MOST_DIGITS:
        return int(digits)
    return -(10**_MOST_DIGITS) if digits.startswith("-") else 10**_MOST_DIGITS


def foreign_at(text: str, start: int, end: int) -> int | None:
    """Where a byte stands that was not UTF-8 and was kept as half a surrogate pair; None: nowhere."""
    found = _ESCAPED.search(text, start, end)
    return None if found is None else found.start()


def holds_foreign(value: object) -> bool:
    """The same of any text in a JSON value."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str) and foreign_at(each, 0, len(each)) is not None:
            return True
        if isinstance(each, dict):
            waiting += each
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return False


def wide_encoding(head: bytes) -> str | None:
    """The encoding of a text whose every other byte is zero, and that has no byte order mark to say so."""
    zeros = head.count(0)
    if zeros <= len(head) * 0.3:
        return None
    if head[1::2].count(0) == zeros:
        return "UTF-16-LE"
    return "UTF-16-BE" if head[::2].count(0) == zeros else None
