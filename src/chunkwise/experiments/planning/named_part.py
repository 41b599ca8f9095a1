"""A strategy or a retriever that a grid names; one that cannot be had is left out with the reason."""

from __future__ import annotations

from typing import Any

from chunkwise import spec
from chunkwise.errors import ChunkwiseError
from chunkwise.experiments.planning.not_tried import LeftOut
from chunkwise.registry import Registry


def named_part(
    name: str, registry: Registry, left_out: LeftOut
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
