"""A hash of all files of a folder."""

from __future__ import annotations

import hashlib
from pathlib import Path


def files_hash(folder: Path) -> str:
    """Of their names below the folder and their bytes, wherever the folder lies."""
    digest = hashlib.sha256()
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    for name, path in sorted(files.items()):
        if path.is_file():
            with path.open("rb") as file:
                held = hashlib.file_digest(file, "sha256").hexdigest()
            digest.update(f"{name}\0{held}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:32]
