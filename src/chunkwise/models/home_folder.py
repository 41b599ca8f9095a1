"""Where weights and vectors are kept between runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HOME_VARIABLE = "CHUNKWISE_HOME"
MODELS_VARIABLE = "CHUNKWISE_MODELS"


def home() -> Path:
    """`CHUNKWISE_HOME`, else the folder for caches that this kind of machine usually has."""
    named = os.environ.get(HOME_VARIABLE)
    if named:
        return Path(named).expanduser()
    return _caches() / "chunkwise"


def _caches() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):  # the standard tells to ignore relative paths
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path.home() / ".cache"


def fetched_models() -> Path:
    """Where fetched weights go: a folder a model."""
    return home() / "models"


def given_models() -> Path | None:
    """A folder with weights that somebody brought to a machine without a network; it is only read."""
    named = os.environ.get(MODELS_VARIABLE)
    return Path(named).expanduser() if named else None


def vectors_file() -> Path:
    return home() / "vectors.sqlite"
