"""Conditions on the metadata of documents (`year=2024 and (lang in de,en or price>=10)`), and who meets them."""

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
from chunkwise.base.wording import did_you_mean, listed, shortened, shown

Scalar = str | int | float | bool | None
Comparison = Literal["=", "!=", ">", ">=", "<", "<=", "in", "not in", "exists"]
COMPARISONS: tuple[Comparison, ...] = get_args(Comparison)

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
# Words and signs that compare, whichever comes first; a run of spaces is entered at its beginning alone.
_COMPARES = re.compile(r"(?<!\s)\s++(not\s++in|in)\s++|(==|!=|>=|<=|=|>|<)")
_AT_END = re.compile(r"(?<!\s)\s++(not\s++)?exists\s*+$", re.IGNORECASE)
_QUOTED = re.compile(r'\s*+("(?:[^"\\]|\\.)*+")', re.DOTALL)
_NUMBER = re.compile(r"[+-]?\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
# What a scan for brackets and joining words stops at: what is quoted, a bracket, or such a word.
_JOINS = re.compile(
    r'("(?:[^"\\]|\\.)*+")|([()])|(?<![^\s)])(and|or)(?![^\s(])', re.DOTALL | re.IGNORECASE
)
_NOT = re.compile(r"\s*+not(?=[\s(])", re.IGNORECASE)
_PLAIN = re.compile(r"[\w.:/%-]*(?: [\w.:/%-]+)*")
_READ_AS_WORDS = frozenset(("and", "or", "not", "in", "exists"))
_DEEPEST = 30
_JOINING = ("$and", "$or", "$not")
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
        object.__setattr__(self, "kinds", tuple(type(value).__name__ for value in self.values))

    def holds(self, found: object) -> bool:
        """Whether a document meets it that has this value; None: it has none, and only `!=` and `not in` take it."""
        if self.comparison == "exists":
            return (found is not None) is self.values[0]
        if self.comparison in ("!=", "not in"):
            return not any(_is_equal(found, value) for value in self.values)
        if self.comparison in ("=", "in"):
            return any(_is_equal(found, value) for value in self.values)
        return any(_is_ordered(found, value, _ORDERS[self.comparison]) for value in self.values)

    def __str__(self) -> str:
        """As it can be typed."""
        key = _typed(self.key)
        if self.comparison == "exists":
            return f"{key} exists" if self.values[0] else f"{key} not exists"
        texts = ["" if value is None else str(value) for value in self.values]
        if not self.comparison.endswith("in"):
            return f"{key}{self.comparison}{_typed(texts[0], may_be_empty=True)}"
        if all(_typed(item) == item for item in texts):
            return f"{key} {self.comparison} {','.join(texts)}"
        joined = " or ".join(f"{key}={_typed(item, may_be_empty=True)}" for item in texts)
        return f"({joined})" if self.comparison == "in" else f"not ({joined})"


@dataclass(frozen=True, slots=True)
class Combined:
    """Clauses all of which hold, any of which does, or one that does not."""

    how: Literal["and", "or", "not"]
    clauses: tuple[Clause, ...]

    def __str__(self) -> str:
        if self.how == "not":
            return f"not ({self.clauses[0]})"
        return f" {self.how} ".join(
            f"({clause})" if isinstance(clause, Combined) else str(clause)
            for clause in self.clauses
        )


Clause = Condition | Combined
Where = Mapping[str, object] | str | Clause | Iterable[str | Clause | Mapping[str, object]]
"""Conditions that all hold: `{"year": 2024, "lang": ["de", "en"], "price": {">=": 10}}`, or as they are typed; joined
by `{"$or": [{"year": 2024}, {"lang": "de"}]}`, `$and` and `$not`."""


def _typed(text: str, *, may_be_empty: bool = False) -> str:
    is_plain = _PLAIN.fullmatch(text) and not _READ_AS_WORDS & set(text.lower().split(" "))
    if is_plain and (text or may_be_empty):
        return text
    return json.dumps(text, ensure_ascii=False)


def conditions_of(given: object) -> tuple[Clause, ...]:
    """Clauses that all hold, however they are given."""
    conditions = _clauses_of(given, 0)
    # Those that came made already, or as text within a mapping, were not counted on the way.
    level, depth = [*conditions], 0
    while level:
        _check_depth(depth)
        level = [
            item for clause in level if isinstance(clause, Combined) for item in clause.clauses
        ]
        depth += 1
    return conditions


def _check_depth(depth: int) -> None:
    """Of a clause within others: refuses one that lies too deep, wherever it comes from."""
    if depth > _DEEPEST:
        raise InvalidParameter(f"where is nested more than {_DEEPEST} levels deep")


def _clauses_of(given: object, depth: int) -> tuple[Clause, ...]:
    _check_depth(depth)
    if isinstance(given, Condition | Combined | str):
        given = (given,)
    if isinstance(given, Mapping):
        return tuple(item for key, said in given.items() for item in _of_mapping(key, said, depth))
    if isinstance(given, Iterable) and not isinstance(given, bytes):
        return tuple(each for item in given for each in _of_item(item, depth))
    raise InvalidParameter(f"where is {type(given).__name__}; expected conditions {_NEEDED}")


def _of_item(given: object, depth: int) -> tuple[Clause, ...]:
    if isinstance(given, Condition | Combined):
        return (given,)
    if isinstance(given, str):
        return (parse_where(given),)
    if isinstance(given, Mapping):
        return _clauses_of(given, depth + 1)
    raise InvalidParameter(f"where contains {type(given).__name__}; expected conditions {_NEEDED}")


def _of_joined(key: str, said: object, depth: int) -> Clause:
    """`$and`, `$or` and `$not`."""
    if key == "$not":
        inner = _clauses_of(said, depth + 1)
        return Combined("not", (_all_of(inner),))
    if not isinstance(said, list | tuple) or not said:
        raise InvalidParameter(
            f"where has {key}, but {key} takes a list of conditions: {{{key!r}: [{{'year': "
            f"2024}}, {{'lang': 'de'}}]}}"
        )
    parts = tuple(_all_of(_clauses_of(each, depth + 1)) for each in said)
    return Combined("or" if key == "$or" else "and", parts)


def _all_of(clauses: tuple[Clause, ...]) -> Clause:
    if not clauses:
        raise InvalidParameter(f"empty $and, $or or $not in where; expected conditions {_NEEDED}")
    return clauses[0] if len(clauses) == 1 else Combined("and", clauses)


def _of_mapping(key: object, said: object, depth: int) -> Iterator[Clause]:
    if not isinstance(key, str):
        raise InvalidParameter(f"where has the key {key!r}; expected a str")
    if key in _JOINING:
        yield _of_joined(key, said, depth)
        return
    if not isinstance(said, Mapping):
        yield _condition_of(
            key, "in" if isinstance(said, list | tuple | set | frozenset) else "=", said
        )
        return
    if not said:
        raise InvalidParameter(
            f"where has no condition for {shown(key, _SHOWN)}; expected conditions {_NEEDED}"
        )
    for comparison, value in said.items():
        if comparison not in COMPARISONS:
            allowed = ", ".join(COMPARISONS)
            raise InvalidParameter(
                f"where compares {shown(key, _SHOWN)} by {comparison!r}; allowed: {allowed}"
            )
        yield _condition_of(key, comparison, value)


def _condition_of(key: str, comparison: Comparison, given: object) -> Condition:
    if comparison == "exists":
        if not isinstance(given, bool):
            raise InvalidParameter(
                f"where compares {shown(key, _SHOWN)} by 'exists', which takes True or False"
            )
        return Condition(key, comparison, (given,))
    several = isinstance(given, list | tuple | set | frozenset)
    if several != (comparison in ("in", "not in")):
        needed = "one value" if several else "a list of values"
        raise InvalidParameter(
            f"where compares {shown(key, _SHOWN)} by {comparison!r}, which takes {needed}"
        )
    values: list[Any] = list(given) if several else [given]  # type: ignore[call-overload]
    return Condition(key, comparison, tuple(_scalar(key, value) for value in values))


def _scalar(key: str, value: object) -> Scalar:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, date):  # and times of a day; ISO's form sorts as they do
        return value.isoformat()
    if value is None or isinstance(value, str | int | float):
        return value
    raise InvalidParameter(
        f"where compares {shown(key, _SHOWN)} with {type(value).__name__}; allowed: text, "
        f"numbers, true, false"
    )


def parse_where(text: str) -> Clause:
    """Parse typed conditions joined by `and`, `or`, `not` and parentheses; `and` binds closer than `or`."""
    return _parse(text, 0)


def _parse(text: str, depth: int) -> Clause:
    _check_depth(depth)
    parts, closing = _split(text, "or")
    how: Literal["and", "or"] = "or"
    if len(parts) == 1:
        parts, how = _split(text, "and")[0], "and"
    if len(parts) > 1:
        return Combined(how, tuple(_parse(part, depth + 1) for part in parts))
    if negated := _NOT.match(text):
        return Combined("not", (_parse(text[negated.end() :], depth + 1),))
    bare = text.strip()
    if bare.startswith("("):
        if closing == len(text.rstrip()) - 1:
            return _parse(bare[1:-1], depth + 1)
        if closing < 0:
            raise InvalidParameter(
                f"where is {shown(text, _SHOWN)}; unclosed parenthesis: put keys and values "
                f"with parentheses in double quotes"
            )
    return parse_condition(text)


def _split(text: str, word: str) -> tuple[list[str], int]:
    """Split at a joining word outside of parentheses and quotes; also where the first parenthesis closes, or -1."""
    parts, begin, depth, closing = [], 0, 0, -1
    for match in _JOINS.finditer(text):
        if match[2]:
            depth = depth + 1 if match[2] == "(" else max(0, depth - 1)
            if not depth and closing < 0:
                closing = match.start()
        elif match[3] and not depth and match[3].lower() == word:
            parts.append(text[begin : match.start()])
            begin = match.end()
    return [*parts, text[begin:]], closing


def parse_condition(text: str) -> Condition:
    """One, as it is typed; a key or a value that holds signs stands in double quotes: `"a=b" = "x, y"`."""
    quoted = _QUOTED.match(text)
    match = _COMPARES.search(text, quoted.end() if quoted else 0)
    there = _AT_END.search(text, quoted.end() - 1 if quoted else 0)
    if there and (match is None or match.start() >= there.start()):
        key = text[: there.start()].strip()
        if key:
            key = _unquoted(key) if _QUOTED.fullmatch(key) else key
            return Condition(key, "exists", (not there[1],))
    if quoted and match and not text[quoted.end() : match.start()].strip():
        key = _unquoted(quoted[1])
    else:
        match = _COMPARES.search(text)
        key = text[: match.start()].strip() if match else ""
    if not key or match is None:
        raise _unclear(text)
    rest = text[match.end() :].strip()
    if match[2] and rest.startswith(("=", "<", ">", "!")):
        # A slip of the pen: what begins so in earnest is quoted.
        raise InvalidParameter(
            f"where is {shown(text, _SHOWN)}; {match[2]!r} is followed by {rest[0]!r}; allowed: "
            f"{', '.join(COMPARISONS)}; put a value that starts with such a sign in double quotes"
        )
    if not match[1]:
        sign: Any = "=" if match[2] == "==" else match[2]
        return Condition(key, sign, (_unquoted(rest) if _QUOTED.fullmatch(rest) else rest,))
    try:
        values = next(csv.reader([rest], skipinitialspace=True), [])
    except csv.Error:
        values = []
    if not values:
        raise _unclear(text)
    comparison: Comparison = "not in" if match[1].startswith("not") else "in"
    return Condition(key, comparison, tuple(value.strip() for value in values))


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        return text


def _unclear(text: str) -> InvalidParameter:
    return InvalidParameter(
        f"where is {shown(text, _SHOWN)}; expected a key, a comparison and a value, {_NEEDED}"
    )


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
        self._rows = [flat_metadata(document) for document in documents]
        self._keys = set().union(*self._rows) if self._rows else set[str]()

    def mask(self, where: Iterable[Clause]) -> NDArray[np.bool_]:
        """The documents that meet all clauses; a key that no document has is an error, unless it is asked whether."""
        taken = np.ones(len(self._rows), np.bool_)
        for clause in where:
            taken &= self._meeting(clause)
        return taken

    def _meeting(self, clause: Clause) -> NDArray[np.bool_]:
        if isinstance(clause, Combined):
            masks = [self._meeting(item) for item in clause.clauses]
            if clause.how == "not":
                return ~masks[0]
            joined = np.logical_or if clause.how == "or" else np.logical_and
            result: NDArray[np.bool_] = joined.reduce(masks)
            return result
        if clause.comparison == "exists":
            there = (_is_there(row, clause.key) is clause.values[0] for row in self._rows)
            return np.fromiter(there, np.bool_, len(self._rows))
        self._check(clause.key)
        values = (row.get(clause.key) for row in self._rows)
        return np.fromiter(_each_held(clause, values), np.bool_, len(self._rows))

    def _check(self, key: str) -> None:
        if key in self._keys:
            return
        if not self._keys:
            raise InvalidParameter(
                f"where filters by {shown(key, _SHOWN)}, but no document of this index has metadata"
            )
        known = sorted(map(_on_one_line, self._keys))
        # Of many that begin so, the first: a message is one line.
        begin = [item for item in known if item.startswith(key)][:_SHOWN_NEAR]
        hint = did_you_mean(shortened(key, _SHOWN), begin or known[:_LOOKED_AT], otherwise="")
        raise InvalidParameter(
            f"no document has the metadata {shown(key, _SHOWN)}; "
            f"{f'{hint} ' if hint else ''}known: {listed(known, _SHOWN_KEYS)}"
        )


def _is_there(row: Mapping[str, object], key: str) -> bool:
    """Also where a record stands under the key."""
    return row.get(key) is not None or any(item.startswith(f"{key}.") for item in row)


def _on_one_line(key: str) -> str:
    return shortened(key if key.isprintable() else repr(key)[1:-1], _SHOWN)


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


def flat_metadata(record: Mapping[str, object]) -> dict[str, object]:
    """Level by level: a key that is spelled with a dot itself goes before."""
    if not any(isinstance(value, dict) for value in record.values()):
        return dict(record)
    result: dict[str, object] = {}
    level: list[tuple[str, Mapping[str, object]]] = [("", record)]
    while level:
        below: list[tuple[str, Mapping[str, object]]] = []
        for before, each in level:
            for key, value in each.items():
                if isinstance(value, dict):
                    below.append((f"{before}{key}.", value))
                else:
                    result.setdefault(f"{before}{key}", value)
        level = below
    return result
