"""The files below a folder, in a fixed order, without those nobody means; and patterns: `docs/**/*.md`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from chunkwise.base.errors import UnreadableDocument
from chunkwise.documents.loader import OnUnreadable
from chunkwise.documents.source import os_reason, printable

LEFT_OUT = frozenset({"node_modules", "__pycache__", "__MACOSX", "venv", "CVS", "_darcs"})

SWEEP_RECORD = ".chunkwise-sweep"
"""Lies beside what a sweep has written."""
SWEEP_FILES = ("sweep.toml", "recommendation.toml", "results.json", "report.html")

_MAGIC = re.compile(r"[*?\[]")
_SPECIAL = re.compile(r"([][\\^&~|])")  # in a character class
_ESCAPED = r"\\\1"


def is_left_out(name: str) -> bool:
    """Hidden files, version control, installed packages."""
    return name.startswith(".") or name in LEFT_OUT


def walk(folder: str, on_unreadable: OnUnreadable, depth: int | None = None) -> Iterator[str]:
    """Paths below `folder`, `/` between parts, sorted; links to folders are not followed."""
    pending = [("", 1)]
    while pending:
        below, level = pending.pop()
        if below and not below.endswith("/"):
            yield below
            continue
        path = os.path.join(folder, below) if below else folder
        try:
            with os.scandir(path) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            if not below:
                raise  # the folder the user named
            on_unreadable(UnreadableDocument(printable(path), os_reason(error)))
            continue
        if below and any(entry.name == "pyvenv.cfg" for entry in entries):
            continue
        children = []
        swept = any(entry.name == SWEEP_RECORD for entry in entries)
        for entry in entries:
            if is_left_out(entry.name) or (swept and entry.name in SWEEP_FILES):
                continue
            if not _is_folder(entry):
                children.append((below + entry.name, level))
            elif entry.is_symlink():
                why = "a link to a folder is not followed; name the folder itself to read it"
                on_unreadable(UnreadableDocument(printable(os.path.join(path, entry.name)), why))
            elif depth is None or level < depth:
                children.append((below + entry.name + "/", level + 1))
        # A folder sorts with its slash, so that all paths come in the order of their ids.
        pending.extend(sorted(children, reverse=True))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself; opening it will say so
        return False


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
