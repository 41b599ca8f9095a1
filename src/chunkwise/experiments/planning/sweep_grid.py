"""A table of values to be combined, held against the parameters of what it names."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from chunkwise import parameters, spec
from chunkwise.chunkers.sized import overlap_tokens
from chunkwise.errors import ChunkwiseError, InvalidParameter
from chunkwise.experiments.planning.combining import takes
from chunkwise.experiments.planning.sweep_table import Table
from chunkwise.experiments.planning.sweep_text import is_path
from chunkwise.experiments.sweep import Grid, Value
from chunkwise.registry import Registry
from chunkwise.retrieval.settings import Context

SPECIAL = {"context": "chunkers", "neighbours": "retrieval", "k": "retrieval"}
"""Keys that are no parameters of a strategy or a retriever, with the table they stand in."""


def read_grid(table: Table, first: str, registry: Registry, folder: Path) -> Grid:
    """Names under the key `first`, and values for their parameters."""
    needed = f'a name is needed, or a list of them: {first} = ["{next(iter(registry.builtin))}"]'
    names = tuple(in_folder(name, folder) for name in table.texts(first, needed))
    parts = [_part(table, first, name, registry) for name in names]
    special = [key for key, where in SPECIAL.items() if where in table.name]
    known = [takes(part) for part in parts]
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
    return Grid(names, tuple(values))


def in_folder(name: str, folder: Path) -> str:
    """A path is meant from the folder of the file; a name stays as it is."""
    return str(folder / name) if is_path(name) else name


def _part(table: Table, first: str, name: str, registry: Registry) -> Any:
    try:
        return registry.get(spec.parse(name)[0])
    except ChunkwiseError as error:
        raise table.refused(first, error) from None
    except Exception as error:  # somebody else's module
        raise table.wrong(
            first, name, f"it cannot be loaded: {type(error).__name__}: {error}"
        ) from error


def _misfit(key: str, value: Value, parts: Collection[Any]) -> str:
    """What is needed instead, where none of the parts can take the value; empty: one can."""
    if key == "context":
        return _of_choices(value, get_args(Context))
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


def _misfit_of(field: dataclasses.Field[Any], value: Value) -> str:
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


def _overlap(value: Value) -> str:
    try:
        overlap_tokens(value, 100)  # type: ignore[arg-type]
    except InvalidParameter:
        return "a whole number from 0 up or a share such as '10%' is needed"
    return ""


def _of_choices(value: Value, allowed: tuple[str, ...]) -> str:
    if value in allowed:
        return ""
    near = get_close_matches(value, allowed, n=1, cutoff=0.6) if isinstance(value, str) else []
    return f"did you mean {near[0]}?" if near else f"allowed: {', '.join(map(repr, allowed))}"
