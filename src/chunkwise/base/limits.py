"""How much memory and processor time work on what others wrote may take: `memory=4GB,time=300s`."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.wording import as_set

VARIABLE = "CHUNKWISE_LIMITS"
"""The limits where nobody gives any."""
_USUAL_MEMORY = 4_000_000_000
_USUAL_SECONDS = 300.0
"""About 20,000 pages of PDF."""
_LEAST_MEMORY = 100_000_000
"""The process itself takes half of it."""
_EXAMPLE = "memory=4GB,time=300s, either of them, or none"
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE)
_SIZES: dict[str, float] = {"": 1, "b": 1}
for _power, _letter in enumerate("kmgt", 1):
    _SIZES |= {_letter: 1e3**_power, f"{_letter}b": 1e3**_power, f"{_letter}ib": 1024**_power}
_TIMES: dict[str, float] = {"": 1, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600}


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one file: bytes that lie in memory, and seconds of the processor until the next document; None: no limit."""

    memory: int | None
    seconds: float | None

    @property
    def is_none(self) -> bool:
        return self.memory is None and self.seconds is None


class LimitExceeded(ChunkwiseError):
    """What was worked on took more than it may."""

    def __init__(self, why: str) -> None:
        super().__init__(why)

    @classmethod
    def memory(cls, limits: Limits) -> LimitExceeded:
        allowed = limits.memory
        if allowed is None:
            return cls("needs more memory than available")
        return cls._of(
            f"more than {memory_size(allowed)} of memory", f"memory={memory_size(2 * allowed)}"
        )

    @classmethod
    def time(cls, limits: Limits) -> LimitExceeded:
        allowed = limits.seconds
        if allowed is None:
            return cls("needs more CPU time than the system allows (ulimit -t)")
        return cls._of(f"more than {as_set(allowed)} s of CPU time", f"time={2 * allowed:g}s")

    @classmethod
    def _of(cls, what: str, more: str) -> LimitExceeded:
        return cls(f"needs {what}; if you trust it: --limits {more}, or --limits none")


def limits_of(given: str | None) -> Limits:
    """Limits from a text; without one those of the environment, else the usual ones."""
    if given is not None and not given.strip(" ,"):
        raise InvalidParameter(f"limits is {given!r}; allowed: {_EXAMPLE}")
    return _parsed(given if given is not None else os.environ.get(VARIABLE, ""))


@lru_cache(maxsize=16)
def _parsed(text: str) -> Limits:
    if text.strip().lower() == "none":
        return Limits(None, None)
    memory: int | None = _usual_memory()
    seconds: float | None = _USUAL_SECONDS
    names: set[str] = set()
    for part in filter(None, (item.strip() for item in text.split(","))):
        name, _, value = (item.strip().lower() for item in part.partition("="))
        if name in names:
            raise InvalidParameter(f"limits is {text!r}, which sets {name} twice")
        names.add(name)
        if name == "memory":
            memory = None if value == "none" else int(_amount(part, value, _SIZES))
            if memory is not None and memory < _LEAST_MEMORY:
                least = memory_size(_LEAST_MEMORY)
                raise InvalidParameter(f"limits has {part!r}; the minimum is memory={least}")
        elif name == "time":
            seconds = None if value == "none" else _amount(part, value, _TIMES)
            if seconds is not None and seconds < 1:
                raise InvalidParameter(f"limits has {part!r}; the minimum is time=1s")
        else:
            raise InvalidParameter(f"limits is {text!r}; allowed: {_EXAMPLE}")
    return Limits(memory, seconds)


def _amount(part: str, value: str, units: dict[str, float]) -> float:
    match = _AMOUNT.fullmatch(value)
    if not match or match[2] not in units:
        raise InvalidParameter(
            f"limits: {part!r} is not a valid amount; expected, for example, {_EXAMPLE}"
        )
    return float(match[1]) * units[match[2]]


_OF_CONTAINER = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)
"""Where Linux says how much memory a container may take, in its second and its first way to limit them."""


def _usual_memory() -> int:
    """Half of what the machine or the container has, where that is little."""
    there = 2 * _USUAL_MEMORY
    with suppress(AttributeError, ValueError, OSError):  # Windows; a system that does not tell
        there = min(there, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in _OF_CONTAINER:
        with suppress(OSError, ValueError), open(path) as file:  # none, or "max"
            there = min(there, int(file.read()))
    return max(there // 2, _LEAST_MEMORY)


def memory_size(count: int) -> str:
    """As it is written in limits."""
    return f"{count / 1e9:g}GB" if count >= 1e9 else f"{count / 1e6:g}MB"
