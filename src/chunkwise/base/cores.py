"""How many cores this process may use."""

from __future__ import annotations

import os

_given_cores: int | None = None


def cores() -> int:
    """Those it is allowed, which in a container, under taskset or in a cluster are fewer than the machine has."""
    if _given_cores is not None:
        return _given_cores
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def use_cores(count: int) -> None:
    """From now on: who gives this process its work has other work for the rest of the machine."""
    global _given_cores
    _given_cores = count
