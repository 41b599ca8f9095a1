"""The files of a folder, in a fixed order, without those nobody means."""

from __future__ import annotations

import os
from collections.abc import Iterator

from chunkwise.documents.loader import OnSkip
from chunkwise.documents.source import os_reason, printable
from chunkwise.errors import UnreadableDocument

LEFT_OUT = frozenset({"node_modules", "__pycache__", "__MACOSX", "venv", "CVS", "_darcs"})

SWEEP_RECORD = ".chunkwise-sweep"
"""Lies beside what a sweep has written."""
SWEEP_FILES = ("sweep.toml", "recommendation.toml", "results.json", "report.html")


def is_left_out(name: str) -> bool:
    """Hidden files, version control, installed packages."""
    return name.startswith(".") or name in LEFT_OUT


def walk(folder: str, on_skip: OnSkip, depth: int | None = None) -> Iterator[str]:
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
            on_skip(UnreadableDocument(printable(path), os_reason(error)))
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
                on_skip(UnreadableDocument(printable(os.path.join(path, entry.name)), why))
            elif depth is None or level < depth:
                children.append((below + entry.name + "/", level + 1))
        # A folder sorts with its slash, so that all paths come in the order of their ids.
        pending.extend(sorted(children, reverse=True))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself; opening it will say so
        return False
