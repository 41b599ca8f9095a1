"""What a model wrote, made usable: plain text without thoughts and preambles, or JSON of the form asked for."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from chunkwise.base.errors import ChunkwiseError, MissingExtra
from chunkwise.models.llm.language_model import Schema

# Thoughts that some models write before they answer; a mark that echoes a fence of the prompt; a fence of code.
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_ECHO = re.compile(
    r"</?(?:document|passage|place|before|after|context)(?: \d{1,6})?(?: [0-9a-f]{8,64})?>", re.IGNORECASE
)  # fmt: skip
_CODE = re.compile(r"^[ \t]*(?:```|~~~)[^\n`]*$|```", re.MULTILINE)
_ESCAPES = re.compile("(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b.?")
# Control characters, those that reorder a line or show nothing, and halves of surrogate pairs.
_CONTROL = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)

# A preamble speaks of the answer and of what was asked in these words alone: one word more, and it says something.
_KIND = r"(?:contexts?|sentences?|notes?|summary|summaries|overview|description|answer)"
_TALK = (
    r"(?:a|an|the|my|your|our|one|two|three|\d+(?:[-–]\d+)?|or|to|and|of|for|in|with|within|about|that|which|it|its|"
    r"this|these|those|you|i|we|is|are|was|as|by|at|most|no|more|than|under|words?|tokens?|short|brief|concise|plain|"
    r"added|contextual|combined|single|together|requested|required|asked|given|provided|above|below|following|"
    r"passages?|chunks?|texts?|excerpts?|documents?|sections?|parts?|plac(?:es?|ing)|situat(?:es?|ing)|"
    r"describ(?:es?|ing)|summari[sz](?:es?|ing)|explain(?:s|ing)?|giv(?:es?|ing)|surrounding|larger|overall|whole|"
    rf"{_KIND})"
)
_GAP = r"(?:[ ,\n]+)"
_YES = r"(?:sure|certainly|of course|okay|ok|absolutely)"
_HELP = (
    r"(?:thing|here|here(?:'s|’s)|goes|go|are|is|it|you|i|i(?:'ll|’ll)|i(?:'d|’d)|can|will|would|be|happy|glad|to|do|"
    r"help|that|this|with|so|the|my|answer|summari[sz]e|write|for)"
)
_PREAMBLE = re.compile(
    rf"(?:{_YES}(?:{_GAP}{_HELP}){{0,10}}\s*[.!:,]\s*)?"
    rf"(?:(?:here(?:'s|’s| is| are)|this is|below (?:is|are)|the following)(?:{_GAP}{_TALK}){{0,12}}?{_GAP}{_KIND}"
    rf"(?:{_GAP}{_TALK}){{0,16}}\s*:"
    rf"|[*_\W]{{0,5}}(?:(?:short|brief|contextual|the|added) )*{_KIND}[*_\"']{{0,3}}:[*_]{{0,3}})\s*"
    rf"|{_YES}(?:{_GAP}{_HELP}){{0,10}}\s*[:!]\s+",
    re.IGNORECASE,
)
_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "‘": "’", "`": "`", "*": "*", "_": "_"}
_ROUNDS = 4


def cleaned_answer(answer: str) -> str:
    """The lines that are left; an answer is as untrusted as any text."""
    text = _ECHO.sub(" ", _CODE.sub(" ", _THOUGHTS.sub(" ", answer)))
    text = _CONTROL.sub("", _ESCAPES.sub("", text)).strip()
    for _ in range(_ROUNDS):  # a preamble may stand inside quotes, and quotes behind a preamble
        text = _unquoted(_PREAMBLE.sub("", text, count=1) if _PREAMBLE.match(text) else text)
    return text


def _unquoted(text: str) -> str:
    while len(text) > 1 and _QUOTES.get(text[0]) == text[-1] and text[0] not in text[1:-1]:
        text = text[1:-1].strip()
    return text


_FENCE = re.compile(r"```(?:json)?\s*\n?(.*?)```", re.DOTALL)


class SchemaMismatch(ChunkwiseError):
    """What a model wrote is no JSON, or JSON of another form; says what is wrong."""


def read_structured(text: str, schema: Schema) -> Any:
    """The JSON in the text, of the form the schema tells."""
    value = _json(text)
    wrong = _checker(json.dumps(schema, sort_keys=True))(value)
    if wrong:
        raise SchemaMismatch(wrong)
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
    raise SchemaMismatch("it is no JSON")


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
