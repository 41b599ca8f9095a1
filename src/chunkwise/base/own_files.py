"""Which files are indexes, results and pages of ours, told by name and first bytes: light enough for a first page."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

INDEX_FILE = ".index.json"
"""Lies in the folder of an index and says what is in it."""
HEAD = 1 << 12
"""Bytes of a file that tell what it is."""
PAGE_FORMAT = "chunkwise page"
"""What a page that is written as data says it is."""
_PAGE = re.compile(rf'\s*\{{\s*"format"\s*:\s*"{PAGE_FORMAT}"'.encode())
_RESULTS = re.compile(rb'\s*\{\s*"format"\s*:\s*"chunkwise (results|sweep)"')
_FOUND = ("results", "sweep", "comparison", "lint", "profile")
_FINDINGS = re.compile(rf'\s*\{{\s*"(format|kind)"\s*:\s*"chunkwise ({"|".join(_FOUND)})"'.encode())


def is_index_folder(folder: str) -> bool:
    """Whether an index of ours lies there; all its files are hidden ones."""
    return os.path.isfile(os.path.join(folder, INDEX_FILE))


def is_results_file(path: str) -> bool:
    """Whether a file holds what an evaluation or a sweep found, which the studio shows."""
    return _RESULTS.match(_json_head(path)) is not None


def is_findings_file(path: str) -> bool:
    """Whether a file holds what a command of ours found: in a folder it is passed over in silence."""
    return begins_as_findings(_json_head(path))


def _json_head(path: str) -> bytes:
    """The first bytes of a file named as JSON; empty: there is no such file, or reading it will say why not."""
    if not path.lower().endswith(".json") or not os.path.isfile(path):
        return b""
    try:
        with open(path, "rb") as file:
            return file.read(HEAD)
    except OSError:
        return b""


def may_be_findings(name: str, head: bytes) -> bool:
    """The same by name and first bytes."""
    return name.lower().endswith(".json") and begins_as_findings(head)


def begins_as_findings(head: bytes) -> bool:
    """The same by the first bytes alone."""
    return _FINDINGS.match(head) is not None


def is_findings(value: object) -> bool:
    """The same of JSON that has been read."""
    named = {f"chunkwise {name}" for name in _FOUND}
    return isinstance(value, Mapping) and not named.isdisjoint(
        item for item in (value.get("format"), value.get("kind")) if isinstance(item, str)
    )


def begins_as_page(head: bytes) -> bool:
    """Whether a file holds what a page shows, as data."""
    return _PAGE.match(head) is not None


def own_file_above(folder: Path, name: Path) -> Path:
    """A file of the project: in this folder or the nearest above, up to the repository or the home; else to be here.

    One of another user's does not count: anybody may put one above a folder that all may write to.
    """
    for place in (folder, *folder.parents):
        if _is_own(place / name):
            return place / name
        if os.path.lexists(place / ".git") or place == _home():
            break
    return folder / name


def _is_own(file: Path) -> bool:
    try:
        owner = file.lstat().st_uid
    except (OSError, ValueError):
        return False
    return not hasattr(os, "geteuid") or owner == os.geteuid()


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except (OSError, RuntimeError):  # a container may run as a number without one
        return None
