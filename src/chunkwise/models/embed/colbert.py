"""A vector a token (late interaction): what a question's tokens find in a passage, each for itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from importlib.resources import files as package_files
from io import BytesIO
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.models.embed.embedder import Kind, TokenVectors
from chunkwise.models.embed.onnx import OnnxEmbedder
from chunkwise.models.onnx_file import over_threads
from chunkwise.models.weights.catalog import COLBERT_SMALL, weights_of
from chunkwise.models.weights.installed import ensure

DEFAULT_TOKEN_ENCODER = COLBERT_SMALL.name


class _Reading(NamedTuple):
    """How the model is to be read, as its makers say; the projection is ours (`benchmarks/late_projection.py`)."""

    marks: dict[Kind, int]
    """Token that stands behind the first of a question, of a passage."""
    window: int
    projection: str
    """File with the matrix from the model's states to vectors, in the columns' order of the quantiser."""


_READINGS = {
    COLBERT_SMALL.name: _Reading({"query": 1, "passage": 2}, 256, "colbert_small.npy"),
}


class _MarkedStates(OnnxEmbedder):
    """The model's states, questions and passages told apart by a mark."""

    marks: dict[Kind, int]

    @cached_property
    def _before(self) -> dict[Kind, NDArray[np.int64]]:
        plain = np.array(self._special[0], np.int64)
        return {kind: np.append(plain, mark) for kind, mark in self.marks.items()}

    def query_states(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        asked = [self._encode(text, "query") for text in texts]
        first = [tokens.ids[: tokens.windows[0] if tokens.windows else 0] for tokens in asked]
        _ = self._output  # opened once, before threads ask for it
        return list(over_threads(self._asked, first, self._threads))

    def _asked(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        if not len(ids):
            return np.zeros((0, self.dimensions), np.float32)
        first = len(self._before["query"])
        return self._read(ids, "query")[first : first + len(ids)]


class PretrainedTokenEncoder:
    """Fetches its weights when first used; until then it only knows what they are."""

    def __init__(self, name: str = DEFAULT_TOKEN_ENCODER) -> None:
        self._weights = weights_of(name, "token encoder")
        self._reading = _READINGS[self._weights.name]

    def __reduce__(self) -> tuple[object, ...]:
        return PretrainedTokenEncoder, (self._weights.name,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._weights.name!r})"

    @property
    def window(self) -> int:
        return self._reading.window

    @property
    def dimensions(self) -> int:
        return self._projection.shape[1]

    @cached_property
    def identity(self) -> str:
        names = ("model.onnx", "tokenizer.json")
        hashes = [self._weights.file(name).sha256[:12] for name in names]
        matrix = sha256(self._projection_bytes).hexdigest()[:12]
        return ":".join((self._weights.name, *hashes, matrix, str(self.window)))

    def token_starts(self, text: str) -> NDArray[np.int64]:
        return self._model.token_starts(text)

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        return [
            vector._replace(vectors=self._projected(vector.vectors))
            for vector in self._model.token_vectors(texts)
        ]

    def query_vectors(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        return [self._projected(states) for states in self._model.query_states(texts)]

    def _projected(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        # A row at a time: a matrix product may round a row otherwise when there are more of them.
        result = np.einsum("ij,jk->ik", _unit(states), self._projection)
        return _unit(result)

    @property
    def _projection_bytes(self) -> bytes:
        folder = package_files("chunkwise.models.embed")
        return folder.joinpath(self._reading.projection).read_bytes()

    @cached_property
    def _projection(self) -> NDArray[np.float32]:
        matrix: NDArray[np.float16] = np.load(BytesIO(self._projection_bytes), allow_pickle=False)
        return matrix.astype(np.float32)

    @cached_property
    def _model(self) -> _MarkedStates:
        files = ensure(self._weights)
        made = _MarkedStates(files["model.onnx"], files["tokenizer.json"], window=self.window)
        made.marks = self._reading.marks
        return made


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    length: NDArray[np.float32] = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    length[length == 0] = 1
    return rows / length[:, None]
