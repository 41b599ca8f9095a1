"""Parameters and names that have a new name: the old one works for one release and says the new one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def warn_renamed(old: str, new: str) -> None:
    """Says to the caller of the function that calls this that something has a new name."""
    warnings.warn(f"{old} is called {new} now", DeprecationWarning, stacklevel=3)


def renamed(
    **old_names: str,
) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Takes old keywords for new ones, `renamed(inputs="source")`, each with a DeprecationWarning."""

    def decorate(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        @wraps(function)
        def call(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
            for old, new in old_names.items():
                if old in kwargs:
                    if new in kwargs:
                        raise TypeError(
                            f"{function.__name__}() got {old} and {new}, which are the same; give {new}"
                        )
                    warn_renamed(f"{function.__name__}(): the parameter {old}", new)
                    kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return decorate
