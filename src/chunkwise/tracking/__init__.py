"""Runs that are remembered: one file a project, or tables on a server, and what changed from one run to another."""

from __future__ import annotations

from typing import Literal

# Here, since the command line knows them before anything else is imported.
RunKind = Literal["evaluate", "tune", "compare", "judge calibrate", "lint", "profile"]
KINDS: tuple[RunKind, ...] = ("evaluate", "tune", "compare", "judge calibrate", "lint", "profile")
HISTORY_VARIABLE = "CHUNKWISE_HISTORY"
"""In the environment: the file or the server of the history, where none is named."""
