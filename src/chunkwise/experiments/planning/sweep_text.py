"""A sweep as the text of a file that `read_sweep` reads again."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from chunkwise.errors import InvalidParameter
from chunkwise.experiments.planning.budget import Budget, budget_text
from chunkwise.experiments.sweep import Grid, Sweep, Value

NO_MODEL = "none"
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def sweep_text(sweep: Sweep, folder: str | os.PathLike[str] = ".") -> str:
    """TOML; `folder` is where the file will lie, which paths are written from."""
    return "".join(f"{line}\n" for line in _lines(sweep, Path(folder)))


def _lines(sweep: Sweep, folder: Path) -> Iterator[str]:
    yield "[sweep]"
    yield _line("documents", [_from(folder, each) for each in sweep.documents])
    if sweep.test_queries is not None:
        yield _line("test_queries", [_from(folder, sweep.test_queries)])
    yield _line("objective", [sweep.objective])
    budget = budget_text(Budget(sweep.seconds, sweep.money, sweep.currency))
    if budget:
        yield _line("budget", [budget])
    if sweep.price is not None:
        yield _line("price", [budget_text(Budget(None, sweep.price, sweep.currency))])
    yield _line("model", [_named(folder, sweep.model) or NO_MODEL])
    yield _line("seed", [sweep.seed])
    yield _line("exact", [sweep.exact])
    yield _line("finalists", [sweep.finalists])
    yield _line("test_share", [sweep.test_share])
    for grid in sweep.chunkers:
        yield ""
        yield "[[sweep.chunkers]]"
        yield from _grid("strategy", grid, folder)
    for grid in sweep.retrieval:
        yield ""
        yield "[[sweep.retrieval]]"
        yield from _grid("retriever", grid, folder)
        yield _line("k", [sweep.k])


def _grid(first: str, grid: Grid, folder: Path) -> Iterator[str]:
    yield _line(first, [_named(folder, name) for name in grid.names])
    for key, values in grid.values:
        if key == "tokenizer":
            values = tuple(
                _named(folder, each) if isinstance(each, str) else each for each in values
            )
        yield _line(key, values)


def _named(folder: Path, name: str) -> str:
    return _from(folder, name) if is_path(name) else name


def is_path(name: str) -> bool:
    """Whether a strategy, a model or a tokenizer is named by its file."""
    return "://" not in name and (".py:" in name or name.endswith((".onnx", ".json")))


def _from(folder: Path, path: str) -> str:
    """Below the folder as seen from it; elsewhere from the root, whatever lies between."""
    try:
        return str(Path(path).relative_to(folder))
    except ValueError:
        return os.path.abspath(path)


def _line(key: str, values: Sequence[Value]) -> str:
    name = key if _BARE.fullmatch(key) else _value(key)
    said = ", ".join(map(_value, values))
    return f"{name} = {said}" if len(values) == 1 else f"{name} = [{said}]"


def _value(value: Value) -> str:
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
