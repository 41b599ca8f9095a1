"""sweep.toml ⇄ `Sweep`: a plan kept under version control; an error names file, table, key and what is expected."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from chunkwise import chunkers
from chunkwise.base import parameters, spec
from chunkwise.base.allow_hosts_and_code_from_files import (
    check_allowed,
    check_store,
    distrust,
    texts_in,
    trust,
)
from chunkwise.base.errors import ChunkwiseError, InvalidOption, InvalidParameter, UnknownOption
from chunkwise.base.object_store import address_of, local_name
from chunkwise.base.registry import Registry
from chunkwise.base.schema import schema
from chunkwise.documents import LoadOptions, options_given
from chunkwise.options import ReadOptions, TuneOptions
from chunkwise.retrieval import retrievers
from chunkwise.text.tokens.tokenizers import get_tokenizer
from chunkwise.tuning.plan.grid import (
    ANY_CONTEXT,
    default_chunkers,
    default_retrieval,
    parameter_names,
)
from chunkwise.tuning.sweep import NO_MODEL, Grid, Sweep, SweepValue, objective_of
from chunkwise.tuning.toml_file import read_toml, toml_line

T = TypeVar("T")
_OPTIONS = [field.name for field in schema(TuneOptions)]
_READING = [field.name for field in schema(ReadOptions) if field.name not in ("ocr", "limits")]
"""How documents are read, as far as a plan says it: it names no command, which `ocr` is."""


def sweep_text(sweep: Sweep, folder: str | os.PathLike[str] = ".") -> str:
    """TOML; `folder` is where the file will lie, which paths are written from."""
    return "".join(f"{line}\n" for line in _lines(sweep, Path(folder)))


def _lines(sweep: Sweep, folder: Path) -> Iterator[str]:
    def line(key: str, value: Any) -> str:
        return toml_line(key, in_texts(value, lambda name: _named(folder, name)))

    yield "[sweep]"
    yield toml_line("source", [path_from(folder, name) for name in sweep.documents])
    if sweep.test_queries is not None:
        yield toml_line("queries", path_from(folder, sweep.test_queries))
    for name in _OPTIONS:
        value = getattr(sweep, name)
        if name == "embedder" or value not in (None, (), ""):
            yield line(name, value or NO_MODEL if name == "embedder" else value)
    reading = {name: value for name, value in sweep.reading.items() if name in _READING}
    if reading:
        yield "\n[sweep.reading]"
    for name, value in reading.items():
        if value is not None:
            yield line(name, value) if name == "loader" else toml_line(name, value)
    for table, first, grids in (
        ("chunkers", "strategy", sweep.chunkers), ("retrieval", "retriever", sweep.retrieval)
    ):  # fmt: skip
        for grid in grids:
            yield f"\n[[sweep.{table}]]"
            yield line(first, grid.names)
            yield from (line(key, values) for key, values in grid.values)


def in_texts(value: Any, change: Callable[[str], str]) -> Any:
    """The value with its texts changed, those of a list, too."""
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return tuple(in_texts(item, change) for item in value)
    return change(value) if isinstance(value, str) else value


def _named(folder: Path, name: str) -> str:
    return path_from(folder, name) if is_path(name) else name


def is_path(name: str) -> bool:
    """Whether a strategy, a model or a tokenizer is named by its file."""
    return "://" not in name and (".py:" in name or name.endswith((".onnx", ".json")))


def path_from(folder: Path, path: str) -> str:
    """Below the folder as seen from it; elsewhere from the root, whatever lies between; an address as it is."""
    if address := address_of(path):
        return address
    try:
        return str(Path(path).relative_to(folder))
    except ValueError:
        return os.path.abspath(path)


def in_folder(name: str, folder: Path) -> str:
    """A path is meant from the folder of the file; a name stays as it is."""
    return str(folder / name) if is_path(name) else name


Some = Annotated[list[T], Meta(min_length=1)]
_Text = Annotated[str, Meta(pattern=r"\S")]
_Table = dict[str, SweepValue | Some[SweepValue]]


class _SweepTable(msgspec.Struct):
    """What a plan has beside its options."""

    source: _Text | Some[_Text]
    queries: _Text | None = None
    reading: dict[str, str | bool | list[str]] = {}
    chunkers: _Table | Some[_Table] = msgspec.field(default_factory=list)
    retrieval: _Table | Some[_Table] = msgspec.field(default_factory=list)


def read_sweep(path: str | os.PathLike[str], *, as_record: bool = False) -> Sweep:
    """The plan in a file; paths in it are meant from the file's folder. Without grids: the usual ones.

    `as_record`: the user named the folder it lies in, and not the plan; so names in it are not the user's.
    """
    file, folder = os.fspath(path), Path(path).parent
    given = read_toml(file, "plan")
    named = [given, *(in_folder(text, folder) for text in texts_in(given))]
    if as_record:
        distrust(named, file)
    else:
        trust(named)
    if not isinstance(given.get("sweep"), dict) or len(given) > 1:
        raise InvalidParameter(f"{file} isn't a plan: it has no table [sweep]")
    try:
        return _sweep(given["sweep"], folder, file if as_record else "")
    except msgspec.ValidationError as error:
        reason, _, place = str(error).partition(" - at `$")
        raise InvalidParameter(f"{file}: [sweep] {place.strip('.`')}: {reason}") from None
    except ChunkwiseError as error:
        raise InvalidParameter(f"{file}: {error}") from None


def _sweep(given: dict[str, Any], folder: Path, origin: str) -> Sweep:
    known = [*_SweepTable.__struct_fields__, *_OPTIONS]
    for name in given:
        if name not in known:
            raise UnknownOption(name, known)
    table = msgspec.convert(given, _SweepTable)
    options = {
        name: in_texts(value, lambda text: in_folder(text.strip(), folder))
        for name, value in given.items()
        if name in _OPTIONS
    }
    sweep = Sweep(
        tuple(_source(name, folder, origin) for name in _listed(table.source)),
        None if table.queries is None else str(folder / table.queries),
        tuple(_grid(grid, "strategy", chunkers.strategies, folder) for grid in _listed(table.chunkers)),
        tuple(_grid(grid, "retriever", retrievers.registry, folder) for grid in _listed(table.retrieval)),
        reading=_reading(table.reading, folder),
        **options,
    )  # fmt: skip
    return replace(
        sweep,
        objective=objective_of(sweep.objective, sweep.k),
        tokenizer=get_tokenizer(sweep.tokenizer).name,
        chunkers=sweep.chunkers or default_chunkers(has_headings=True),
        retrieval=sweep.retrieval or default_retrieval(sweep.embedder),
    )


def _listed(value: T | list[T]) -> list[T]:
    return value if isinstance(value, list) else [value]


def _source(name: str, folder: Path, origin: str) -> str:
    """A path is meant from the folder of the file; an address stays as it is, and is not read if a record names it."""
    address = address_of(name)
    if address is None:
        return str(folder / local_name(name))
    if origin:
        check_store(address, origin)
    return address


def _reading(given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    for name in given:
        if name not in _READING:
            raise UnknownOption(name, _READING)
    loader = {"loader": in_folder(str(given["loader"]), folder)} if "loader" in given else {}
    return options_given(LoadOptions.read({**given, **loader}))


_SPECIAL = {"strategy": ("context",), "retriever": ("neighbors",)}
"""Keys that are no parameters of a strategy or a retriever."""


def _grid(given: _Table, first: str, registry: Registry, folder: Path) -> Grid:
    """Names under the key `first`, and values for their parameters."""
    lists: dict[str, tuple[Any, ...]] = {
        key: in_texts(tuple(_listed(value)), lambda name: in_folder(name, folder))
        for key, value in given.items()
    }
    names = lists.pop(first, ())
    if not names or not all(isinstance(name, str) for name in names):
        raise InvalidOption(first, names, "expected a name or a list of names")
    parts = [_part(name, registry) for name in names]
    known = [parameter_names(part) for part in parts]
    if None not in known:
        allowed = [first, *_SPECIAL[first], *(key for keys in known for key in keys or ())]
        for key in lists:
            if key not in allowed:
                raise UnknownOption(key, allowed)
    for key, values in lists.items():
        for value in values:
            _check_value(key, value, parts)
    check_allowed(list(lists.items()))  # here: what grids make of them are texts of our own
    return Grid(names, tuple(lists.items()))


def _part(name: str, registry: Registry) -> Any:
    try:
        return registry.get(spec.parse(name)[0])
    except ChunkwiseError:
        raise
    except Exception as error:  # somebody else's module
        raise InvalidParameter(f"{name} cannot be loaded: {error}") from error


def _check_value(key: str, value: SweepValue, parts: list[Any]) -> None:
    """Refuse a value that none of the parts can take."""
    if key == "context" and value not in ANY_CONTEXT:
        raise InvalidOption(key, value, f"allowed: {', '.join(ANY_CONTEXT)}")
    if key == "neighbors" and (type(value) is not int or value < 0):
        raise InvalidOption(key, value, "expected a number of chunks, 0 or more")
    refused = None
    for part in parts:
        try:
            if parameters.check_named(part, key, value):
                return
        except InvalidParameter as error:
            refused = error
    if refused:
        raise refused
