"""An answer as JSON of a given form: read out of what a model wrote, checked, or told what is wrong with it."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from chunkwise.errors import ChunkwiseError, MissingExtra
from chunkwise.models.llm.language_model import Schema

_FENCE = re.compile(r"```(?:json)?\s*\n?(.*?)```", re.DOTALL)


class NotOfThisForm(ChunkwiseError):
    """What a model wrote is no JSON, or JSON of another form; says what is wrong."""


def read_structured(text: str, schema: Schema) -> Any:
    """The JSON in the text, of the form the schema tells."""
    value = _json(text)
    wrong = _checker(json.dumps(schema, sort_keys=True))(value)
    if wrong:
        raise NotOfThisForm(wrong)
    return value


def _json(text: str) -> Any:
    """The text itself, what stands in a code fence, or from the first bracket to the last."""
    tries = [text, *_FENCE.findall(text)]
    opened = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    closed = max(text.rfind("}"), text.rfind("]"))
    if 0 <= opened < closed:
        tries.append(text[opened : closed + 1])
    for each in tries:
        try:
            return json.loads(each, parse_constant=_no_number)
        except (ValueError, RecursionError):
            continue
    raise NotOfThisForm("it is no JSON")


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


@lru_cache(maxsize=64)
def _checker(schema: str) -> Any:
    """What says of a value how it breaks the schema; empty: not at all."""
    try:
        import fastjsonschema
    except ImportError:
        raise MissingExtra("a language model", "llm") from None
    validate = fastjsonschema.compile(json.loads(schema))

    def check(value: Any) -> str:
        try:
            validate(value)
        except fastjsonschema.JsonSchemaValueException as error:
            return str(error.message)
        return ""

    return check
