"""Cut where the text turns to something else, and what strategies share that cut by an embedder's vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from multiprocessing import parent_process
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter, MissingExtra
from chunkwise.base.parameters import param
from chunkwise.chunkers.packing.cuts import (
    ArrayCuts,
    CutLevel,
    clause_levels,
    glued,
    sentence_levels,
)
from chunkwise.chunkers.packing.sized_chunker import LARGEST, SizedChunker
from chunkwise.chunkers.packing.small_chunks import SmallChunks
from chunkwise.core import Piece
from chunkwise.models.embed.embedder import Embedder, TokenEmbedder
from chunkwise.models.http_client import parse_public_url
from chunkwise.text.analyzed import Analyzed

_AT_ONCE = 4096
"""Borders looked at together: sums of a long document's vectors are large."""


@cache
def named_embedder(model: str) -> Embedder:
    """The model of this name, loaded once a process."""
    from chunkwise.models import DEFAULT, get_embedder
    from chunkwise.models.embed.pretrained import minilm

    if model == DEFAULT and parent_process() is not None:
        # One worker among several: a thread each, or they are in each other's way.
        return get_embedder(minilm(threads=1))
    return get_embedder(model)


def unit_vectors(
    embedder: Embedder, document: Analyzed, starts: NDArray[np.int64], *, late: bool
) -> NDArray[np.float32]:
    """A vector of length 1 for each unit of a text they tile; zeros where a unit says nothing."""
    text = document.text
    bounds = np.append(starts, len(text))
    if late:
        from chunkwise.models.embed.late_chunking import atom_sums, span_vectors

        # Not isinstance: that would ask for `dimensions`, and an endpoint would send a request.
        if not hasattr(type(embedder), "token_vectors"):
            raise InvalidParameter(
                f"vectors is 'late', but {embedder.identity} has no token vectors; use "
                f"vectors='own', or minilm or a model.onnx, which have both"
            )
        # The atoms every index of this document is made of: what one has read, the other finds kept.
        atoms = document.atoms()
        sums = atom_sums(cast(TokenEmbedder, embedder), document, atoms)
        spans = np.column_stack((bounds[:-1], bounds[1:]))
        return span_vectors(atoms, len(text), sums, spans)
    return embedder.embed([text[start:end].strip() for start, end in pairwise(bounds.tolist())])


def border_similarity(vectors: NDArray[np.float32], buffer: int) -> NDArray[np.float64]:
    """Cosine of what precedes and what follows each border between units: `buffer` + 1 units on either side."""
    values = np.ones(max(len(vectors) - 1, 0))
    for first in range(0, len(values), _AT_ONCE):
        last = min(first + _AT_ONCE, len(values))
        low = max(first - buffer, 0)
        part = vectors[low : last + buffer + 1]
        values[first:last] = _similarity(part, np.arange(first, last) + 1 - low, buffer + 1)
    # Rounded: equal sentences are equally near.
    return values.round(4)


def _similarity(
    vectors: NDArray[np.float32], border: NDArray[np.int64], width: int
) -> NDArray[np.float64]:
    before = np.zeros((len(vectors) + 1, vectors.shape[1]))
    np.cumsum(vectors, axis=0, dtype=np.float64, out=before[1:])
    left = before[border] - before[np.maximum(border - width, 0)]
    right = before[np.minimum(border + width, len(vectors))] - before[border]
    length: NDArray[np.float64] = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    # Where nothing is said on one side there is no reason to cut.
    silent = length < 1e-6
    cosine = np.einsum("ij,ij->i", left, right) / np.where(silent, 1.0, length)
    return np.where(silent, 1.0, cosine)


_LONGEST_UNIT = 200
"""Tokens of a sentence that hardly is one: text without marks is grouped in parts of this size."""

_LEAST = 40
"""Sentences have turns of phrase, which are no turns of the subject: alone they make no chunk."""


@dataclass(frozen=True, kw_only=True)
class EmbeddingChunker(SizedChunker):
    """Groups of sentences of about one meaning, each within the limit."""

    name: ClassVar[str]

    max_tokens: int = param(
        800, "maximum chunk size", unit="tokens", low=1, high=LARGEST, aliases=("chunk_size",)
    )
    min_tokens: int | None = param(
        None, "smaller chunks are merged with the more similar neighbor if it fits; default: "
        "40, at most a quarter of the limit",
        unit="tokens", low=0, high=LARGEST,
    )  # fmt: skip
    model: str | Embedder = param(
        "minilm", "minilm, another model by name, the path of a model.onnx, or an embedder"
    )
    vectors: str = param(
        "own", "own: embed each sentence separately; late: with the surrounding text",
        choices=("own", "late"),
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        check_model("model", self.model, "embed", "minilm")

    @property
    def least(self) -> int:
        """The size below which a chunk joins a neighbor."""
        return min(_LEAST, self.max_tokens // 4) if self.min_tokens is None else self.min_tokens

    def units(self, document: Analyzed) -> NDArray[np.int64]:
        """Starts of what is grouped: sentences, items, rows, each heading with what follows it."""
        return glued(document, document.atoms(max_tokens=_LONGEST_UNIT))

    def unit_vectors(self, document: Analyzed, units: NDArray[np.int64]) -> NDArray[np.float32]:
        try:
            made = named_embedder(self.model) if isinstance(self.model, str) else self.model
            return unit_vectors(made, document, units, late=self.vectors == "late")
        except MissingExtra as error:
            raise MissingExtra(f"the strategy {self.name}", error.args[1]) from error

    def grouped(
        self, document: Analyzed, starts: NDArray[np.int64], within: Sequence[CutLevel] = ()
    ) -> list[Piece]:
        """A chunk a group; one over the limit is cut at `within`, then sentences, clauses, words."""
        sentences = sentence_levels(document)
        packer = self.packer(
            document,
            lambda _: [ArrayCuts(lambda: starts), *within, *sentences, *clause_levels(document)],
            nested=True,
            overlap_cuts=sentences[-1],
        )
        pieces: list[Piece] = []
        for start, end in pairwise([*starts.tolist(), len(document.text)]):
            pieces.extend(packer.pack(start, end, floor=0))
        return pieces

    def joined(
        self,
        document: Analyzed,
        pieces: list[Piece],
        units: NDArray[np.int64],
        similarity: NDArray[np.float64],
    ) -> list[Piece]:
        """Pieces below the least size joined with the neighbor nearer in meaning where the limit allows.

        Where it does not, they take over some of a neighbor's last or first sentences.
        """
        if not self.least:
            return pieces
        measure = document.measure(self.tokenizer)
        sizes = self.least, self.max_tokens
        return SmallChunks(document, measure, units, similarity, *sizes, not self.overlaps).without(
            pieces
        )


def check_model(
    name: str, given: object, method: str, example: str, *, or_has: str | None = None
) -> None:
    """Refuses what is neither the name of a model nor one, and a name that holds a secret."""
    can = (method, *([or_has] if or_has else []))
    if not isinstance(given, str) and not any(callable(getattr(given, item, None)) for item in can):
        raise InvalidParameter(
            f"{name} is {given!r}; expected a name such as {example!r}, or an object with "
            f"`{method}`"
        )
    if isinstance(given, str) and given.lower().startswith(("http://", "https://")):
        parse_public_url(given)  # every chunk is labeled with it


_AMOUNTS = {"percentile": 85.0, "deviation": 1.0, "gradient": 85.0}
"""Two of three say how many sentences in a hundred are not cut after: 85 makes groups of six or seven."""


@dataclass(frozen=True, kw_only=True)
class SemanticChunker(EmbeddingChunker):
    """Neighboring sentences together while their meaning is near; a cut where it falls below a threshold.

    Use it for text that changes its subject without a heading: talks, interviews, minutes, essays. Needs a model.
    """

    name: ClassVar[str] = "semantic"

    threshold: float = param(
        0.5,
        "cosine similarity below which the text is split, with method=threshold",
        low=-1.0,
        high=1.0,
    )
    method: str = param(
        "threshold",
        "threshold, or relative to the document's similarities: the lowest (percentile), far "
        "below the mean (deviation), the deepest dips (gradient)",
        choices=("threshold", *_AMOUNTS),
    )  # fmt: skip
    amount: float | None = param(
        None, "percentile (85) and gradient (85): percent of boundaries not split; deviation (1): standard deviations",
        low=0.0, high=100.0,
    )  # fmt: skip
    buffer: int = param(
        1, "additional sentences compared on each side of a boundary", unit="sentences",
        low=0, high=100,
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.amount is not None and self.method == "threshold":
            raise InvalidParameter(
                f"amount is {self.amount} and method 'threshold', which uses `threshold` "
                f"instead; amount is for {', '.join(map(repr, _AMOUNTS))}"
            )

    def split(self, document: Analyzed) -> Sequence[Piece]:
        units = self.units(document)
        if not len(units):
            return []
        similarity = border_similarity(self.unit_vectors(document, units), self.buffer)
        starts = units[np.append(True, self._cuts(similarity))]
        # A group over the limit ends at the last place within reach that is one of the weaker half.
        weak = units[1:][similarity < np.median(similarity)] if len(similarity) else units[1:]
        pieces = self.grouped(document, starts, [ArrayCuts(lambda: weak)])
        return self.joined(document, pieces, units, similarity)

    def _cuts(self, similarity: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether each place between two units is cut."""
        if self.method == "threshold" or not len(similarity):
            return similarity < self.threshold
        amount = _AMOUNTS[self.method] if self.amount is None else self.amount
        fall = -similarity
        if self.method == "deviation":
            return fall > fall.mean() + amount * fall.std() + _NOISE
        if self.method == "gradient":
            around = np.pad(similarity, 1, mode="edge")
            fall = np.round(around[:-2] + around[2:] - 2 * similarity, 4)
        return fall > np.percentile(fall, amount) + _NOISE


_NOISE = 1e-9
"""Places that are equally near are all cut or none, whatever the last bit of a mean says."""
