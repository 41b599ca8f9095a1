"""Parameters and names that have a new name or a new place: the old one works for one release and says the new one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from chunkwise.base.errors import warn_user

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")
_OLD = "__old_keywords__"


class RenamedWarning(DeprecationWarning):
    """Something has a new name; the command line, which shows no other deprecation, shows these."""


def warn_renamed(old: str, new: str) -> None:
    """Says to the user that something has a new name."""
    warn_user(f"{old} is called {new} now", RenamedWarning)


def old_keywords(function: Callable[..., Any]) -> frozenset[str]:
    """What a function takes for one release more, beside the parameters it has."""
    found: frozenset[str] = getattr(function, _OLD, frozenset())
    return found


def _remember(call: Callable[..., Any], old: Iterable[str]) -> None:
    # Decorators around this one copy it, as they copy a function's name.
    setattr(call, _OLD, old_keywords(call) | frozenset(old))


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

        _remember(call, old_names)
        return call

    return decorate


def grouped(
    **groups: tuple[type[Any], tuple[str, ...]],
) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Takes old keywords for fields of a value, `grouped(options=(LoadOptions, ("encoding",)))`, with one warning."""

    def decorate(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        @wraps(function)
        def call(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
            given: dict[str, Any] = kwargs
            written = []
            for group, (kind, names) in groups.items():
                flat = {name: given.pop(name) for name in names if name in given}
                if flat:
                    given[group] = _merged(function.__name__, group, kind, given.get(group), flat)
                    inside = ", ".join(f"{name}=…" for name in flat)
                    written.append((flat, f"{group}={kind.__name__}({inside})"))
            if written:
                old = ", ".join(name for flat, _ in written for name in flat)
                new = ", ".join(form for _, form in written)
                warn_user(f"{function.__name__}(): {old}: write {new} now", DeprecationWarning)
            return function(*args, **kwargs)

        _remember(call, (name for _, names in groups.values() for name in names))
        return call

    return decorate


def _merged(verb: str, group: str, kind: type[Any], given: Any, flat: dict[str, Any]) -> Any:
    """The value with these fields, too; one that it has already is said twice."""
    if given is None:
        return kind(**flat)
    usual = {field.name: field.default for field in fields(kind)}
    for name in flat:
        if getattr(given, name) != usual[name]:
            raise TypeError(
                f"{verb}() got {name} and {group}.{name}, which are the same; give {group}"
            )
    return replace(given, **flat)
