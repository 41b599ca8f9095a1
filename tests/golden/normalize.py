"""Rows of a snapshot: how they are normalized, stored one per line, and compared."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

EXPECTED = Path(__file__).parent / "expected"
DIGITS = 9
COSINE_DIGITS = 6
"""Of means of cosines: sums of floats round differently on other machines."""
DENSE_DIGITS = 5
"""Of scores of vectors, which an index stores in 8 bits."""
VOLATILE = frozenset(
    "text id key source revision label best_label sentence note notes why words verdict aside error unscored "
    "unjudged_hits examples levers bytes index_bytes seconds".split()
)
"""Fields of results that are wording, hashes, sizes on disk or times."""


class Layout(NamedTuple):
    """Names of the columns: rows are grouped by `keys`, and compared by `values` in order.

    Without `values`, a row ends in one result or mapping, whose fields are compared.
    """

    keys: tuple[str, ...]
    values: tuple[str, ...] = ()
    digits: int = DIGITS


def brief(text: str) -> str:
    """A text itself if it is short, else its length and hash."""
    return text if len(text) <= 60 else f"{len(text)}:{sha256(text.encode()).hexdigest()[:12]}"


def normalize(value: Any, digits: int) -> Any:
    """Plain JSON: no volatile or empty fields, floats rounded to significant digits."""
    if value is None or isinstance(value, str | int):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, Mapping):
        pairs = {str(name): normalize(each, digits) for name, each in value.items()}
        return {n: v for n, v in pairs.items() if n not in VOLATILE and v not in ("", None, [], {})}
    if isinstance(value, list | tuple):
        return [normalize(each, digits) for each in value]
    if hasattr(value, "item"):  # NumPy's numbers
        value = value.item()
    return float(f"{value:.{digits}g}") + 0.0 if isinstance(value, float) else value


def dump(layout: Layout, rows: Iterable[Iterable[Any]]) -> str:
    """One line per row, empty values at its end left out, below a line with the columns."""
    lines: list[list[Any]] = [[*layout.keys, *layout.values]]
    for row in rows:
        values = normalize(list(row), layout.digits)
        while layout.values and values[-1] in ("", None, []):
            values.pop()
        lines.append(values)
    style: dict[str, Any] = {"ensure_ascii": False, "sort_keys": True, "separators": (",", ":")}
    return "".join(f"{json.dumps(line, **style)}\n" for line in lines)


def differences(layout: Layout, expected: str, found: str) -> Iterator[str]:
    """One line per row that differs: its keys, then each differing column with both values."""
    before, after = _grouped(layout, expected), _grouped(layout, found)
    for key in [*before, *(key for key in after if key not in before)]:
        old, new = before.get(key, []), after.get(key, [])
        if len(old) != len(new):
            yield f"{key}: expected {len(old)} rows, found {len(new)}"
        for number, (one, other) in enumerate(zip(old, new, strict=False)):
            columns = [
                f"{name} expected {one.get(name)!r}, found {other.get(name)!r}"
                for name in layout.values or sorted({*one, *other})
                if not _same(one.get(name), other.get(name), layout.digits)
            ]
            if columns:
                yield f"{key} #{number}: {'; '.join(columns)}"


def _grouped(layout: Layout, text: str) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for line in text.splitlines()[1:]:
        row = json.loads(line)
        keys, values = row[: len(layout.keys)], row[len(layout.keys) :]
        named = dict(zip(layout.values, values, strict=False)) if layout.values else values[0]
        groups.setdefault(" › ".join(map(str, keys)), []).append(_flat(named))
    return groups


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    """Nested mappings as one, with paths such as `lengths.median` for names."""
    if not isinstance(value, dict):
        return {path: value}
    pairs = ((f"{path}.{name}" if path else name, each) for name, each in value.items())
    return {name: leaf for at, each in pairs for name, leaf in _flat(each, at).items()}


def _same(one: Any, other: Any, digits: int) -> bool:
    """Equal; floats may differ by one unit of their last digit, to which each was rounded."""
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return all(_same(*pair, digits) for pair in zip(one, other, strict=True))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1.5 * 10 ** (1 - digits), abs_tol=10**-digits)
    return bool(one == other)
