"""The files below a folder, in a fixed order, without those nobody means."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial

from chunkwise.base.errors import UnreadableDocument
from chunkwise.documents.loader import OnUnreadable
from chunkwise.documents.passed_over import is_built, is_left_out
from chunkwise.documents.source import os_reason, printable
from chunkwise.documents.testset_files import file_head, no_documents_among

SWEEP_RECORD = ".chunkwise-sweep"
"""Lies beside what a sweep has written."""
SWEEP_FILES = ("sweep.toml", "recommendation.toml", "results.json", "report.html")


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
        names = {entry.name for entry in entries}
        if below and "pyvenv.cfg" in names:
            continue
        children = []
        swept = SWEEP_RECORD in names
        asking = no_documents_among(names, partial(file_head, path))
        for entry in entries:
            if entry.name in asking:
                continue
            if is_left_out(entry.name) or (swept and entry.name in SWEEP_FILES):
                continue
            if not _is_folder(entry):
                children.append((below + entry.name, level))
            elif entry.is_symlink():
                why = "a link to a folder is not followed; name the folder itself to read it"
                on_unreadable(UnreadableDocument(printable(os.path.join(path, entry.name)), why))
            elif (depth is None or level < depth) and not is_built(entry.name, names):
                children.append((below + entry.name + "/", level + 1))
        # A folder sorts with its slash, so that all paths come in the order of their ids.
        pending.extend(sorted(children, reverse=True))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself; opening it will say so
        return False
