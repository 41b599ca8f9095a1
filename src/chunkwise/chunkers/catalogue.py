"""What a strategy says about itself, read off its class."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from chunkwise import parameters


def describe(name: str, cls: type) -> dict[str, Any]:
    """Name, purpose, when to use it, and every parameter with default and bounds."""
    purpose, _, use = (inspect.getdoc(cls) or "").partition("\n\n")
    return {
        "name": name,
        "purpose": " ".join(purpose.split()),
        "use": " ".join(use.split()),
        "parameters": [_parameter(cls, field) for field in parameters.fields(cls)],
    }


def _parameter(cls: type, field: dataclasses.Field[Any]) -> dict[str, Any]:
    allowed = parameters.bounds(field)
    default = None if field.default is dataclasses.MISSING else field.default
    unit, amount = getattr(cls, "default_overlap", ("", 0))
    return {
        "name": field.name,
        "default": amount if field.name == unit else default,
        "unit": allowed.unit,
        "low": allowed.low,
        "high": allowed.high,
        "choices": list(allowed.choices),
        "aliases": list(allowed.aliases),
        "help": allowed.help,
    }
