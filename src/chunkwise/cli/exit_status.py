"""What a command ends with: the same for the same thing, in every command (docs/reference/exit-statuses.md)."""

from __future__ import annotations

import sys

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, UnknownName

DONE = 0
FAILED = 1
WRONG_USAGE = 2
SKIPPED = 3
"""Everything else worked, but something could not be read, asked or written."""
NOT_REACHED = 4
"""A figure is not what was asked for, or a run is shown to be worse than it may be."""
NOT_COMPARABLE = 5
"""Two runs were made of other documents, questions or rules, or one has no scores: a difference would say nothing."""


def settled(
    *,
    failed: bool = False,
    wrong_usage: bool = False,
    not_comparable: bool = False,
    not_reached: bool = False,
    skipped: bool = False,
) -> int:
    """What a command ends with: where several are true, the first of these counts."""
    order = (
        (failed, FAILED),
        (wrong_usage, WRONG_USAGE),
        (not_comparable, NOT_COMPARABLE),
        (not_reached, NOT_REACHED),
        (skipped, SKIPPED),
    )
    return next((status for is_true, status in order if is_true), DONE)


def leave(status: int) -> None:
    """End the command where something is to be told by its status."""
    if status:
        sys.exit(status)


def of_error(error: ChunkwiseError) -> int:
    """What a command ends with that an error stopped: one of usage where a value or a name is wrong."""
    return WRONG_USAGE if isinstance(error, InvalidParameter | UnknownName) else FAILED


def of_signal(number: int) -> int:
    """What a command ends with that was stopped from outside, as shells count it."""
    return 128 + number
