"""JSON text ⇄ values; what is wrong with a text is told in words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import msgspec

_DECODER = json.JSONDecoder()


def parse_json(text: str) -> object:
    """The one value of a text; a ValueError or RecursionError where it holds none, in words by `json_problem`.

    NaN and infinities are taken, as other tools write them; of two equal keys the last counts.
    """
    return _DECODER.decode(text)


def parse_json_at(text: str, at: int) -> tuple[object, int]:
    """The value that begins at an offset, and where it ends."""
    return _DECODER.raw_decode(text, at)


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


_SURROGATE = re.compile("[\ud800-\udfff]")


def json_text(value: object, indent: int | None = None) -> str:
    """Strict JSON that can be written as UTF-8; a ValueError where a number is none."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, default=_plain)
    # Halves of characters have not UTF-8; outside of strings there are none.
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def plain(value: object) -> Any:
    """Dataclasses, tuples and mappings as the values that JSON has."""
    return json.loads(json_text(value))


def saved_text(value: Any, format: str, version: int, rows: str) -> str:
    """The file of a dataclass, its fields in their order; of the field `rows` each value is a line."""
    parts = [f'"format": {json_text(format)}', f'"version": {version}']
    for field in fields(value):
        own = getattr(value, field.name)
        if field.name == rows:
            text = "[" + ",".join(f"\n{json_text(each)}" for each in own) + "\n]"
        else:
            text = json_text(own, 2)
        parts.append(f'"{field.name}": {text}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _plain(value: Any) -> object:
    if is_dataclass(value):
        own = ((field.name, getattr(value, field.name)) for field in fields(value))
        return {name: _object(group) if isinstance(group, tuple) else group for name, group in own}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    raise TypeError(f"{type(value).__name__} is not JSON: {value!r}")


def _object(value: tuple[Any, ...]) -> object:
    """Tuples with names for their places are objects, others lists."""
    return value._asdict() if hasattr(value, "_asdict") else value
