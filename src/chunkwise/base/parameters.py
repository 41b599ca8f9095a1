"""Parameters as dataclass fields: unit, bounds and meaning stand in one place and everything else reads them there."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import did_you_mean, shown


class ParameterBounds(NamedTuple):
    """What a parameter means and may be; read by validation, help and sweeps."""

    help: str
    unit: str = ""
    low: float | None = None
    """A bound with a decimal point makes the parameter a fraction; else it is a whole number."""
    high: float | None = None
    choices: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    share: bool = False
    """Whether a share of another parameter, such as '10%', may stand for the number; then the class checks it."""

    @property
    def fraction(self) -> bool:
        return isinstance(self.low, float)

    @property
    def needed(self) -> str:
        """What kind of number, with an example."""
        if self.fraction:
            return f"expected a number such as {self.high}"
        return f"expected an integer such as {max(self.low or 0, 100)}"


def param(
    default: Any,
    help: str,
    *,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    share: bool = False,
) -> Any:
    """A dataclass field that carries its `ParameterBounds`."""
    return dataclasses.field(
        default=default,
        metadata={"bounds": ParameterBounds(help, unit, low, high, choices, aliases, share)},
    )


def bounds(field: dataclasses.Field[Any]) -> ParameterBounds:
    """A field's bounds; a third party's plain field has none."""
    result = field.metadata.get("bounds")
    return result if isinstance(result, ParameterBounds) else ParameterBounds("")


def fields(cls: type) -> tuple[dataclasses.Field[Any], ...]:
    """The parameters of a strategy class; a class that is no dataclass has none."""
    return dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()


def check(value: object) -> None:
    """Check every numeric and choice field of a dataclass instance against its bounds."""
    for field in fields(type(value)):
        _check_field(field, getattr(value, field.name))


def check_named(cls: object, name: str, given: object) -> bool:
    """Check a value for the parameter of this name; False: the class has none."""
    for field in fields(cls) if isinstance(cls, type) else ():
        if name in (field.name, *bounds(field).aliases):
            _check_field(field, given)
            return True
    return False


def _check_field(field: dataclasses.Field[Any], given: Any) -> None:
    allowed = bounds(field)
    if isinstance(field.default, bool) and not isinstance(given, bool):
        raise InvalidParameter(f"{field.name} is {given!r}; allowed: True, False")
    if allowed.choices and given not in allowed.choices:
        raise InvalidParameter(
            f"{field.name} is {given!r}; allowed: {', '.join(map(repr, allowed.choices))}"
        )
    unbounded = allowed.share or (allowed.low is None and allowed.high is None)
    if unbounded or (given is None and field.default is None):
        return
    kind = int | float if allowed.fraction else int
    if isinstance(given, bool) or not isinstance(given, kind) or given != given:
        raise InvalidParameter(f"{field.name} is {given!r}; {allowed.needed}")
    if allowed.low is not None and given < allowed.low:
        raise InvalidParameter(f"{field.name} is {given}; the minimum is {allowed.low}")
    if allowed.high is not None and given > allowed.high:
        raise InvalidParameter(f"{field.name} is {given}; the maximum is {allowed.high}")


def build(cls: Callable[..., Any], name: str, given: Mapping[str, object]) -> Any:
    """Make an instance from keyword values, aliases resolved; an unknown name lists the known ones."""
    known = {field.name: field for field in fields(cls)} if isinstance(cls, type) else {}
    alias = {other: key for key, field in known.items() for other in bounds(field).aliases}
    values: dict[str, object] = {}
    spelled: dict[str, str] = {}
    for key, value in given.items():
        target = alias.get(key, key)
        if target not in known and dataclasses.is_dataclass(cls):
            has = f"it has: {', '.join(known)}" if known else "it has none"
            raise InvalidParameter(
                f"{name} has no parameter {key!r}; {did_you_mean(key, known, has)}"
            )
        if target in spelled:
            raise InvalidParameter(
                f"{name}: {spelled[target]!r} and {key!r} are the same parameter; use one"
            )
        spelled[target] = key
        values[target] = value
    try:
        return cls(**values)
    except InvalidParameter as error:
        raise InvalidParameter(f"{name}: {error}") from None
    except TypeError as error:  # a class that is no dataclass says itself what it takes
        raise InvalidParameter(f"{name}: {error}") from error


def named_list(name: str, given: object) -> list[Any]:
    """What is given where a list of names is needed: a text, and what cannot be gone through, are none."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        example = f": [{given!r}]" if isinstance(given, str) else ""
        raise InvalidParameter(f"{name} is {shown(given)}; expected a list of names{example}")
    return list(given)
