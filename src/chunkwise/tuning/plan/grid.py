"""A grid's values combined; what a component does not take or cannot be had is left out with the reason."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import product
from math import prod
from typing import Any, NamedTuple

from chunkwise.base import parameters, spec
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.registry import Registry
from chunkwise.tuning.sweep import Grid, SweepValue


class NotTried(NamedTuple):
    """One line of the plan: the values as they were written, and why they are left out."""

    what: str
    why: str


class NotTriedLog:
    """Lines in the order they came up, each once."""

    def __init__(self) -> None:
        self._lines: dict[NotTried, None] = {}

    def add(self, what: str, why: str) -> None:
        self._lines[NotTried(what, why)] = None

    @property
    def lines(self) -> tuple[NotTried, ...]:
        return tuple(self._lines)


def named_component(
    name: str, registry: Registry, left_out: NotTriedLog
) -> tuple[str, dict[str, object], Any] | None:
    """Its bare name, the values written with it, and what makes it."""
    try:
        bare, own = spec.parse(name)
        return bare, own, registry.get(bare)
    except ChunkwiseError as error:
        left_out.add(name, str(error))
    except Exception as error:  # somebody else's module
        left_out.add(name, f"it cannot be loaded: {type(error).__name__}: {error}")
    return None


MOST = 100_000
"""Combinations of one grid: a slip of the pen makes millions, and nobody waits for those."""


def check_amount(grid: Grid) -> None:
    """Refuses a grid that no run would come to the end of, and one that says nothing."""
    empty = [f"a value for {name}" for name, values in grid.values if not values]
    lacks = empty if grid.names else ["a name"]
    if lacks:
        raise InvalidParameter(f"the grid lacks {lacks[0]}; at least one is needed")
    amount = len(grid.names) * prod(len(values) for _, values in grid.values)
    if amount > MOST:
        sizes = " × ".join(f"{len(values):,} {name}" for name, values in grid.values)
        raise InvalidParameter(
            f"the grid has {amount:,} combinations ({len(grid.names):,} names × {sizes}); the most allowed are "
            f"{MOST:,}: take fewer values, or several smaller grids"
        )


def combinations(
    grid: Grid,
    name: str,
    own: Collection[str],
    known: Collection[str] | None,
    left_out: NotTriedLog,
) -> Iterator[dict[str, SweepValue]]:
    """Every choice of values for one name of a grid: `own` parameters it says itself, `known` are all it takes.

    A parameter it does not take is left out, not the name with it. None: what it takes is not known.
    """
    taken: list[tuple[str, tuple[SweepValue, ...]]] = []
    for key, values in grid.values:
        said = f"{key} = {', '.join(map(repr, values))} of {name}"
        if key in own:
            left_out.add(said, f"{name} stands in the plan with a {key} of its own, which holds")
        elif known is not None and key not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            left_out.add(said, f"{name} has no parameter {key!r} ({has}); tried once, without it")
        else:
            taken.append((key, tuple(map(plain_number, values))))
    for chosen in product(*(values for _, values in taken)):
        yield dict(zip((key for key, _ in taken), chosen, strict=True))


def parameter_names(cls: object) -> tuple[str, ...] | None:
    """The parameters of a part, other names for them included; None: it does not say."""
    found = parameters.fields(cls) if isinstance(cls, type) else ()
    if not found and not hasattr(cls, "__dataclass_fields__"):
        return None
    others = [other for field in found for other in parameters.bounds(field).aliases]
    return (*(field.name for field in found), *others)


def plain_number(value: SweepValue) -> SweepValue:
    """1.0 is 1: labels are compared as texts."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def written_out(name: str, values: dict[str, SweepValue]) -> str:
    """A combination as the user would write it by itself."""
    said = ", ".join(f"{key}={value!r}" for key, value in values.items())
    if not said:
        return name
    return f"{name[:-1]}, {said})" if name.endswith(")") else f"{name}({said})"
