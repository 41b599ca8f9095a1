"""A grid's values combined, those left out that a part does not take."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import product
from math import prod

from chunkwise import parameters
from chunkwise.errors import InvalidParameter
from chunkwise.experiments.planning.not_tried import LeftOut
from chunkwise.experiments.sweep import Grid, Value

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
    grid: Grid, name: str, own: Collection[str], known: Collection[str] | None, left_out: LeftOut
) -> Iterator[dict[str, Value]]:
    """Every choice of values for one name of a grid: `own` parameters it says itself, `known` are all it takes.

    A parameter it does not take is left out, not the name with it. None: what it takes is not known.
    """
    taken: list[tuple[str, tuple[Value, ...]]] = []
    for key, values in grid.values:
        said = f"{key} = {', '.join(map(repr, values))} of {name}"
        if key in own:
            left_out.add(said, f"{name} stands in the plan with a {key} of its own, which holds")
        elif known is not None and key not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            left_out.add(said, f"{name} has no parameter {key!r} ({has}); tried once, without it")
        else:
            taken.append((key, tuple(map(plain, values))))
    for chosen in product(*(values for _, values in taken)):
        yield dict(zip((key for key, _ in taken), chosen, strict=True))


def takes(cls: object) -> tuple[str, ...] | None:
    """The parameters of a part, other names for them included; None: it does not say."""
    found = parameters.fields(cls) if isinstance(cls, type) else ()
    if not found and not hasattr(cls, "__dataclass_fields__"):
        return None
    others = [other for field in found for other in parameters.bounds(field).aliases]
    return (*(field.name for field in found), *others)


def plain(value: Value) -> Value:
    """1.0 is 1: labels are compared as texts."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def written(name: str, values: dict[str, Value]) -> str:
    """A combination as the user would write it by itself."""
    said = ", ".join(f"{key}={value!r}" for key, value in values.items())
    if not said:
        return name
    return f"{name[:-1]}, {said})" if name.endswith(")") else f"{name}({said})"
