"""Where weights and vectors are kept between runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from chunkwise.base.errors import InvalidParameter

HOME_VARIABLE = "CHUNKWISE_HOME"
MODELS_VARIABLE = "CHUNKWISE_MODELS"
CACHE_VARIABLE = "CHUNKWISE_CACHE"


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


def keeps_results() -> bool:
    """Whether what models give is kept between runs: of a large corpus, vectors take as much room again."""
    named = os.environ.get(CACHE_VARIABLE, "")
    if named not in ("", "on", "off"):
        raise InvalidParameter(f"{CACHE_VARIABLE} is {named!r}; allowed: on, off")
    return named != "off"


def vectors_file() -> Path:
    return home() / "vectors.sqlite"
