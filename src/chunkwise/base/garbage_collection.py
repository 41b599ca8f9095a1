"""Python's collector of cycles, and when it need not look."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = (100_000, 20, 100)
"""Objects between two looks, in a process that reads files: a page has millions of them, and hardly a cycle."""


@contextmanager
def uncollected() -> Iterator[None]:
    """No look for cycles: among millions of new objects that all stay, it takes a third of the time and finds none."""
    if not gc.isenabled():  # the user's own choice, or one of ours around it
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
