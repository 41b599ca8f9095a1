"""Patterns of paths: `docs/**/*.md` of what is named, `*.md` and `drafts/` of what is left in and out."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import lru_cache

_MAGIC = re.compile(r"[*?\[]")
_SPECIAL = re.compile(r"([][\\^&~|])")  # in a character class
_ESCAPED = r"\\\1"


def is_pattern(path: str) -> bool:
    return _MAGIC.search(path) is not None


def split_pattern(pattern: str) -> tuple[str, str]:
    """The folder before the first wildcard, and the rest."""
    parts = pattern.replace(os.sep, "/").split("/")
    first = next(number for number, part in enumerate(parts) if is_pattern(part))
    folder = "/".join(parts[:first])
    return folder or ("/" if first else "."), "/".join(parts[first:])


def depth_of(pattern: str) -> int | None:
    """How many levels of folders can match; None: any number."""
    parts = pattern.split("/")
    return None if "**" in parts else len(parts)


def to_regex(pattern: str) -> re.Pattern[str]:
    """`*` and `?` stay within one part of a path, `**` stands for any number of folders."""
    parts = pattern.split("/")
    expression = []
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if part == "**":
            if not last and parts[number + 1] == "**":
                continue  # two in a row mean one, and would be slow to match
            expression.append(".*" if last else "(?:.*/)?")
        else:
            expression.append(_part(part) + ("" if last else "/"))
    return re.compile("".join(expression), re.DOTALL)


def _part(part: str) -> str:
    out: list[str] = []
    position = 0
    while position < len(part):
        char = part[position]
        closing = part.find("]", position + 2) if char == "[" else -1
        if char == "*":
            if out[-1:] != ["[^/]*"]:
                out.append("[^/]*")
        elif char == "?":
            out.append("[^/]")
        elif closing > 0:
            inner = part[position + 1 : closing]
            negated = "^" if inner[0] in "!^" else ""
            inner = inner[1:] if negated else inner
            out.append(f"[{negated}{_SPECIAL.sub(_ESCAPED, inner)}]")
            position = closing
        else:
            out.append(re.escape(char))
        position += 1
    return "".join(out)


def matches(pattern: str, path: str) -> bool:
    """`*.md` and `drafts` fit a file or a folder of this name at any depth, `docs/*.md` the path itself."""
    return _compiled(pattern)(path) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Callable[[str], re.Match[str] | None]:
    plain = pattern.replace("\\", "/").rstrip("/").removeprefix("./")
    anchored = "/" in plain
    inner = to_regex(plain.lstrip("/")).pattern
    return re.compile(f"{'' if anchored else '(?:.*/)?'}(?:{inner})(?:/.*)?", re.DOTALL).fullmatch


def names_a_kind(pattern: str) -> bool:
    """Whether the last part of a pattern says more than that any file will do."""
    return pattern.rstrip("/").rpartition("/")[2].strip("*?") not in ("", ".")
