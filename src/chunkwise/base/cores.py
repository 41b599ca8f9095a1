"""How many cores this process may use."""

from __future__ import annotations

import os


def cores() -> int:
    """Those it is allowed, which in a container or under taskset are fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
