"""A pipeline of the user's own with parameters: what it declares, what of that its index is built with, building it.

    PARAMETERS = {
        "size": {"when": "index", "values": [200, 400, 800], "default": 400},
        "weight": {"when": "query", "low": 0.0, "high": 1.0, "default": 0.5},
    }

    def build(size): ...    # returns what is asked: search(query, weight=…)

Parameters of the index are given to what builds it; those of a question to what is asked, so that trying another value
of them builds nothing.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from chunkwise.base import parameters, spec
from chunkwise.base.allow_hosts_and_code_from_files import check_allowed
from chunkwise.base.errors import InvalidParameter
from chunkwise.retrieval.retrievers import registry

DECLARATION = "PARAMETERS"
When = Literal["index", "query"]
PipelineValue = str | int | float | bool
_MOST_VALUES = 100


@dataclass(frozen=True, slots=True)
class PipelineParameter:
    """One knob: when it counts, and what is tried."""

    name: str
    when: When
    values: tuple[PipelineValue, ...]
    default: PipelineValue
    """One of the values: what the pipeline is compared with."""


def pipeline_part(name: str) -> Any:
    """What builds a pipeline, by `./file.py:name` or the name of a plug-in."""
    part = registry.get(name)
    if not callable(part):
        raise InvalidParameter(
            f"{name} is {type(part).__name__}; expected a function or class that builds a pipeline"
        )
    return part


def declared_parameters(name: str, part: Any) -> dict[str, PipelineParameter]:
    """By name, as the file or the part itself declares them; empty: none are."""
    module = sys.modules.get(getattr(part, "__module__", ""))
    declared = getattr(part, DECLARATION, None) or getattr(module, DECLARATION, None)
    if declared is None:
        return _of_dataclass(part)
    if not isinstance(declared, Mapping):
        raise InvalidParameter(
            f"{DECLARATION} of {name} is {type(declared).__name__}; expected a mapping"
        )
    return {str(each): _parameter(str(each), given) for each, given in declared.items()}


def _of_dataclass(part: Any) -> dict[str, PipelineParameter]:
    """Fields of a dataclass that say their bounds or choices (`param`): the index is built with them."""
    result = {}
    for field in parameters.fields(part) if isinstance(part, type) else ():
        bounds = parameters.bounds(field)
        given: dict[str, object] = {"when": "index", "default": field.default}
        if bounds.choices:
            given["values"] = list(bounds.choices)
        elif bounds.low is not None and bounds.high is not None:
            given |= {"low": bounds.low, "high": bounds.high}
        else:
            continue
        result[field.name] = _parameter(field.name, given)
    return result


class _Declared(msgspec.Struct, forbid_unknown_fields=True):
    """A parameter as it is written down: its values, or a range."""

    when: When = "index"
    values: Annotated[list[PipelineValue], Meta(min_length=1, max_length=_MOST_VALUES)] | None = (
        None
    )
    low: int | float | None = None
    high: int | float | None = None
    steps: Annotated[int, Meta(ge=2, le=_MOST_VALUES)] = 3
    default: PipelineValue | None = None
    help: str = ""


def _parameter(name: str, given: object) -> PipelineParameter:
    if isinstance(given, list | tuple):
        given = {"values": given}
    try:
        declared = msgspec.convert(given, _Declared)
    except msgspec.ValidationError as error:
        raise InvalidParameter(f"{DECLARATION}: {name}: {error}") from None
    values = declared.values or _range(name, declared)
    default = values[0] if declared.default is None else declared.default
    every = tuple(dict.fromkeys((_typed(default), *map(_typed, values))))
    return PipelineParameter(name, declared.when, tuple(value for _, value in every), default)


def _typed(value: PipelineValue) -> tuple[str, PipelineValue]:
    """1 and True are the same to a dictionary."""
    return type(value).__name__, value


def _range(name: str, declared: _Declared) -> Sequence[PipelineValue]:
    low, high, steps = declared.low, declared.high, declared.steps
    if low is None or high is None or not low < high:
        raise InvalidParameter(
            f"{DECLARATION}: {name} has neither values nor a range; expected for example "
            f"{{'low': 100, 'high': 800, 'steps': 3}}"
        )
    made = [low + (high - low) * at / (steps - 1) for at in range(steps)]
    if isinstance(low, int) and isinstance(high, int):
        return list(dict.fromkeys(round(value) for value in made))
    return [float(f"{value:.6g}") for value in made]


def split_values(
    declared: Mapping[str, PipelineParameter], values: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Those the index is built with, and those of a question; what is not declared is the builder's."""
    asked = {
        name: value
        for name, value in values.items()
        if name in declared and declared[name].when == "query"
    }
    return {name: value for name, value in values.items() if name not in asked}, asked


def check_builder(
    name: str, part: Any, declared: Mapping[str, PipelineParameter], fixed: Mapping[str, Any]
) -> None:
    """That it takes what it declares and what is named in brackets, told before anything is built."""
    usual = {parameter.name: parameter.default for parameter in declared.values()}
    of_index, _ = split_values(declared, {**usual, **fixed})
    try:
        inspect.signature(part).bind(**of_index)
    except TypeError as error:
        raise InvalidParameter(f"cannot build {name}: {error}") from None
    except ValueError:  # of another language: it says nothing of its parameters
        return


def build_pipeline(name: str, part: Any, values: Mapping[str, Any]) -> object:
    """What is asked; awaited where building is async."""
    made = parameters.build(part, name, values)
    made = asyncio.run(made) if inspect.iscoroutine(made) else made
    if made is None:
        raise InvalidParameter(f"{name}() returned None; expected a retriever")
    return made


def pipeline_label(name: str, values: Mapping[str, Any]) -> str:
    """The specification that `--retriever` takes, too."""
    message = ", ".join(f"{item}={value!r}" for item, value in values.items())
    return f"{name}({message})" if message else name


def parse_pipeline(text: str) -> tuple[str, dict[str, Any]]:
    """`./mine.py:build(database='x')`: the name, and values that stay as they are."""
    name, values = spec.parse(text, "pipeline", "./mine.py:build(database='kb')")
    check_allowed(values)
    return name, dict(values)
