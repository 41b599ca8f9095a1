"""sweep.toml ⇄ `Sweep`: a plan that can be kept under version control."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from chunkwise import chunkers
from chunkwise.errors import ChunkwiseError, InvalidParameter
from chunkwise.experiments.planning.budget import Budget, parse_budget, parse_price
from chunkwise.experiments.planning.sweep_grid import in_folder, read_grid
from chunkwise.experiments.planning.sweep_table import Table
from chunkwise.experiments.planning.sweep_text import NO_MODEL, sweep_text
from chunkwise.experiments.planning.usual_sweep import usual_chunkers, usual_retrieval
from chunkwise.experiments.sweep import Grid, Sweep
from chunkwise.metrics.measures import parse
from chunkwise.models import DEFAULT
from chunkwise.retrieval import retrievers

__all__ = ["read_sweep", "sweep_text"]

T = TypeVar("T")

_KEYS = (
    "documents", "test_queries", "objective", "budget", "price", "seed", "exact", "model", "finalists",
    "test_share",
    "chunkers", "retrieval",
)  # fmt: skip
_ELSEWHERE = {
    **dict.fromkeys(("strategy", "max_tokens", "overlap", "context"), "[[sweep.chunkers]]"),
    **dict.fromkeys(("retriever", "neighbours", "k"), "[sweep.retrieval]"),
}


def read_sweep(path: str | os.PathLike[str]) -> Sweep:
    """The plan in a file; paths in it are meant from the file's folder. Without grids: the usual ones."""
    file, folder = os.fspath(path), Path(path).parent
    table = _sweep_table(file)
    table.only(_KEYS, _ELSEWHERE)
    retrieval = table.tables("retrieval", "a table is needed: [sweep.retrieval]")
    k = _k(retrieval)
    model = _model(table, folder)
    budget, price = _money(table)
    needed = 'a file or folder is needed, or a list of them: documents = "handbook/"'
    documents = tuple(str(folder / name) for name in table.texts("documents", needed))
    test_queries = None
    if "test_queries" in table.values:
        test_queries = str(
            folder / table.of_type("test_queries", str, "", "the path of a file is needed")
        )
    return Sweep(
        documents,
        test_queries,
        _chunkers(table, folder),
        _retrieval(retrieval, folder) or usual_retrieval(model),
        _objective(table, k),
        k,
        model,
        budget.seconds,
        budget.money,
        budget.currency or price[1],
        price[0],
        table.whole("seed", 0, 0),
        table.of_type("exact", bool, False, "true or false is needed"),
        table.whole("finalists", 5, 0),
        _test_share(table),
    )


def _sweep_table(file: str) -> Table:
    try:
        given = tomllib.loads(Path(file).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ChunkwiseError(f"cannot read {file}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ChunkwiseError(f"{file} is no TOML: {error}") from error
    except RecursionError:
        raise ChunkwiseError(
            f"{file} is no plan: its tables or lists are nested too deeply"
        ) from None
    except ValueError as error:  # a number of thousands of digits
        raise ChunkwiseError(f"{file} is no TOML: {error}") from error
    Table(file, "the file", given).only(("sweep",), dict.fromkeys(_KEYS, "[sweep]"))
    table = given.get("sweep")
    if not isinstance(table, dict):
        raise ChunkwiseError(f"{file} is no plan: it has no table [sweep]; start it with that line")
    return Table(file, "[sweep]", table)


def _chunkers(table: Table, folder: Path) -> tuple[Grid, ...]:
    found = table.tables("chunkers", "tables are needed: [[sweep.chunkers]]")
    if not found:
        return usual_chunkers(has_headings=True)
    return tuple(read_grid(each, "strategy", chunkers.registry, folder) for each in found)


def _retrieval(tables: list[Table], folder: Path) -> tuple[Grid, ...]:
    return tuple(read_grid(each, "retriever", retrievers.registry, folder) for each in tables)


def _k(tables: list[Table]) -> int:
    """One for the whole sweep: figures of different k cannot be compared."""
    given = {each.whole("k", 5, 1): each for each in tables}
    if len(given) > 1:
        value, table = max(given.items())
        raise table.wrong("k", value, f"and {min(given)} elsewhere; a sweep has one")
    return next(iter(given), 5)


def _model(table: Table, folder: Path) -> str:
    needed = f'the name of a model is needed, such as "{DEFAULT}", or "{NO_MODEL}"'
    model = table.of_type("model", str, DEFAULT, needed).strip()
    if not model:
        raise table.wrong("model", model, needed)
    return "" if model == NO_MODEL else in_folder(model, folder)


def _objective(table: Table, k: int) -> str:
    usual = "recall@1000t"
    said = table.of_type("objective", str, usual, f'a metric is needed, such as "{usual}"')
    try:
        return parse(said, k).label
    except ChunkwiseError as error:
        raise table.refused("objective", error) from None


def _money(table: Table) -> tuple[Budget, tuple[float | None, str]]:
    needed = "a time ('90 s', '10 min', '1 h') or money ('5 USD') is needed, in quotes"
    budget = _read(table, "budget", parse_budget, needed) or Budget()
    needed = "what a million tokens cost is needed, in quotes, such as '0.02 USD'"
    price = _read(table, "price", parse_price, needed) or (None, "")
    if budget.money is not None and price[0] is None:
        needed = 'and what a million tokens cost is not said: price = "0.02 USD"'
        raise table.wrong("budget", table.values["budget"], needed)
    if budget.currency and budget.currency != price[1]:
        raise table.wrong("price", table.values["price"], f"and the budget is in {budget.currency}")
    return budget, price


def _read(table: Table, key: str, parsed: Callable[[str], T], needed: str) -> T | None:
    if key not in table.values:
        return None
    said = table.of_type(key, str, "", needed)
    try:
        return parsed(said)
    except ChunkwiseError as error:
        raise InvalidParameter(f"{table.file}: {table.name} {error}") from None


def _test_share(table: Table) -> float:
    needed = "the share of questions that test the choice is needed, more than 0 and less than 1"
    share = table.fraction("test_share", needed)
    if share is None:
        return 0.5
    if not 0 < share < 1:
        raise table.wrong("test_share", share, needed)
    return share
