"""Records that other libraries hand over as objects of their own: their fields, as JSON can have them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice

from chunkwise.records.json import without_half_characters

_DEEPEST = 6
"""Records inside one another that are looked into."""
_ATTRIBUTES = (
    "text", "page_content", "content", "doc_id", "document_id", "ref_doc_id", "source", "start", "end",
    "start_char_idx", "end_char_idx", "start_index", "end_index", "score", "metadata", "meta", "id", "node_id",
    "chunk_id", "title",
)  # fmt: skip
_MOST = 10_000
"""Of a list in a record."""


def record_of_object(item: object, depth: int = 0) -> dict[str, object] | str:
    """The fields of a record, whatever it comes as: a text, a mapping, a tuple, a `Document` of LangChain or Haystack,
    a node of LlamaIndex; a text in the place of it says why it is none."""
    if isinstance(item, str):
        return {"text": without_half_characters(item)}
    if isinstance(item, Mapping):
        return {str(name): _plain(value, depth + 1) for name, value in item.items()}
    if isinstance(item, list | tuple) and not hasattr(item, "_fields"):
        return _of_tuple(item, depth)
    if item is None or isinstance(item, int | float | bytes):
        return f"expected a text, a span or a record, got {item!r:.40}"
    if depth < _DEEPEST and (node := _attribute(item, "node")) is not None:
        inner = record_of_object(node, depth + 1)
        score = _attribute(item, "score")
        return inner if isinstance(inner, str) or score is None else {**inner, "score": score}
    result: dict[str, object] = {}
    for name in _ATTRIBUTES:
        if (value := _attribute(item, name)) is not None:
            result["metadata" if name == "meta" else name] = _plain(value, depth + 1)
    if not {"text", "page_content", "content"} & {*result}:
        with suppress(Exception):  # somebody else's method, if there is one
            result["text"] = str(item.get_content())  # type: ignore[attr-defined]
    if not result:
        return f"expected a text, a span or a record, got {type(item).__name__}"
    return result


def _of_tuple(item: Sequence[object], depth: int) -> dict[str, object] | str:
    """(document, start, end), with a score or without; (anything, score)."""
    if (
        len(item) in (3, 4)
        and isinstance(item[0], str)
        and all(type(each) is int for each in item[1:3])
    ):
        result: dict[str, object] = dict(zip(("doc_id", "start", "end"), item[:3], strict=True))
        return {**result, "score": _plain(item[3], depth + 1)} if len(item) == 4 else result
    if len(item) == 2 and isinstance(item[1], int | float) and depth < _DEEPEST:
        inner = record_of_object(item[0], depth + 1)
        return inner if isinstance(inner, str) else {**inner, "score": float(item[1])}
    return f"expected (document, start, end) or (hit, score), got {item!r:.40}"


def _attribute(item: object, name: str) -> object:
    try:
        value = getattr(item, name, None)
    except Exception:  # a property of somebody else's
        return None
    return None if callable(value) else value


def _plain(value: object, depth: int) -> object:
    """As JSON can have it."""
    if isinstance(value, str):
        return without_half_characters(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth >= _DEEPEST:
        return None
    if isinstance(value, Mapping):
        return {str(name): _plain(each, depth + 1) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, depth + 1) for each in islice(value, _MOST)]
    if hasattr(value, "item") and callable(value.item):  # a number of NumPy's
        with suppress(Exception):
            return _plain(value.item(), depth + 1)
    inner = record_of_object(value, depth + 1)
    return str(value)[:1000] if isinstance(inner, str) else inner
