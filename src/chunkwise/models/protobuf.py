"""Messages as protocol buffers write them, field by field: enough to take an ONNX file apart, and to write one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from chunkwise.base.errors import InvalidParameter

_NUMBER, _BYTES = 0, 2
_FIXED = {1: 8, 5: 4}
"""Kinds of fields; those of a fixed size with their bytes."""


class MessageField(NamedTuple):
    """One field of a message, by its places in the bytes."""

    number: int
    begin: int
    """Where its tag stands."""
    low: int
    high: int
    """Where its bytes are."""


def read_fields(data: bytes, low: int = 0, high: int | None = None) -> Iterator[MessageField]:
    high = len(data) if high is None else high
    at = low
    while at < high:
        begin = at
        tag, at = read_varint(data, at)
        kind = tag & 7
        if kind == _NUMBER:
            end = read_varint(data, at)[1]
        elif kind == _BYTES:
            length, at = read_varint(data, at)
            end = at + length
        elif kind in _FIXED:
            end = at + _FIXED[kind]
        else:
            raise InvalidParameter(f"field {tag >> 3} is of the kind {kind}; known: 0, 1, 2, 5")
        yield MessageField(tag >> 3, begin, at, end)
        at = end


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A number in 7-bit digits, and the place behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def values_of(data: bytes, field: MessageField, number: int) -> list[bytes]:
    """The fields of this number inside a field."""
    inside = read_fields(data, field.low, field.high)
    return [data[each.low : each.high] for each in inside if each.number == number]


def bytes_field(number: int, data: bytes) -> bytes:
    """A text, a message, or packed numbers."""
    return _varint(number << 3 | _BYTES) + _varint(len(data)) + data


def number_field(number: int, value: int) -> bytes:
    """A whole number that is not negative."""
    return _varint(number << 3 | _NUMBER) + _varint(value)


def fixed_field(number: int, data: bytes) -> bytes:
    """A number of four or eight bytes, such as a float."""
    kind = next(kind for kind, size in _FIXED.items() if size == len(data))
    return _varint(number << 3 | kind) + data


def _varint(value: int) -> bytes:
    digits = bytearray()
    while value >= 0x80:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    digits.append(value)
    return bytes(digits)
