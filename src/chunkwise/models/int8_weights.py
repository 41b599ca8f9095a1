"""Weights of an encoder in 8 bits, one file with header and tokenizer; onnxruntime reads the graph made of them."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import counted, thousands
from chunkwise.models.protobuf import bytes_field, fixed_field, number_field

_MAGIC = b"HMSEMB01"
_LENGTH = struct.Struct("<Q")
_FORMAT = 1


class GroupedWeights(NamedTuple):
    """A matrix in 8 bits: every group of neighbours in a row has a scale of its own."""

    codes: NDArray[np.int8]
    """Rows × groups × numbers of a group."""
    scales: NDArray[np.float32]
    """Rows × groups."""

    def whole(self) -> NDArray[np.float32]:
        """In 32 bits: a product is rounded once."""
        return (self.codes * self.scales[..., None]).reshape(len(self.codes), -1)


class Architecture(NamedTuple):
    """Sizes of a RoBERTa encoder, under the header's names."""

    hidden: int
    layers: int
    heads: int
    intermediate: int
    vocab: int
    max_positions: int
    layer_norm_eps: float
    position_offset: int
    """Rows of the table of positions before that of the first token."""


class EmbeddingPack(NamedTuple):
    """What a file says, its tensors as views of its bytes."""

    architecture: Architecture
    pooling: str
    window: int
    tokenizer: bytes
    tensors: Mapping[str, NDArray[np.float32] | GroupedWeights]

    def tensor(self, name: str) -> NDArray[np.float32] | GroupedWeights:
        if name not in self.tensors:
            raise InvalidParameter(f"the weights file has no tensor {name}; fetch it again")
        return self.tensors[name]

    def table(self, name: str) -> NDArray[np.float32]:
        found = self.tensor(name)
        return found.whole() if isinstance(found, GroupedWeights) else found


def is_pack(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def read_pack(path: Path) -> EmbeddingPack:
    """All of a file, or what is wrong with it."""
    data = path.read_bytes()
    try:
        if not data.startswith(_MAGIC):
            raise ValueError(f"it does not begin with {_MAGIC.decode()}")
        (length,) = _LENGTH.unpack_from(data, len(_MAGIC))
        begin = len(_MAGIC) + _LENGTH.size
        header = json.loads(data[begin : begin + length])
        if header["format"] != _FORMAT:
            raise ValueError(f"its format is {header['format']!r}, known is {_FORMAT}")
        at = begin + length + header["tokenizer_len"]
        tensors = dict(_tensors(data, at, header["tensors"]))
        sizes = {name: header["arch"][name] for name in Architecture._fields}
        meta = header["meta"]
        return EmbeddingPack(
            Architecture(**sizes), meta["pooling"], meta["max_length"], data[begin + length : at], tensors
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, struct.error) as error:
        raise InvalidParameter(
            f"{path} cannot be read as the weights of an embedder: {error or type(error).__name__}; fetch it again"
        ) from None


def _tensors(
    data: bytes, at: int, listed: list[dict[str, Any]]
) -> Iterator[tuple[str, NDArray[np.float32] | GroupedWeights]]:
    """One behind the other; of those in 8 bits first all codes, then all scales."""
    for each in listed:
        name, shape, end = each["name"], tuple(each["shape"]), at + each["len"]
        count = math.prod(shape)
        if each["dtype"] == "f32":
            yield name, np.frombuffer(data, "<f4", count, at).reshape(shape)
            at += 4 * count
        elif each["dtype"] == "i8":
            group = each["group"]
            codes = np.frombuffer(data, np.int8, count, at).reshape(shape[0], -1, group)
            scales = np.frombuffer(data, "<f4", count // group, at + count)
            yield name, GroupedWeights(codes, scales.reshape(codes.shape[:2]))
            at += count + 4 * (count // group)
        else:
            raise ValueError(f"{name} is of the kind {each['dtype']!r}, known are f32 and i8")
        if at != end:
            raise ValueError(
                f"{name} has {counted(each['len'], 'byte')}, which does not go with {shape}"
            )
    if at != len(data):
        raise ValueError(f"it has {counted(len(data), 'byte')}, {thousands(at)} expected")


# ------------------------------------------------------------------ the graph

_FLOAT, _INT64 = 1, 7
_TYPES = {
    np.dtype(np.float32): _FLOAT,
    np.dtype(np.uint8): 2,
    np.dtype(np.int8): 3,
    np.dtype(np.int64): _INT64,
}
"""Types of tensors, by their numbers in ONNX."""
_IR_VERSION, _OPSET = 9, 20
"""The first that have Gelu as an operator."""
_RUNTIME = b"com.microsoft"
"""Operators of onnxruntime's own."""
_RUNTIME_OPERATORS = ("MatMulNBits",)
_IN_8_BITS = 4
"""The level of accuracy at which it rounds to 8 bits what weights are multiplied with."""
_AS_FLOAT, _AS_INT, _AS_INTS = (1, 2, 7)
"""Types of attributes."""


class _Graph:
    """Nodes and their constants, as ONNX writes them."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._made = 0

    def constant(self, values: NDArray[Any]) -> str:
        name = self._name()
        dims = b"".join(number_field(1, size) for size in values.shape)
        kind = number_field(2, _TYPES[values.dtype])
        raw = bytes_field(9, np.ascontiguousarray(values).tobytes())
        tensor = dims + kind + bytes_field(8, name.encode()) + raw
        self._parts.append(bytes_field(5, tensor))
        return name

    def node(self, operator: str, *inputs: str, **attributes: float | list[int]) -> str:
        return self.nodes(operator, 1, *inputs, **attributes)[0]

    def nodes(
        self, operator: str, outputs: int, *inputs: str, **attributes: float | list[int]
    ) -> list[str]:
        names = [self._name() for _ in range(outputs)]
        self._write(operator, inputs, names, attributes)
        return names

    def model(self, source: str, given: str, result: str, width: int) -> bytes:
        """With one input of tokens and one output, a vector a token."""
        self._write("Identity", [result], [given], {})
        graph = [
            *self._parts,
            bytes_field(2, b"encoder"),
            bytes_field(11, _value(source, _INT64, [1, "tokens"])),
            bytes_field(12, _value(given, _FLOAT, [1, "tokens", width])),
        ]
        opsets = [number_field(2, _OPSET), bytes_field(1, _RUNTIME) + number_field(2, 1)]
        model = [number_field(1, _IR_VERSION), bytes_field(7, b"".join(graph))]
        return b"".join([*model, *(bytes_field(8, each) for each in opsets)])

    def _name(self) -> str:
        self._made += 1
        return f"v{self._made}"

    def _write(
        self,
        operator: str,
        inputs: Iterable[str],
        outputs: Iterable[str],
        attributes: Mapping[str, float | list[int]],
    ) -> None:
        fields = [bytes_field(1, each.encode()) for each in inputs]
        fields += [bytes_field(2, each.encode()) for each in outputs]
        fields.append(bytes_field(4, operator.encode()))
        fields += [bytes_field(5, _attribute(*each)) for each in attributes.items()]
        if operator in _RUNTIME_OPERATORS:
            fields.append(bytes_field(7, _RUNTIME))
        self._parts.append(bytes_field(1, b"".join(fields)))


def _attribute(name: str, value: float | list[int]) -> bytes:
    named = bytes_field(1, name.encode())
    if isinstance(value, list):
        numbers = b"".join(number_field(8, each) for each in value)
        return named + numbers + number_field(20, _AS_INTS)
    if isinstance(value, int):
        return named + number_field(3, value) + number_field(20, _AS_INT)
    return named + fixed_field(2, struct.pack("<f", value)) + number_field(20, _AS_FLOAT)


def _value(name: str, kind: int, shape: list[int | str]) -> bytes:
    """What is known of an input or output; a text in the shape is a size that may differ."""
    sizes = [
        number_field(1, each) if isinstance(each, int) else bytes_field(2, each.encode())
        for each in shape
    ]
    tensor = number_field(1, kind) + bytes_field(2, b"".join(bytes_field(1, e) for e in sizes))
    return bytes_field(1, name.encode()) + bytes_field(2, bytes_field(1, tensor))


def encoder_graph(pack: EmbeddingPack, exact: bool = False) -> bytes:
    """RoBERTa as an ONNX model: from `input_ids`, one text a call, to `last_hidden_state`.

    `exact`: in 32 bits, with operators every runtime has. Else an operator of onnxruntime 1.23 multiplies the weights
    as they are, in 8 bits, and rounds what they are multiplied with to 8 bits, too, each group of each token by
    itself: nearly twice as fast, and a cosine of 0.9998 with the exact vectors.
    """
    sizes = pack.architecture
    made = _Encoder(_Graph(), pack, exact)
    state = made.embedded("input_ids")
    for layer in range(sizes.layers):
        state = made.layer(f"l{layer}", state)
    return made.graph.model("input_ids", "last_hidden_state", state, sizes.hidden)


class _Encoder:
    """The parts of the network, each a few nodes of the graph."""

    def __init__(self, graph: _Graph, pack: EmbeddingPack, exact: bool) -> None:
        self.graph = graph
        self._pack = pack
        self._exact = exact
        self._sizes = pack.architecture
        heads = self._sizes.heads
        width = self._sizes.hidden // heads
        self._parted = graph.constant(np.array([1, -1, heads, width], np.int64))
        self._joined = graph.constant(np.array([1, -1, self._sizes.hidden], np.int64))
        self._damped = graph.constant(np.array(width**-0.5, np.float32))

    def embedded(self, ids: str) -> str:
        """Word, place and kind of text, which is always the first."""
        graph = self.graph
        places = self._pack.table("pos_emb")[self._sizes.position_offset :]
        known = graph.constant(places + self._pack.table("type_emb")[0])
        count = graph.node("Shape", ids, start=1)
        zero = graph.constant(np.array([0], np.int64))
        own = graph.node("Slice", known, zero, count)
        return self._normalised(graph.node("Add", self._words(ids), own), "emb_ln")

    def _words(self, ids: str) -> str:
        """Rows are widened when they are asked for: in 32 bits the table would be the largest part by far."""
        graph, words = self.graph, self._pack.tensor("word_emb")
        if not isinstance(words, GroupedWeights):
            return graph.node("Gather", graph.constant(words), ids)
        codes = graph.node("Gather", graph.constant(words.codes), ids)
        scales = graph.node("Gather", graph.constant(words.scales[..., None]), ids)
        wide = graph.node("Mul", graph.node("Cast", codes, to=_FLOAT), scales)
        return graph.node("Reshape", wide, self._joined)

    def layer(self, name: str, state: str) -> str:
        graph = self.graph
        attended = self._linear(self._attention(name, state), f"{name}.ao")
        state = self._normalised(graph.node("Add", state, attended), f"{name}.aln")
        inner = graph.node("Gelu", self._linear(state, f"{name}.f1"))
        forward = self._linear(inner, f"{name}.f2")
        return self._normalised(graph.node("Add", state, forward), f"{name}.fln")

    def _attention(self, name: str, state: str) -> str:
        graph = self.graph
        together = self._linear(state, f"{name}.qkv")
        parts = graph.nodes("Split", 3, together, axis=2, num_outputs=3)
        query, key, value = (graph.node("Reshape", each, self._parted) for each in parts)
        query = graph.node("Transpose", query, perm=[0, 2, 1, 3])
        key = graph.node("Transpose", key, perm=[0, 2, 3, 1])
        value = graph.node("Transpose", value, perm=[0, 2, 1, 3])
        scores = graph.node("MatMul", graph.node("Mul", query, self._damped), key)
        mixed = graph.node("MatMul", graph.node("Softmax", scores, axis=3), value)
        return graph.node(
            "Reshape", graph.node("Transpose", mixed, perm=[0, 2, 1, 3]), self._joined
        )

    def _linear(self, state: str, name: str) -> str:
        graph, weights = self.graph, self._pack.tensor(f"{name}.w")
        bias = graph.constant(self._pack.table(f"{name}.b"))
        if self._exact or not isinstance(weights, GroupedWeights):
            whole = graph.constant(self._pack.table(f"{name}.w").T)
            product = graph.node("MatMul", state, whole)
            return graph.node("Add", product, bias)
        rows, groups, size = weights.codes.shape
        codes = graph.constant(weights.codes.view(np.uint8) ^ 0x80)  # the operator's zero is 128
        scales = graph.constant(weights.scales.reshape(-1))
        none = ""  # no other zero, no other order
        return graph.node(
            "MatMulNBits", state, codes, scales, none, none, bias,
            K=groups * size, N=rows, bits=8, block_size=size, accuracy_level=_IN_8_BITS,
        )  # fmt: skip

    def _normalised(self, state: str, name: str) -> str:
        weights, bias = (self.graph.constant(self._pack.table(f"{name}.{each}")) for each in "wb")
        epsilon = float(self._sizes.layer_norm_eps)
        return self.graph.node("LayerNormalization", state, weights, bias, axis=2, epsilon=epsilon)
