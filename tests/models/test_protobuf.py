"""Fields of messages: written as they are read, and as the library of ONNX reads them."""

import struct

import numpy as np
import pytest

from chunkwise.base.errors import InvalidParameter
from chunkwise.models.protobuf import (
    bytes_field,
    fixed_field,
    number_field,
    read_fields,
    read_varint,
    values_of,
)
from tables import cases


@cases("size", [0, 1, 127, 128, 16_383, 16_384, 3_000_000])
def test_fields_are_written_as_they_are_read(size: int) -> None:
    data = bytes_field(7, b"x" * size) + bytes_field(1, b"ab") + b"\x10\x96\x01"
    first, second, number = read_fields(data)
    assert (first.number, data[first.low : first.high]) == (7, b"x" * size)
    assert (second.number, data[second.low : second.high]) == (1, b"ab")
    assert (number.number, read_varint(data, number.low)) == (2, (150, len(data)))


def test_numbers_of_every_kind_and_tags_of_two_bytes() -> None:
    data = number_field(20, 300) + fixed_field(2, struct.pack("<f", 1.5)) + bytes_field(16, b"in")
    whole, real, text = read_fields(data)
    assert (whole.number, read_varint(data, whole.low)[0]) == (20, 300)
    assert (real.number, struct.unpack("<f", data[real.low : real.high])) == (2, (1.5,))
    assert (text.number, data[text.low : text.high]) == (16, b"in")
    outer = bytes_field(5, data)
    (field,) = read_fields(outer)
    assert values_of(outer, field, 16) == [b"in"]


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="kind 3"):
        list(read_fields(bytes([1 << 3 | 3])))


def test_the_library_of_onnx_reads_what_is_written() -> None:
    onnx = pytest.importorskip("onnx")
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    dims = b"".join(number_field(1, size) for size in values.shape)
    tensor = onnx.TensorProto.FromString(
        dims + number_field(2, 1) + bytes_field(8, b"w") + bytes_field(9, values.tobytes())
    )
    assert tensor.name == "w"
    assert np.array_equal(onnx.numpy_helper.to_array(tensor), values)
