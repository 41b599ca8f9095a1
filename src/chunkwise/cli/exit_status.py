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


def status_of(
    *,
    failed: object = False,
    wrong_usage: object = False,
    not_comparable: object = False,
    not_reached: object = False,
    skipped: object = False,
) -> int:
    """What a command ends with: where several are true, the first of these counts."""
    order = {
        FAILED: failed, WRONG_USAGE: wrong_usage, NOT_COMPARABLE: not_comparable, NOT_REACHED: not_reached,
        SKIPPED: skipped,
    }  # fmt: skip
    return next((status for status, is_true in order.items() if is_true), DONE)


def leave(**reasons: object) -> None:
    """End the command where something is to be told by its status: `leave(skipped=skip.count)`."""
    if status := status_of(**reasons):
        sys.exit(status)


def of_error(error: ChunkwiseError) -> int:
    """What a command ends with that an error stopped: one of usage where a value or a name is wrong."""
    return WRONG_USAGE if isinstance(error, InvalidParameter | UnknownName) else FAILED


def of_signal(number: int) -> int:
    """What a command ends with that was stopped from outside, as shells count it."""
    return 128 + number
