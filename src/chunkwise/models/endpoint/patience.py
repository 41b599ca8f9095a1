"""How long an endpoint is waited for, as it may stand behind a model's name: NAME(timeout=10, attempts=2)."""

from __future__ import annotations

import re
from typing import Any

from chunkwise import spec
from chunkwise.errors import InvalidParameter

_NAMES = ("timeout", "attempts")
# Only what begins with one of these: names of models may have brackets of their own.
_SAID = re.compile(rf"(.+?)(\(\s*(?:{'|'.join(_NAMES)})\s*=[^()]*\))\s*", re.DOTALL)


def with_patience(model: str) -> tuple[str, dict[str, Any]]:
    """The name, and what stands behind it in brackets: seconds an answer may take, requests made at most."""
    found = _SAID.fullmatch(model)
    if found is None:
        return model, {}
    try:
        values = spec.parse(f"endpoint{found[2]}")[1]
    except InvalidParameter:
        values = {}
    if not values or values.keys() - set(_NAMES) or not all(map(_is_number, values.values())):
        raise InvalidParameter(
            f"cannot read {found[2]} behind the name of a model; write it like (timeout=10, attempts=2)"
        )
    return found[1], values


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
