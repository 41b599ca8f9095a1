"""What runs and the place of their history are called: known to the command line before anything else is imported."""

from __future__ import annotations

from typing import Literal

RunKind = Literal["evaluate", "tune", "compare", "judge calibrate", "lint", "profile"]
KINDS: tuple[RunKind, ...] = ("evaluate", "tune", "compare", "judge calibrate", "lint", "profile")
HISTORY_VARIABLE = "CHUNKWISE_HISTORY"
"""In the environment: the file or the server of the history, where none is named."""
