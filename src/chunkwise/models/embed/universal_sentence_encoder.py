"""A sentence encoder as an ONNX file with its SentencePiece tokenizer inside: a vector a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.cores import cores
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.models.embed.embedder import Kind, TokenVectors, window_ends
from chunkwise.models.embed.onnx import Long, check_reading
from chunkwise.models.onnx_file import open_session, over_threads
from chunkwise.text.characters import SURROGATE, CharacterArrays
from chunkwise.text.sentences.boundaries import sentence_starts

_TOKENIZER_NODE = "SentencepieceTokenizer"
_BEGIN, _END = 1, 2
"""Tokens before and behind every sentence."""
_SPACE = "▁"
_AT_ONCE = 64
"""Texts whose sentences are read together: enough to keep every core busy."""


class SentenceEncoder:
    """A token has the vector of the sentence it stands in, and a text the mean of its tokens'.

    So any span has a vector by sums, as late vectors need it, and a long text is not one sentence to the model.
    """

    def __init__(
        self, path: Path, window: int, long: Long = "windows", threads: int | None = None
    ) -> None:
        check_reading(window, long, threads)
        self.path = path
        self.window = window
        self.long = long
        self._threads = cores() if threads is None else threads

    @property
    def dimensions(self) -> int:
        return self._reader.dimensions

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """One row a text; a text without words gets zeros."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for first in range(0, len(texts), _AT_ONCE):
            encoded = [self._encode(text) for text in texts[first : first + _AT_ONCE]]
            if self.long == "truncate":
                encoded = [tokens.beginning(self.window) for tokens in encoded]
            for row, read in enumerate(self._read(encoded), first):
                total = read.sum(axis=0, dtype=np.float64)
                length = float(np.linalg.norm(total))
                vectors[row] = total / length if length else 0
        return vectors

    def token_starts(self, text: str) -> NDArray[np.int64]:
        return self._encode(text).start

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """A row a token; those of one sentence are the same."""
        encoded = [self._encode(text) for text in texts]
        return [
            TokenVectors(tokens.start, tokens.end, vectors)
            for tokens, vectors in zip(encoded, self._read(encoded), strict=True)
        ]

    def count_long(self, texts: Sequence[str]) -> int:
        """Sentences are read one by one, so that a text of many is not too long: only where the rest is left out."""
        if self.long == "windows":
            return 0
        return sum(len(self._encode(text).ids) > self.window for text in texts)

    def _encode(self, text: str) -> _SentenceTokens:
        # Half a surrogate pair has no bytes; a stand-in of the same length keeps every offset.
        text = SURROGATE.sub("\ufffd", text)
        encoding = self._reader.tokenizer.encode(text, add_special_tokens=False)
        places = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
        characters = CharacterArrays(text)
        # A token that begins a word has the space before it, too: it stands where the word does.
        end = np.maximum.accumulate(places[:, 1])
        start = np.minimum(np.maximum.accumulate(characters.next_solid(places[:, 0])), end)
        sentences = np.unique(start.searchsorted(sentence_starts(characters)))
        return _SentenceTokens(np.array(encoding.ids, dtype=np.int32), start, end, sentences)

    def _read(self, encoded: Sequence[_SentenceTokens]) -> Iterator[NDArray[np.float32]]:
        """For each text a row a token."""
        pieces = [piece for tokens in encoded for piece in tokens.pieces(self.window)]
        reader = self._reader  # opened once, before threads ask for it
        read = over_threads(reader.vector, pieces, self._threads)
        for tokens in encoded:
            own = tokens.pieces(self.window)
            rows = [np.broadcast_to(next(read), (len(piece), reader.dimensions)) for piece in own]
            none = np.zeros((0, reader.dimensions), np.float32)
            yield np.concatenate(rows) if rows else none

    @cached_property
    def _reader(self) -> _SentenceReader:
        return _SentenceReader(self.path)


class _SentenceTokens(NamedTuple):
    """The tokens of one text, without special ones."""

    ids: NDArray[np.int32]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    sentences: NDArray[np.int64]
    """Index of the first token of each sentence."""

    def pieces(self, window: int) -> list[NDArray[np.int32]]:
        """Sentences, those longer than the window in several parts."""
        bounds = [*self.sentences.tolist(), len(self.ids)]
        result = []
        for low, high in zip([0, *bounds[:-1]], bounds, strict=True):
            ends = window_ends(high - low, window)
            result += [self.ids[low + a : low + b] for a, b in zip([0, *ends], ends, strict=False)]
        return result

    def beginning(self, count: int) -> _SentenceTokens:
        kept = self.sentences[self.sentences < count]
        return _SentenceTokens(self.ids[:count], self.start[:count], self.end[:count], kept)


class _SentenceReader:
    """The model on one thread, a sentence a call: a vector depends on its sentence alone, to the bit."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise InvalidParameter(f"model is {str(path)!r}; no such file")
        parts = _without_tokenizer(path.read_bytes())
        self.tokenizer = _tokenizer_of(parts.tokenizer)
        self._session = open_session(parts.model)
        self._inputs = [each.name for each in self._session.get_inputs()]
        self._path = path
        self.dimensions = self.vector(np.empty(0, np.int32)).size

    def vector(self, ids: NDArray[np.int32]) -> NDArray[np.float32]:
        row = np.concatenate(([_BEGIN], ids, [_END])).astype(np.int32)
        feed = zip(self._inputs, (row, np.array([0, len(row)], np.int64)), strict=True)
        result: NDArray[np.float32] = self._session.run(None, dict(feed))[0][0]
        if not np.isfinite(result).all():
            raise ChunkwiseError(
                f"{self._path} returns non-finite vectors; the export is broken: use another model"
            )
        return result


class _ModelParts(NamedTuple):
    """A model that takes tokens, and the tokenizer that was part of it."""

    model: bytes
    tokenizer: bytes


_MESSAGES = {
    "Model": {"graph": (7, "Graph")},
    "Graph": {"node": (1, "Node*"), "input": (11, "Value*"), "value_info": (13, "Value*")},
    "Node": {
        "input": (1, "string*"), "output": (2, "string*"), "op_type": (4, "string"), "attribute": (5, "Attribute*"),
    },
    "Attribute": {"s": (4, "bytes")},
    "Value": {"name": (1, "string")},
    "Tokenizer": {"pieces": (1, "Piece*"), "normalizer_spec": (3, "Normalizer")},
    "Piece": {"piece": (1, "string"), "score": (2, "float"), "type": (3, "int32")},
    "Normalizer": {"precompiled_charsmap": (2, "bytes")},
}  # fmt: skip
"""The fields that are needed of ONNX and of SentencePiece; * is repeated. All others are kept as they are."""


@cache
def _message_types() -> dict[str, Any]:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="sentence_encoder.proto", package="chunkwise")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            label = "LABEL_REPEATED" if kind.endswith("*") else "LABEL_OPTIONAL"
            added = message.field.add(name=field, number=number, label=label)
            kind = kind.rstrip("*")
            if kind in _MESSAGES:
                added.type_name = f".chunkwise.{kind}"
            else:
                added.type = f"TYPE_{kind.upper()}"
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"chunkwise.{name}"))
        for name in _MESSAGES
    }


def _message(name: str, data: bytes) -> Any:
    return _message_types()[name].FromString(data)


def _without_tokenizer(data: bytes) -> _ModelParts:
    """The graph from the tokens on: the runtime has no such tokenizer, so what it gives becomes the input."""
    model = _message("Model", data)
    graph = model.graph
    node = next((node for node in graph.node if node.op_type == _TOKENIZER_NODE), None)
    if node is None:
        raise InvalidParameter(
            f"the model has no node {_TOKENIZER_NODE}; expected a sentence encoder that "
            f"contains its tokenizer"
        )
    tokenizer = max((attribute.s for attribute in node.attribute), key=len)
    given = {value.name: value for value in graph.value_info}
    kept = [value for value in graph.input if value.name not in node.input]
    inputs = [*kept, *(given.pop(name) for name in node.output)]
    nodes = [other for other in graph.node if other is not node]
    for field, values in (("input", inputs), ("value_info", given.values()), ("node", nodes)):
        values = list(values)
        graph.ClearField(field)
        getattr(graph, field).extend(values)
    return _ModelParts(model.SerializeToString(), tokenizer)


_NORMAL = 1
"""The type of a SentencePiece piece that is text."""


def _tokenizer_of(data: bytes) -> Any:
    """A SentencePiece model of the unigram kind, as the library of tokenizers reads it."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    model = _message("Tokenizer", data)
    # A piece that only marks something gets a name no text has, with a space in it.
    pieces = [
        (piece.piece if piece.type in (0, _NORMAL) else f" {number}", piece.score)
        for number, piece in enumerate(model.pieces)
    ]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Precompiled(model.normalizer_spec.precompiled_charsmap),
            normalizers.Strip(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(_SPACE, prepend_scheme="always", split=False)
    return tokenizer
