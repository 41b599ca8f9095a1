"""Conditions on the metadata of documents (`year=2024`, `lang in de,en`, `price>=10`), and who meets them."""

from __future__ import annotations

import csv
import json
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import did_you_mean

Scalar = str | int | float | bool | None
Comparison = Literal["=", "!=", ">", ">=", "<", "<=", "in", "not in"]
COMPARISONS: tuple[Comparison, ...] = get_args(Comparison)

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
# Words and signs that compare, whichever comes first; a run of spaces is entered at its beginning alone.
_COMPARES = re.compile(r"(?<!\s)\s++(not\s++in|in)\s++|(==|!=|>=|<=|=|>|<)")
_QUOTED = re.compile(r'\s*+("(?:[^"\\]|\\.)*+")', re.DOTALL)
_NUMBER = re.compile(r"[+-]?\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_SHOWN_KEYS = 20
_SHOWN_NEAR = 3
_LOOKED_AT = 1000
"""Keys of which one may be meant."""
_SHOWN = 60
"""Characters of a key or of a condition in a message."""
_NEEDED = (
    "such as year=2024, lang in de,en or price>=10; in Python {'year': 2024, 'price': {'>=': 10}}"
)


@dataclass(frozen=True, slots=True)
class Condition:
    """What the metadata of a document must say; texts that are numbers compare with numbers as these."""

    key: str
    comparison: Comparison
    values: tuple[Scalar, ...]
    """One; of `in` and `not in` any number."""
    kinds: tuple[str, ...] = field(init=False, repr=False)
    """Of the values: True and 1 are equal in Python, and not the same here."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", tuple(type(each).__name__ for each in self.values))

    def holds(self, found: object) -> bool:
        """Whether a document meets it that has this value; None: it has none, and only `!=` and `not in` take it."""
        if self.comparison in ("!=", "not in"):
            return not any(_is_equal(found, each) for each in self.values)
        if self.comparison in ("=", "in"):
            return any(_is_equal(found, each) for each in self.values)
        return any(_is_ordered(found, each, _ORDERS[self.comparison]) for each in self.values)

    def __str__(self) -> str:
        said = ",".join("" if each is None else str(each) for each in self.values)
        between = f" {self.comparison} " if self.comparison.endswith("in") else self.comparison
        return f"{self.key}{between}{said}"


Where = Mapping[str, object] | str | Condition | Iterable[str | Condition]
"""Conditions that all hold: `{"year": 2024, "lang": ["de", "en"], "price": {">=": 10}}`, or as they are typed."""


def conditions_of(given: object) -> tuple[Condition, ...]:
    """Conditions, however they are given."""
    if isinstance(given, Condition | str):
        given = (given,)
    if isinstance(given, Mapping):
        return tuple(each for key, said in given.items() for each in _of_mapping(key, said))
    if isinstance(given, Iterable) and not isinstance(given, bytes):
        return tuple(_of_item(each) for each in given)
    raise InvalidParameter(f"where is {type(given).__name__}; conditions are needed, {_NEEDED}")


def _of_item(given: object) -> Condition:
    if isinstance(given, Condition):
        return given
    if isinstance(given, str):
        return parse_condition(given)
    raise InvalidParameter(f"where holds {type(given).__name__}; conditions are needed, {_NEEDED}")


def _of_mapping(key: object, said: object) -> Iterator[Condition]:
    if not isinstance(key, str):
        raise InvalidParameter(f"where has the key {key!r}; keys of metadata are texts")
    if not isinstance(said, Mapping):
        yield _condition_of(
            key, "in" if isinstance(said, list | tuple | set | frozenset) else "=", said
        )
        return
    if not said:
        raise InvalidParameter(
            f"where asks nothing of {_short(key)!r}; conditions are needed, {_NEEDED}"
        )
    for comparison, value in said.items():
        if comparison not in COMPARISONS:
            allowed = ", ".join(COMPARISONS)
            raise InvalidParameter(
                f"where compares {_short(key)!r} by {comparison!r}; allowed: {allowed}"
            )
        yield _condition_of(key, comparison, value)


def _condition_of(key: str, comparison: Comparison, given: object) -> Condition:
    several = isinstance(given, list | tuple | set | frozenset)
    if several != (comparison in ("in", "not in")):
        needed = "one value" if several else "a list of values"
        raise InvalidParameter(
            f"where compares {_short(key)!r} by {comparison!r}, which takes {needed}"
        )
    values: list[Any] = list(given) if several else [given]  # type: ignore[call-overload]
    return Condition(key, comparison, tuple(_scalar(key, each) for each in values))


def _scalar(key: str, value: object) -> Scalar:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, date):  # and times of a day; ISO's form sorts as they do
        return value.isoformat()
    if value is None or isinstance(value, str | int | float):
        return value
    raise InvalidParameter(
        f"where compares {_short(key)!r} with {type(value).__name__}; texts, numbers, true and false are compared"
    )


def parse_condition(text: str) -> Condition:
    """As it is typed; a key or a value that holds signs stands in double quotes: `"a=b" = "x, y"`."""
    quoted = _QUOTED.match(text)
    found = _COMPARES.search(text, quoted.end() if quoted else 0)
    if quoted and found and not text[quoted.end() : found.start()].strip():
        key = _unquoted(quoted[1])
    else:
        found = _COMPARES.search(text)
        key = text[: found.start()].strip() if found else ""
    if not key or found is None:
        raise _unclear(text)
    rest = text[found.end() :].strip()
    if found[2] and rest.startswith(("=", "<", ">", "!")):
        # A slip of the pen: what begins so in earnest is quoted.
        raise InvalidParameter(
            f"where is {_short(text)!r}; {found[2]!r} is followed by {rest[0]!r}: the comparisons are "
            f"{', '.join(COMPARISONS)}, and a value that begins with such a sign stands in double quotes"
        )
    if not found[1]:
        sign: Any = "=" if found[2] == "==" else found[2]
        return Condition(key, sign, (_unquoted(rest) if _QUOTED.fullmatch(rest) else rest,))
    try:
        values = next(csv.reader([rest], skipinitialspace=True), [])
    except csv.Error:
        values = []
    if not values:
        raise _unclear(text)
    comparison: Comparison = "not in" if found[1].startswith("not") else "in"
    return Condition(key, comparison, tuple(each.strip() for each in values))


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        return text


def _unclear(text: str) -> InvalidParameter:
    return InvalidParameter(
        f"where is {_short(text)!r}; a key, a comparison and a value are needed, {_NEEDED}"
    )


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _is_equal(found: object, asked: Scalar) -> bool:
    """A list is what it contains."""
    if isinstance(found, list):
        return any(_is_equal(each, asked) for each in found)
    if found is None or asked is None:
        return found is asked
    if isinstance(found, bool) or isinstance(asked, bool):
        return _truth(found) is not None and _truth(found) == _truth(asked)
    if isinstance(found, str) and isinstance(asked, str):
        return found == asked
    one, other = _number(found), _number(asked)
    return one is not None and one == other


def _is_ordered(found: object, asked: Scalar, holds: Callable[[Any, Any], bool]) -> bool:
    """As numbers where both are; else texts by their characters, so that dates in ISO's form are in order."""
    if isinstance(found, list):
        return any(_is_ordered(each, asked, holds) for each in found)
    if isinstance(found, bool) or isinstance(asked, bool):
        return False
    one, other = _number(found), _number(asked)
    if one is not None and other is not None:
        return holds(one, other)
    return isinstance(found, str) and isinstance(asked, str) and holds(found, asked)


def _truth(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    return (
        {"true": True, "false": False}.get(value.strip().lower())
        if isinstance(value, str)
        else None
    )


def _number(value: object) -> int | float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        text = value.strip()
        if not _NUMBER.fullmatch(text):
            return None
        value = float(text) if any(sign in text for sign in ".eE") else int(text)
        return value if isinstance(value, int) or math.isfinite(value) else None
    return value if isinstance(value, float) and math.isfinite(value) else None


class MetadataTable:
    """What is known of each document; the keys of a record inside a record are joined by dots: `author.name`."""

    def __init__(self, documents: Iterable[Mapping[str, object]]) -> None:
        self._rows = [_flat(each) for each in documents]
        self._keys = set().union(*self._rows) if self._rows else set[str]()

    def mask(self, where: Iterable[Condition]) -> NDArray[np.bool_]:
        """The documents that meet all conditions; a key that no document has is an error."""
        taken = np.ones(len(self._rows), np.bool_)
        for condition in where:
            self._check(condition.key)
            found = (row.get(condition.key) for row in self._rows)
            taken &= np.fromiter(_each_held(condition, found), np.bool_, len(self._rows))
        return taken

    def _check(self, key: str) -> None:
        if key in self._keys:
            return
        if not self._keys:
            raise InvalidParameter(
                f"where asks for {_short(key)!r}, and no document of this index has metadata"
            )
        known = sorted(map(_on_one_line, self._keys))
        shown = ", ".join(known[:_SHOWN_KEYS])
        more = f" and {len(known) - _SHOWN_KEYS:,} more" if len(known) > _SHOWN_KEYS else ""
        # Of many that begin so, the first: a message is one line.
        begin = [each for each in known if each.startswith(key)][:_SHOWN_NEAR]
        hint = did_you_mean(_short(key), begin or known[:_LOOKED_AT], otherwise="")
        raise InvalidParameter(
            f"no document has the metadata {_short(key)!r}; {f'{hint} ' if hint else ''}there are: {shown}{more}"
        )


def _on_one_line(key: str) -> str:
    return _short(key if key.isprintable() else repr(key)[1:-1])


def _each_held(condition: Condition, found: Iterable[object]) -> Iterator[bool]:
    """Many documents have the same few values: each is compared once."""
    known: dict[tuple[type, object], bool] = {}
    for value in found:
        if isinstance(value, list):
            yield condition.holds(value)
            continue
        kind = type(value), value
        holds = known.get(kind)
        if holds is None:
            holds = known[kind] = condition.holds(value)
        yield holds


def _flat(record: Mapping[str, object]) -> dict[str, object]:
    """Level by level: a key that is spelled with a dot itself goes before."""
    if not any(isinstance(value, dict) for value in record.values()):
        return dict(record)
    found: dict[str, object] = {}
    level: list[tuple[str, Mapping[str, object]]] = [("", record)]
    while level:
        below: list[tuple[str, Mapping[str, object]]] = []
        for before, each in level:
            for key, value in each.items():
                if isinstance(value, dict):
                    below.append((f"{before}{key}.", value))
                else:
                    found.setdefault(f"{before}{key}", value)
        level = below
    return found
