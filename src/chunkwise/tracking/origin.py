"""Where a run comes from: user, host, git revision and branch, read from files; no program is run."""

from __future__ import annotations

import getpass
import os
import re
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from chunkwise.tracking.run import RunOrigin

WHO_VARIABLE = "CHUNKWISE_HISTORY_WHO"
"""no, 0, off or false: neither user nor host is kept."""
_OFF = ("no", "0", "off", "false", "none")
_REVISION = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BRANCH_VARIABLES = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME")
"""Services check out a revision without its branch, and tell the branch here."""


def utc_now() -> str:
    """Date and time, to the second."""
    return time_text(datetime.now(UTC))


def time_text(when: datetime) -> str:
    """In UTC, as 2026-01-31T08:00:00Z: texts are in the order of their times; without a zone it is UTC already."""
    own = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    # Years have four digits here, with strftime only from 1000 on.
    return own.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def run_origin(
    folder: str | os.PathLike[str] = ".", environment: Mapping[str, str] | None = None
) -> RunOrigin:
    """Of a run that is started in this folder."""
    environment = os.environ if environment is None else environment
    revision, branch = git_state(folder, environment)
    if environment.get(WHO_VARIABLE, "").strip().lower() in _OFF:
        return RunOrigin(git_revision=revision, git_branch=branch)
    return RunOrigin(_user(), socket.gethostname(), revision, branch)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may run as a number without a name
        return str(os.getuid()) if hasattr(os, "getuid") else ""


def git_state(
    folder: str | os.PathLike[str], environment: Mapping[str, str] | None = None
) -> tuple[str, str]:
    """Revision and branch of the repository around a folder, each empty where it cannot be told."""
    environment = os.environ if environment is None else environment
    try:
        own = _git_folder(Path(folder).resolve())
        head = (own / "HEAD").read_text("utf-8", "replace").strip() if own else ""
    except OSError:
        return "", ""
    if own is None:
        return "", ""
    if not head.startswith("ref:"):
        named = (environment.get(name, "") for name in _BRANCH_VARIABLES)
        return (head, next(filter(None, named), "")) if _REVISION.fullmatch(head) else ("", "")
    name = head.removeprefix("ref:").strip()
    return _revision_of(name, own), name.removeprefix("refs/heads/")


def _git_folder(folder: Path) -> Path | None:
    """`.git` of this folder or of one above it; that of a linked worktree is a file that names another folder."""
    for each in (folder, *folder.parents):
        place = each / ".git"
        if place.is_dir():
            return place
        if place.is_file():
            named = place.read_text("utf-8", "replace").partition("gitdir:")[2].strip()
            return (each / named) if named else None
    return None


def _revision_of(name: str, own: Path) -> str:
    if ".." in Path(name).parts or os.path.isabs(name):
        return ""
    folders = [own]
    try:
        shared = (own / "commondir").read_text("utf-8", "replace").strip()
        folders.append(own / shared)
    except OSError:
        pass
    for folder in folders:
        try:
            found = (folder / name).read_text("utf-8", "replace").strip()
        except OSError:
            found = _packed(folder, name)
        if _REVISION.fullmatch(found):
            return found
    return ""


def _packed(folder: Path, name: str) -> str:
    try:
        lines = (folder / "packed-refs").read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return next((line.split(" ", 1)[0] for line in lines if line.endswith(f" {name}")), "")
