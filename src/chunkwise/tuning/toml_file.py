"""TOML as plans and recommendations are kept in: read with errors that name file, key and value, and written."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.wording import did_you_mean, shown
from chunkwise.tuning.sweep import SweepValue

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def read_toml(path: str | Path, kind: str) -> dict[str, Any]:
    """The tables of a file, which is a `kind`: a plan, a recommendation."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ChunkwiseError(f"cannot read {path}: {error.strerror or error}") from error
    except RecursionError:
        raise ChunkwiseError(
            f"{path} is no {kind}: its tables or lists are nested too deeply"
        ) from None
    except ValueError as error:  # no TOML, no UTF-8, or a number of thousands of digits
        raise ChunkwiseError(f"{path} is no TOML: {error}") from error


def toml_line(key: str, values: Sequence[SweepValue]) -> str:
    """`key = value`, or a list where there are several."""
    name = key if _BARE.fullmatch(key) else toml_value(key)
    shown = ", ".join(map(toml_value, values))
    return f"{name} = {shown}" if len(values) == 1 else f"{name} = [{shown}]"


def toml_value(value: SweepValue) -> str:
    """A text, a number, true or false, as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    if any("\ud800" <= sign <= "\udfff" for sign in value):
        raise InvalidParameter(
            f"{value!r} cannot be written into a TOML file, which holds Unicode only"
        )
    # A JSON string is one of TOML, but for the one control character that JSON lets stand.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


TextOrBool = TypeVar("TextOrBool", str, bool)


class TomlTable:
    """Values of a table with the name users know it by."""

    def __init__(self, file: str, name: str, values: Mapping[str, object]) -> None:
        self.file = file
        self.name = name
        self.values = values

    def only(self, known: Collection[str], elsewhere: Mapping[str, str] | None = None) -> None:
        """An error for the first key that is none of these; `elsewhere`: keys of other tables."""
        for key in self.values:
            if key in known:
                continue
            hint = did_you_mean(key, known)
            if elsewhere and key in elsewhere:
                hint = f"it stands in {elsewhere[key]}"
            given = f"{shown(key)} (here {toml_words(self.values[key])})"
            raise InvalidParameter(f"{self.file}: {self.name} has no key {given}; {hint}")

    def wrong(self, key: str, value: object, needed: str) -> InvalidParameter:
        return InvalidParameter(f"{self.file}: {self.name} {key} is {toml_words(value)}; {needed}")

    def refused(self, key: str, error: ChunkwiseError) -> InvalidParameter:
        """What somebody else says is wrong with a value."""
        return InvalidParameter(f"{self.file}: {self.name} {key}: {error}")

    def of_type(
        self, key: str, kind: type[TextOrBool], default: TextOrBool, needed: str
    ) -> TextOrBool:
        """A text, or true or false."""
        value = self.values.get(key, default)
        if not isinstance(value, kind):
            raise self.wrong(key, value, needed)
        return value

    def whole(self, key: str, default: int, low: int) -> int:
        value = self.values.get(key, default)
        if type(value) is not int or not low <= value <= 2**31:
            raise self.wrong(key, value, f"a whole number is needed, {low} or more")
        return value

    def fraction(self, key: str, needed: str) -> float | None:
        value = self.values.get(key)
        if value is None:
            return None
        if type(value) not in (int, float):
            raise self.wrong(key, value, needed)
        return float(value)  # type: ignore[arg-type]

    def texts(self, key: str, needed: str) -> tuple[str, ...]:
        """One or several."""
        value = self.values.get(key)
        found = value if isinstance(value, list) else [value]
        if not found or not all(isinstance(each, str) and each.strip() for each in found):
            raise (
                self.wrong(key, value, needed) if key in self.values else self.missing(key, needed)
            )
        return tuple(found)

    def choices(self, key: str) -> tuple[SweepValue, ...]:
        """One or several values of a parameter."""
        value = self.values[key]
        found = value if isinstance(value, list) else [value]
        if not found:
            raise self.wrong(key, value, "at least one value is needed")
        for each in found:
            if not isinstance(each, str | int | float | bool):
                raise self.wrong(
                    key, each, "a text, a number, true or false is needed, or a list of them"
                )
            if isinstance(each, float) and not abs(each) < float("inf"):
                raise self.wrong(key, each, "a number is needed")
        return tuple(found)

    def missing(self, key: str, needed: str) -> InvalidParameter:
        return InvalidParameter(f"{self.file}: {self.name} has no {key}; {needed}")

    def tables(self, key: str, needed: str) -> list[TomlTable]:
        """One table or several; none where the key is not there."""
        value = self.values.get(key, [])
        given = value if isinstance(value, list) else [value]
        found: list[Mapping[str, object]] = [each for each in given if isinstance(each, dict)]
        if len(found) < len(given) or (key in self.values and not found):
            raise self.wrong(key, value, needed)
        name = f"{self.name.removesuffix(']')}.{key}]"
        return [TomlTable(self.file, name, each) for each in found]


def toml_words(value: object) -> str:
    """A value as an error shows it: of a table nobody wants the keys."""
    return "a table" if isinstance(value, dict) else shown(value)
