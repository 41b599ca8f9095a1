"""sweep.toml ⇄ `Sweep`: a plan kept under version control; an error names file, key, value and what is allowed."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from chunkwise import chunkers
from chunkwise.base import parameters, spec
from chunkwise.base.allow_hosts_and_code_from_files import (
    check_allowed,
    check_store,
    distrust,
    texts_in,
    trust,
)
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.object_store import address_of
from chunkwise.base.registry import Registry
from chunkwise.base.wording import did_you_mean
from chunkwise.chunkers.packing.overlap import overlap_tokens
from chunkwise.documents import LoadOptions, options_given
from chunkwise.documents.loader import OptionValue
from chunkwise.models import DEFAULT
from chunkwise.retrieval import retrievers
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, get_tokenizer
from chunkwise.tuning.plan.grid import (
    ANY_CONTEXT,
    default_chunkers,
    default_retrieval,
    parameter_names,
)
from chunkwise.tuning.plan.sweep_budget import SweepBudget, budget_text, parse_amount, parse_budget
from chunkwise.tuning.sweep import Grid, Sweep, SweepValue, constraints_of, objective_of
from chunkwise.tuning.toml_file import TomlTable, read_toml, toml_line

NO_MODEL = "none"


def sweep_text(sweep: Sweep, folder: str | os.PathLike[str] = ".") -> str:
    """TOML; `folder` is where the file will lie, which paths are written from."""
    return "".join(f"{line}\n" for line in _lines(sweep, Path(folder)))


def _lines(sweep: Sweep, folder: Path) -> Iterator[str]:
    yield "[sweep]"
    yield toml_line("source", [_from(folder, each) for each in sweep.documents])
    if sweep.test_queries is not None:
        yield toml_line("queries", [_from(folder, sweep.test_queries)])
    yield toml_line("objective", [sweep.objective])
    if sweep.at_least:
        yield toml_line("at_least", [f"{name}={least}" for name, least in sweep.at_least.items()])
    budget = budget_text(SweepBudget(sweep.seconds, sweep.money, sweep.currency))
    if budget:
        yield toml_line("budget", [budget])
    if sweep.price is not None:
        yield toml_line("price", [budget_text(SweepBudget(None, sweep.price, sweep.currency))])
    models = (_named(folder, each) for each in (sweep.embedder, *sweep.embedders))
    yield toml_line("embedder", [each or NO_MODEL for each in models])
    if sweep.rerankers:
        yield toml_line("reranker", [_named(folder, each) for each in sweep.rerankers])
    if sweep.maxsim:
        yield toml_line("maxsim", [sweep.maxsim])
    if sweep.llm:
        yield toml_line("llm", [sweep.llm])
    if sweep.tokenizer != DEFAULT_TOKENIZER:
        yield toml_line("tokenizer", [_named(folder, sweep.tokenizer)])
    yield toml_line("seed", [sweep.seed])
    yield toml_line("exact", [sweep.exact])
    yield toml_line("finalists", [sweep.finalists])
    yield toml_line("test_share", [sweep.test_share])
    yield toml_line("prior", [sweep.prior])
    yield from _reading_lines(sweep.reading, folder)
    for grid in sweep.chunkers:
        yield ""
        yield "[[sweep.chunkers]]"
        yield from _grid("strategy", grid, folder)
    for grid in sweep.retrieval:
        yield ""
        yield "[[sweep.retrieval]]"
        yield from _grid("retriever", grid, folder)
        yield toml_line("k", [sweep.k])


def _reading_lines(reading: Mapping[str, OptionValue], folder: Path) -> Iterator[str]:
    """Only what was said; of a command that reads pictures (ocr) no file may speak."""
    said = {name: value for name, value in reading.items() if name in _READING}
    if said:
        yield ""
        yield "[sweep.reading]"
    for name, value in said.items():
        if value is not None:
            values = value if isinstance(value, list) else [value]
            is_loader = name == "loader" and isinstance(value, str)
            yield toml_line(name, [_named(folder, str(value))] if is_loader else values)


def _grid(first: str, grid: Grid, folder: Path) -> Iterator[str]:
    yield toml_line(first, [_named(folder, name) for name in grid.names])
    for key, values in grid.values:
        if key == "tokenizer":
            values = tuple(
                _named(folder, each) if isinstance(each, str) else each for each in values
            )
        yield toml_line(key, values)


def _named(folder: Path, name: str) -> str:
    return _from(folder, name) if is_path(name) else name


def is_path(name: str) -> bool:
    """Whether a strategy, a model or a tokenizer is named by its file."""
    return "://" not in name and (".py:" in name or name.endswith((".onnx", ".json")))


def _from(folder: Path, path: str) -> str:
    """Below the folder as seen from it; elsewhere from the root, whatever lies between; an address as it is."""
    if address := address_of(path):
        return address
    try:
        return str(Path(path).relative_to(folder))
    except ValueError:
        return os.path.abspath(path)


SPECIAL = {"context": "chunkers", "neighbours": "retrieval", "k": "retrieval"}
"""Keys that are no parameters of a strategy or a retriever, with the table they stand in."""


def read_grid(table: TomlTable, first: str, registry: Registry, folder: Path) -> Grid:
    """Names under the key `first`, and values for their parameters."""
    needed = f'a name is needed, or a list of them: {first} = ["{next(iter(registry.builtin))}"]'
    names = tuple(in_folder(name, folder) for name in table.texts(first, needed))
    parts = [_part(table, first, name, registry) for name in names]
    special = [key for key, where in SPECIAL.items() if where in table.name]
    known = [parameter_names(part) for part in parts]
    if all(each is not None for each in known):
        own = dict.fromkeys(key for each in known for key in each or ())
        elsewhere = {key: f"[sweep.{where}]" for key, where in SPECIAL.items()}
        table.only((first, *special, *own), elsewhere)
    values = []
    for key in table.values:
        if key in (first, "k"):
            continue
        chosen = table.choices(key)
        for value in chosen:
            if wrong := _misfit(key, value, parts):
                raise table.wrong(key, value, wrong)
        if key == "tokenizer":
            chosen = tuple(
                in_folder(each, folder) if isinstance(each, str) else each for each in chosen
            )
        values.append((key, chosen))
    check_allowed(values)  # here: what grids make of them are texts of our own
    return Grid(names, tuple(values))


def in_folder(name: str, folder: Path) -> str:
    """A path is meant from the folder of the file; a name stays as it is."""
    return str(folder / name) if is_path(name) else name


def _part(table: TomlTable, first: str, name: str, registry: Registry) -> Any:
    try:
        return registry.get(spec.parse(name)[0])
    except ChunkwiseError as error:
        raise table.refused(first, error) from None
    except Exception as error:  # somebody else's module
        raise table.wrong(
            first, name, f"it cannot be loaded: {type(error).__name__}: {error}"
        ) from error


def _misfit(key: str, value: SweepValue, parts: Collection[Any]) -> str:
    """What is needed instead, where none of the parts can take the value; empty: one can."""
    if key == "context":
        return _of_choices(value, ANY_CONTEXT)
    if key == "neighbours":
        is_count = type(value) is int and value >= 0
        return "" if is_count else "a whole number of chunks is needed, 0 or more"
    found = [field for part in parts for field in [_fields(part).get(key)] if field is not None]
    answers = [_misfit_of(field, value) for field in found]
    return "" if "" in answers or not answers else answers[0]


def _fields(part: object) -> Mapping[str, dataclasses.Field[Any]]:
    own = parameters.fields(part) if isinstance(part, type) else ()
    return {
        name: field for field in own for name in (field.name, *parameters.bounds(field).aliases)
    }


def _misfit_of(field: dataclasses.Field[Any], value: SweepValue) -> str:
    bounds = parameters.bounds(field)
    if isinstance(field.default, bool):
        return "" if isinstance(value, bool) else "true or false is needed"
    if bounds.choices:
        return _of_choices(value, bounds.choices)
    if field.name == "overlap" and bounds.help:
        return _overlap(value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if bounds.low is None and bounds.high is None:
        needs_number = isinstance(field.default, int | float)
        if needs_number and not number:
            return "a number is needed"
        is_name = isinstance(field.default, str) and bounds.help
        return "a text is needed" if is_name and not isinstance(value, str) else ""
    if not number or (isinstance(value, float) and not bounds.fraction):
        return bounds.needed
    low = bounds.low if bounds.low is not None else value
    high = bounds.high if bounds.high is not None else value
    return "" if low <= value <= high else f"from {low} to {high} is allowed"  # type: ignore[operator]


def _overlap(value: SweepValue) -> str:
    try:
        overlap_tokens(value, 100)  # type: ignore[arg-type]
    except InvalidParameter:
        return "a whole number from 0 up or a share such as '10%' is needed"
    return ""


def _of_choices(value: SweepValue, allowed: tuple[str, ...]) -> str:
    if value in allowed:
        return ""
    listed = f"allowed: {', '.join(map(repr, allowed))}"
    return did_you_mean(value, allowed, listed) if isinstance(value, str) else listed


T = TypeVar("T")

_KEYS = (
    "source", "queries", "objective", "budget", "price", "seed", "exact", "embedder", "finalists",
    "test_share", "tokenizer", "prior", "reranker", "maxsim", "at_least", "llm",
    "reading", "chunkers", "retrieval",
)  # fmt: skip
_READING = (
    "encoding", "text_field", "id_field", "title_field", "loader", "keep_boilerplate", "include", "exclude",
)  # fmt: skip
"""Options of `LoadOptions` that a plan can have."""
_ELSEWHERE = {
    **dict.fromkeys(("strategy", "max_tokens", "overlap", "context"), "[[sweep.chunkers]]"),
    **dict.fromkeys(_READING, "[sweep.reading]"),
    **dict.fromkeys(("retriever", "neighbours", "k"), "[sweep.retrieval]"),
}


def read_sweep(path: str | os.PathLike[str], *, as_record: bool = False) -> Sweep:
    """The plan in a file; paths in it are meant from the file's folder. Without grids: the usual ones.

    `as_record`: the user named the folder it lies in, and not the plan; so names in it are not the user's.
    """
    file, folder = os.fspath(path), Path(path).parent
    table = _sweep_table(file, as_record)
    table.only(_KEYS, _ELSEWHERE)
    retrieval = table.tables("retrieval", "a table is needed: [sweep.retrieval]")
    k = _k(retrieval)
    model, *others = _models(table, folder)
    budget, price = _money(table)
    needed = 'a file or folder is needed, or a list of them: source = "handbook/"'
    documents = tuple(
        _source(name, folder, file if as_record else "") for name in table.texts("source", needed)
    )
    test_queries = None
    if "queries" in table.values:
        test_queries = str(
            folder / table.of_type("queries", str, "", "the path of a file is needed")
        )
    return Sweep(
        documents,
        test_queries,
        _chunkers(table, folder),
        _retrieval(retrieval, folder) or default_retrieval(model),
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
        _reading(table, folder),
        _tokenizer(table, folder),
        table.of_type("prior", bool, True, "true or false is needed"),
        tuple(others),
        _rerankers(table, folder),
        table.of_type(
            "maxsim", str, "", 'the name of a token encoder is needed, such as "colbert-small"'
        ),
        at_least=_at_least(table),
        llm=table.of_type(
            "llm", str, "", 'the name of a language model is needed, such as "local"'
        ),
    )


def _source(name: str, folder: Path, origin: str) -> str:
    """A path is meant from the folder of the file; an address stays as it is, and is not read if a record names it."""
    address = address_of(name)
    if address is None:
        return str(folder / name)
    if origin:
        check_store(address, origin)
    return address


def _sweep_table(file: str, as_record: bool) -> TomlTable:
    given = read_toml(file, "plan")
    named = [given, *(in_folder(text, Path(file).parent) for text in texts_in(given))]
    if as_record:
        distrust(named, file)
    else:
        trust(named)
    TomlTable(file, "the file", given).only(("sweep",), dict.fromkeys(_KEYS, "[sweep]"))
    table = given.get("sweep")
    if not isinstance(table, dict):
        raise ChunkwiseError(f"{file} is no plan: it has no table [sweep]; start it with that line")
    return TomlTable(file, "[sweep]", table)


def _reading(table: TomlTable, folder: Path) -> dict[str, OptionValue]:
    needed = "one table is needed: [sweep.reading]"
    tables = table.tables("reading", needed)
    if not tables:
        return {}
    if len(tables) > 1:
        raise table.wrong("reading", table.values["reading"], needed)
    tables[0].only(_READING)  # a plan names no command: `ocr` is for the user alone
    said: dict[str, Any] = dict(tables[0].values)
    for name in ("include", "exclude"):
        if isinstance(said.get(name), str):  # a plan writes a list of one as its value
            said[name] = [said[name]]
    if isinstance(said.get("loader"), str):
        said["loader"] = in_folder(said["loader"], folder)
    try:
        return options_given(LoadOptions.read(said))
    except ChunkwiseError as error:
        raise InvalidParameter(f"{tables[0].file}: {tables[0].name} {error}") from None


def _chunkers(table: TomlTable, folder: Path) -> tuple[Grid, ...]:
    found = table.tables("chunkers", "tables are needed: [[sweep.chunkers]]")
    if not found:
        return default_chunkers(has_headings=True)
    return tuple(read_grid(each, "strategy", chunkers.strategies, folder) for each in found)


def _retrieval(tables: list[TomlTable], folder: Path) -> tuple[Grid, ...]:
    return tuple(read_grid(each, "retriever", retrievers.registry, folder) for each in tables)


def _k(tables: list[TomlTable]) -> int:
    """One for the whole sweep: figures of different k cannot be compared."""
    given = {each.whole("k", 5, 1): each for each in tables}
    if len(given) > 1:
        value, table = max(given.items())
        raise table.wrong("k", value, f"and {min(given)} elsewhere; a sweep has one")
    return next(iter(given), 5)


def _models(table: TomlTable, folder: Path) -> list[str]:
    """The first is that of the sweep; the best are tried with the others, too."""
    needed = (
        f'the name of a model is needed, such as "{DEFAULT}", or a list of them, or "{NO_MODEL}"'
    )
    key = "embedder"
    if key not in table.values:
        return [DEFAULT]
    found = [name.strip() for name in table.texts(key, needed)]
    if len(found) > 1 and NO_MODEL in found:
        raise table.wrong(key, table.values[key], f'"{NO_MODEL}" stands alone')
    return ["" if name == NO_MODEL else in_folder(name, folder) for name in dict.fromkeys(found)]


def _rerankers(table: TomlTable, folder: Path) -> tuple[str, ...]:
    if "reranker" not in table.values:
        return ()
    needed = 'the name of a reranker is needed, such as "local", or a list of them'
    return tuple(in_folder(name, folder) for name in dict.fromkeys(table.texts("reranker", needed)))


def _tokenizer(table: TomlTable, folder: Path) -> str:
    needed = f'the name of a tokenizer is needed, such as "{DEFAULT_TOKENIZER}"'
    named = table.of_type("tokenizer", str, DEFAULT_TOKENIZER, needed)
    try:
        return get_tokenizer(in_folder(named, folder)).name
    except ChunkwiseError as error:
        raise table.refused("tokenizer", error) from None


def _objective(table: TomlTable, k: int) -> str:
    usual = "recall@1000t"
    said = table.of_type("objective", str, usual, f'a metric is needed, such as "{usual}"')
    try:
        return objective_of(said, k)
    except ChunkwiseError as error:
        raise table.refused("objective", error) from None


def _at_least(table: TomlTable) -> dict[str, float]:
    if "at_least" not in table.values:
        return {}
    texts = table.texts("at_least", 'a metric with its least mean is needed: "precision=0.3"')
    try:
        return constraints_of(texts)
    except ChunkwiseError as error:
        raise table.refused("at_least", error) from None


def _money(table: TomlTable) -> tuple[SweepBudget, tuple[float | None, str]]:
    needed = "a time ('90 s', '10 min', '1 h') or money ('5 USD') is needed, in quotes"
    budget = _read(table, "budget", parse_budget, needed) or SweepBudget()
    needed = "what a million tokens cost is needed, in quotes, such as '0.02 USD'"
    price = _read(table, "price", parse_amount, needed) or (None, "")
    if budget.money is not None and price[0] is None:
        needed = 'and what a million tokens cost is not said: price = "0.02 USD"'
        raise table.wrong("budget", table.values["budget"], needed)
    if budget.currency and budget.currency != price[1]:
        raise table.wrong("price", table.values["price"], f"and the budget is in {budget.currency}")
    return budget, price


def _read(table: TomlTable, key: str, parsed: Callable[[str], T], needed: str) -> T | None:
    if key not in table.values:
        return None
    said = table.of_type(key, str, "", needed)
    try:
        return parsed(said)
    except ChunkwiseError as error:
        raise InvalidParameter(f"{table.file}: {table.name} {error}") from None


def _test_share(table: TomlTable) -> float:
    needed = (
        "the share of questions that test the choice is needed, from 0 (all choose) to less than 1"
    )
    share = table.fraction("test_share", needed)
    if share is None:
        return 0.0
    if not 0 <= share < 1:
        raise table.wrong("test_share", share, needed)
    return share
