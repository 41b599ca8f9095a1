"""The files below a folder, in a fixed order, without those nobody means."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from functools import partial

from chunkwise.base.errors import UnreadableDocument
from chunkwise.documents.loader import OnUnreadable
from chunkwise.documents.passed_over import is_built, is_left_out
from chunkwise.documents.source import os_reason, printable
from chunkwise.documents.testset_files import Head, file_head, no_documents_among

SWEEP_RECORD = ".chunkwise-sweep"
"""Lies beside what a sweep has written."""
PACKAGES_HERE = "pyvenv.cfg"
"""Lies in a folder of installed packages."""
DATASET_RECORDS = ("state.json", "dataset_info.json")
"""What Hugging Face writes beside the rows of a data set."""
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
        if below and PACKAGES_HERE in names:
            continue
        children = []
        meant = names_meant(names, partial(file_head, path))
        for entry in entries:
            if entry.name not in meant:
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


def names_meant(names: Collection[str], head: Head) -> set[str]:
    """Of the files and folders of one folder those that somebody means: nothing hidden, installed, asked or swept."""
    asking = no_documents_among(names, head)
    swept = SWEEP_FILES if SWEEP_RECORD in names else ()
    if DATASET_RECORDS[0] in names and any(name.endswith(".arrow") for name in names):
        swept = (*swept, *DATASET_RECORDS)
    return {
        name for name in names if not is_left_out(name) and name not in swept and name not in asking
    }


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself; opening it will say so
        return False
