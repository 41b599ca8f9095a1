"""Requests as typed values: texts of an address, fields of a body, and what may be wrong with them."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from chunkwise.base import parameters
from chunkwise.base.allow_hosts_and_code_from_files import recorded
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.wording import did_you_mean
from chunkwise.records.json import WrongType, read_as

TEXTS = tuple[str, ...]
_WHERE = "the address of a request"
"""Who says so, where a name in it may not be followed."""


class NotFound(ChunkwiseError):
    """What an address names is not there."""


class TooMuch(ChunkwiseError):
    """More than is taken: asked too often, or too many at once."""


class NotReady(ChunkwiseError):
    """What is asked for is still being made; asked again later, it is there."""


class Conflict(ChunkwiseError):
    """Somebody else changed it meanwhile; nothing was written."""


def read_body(takes: type, path: Mapping[str, str], body: bytes) -> Any:
    """A body as the fields of a dataclass; names in it are data, never followed."""
    try:
        given = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        raise InvalidParameter(
            'the body is no JSON; an object is needed, such as {"text": "…"}'
        ) from None
    if not isinstance(given, dict):
        raise InvalidParameter("the body is no object of JSON; write its fields between { and }")
    kinds = field_kinds(takes)
    known = [each for each in kinds if each not in path]
    values = {name: _read(name, kinds[name], [text]) for name, text in path.items()}
    return _checked(takes, values | _read_values(takes, known, given, "this address"), "the body")


def read_arguments(takes: type, given: Mapping[str, Any], who: str) -> Any:
    """What a program hands to `who` by name, as the fields of a dataclass; names in it are data, never followed.

    A text will do for a list of one text: it is what assistants write first.
    """
    kinds = field_kinds(takes)
    lists = {
        name: [value] if type(value) is str and kinds.get(name) == TEXTS else value
        for name, value in given.items()
    }
    return _checked(takes, _read_values(takes, list(kinds), lists, who), "the arguments")


def _read_values(
    takes: type, known: Sequence[str], given: Mapping[str, Any], who: str
) -> dict[str, Any]:
    """Values of JSON by the names of the fields that are known; any other name is an error."""
    kinds, values = field_kinds(takes), {}
    for name, value in given.items():
        if name not in known:
            has = f"it has: {', '.join(known)}" if known else "it has none"
            raise InvalidParameter(
                f"{who} has no field {name!r:.80}; {did_you_mean(name, known, has)}"
            )
        try:
            values[name] = _marked(read_as(kinds[name], value))
        except WrongType as misfit:
            raise InvalidParameter(f"{name}{misfit.way} is {misfit.found}") from None
    return values


def read_parameters(takes: type, path: Mapping[str, str], query: Sequence[tuple[str, str]]) -> Any:
    """Texts of a request as the fields of a dataclass; names in them are data, never followed."""
    kinds, given = field_kinds(takes), {name: [text] for name, text in path.items()}
    for name, text in query:
        if name not in kinds or name in path:
            known = [each for each in kinds if each not in path]
            has = f"it has: {', '.join(known)}" if known else "it has none"
            raise InvalidParameter(
                f"this address has no parameter {name!r}; {did_you_mean(name, known, has)}"
            )
        given.setdefault(name, []).append(text)
    values = {name: _read(name, kinds[name], texts) for name, texts in given.items()}
    return _checked(takes, values, "the address")


def _checked(takes: type, values: dict[str, Any], where: str) -> Any:
    missing = [
        field.name
        for field in dataclasses.fields(takes)
        if field.name not in values and _is_required(field)
    ]
    if missing:
        raise InvalidParameter(f"{missing[0]} is missing; add it to {where}")
    made = takes(**values)
    parameters.check(made)
    return made


def _marked(value: Any) -> Any:
    """Texts, and tuples of them; records hold no names that anybody follows."""
    if isinstance(value, str):
        return recorded(value, _WHERE)
    if type(value) is tuple and all(isinstance(each, str) for each in value):
        return tuple(recorded(each, _WHERE) for each in value)
    return value


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


@cache
def field_kinds(takes: type) -> dict[str, Any]:
    """The types of the fields, by name."""
    hints = get_type_hints(takes)
    return {field.name: hints[field.name] for field in dataclasses.fields(takes)}


def without_none(kind: Any) -> tuple[Any, bool]:
    """A type, and whether None is allowed beside it."""
    if get_origin(kind) not in (Union, UnionType):
        return kind, False
    parts = [part for part in get_args(kind) if part is not NoneType]
    return (parts[0] if len(parts) == 1 else kind), len(parts) < len(get_args(kind))


def _read(name: str, kind: Any, texts: list[str]) -> Any:
    if get_origin(kind) is tuple:
        return tuple(recorded(text, _WHERE) for text in texts)
    if len(texts) > 1:
        raise InvalidParameter(f"{name} is given {len(texts)} times; give it once")
    text, (plain, _) = texts[0], without_none(kind)
    if plain is str:
        return recorded(text, _WHERE)
    if plain is bool:
        if text not in ("true", "false"):
            raise InvalidParameter(f"{name} is {text!r:.80}; allowed: true, false")
        return text == "true"
    # Not all that Python takes for a number is one: "1_000", "٣", " 7 ".
    if plain is int and re.fullmatch(r"-?[0-9]{1,15}", text):
        return int(text)
    if plain is float and re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,15})?", text):
        return float(text)
    needed = "a whole number" if plain is int else "a number"
    raise InvalidParameter(f"{name} is {text!r:.80}; {needed} is needed, such as 20")
