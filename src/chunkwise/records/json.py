"""JSON text ⇄ values, and frozen dataclasses by the types of their fields; what is wrong is told in words."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from chunkwise.base.wording import shown

_MOST_DIGITS = 4000
"""Python refuses to read, or write, somewhat more."""
HUGE: Final = 10**400
"""From here on a number is none that anybody means."""

_ESCAPED = re.compile("[\udc80-\udcff]")


def whole_number(digits: str) -> int:
    """An integer; one of too many digits is huge all the same."""
    if len(digits) <= _MOST_DIGITS:
        return int(digits)
    return -(10**_MOST_DIGITS) if digits.startswith("-") else 10**_MOST_DIGITS


_DECODER = json.JSONDecoder()
# A function for every integer takes time: only a text that has a huge one is read with it.
_OF_HUGE_NUMBERS = json.JSONDecoder(parse_int=whole_number)


def parse_json(text: str) -> object:
    """The one value of a text; a ValueError or RecursionError where it holds none, in words by `json_problem`.

    NaN and infinities are taken, as other tools write them; of two equal keys the last counts.
    """
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError:  # the digits of a number
        return _OF_HUGE_NUMBERS.decode(text)


def parse_json_at(text: str, at: int) -> tuple[object, int]:
    """The value that begins at an offset, and where it ends."""
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return _OF_HUGE_NUMBERS.raw_decode(text, at)


def json_problem(error: ValueError | RecursionError, *, line: bool = True) -> str:
    """What is wrong and where; the library's own words end in `at` here and there."""
    if isinstance(error, json.JSONDecodeError):
        what = error.msg.rstrip(": ").removesuffix(" at")
        place = f"line {error.lineno} column" if line else "column"
        return f"{what[:1].lower()}{what[1:]} at {place} {error.colno}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def without_half_characters(text: str) -> str:
    """JSON can spell half of a surrogate pair, which is no character: U+FFFD, as decoders do. Two halves are one."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")  # many times faster than to look at every character
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def foreign_at(text: str, start: int = 0, end: int | None = None) -> int | None:
    """Where a byte stands that was not UTF-8 and was kept as half a surrogate pair; None: nowhere."""
    found = _ESCAPED.search(text, start, len(text) if end is None else end)
    return None if found is None else found.start()


def holds_foreign(value: object) -> bool:
    """The same of any text in a JSON value."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str) and foreign_at(each) is not None:
            return True
        if isinstance(each, dict):
            waiting += each
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return False


Read = Callable[[Any], Any]
"""From what JSON gives to the value of a type, or `WrongType`."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class WrongType(ValueError):
    """A value that its type does not allow, and the way to it."""

    def __init__(self, found: str, way: str = "") -> None:
        super().__init__(found, way)
        self.found = found
        self.way = way

    def inside(self, step: str) -> WrongType:
        return WrongType(self.found, step + self.way)


def json_text(value: object, indent: int | None = None) -> str:
    """Strict JSON that can be written as UTF-8; a ValueError where a number is none."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, default=_plain)
    # Halves of characters have no UTF-8; outside of strings there are none.
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def _plain(value: Any) -> object:
    if is_dataclass(value):
        own = ((field.name, getattr(value, field.name)) for field in fields(value))
        return {name: _object(each) if isinstance(each, tuple) else each for name, each in own}
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON: {value!r}")


def _object(value: tuple[Any, ...]) -> object:
    """Tuples with names for their places are objects, others lists."""
    return value._asdict() if hasattr(value, "_asdict") else value


def read_as(kind: Any, value: object) -> Any:
    """The value as this type; `WrongType` says what does not fit and where."""
    return _reader(kind)(value)


@cache
def _reader(kind: Any) -> Read:
    # One a type, made once: a file holds some values of a kind by the million.
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        parts = [part for part in get_args(kind) if part is not NoneType]
        # The only type with several parts is that of JSON itself.
        return _json if len(parts) > 1 else _optional(_reader(parts[0]))
    if origin is Literal:
        return _one_of(get_args(kind))
    if origin is tuple:
        first, *rest = get_args(kind)
        if rest == [...]:
            return _several(_reader(first))
        return _places([_reader(each) for each in (first, *rest)])
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(_reader(get_args(kind)[1]))
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        return _record(kind)
    return {str: _text, int: _whole, float: _number, bool: _truth}[kind]


def _optional(read: Read) -> Read:
    return lambda value: None if value is None else read(value)


def _several(read: Read) -> Read:
    def each(value: Any) -> tuple[Any, ...]:
        if type(value) is not list:
            raise WrongType(f"{shown(value, 40)}, a list is wanted")
        made = []
        try:
            for item in value:
                made.append(read(item))
        except WrongType as misfit:
            raise misfit.inside(f"[{len(made)}]") from None
        return tuple(made)

    return each


def _places(reads: list[Read]) -> Read:
    """A type for every place."""

    def each(value: Any) -> tuple[Any, ...]:
        if type(value) is not list or len(value) != len(reads):
            raise WrongType(f"{shown(value, 40)}, a list of {len(reads)} is wanted")
        return tuple(read(item) for read, item in zip(reads, value, strict=True))

    return each


def _one_of(allowed: tuple[Any, ...]) -> Read:
    def one(value: Any) -> Any:
        if value not in allowed:
            raise WrongType(f"{shown(value, 40)}, one of {', '.join(map(repr, allowed))} is wanted")
        return value

    return one


def _mapping(read: Read) -> Read:
    def each(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise WrongType(f"{shown(value, 40)}, an object is wanted")
        made: dict[str, Any] = {}
        for key, item in value.items():
            try:
                made[key] = read(item)
            except WrongType as misfit:
                raise misfit.inside(f".{key}") from None
        return made

    return each


def _record(kind: Any) -> Read:
    hints = get_type_hints(kind)
    if is_dataclass(kind):
        own = {
            field.name: (_reader(hints[field.name]), _is_required(field)) for field in fields(kind)
        }
    else:
        own = {name: (_reader(hints[name]), True) for name in kind._fields}

    def made(value: Any) -> Any:
        if type(value) is not dict:
            raise WrongType(f"{shown(value, 40)}, an object is wanted")
        given = {}
        for name, (read, wanted) in own.items():
            if name in value:
                try:
                    given[name] = read(value[name])
                except WrongType as misfit:
                    raise misfit.inside(f".{name}") from None
            elif wanted:
                raise WrongType("missing", f".{name}")
        return kind(**given)

    return made


def _is_required(field: Any) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _text(value: Any) -> str:
    if type(value) is not str:
        raise WrongType(f"{shown(value, 40)}, a text is wanted")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise WrongType(f"{shown(value, 40)}, a whole number is wanted")
    return value


def _truth(value: Any) -> bool:
    if type(value) is not bool:
        raise WrongType(f"{shown(value, 40)}, true or false is wanted")
    return value


def _number(value: Any) -> float:
    if type(value) is int and abs(value) < 1 << 1023:
        return float(value)
    if type(value) is not float or not math.isfinite(value):
        raise WrongType(f"{shown(value, 40)}, a finite number is wanted")
    return value


def _json(value: Any) -> Any:
    """Anything, but finite: 1e999 is read as infinity."""
    if type(value) is float:
        return _number(value)
    if type(value) is list:
        return list(_several(_json)(value))
    return _mapping(_json)(value) if type(value) is dict else value
