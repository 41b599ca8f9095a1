"""Which files are indexes, results and pages of ours, told by name and first bytes: light enough for a first page."""

from __future__ import annotations

import os
import re

INDEX_FILE = ".index.json"
"""Lies in the folder of an index and says what is in it."""
HEAD = 1 << 12
"""Bytes of a file that tell what it is."""
PAGE_FORMAT = "chunkwise page"
"""What a page that is written as data says it is."""
_PAGE = re.compile(rf'\s*\{{\s*"format"\s*:\s*"{PAGE_FORMAT}"'.encode())
_RESULTS = re.compile(rb'\s*\{\s*"format"\s*:\s*"chunkwise (results|sweep)"')


def is_index_folder(folder: str) -> bool:
    """Whether an index of ours lies there; all its files are hidden ones."""
    return os.path.isfile(os.path.join(folder, INDEX_FILE))


def is_results_file(path: str) -> bool:
    """Whether a file holds what an evaluation or a sweep found: in a folder it is passed over in silence."""
    if not path.lower().endswith(".json") or not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return begins_as_results(file.read(HEAD))
    except OSError:  # reading will say so
        return False


def may_be_results(name: str, head: bytes) -> bool:
    """The same by name and first bytes."""
    return name.lower().endswith(".json") and begins_as_results(head)


def begins_as_results(head: bytes) -> bool:
    """The same by the first bytes alone."""
    return _RESULTS.match(head) is not None


def begins_as_page(head: bytes) -> bool:
    """Whether a file holds what a page shows, as data."""
    return _PAGE.match(head) is not None
