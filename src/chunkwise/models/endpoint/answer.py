"""What an embeddings endpoint answered, read with distrust: order, number, shape and finiteness."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.models.endpoint.error import EndpointError, excerpt

_ADVICE = "is it an /v1/embeddings endpoint, and is the model one for embeddings?"


def unit_rows(answer: Any, count: int, place: str) -> list[NDArray[np.float32]]:
    """`count` vectors of length 1, in the order of what was asked, from {"data": [{"embedding", "index"}]}."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        said = excerpt(repr(answer), most=120)
        raise EndpointError(place, f"answered JSON without a list of vectors: {said}", _ADVICE)
    if len(data) != count:
        raise EndpointError(place, f"gave {len(data)} vectors for {count} texts", _ADVICE)
    return [_unit(item.get("embedding"), place) for item in in_asked_order(data, place)]


def in_asked_order(items: list[dict[str, Any]], place: str) -> list[dict[str, Any]]:
    """By their `index`, which has to name every place once; without any index as they came."""
    indexes: list[Any] = [item.get("index") for item in items]
    if all(index is None for index in indexes):
        return items
    whole = all(type(index) is int for index in indexes)
    if not whole or sorted(indexes) != list(range(len(items))):
        said = excerpt(repr(indexes), most=80)
        raise EndpointError(place, f"numbered its {len(items)} rows {said}", _ADVICE)
    return sorted(items, key=lambda item: int(item["index"]))


def _unit(value: Any, place: str) -> NDArray[np.float32]:
    row = _numbers(value)
    if row is None or not row.size or not np.isfinite(row).all():
        said = excerpt(repr(value), most=80)
        raise EndpointError(place, f"gave something that is no vector: {said}", _ADVICE)
    largest = np.abs(row).max()
    if not largest:
        return np.zeros(row.size, np.float32)
    row = row / largest  # so that no square overflows or vanishes
    return (row / np.linalg.norm(row)).astype(np.float32)


def _numbers(value: Any) -> NDArray[np.float64] | None:
    """A list of numbers, or base64 of little-endian 32-bit floats."""
    try:
        if isinstance(value, str):
            row = np.frombuffer(base64.b64decode(value, validate=True), "<f4")
        else:
            row = np.array(value)
    except (ValueError, binascii.Error, OverflowError):
        return None
    if row.ndim != 1 or row.dtype.kind not in "fiu":
        return None
    return row.astype(np.float64)
