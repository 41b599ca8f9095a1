"""Rows of a snapshot: how they are normalized, stored one per line, and compared."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

EXPECTED = Path(__file__).parent / "expected"
DIGITS = 9
DENSE_DIGITS = 5
"""Models round differently on other machines."""
_EMPTY: tuple[object, ...] = ("", None, [])


class Layout(NamedTuple):
    """Names of the columns: rows are grouped by `keys`, and compared by `values` in order."""

    keys: tuple[str, ...]
    values: tuple[str, ...]
    digits: int = DIGITS


def plain(value: Any, digits: int) -> Any:
    """The value as JSON has it, with floats rounded to significant digits."""
    if isinstance(value, dict):
        return {str(name): plain(each, digits) for name, each in sorted(value.items())}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each, digits) for each in value]
    if hasattr(value, "item"):  # NumPy's numbers
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") + 0.0 if math.isfinite(value) else str(value)
    return value


def brief(text: str) -> str:
    """A text itself where it is short, else its length and hash."""
    return text if len(text) <= 60 else f"{len(text)}:{sha256(text.encode()).hexdigest()[:12]}"


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every number and text of nested values, with its path."""
    if isinstance(value, dict):
        pairs: Iterable[tuple[object, Any]] = sorted(value.items(), key=lambda pair: str(pair[0]))
    elif isinstance(value, list | tuple):
        pairs = enumerate(value)
    else:
        yield path, value
        return
    for name, each in pairs:
        yield from leaves(each, f"{path}.{name}" if path else str(name))


def dump(layout: Layout, rows: Iterable[Iterable[Any]]) -> str:
    """One line per row, empty values at its end left out, below a line with the columns."""
    lines = [_line([*layout.keys, *layout.values])]
    for row in rows:
        values = plain(list(row), layout.digits)
        while len(values) > len(layout.keys) and values[-1] in _EMPTY:
            values.pop()
        lines.append(_line(values))
    return "\n".join(lines) + "\n"


def _line(values: list[Any]) -> str:
    return json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


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
                for name in layout.values
                if not _same(one.get(name), other.get(name), layout.digits)
            ]
            if columns:
                yield f"{key} #{number}: {'; '.join(columns)}"


def _grouped(layout: Layout, text: str) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for line in text.splitlines()[1:]:
        row = json.loads(line)
        keys, values = row[: len(layout.keys)], row[len(layout.keys) :]
        groups.setdefault(" › ".join(map(str, keys)), []).append(
            dict(zip(layout.values, values, strict=False))
        )
    return groups


def _same(one: Any, other: Any, digits: int) -> bool:
    """Equal; floats may differ by one unit of their last digit, to which each was rounded."""
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return all(_same(*pair, digits) for pair in zip(one, other, strict=True))
    if isinstance(one, float) or isinstance(other, float):
        if not isinstance(one, float | int) or not isinstance(other, float | int):
            return False
        return math.isclose(one, other, rel_tol=1.5 * 10 ** (1 - digits), abs_tol=10**-digits)
    return bool(one == other)
