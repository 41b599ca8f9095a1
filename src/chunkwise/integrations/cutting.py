"""A text of another framework to chunks, and what is told of each beside its text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chunkwise.base import parameters, spec
from chunkwise.base.errors import InvalidParameter
from chunkwise.chunkers import Strategy, get_strategy, registry
from chunkwise.chunkers.chunk import StrategyLike
from chunkwise.core import Chunk

LengthFunction = Callable[[str], int]


def strategy_of(strategy: StrategyLike, given: dict[str, Any]) -> Strategy:
    """The strategy with parameters beside its name; those of None are not given."""
    said = {name: value for name, value in given.items() if value is not None}
    if said and not isinstance(strategy, str):
        raise InvalidParameter(
            f"{next(iter(said))} is given beside a strategy that is made already; name the strategy in a text, such as "
            "'sentences', or leave it out"
        )
    return get_strategy(strategy, **said)


def counted_by(strategy: StrategyLike, length_function: LengthFunction | None) -> dict[str, Any]:
    """The parameter that counts sizes as a function does; without one, in characters, as `len` counts."""
    if not isinstance(strategy, str):
        return {}
    name, values = spec.parse(strategy)
    if "tokenizer" in values:
        return {}
    part = registry.get(name)
    own = {field.name for field in parameters.fields(part)} if isinstance(part, type) else set()
    if "tokenizer" not in own:
        if length_function not in (None, len):
            raise InvalidParameter(
                f"length_function is given, and {name} counts by itself; leave it out, or choose a strategy that has a "
                "tokenizer, such as recursive or sentences"
            )
        return {}
    plain = length_function in (None, len)
    return {"tokenizer": "characters" if plain else length_function}


def chunk_metadata(chunk: Chunk) -> dict[str, Any]:
    """What there is to know of a chunk beside its place and text; what is empty is left out."""
    found: dict[str, Any] = {"section": chunk.section_path, "context": chunk.context}
    if chunk.page is not None:
        found["page"] = chunk.page
    if chunk.parent is not None:
        found |= {"parent_start": chunk.parent.start, "parent_end": chunk.parent.end}
    if chunk.level:
        found |= {"level": chunk.level, "spans": [list(span) for span in chunk.spans]}
    return {name: value for name, value in found.items() if value != ""}
