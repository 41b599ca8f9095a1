"""TOML as plans and recommendations are kept in: read and written."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chunkwise.base.amounts import Money
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.tuning.sweep import SweepValue

TomlValue = SweepValue | Money | Sequence[SweepValue]
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def read_toml(path: str | Path, kind: str) -> dict[str, Any]:
    """The tables of a file, which is a `kind`: a plan, a recommendation."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ChunkwiseError(f"cannot read {path}: {error.strerror or error}") from error
    except RecursionError:
        raise ChunkwiseError(f"{path} is not a valid {kind}: nested too deeply") from None
    except ValueError as error:  # no TOML, not UTF-8, or a number of thousands of digits
        raise ChunkwiseError(f"{path} is not TOML: {error}") from error


def toml_line(key: str, value: TomlValue) -> str:
    """Write `key = value`."""
    name = key if _BARE.fullmatch(key) else toml_value(key)
    return f"{name} = {toml_value(value)}"


def toml_value(value: TomlValue) -> str:
    """A text, a number, true or false, or a list of them, as TOML writes it."""
    if isinstance(value, Money):
        value = str(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    if any("\ud800" <= sign <= "\udfff" for sign in value):
        raise InvalidParameter(f"{value!r} isn't valid Unicode, so it can't be written to TOML")
    # A JSON string is one of TOML, but for the one control character that JSON lets stand.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
