""" "sentences(max_tokens=200, overlap=50)" ⇄ a strategy object; the text is also its label and cache key."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from chunkwise.base import parameters
from chunkwise.base.errors import InvalidParameter

_USER = re.compile(r"(?<=//)[^/?#\s]*@")
_QUERY = re.compile(r"\?[^#\s'\")]*")
_BARE = re.compile(r"(\w+)\s*=\s*([^\s'\"(\[,)][^,)'\"]*)")
"""A value without quotes."""
_SIGNS = frozenset("/\\:~")
"""Found in paths, addresses and names of models, and in no number."""
_WORDS = {"true": True, "false": False, "none": None, "null": None}


def parse(text: str, kind: str = "strategy", example: str = "") -> tuple[str, dict[str, object]]:
    """The name and keyword values of a specification; values are Python literals.

    `kind` and `example`: what an error calls it, and shows as one that can be read.
    """
    name, bracket, rest = text.strip().partition("(")
    if not bracket:
        return name.strip(), {}
    example = f"expected a form such as {example or 'sentences(max_tokens=200, overlap=50)'}"
    try:
        call = ast.parse(f"_({rest}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        if "%" in rest and "'" not in rest and '"' not in rest:
            example = "quote percentages: overlap='10%'"
        elif bare := next((match for match in _BARE.finditer(rest) if _SIGNS & {*match[2]}), None):
            example = f"quote text values: {bare[1]}={quoted(bare[2].strip())}"
        raise InvalidParameter(f"cannot read the {kind} {quoted(text)}; {example}") from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise InvalidParameter(f"cannot read the {kind} {quoted(text)}; {example}")
    if call.args:
        raise InvalidParameter(f"{quoted(text)} has a value without a parameter name; {example}")
    values: dict[str, object] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise InvalidParameter(f"cannot read the {kind} {quoted(text)}; {example}")
        if keyword.arg in values:
            raise InvalidParameter(f"{quoted(text)} sets {keyword.arg!r} twice")
        values[keyword.arg] = _literal(keyword.arg, keyword.value)
    return name.strip(), values


def quoted(text: str) -> str:
    """As an error may show it: a model's URL may hold a key that its owner should not have put there."""
    return repr(_QUERY.sub("?…", _USER.sub("…@", text)) if "://" in text else text)


def _literal(name: str, node: ast.expr) -> object:
    # A bare word is what people type for a text: tokenizer=words.
    if isinstance(node, ast.Name):
        return _WORDS.get(node.id.lower(), node.id)
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise InvalidParameter(
            f"{name} must be a number, quoted text, True, False, None or a list of these"
        ) from None
    return tuple(value) if isinstance(value, list) else value


def describe(
    name: str, strategy: object, shown: Mapping[str, object] = MappingProxyType({})
) -> str:
    """The shortest specification that makes this object again.

    Args:
        name: What it is called.
        strategy: Its parameters are listed if they differ from their defaults.
        shown: Parameters that are always listed, with these values; None: never.
    """
    parts = []
    for field in parameters.fields(type(strategy)):
        value = shown.get(field.name, getattr(strategy, field.name))
        differs = field.default is dataclasses.MISSING or value != field.default
        if shown.get(field.name) is not None or (differs and field.name not in shown):
            parts.append(f"{field.name}={_show(value)}")
    return f"{name}({', '.join(parts)})" if parts else name


def _show(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_show, value))}]"
    if isinstance(identity := getattr(value, "identity", None), str):
        return repr(identity)  # a model given as an object
    if callable(value):
        return repr(
            getattr(value, "name", None) or getattr(value, "__qualname__", type(value).__name__)
        )
    return repr(value)


_SIZE = re.compile(r"\b(?:max_(?:tokens|words|chars)|chunk_size)=(\d+)")
_OVERLAP = re.compile(r"\b(?:overlap(?:_words|_sentences)?|chunk_overlap)=(\d+)")


@lru_cache(maxsize=64)
def size_and_overlap(label: str) -> tuple[int | None, int | None]:
    """Chunk size and overlap in the label of a strategy, in its own units; None: it names none."""
    size, overlap = _SIZE.search(label), _OVERLAP.search(label)
    return int(size[1]) if size else None, int(overlap[1]) if overlap else None


def key(name: str, strategy: object) -> str:
    """A stable hash of the name and every parameter, defaults included."""
    shown = [
        f"{f.name}={_show(getattr(strategy, f.name))}" for f in parameters.fields(type(strategy))
    ]
    return hashlib.sha256("\n".join([name, *shown]).encode()).hexdigest()[:16]
