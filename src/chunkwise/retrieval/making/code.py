"""What tells whether a strategy of one's own is still the same: its name stays when its code changes."""

from __future__ import annotations

import inspect
from hashlib import blake2b
from types import FunctionType

from chunkwise.chunkers import Strategy, registry

_PLAIN = (str, int, float, bool, tuple, type(None))


def code_of(strategy: Strategy) -> str:
    """The class and a hash of its methods and plain values; empty for our own, which change with the version alone."""
    if strategy.name in registry.builtin:
        return ""
    made = type(strategy.chunker)
    found = blake2b(digest_size=8)
    for each in made.__mro__[:-1]:
        for name, value in sorted(vars(each).items()):
            if not name.startswith("__") or isinstance(value, FunctionType):
                found.update(f"{name}={_written(value)}\n".encode("utf-8", "surrogatepass"))
    return f"{made.__qualname__} {found.hexdigest()}"


def _written(value: object) -> str:
    value = getattr(value, "__func__", None) or getattr(value, "fget", None) or value
    if not isinstance(value, FunctionType):
        return repr(value) if isinstance(value, _PLAIN) else type(value).__qualname__
    try:
        # Of each method: of a class that stands twice in a file, Python finds the first.
        return inspect.getsource(value)
    except (OSError, TypeError):  # typed into a prompt, or made by a program, as a dataclass's are
        return value.__code__.co_name
