"""What the strategies share that cut by meaning: the model, the units they group, the limit their groups keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.crumbs import Crumbs
from chunkwise.chunkers.cuts import ArrayCuts, Cuts
from chunkwise.chunkers.levels import clause_levels, glued, sentence_levels
from chunkwise.chunkers.similarity import named_embedder, unit_vectors
from chunkwise.chunkers.sized import LARGEST, Sized
from chunkwise.core import Piece
from chunkwise.errors import InvalidParameter, MissingExtra
from chunkwise.models.embedder import Embedder
from chunkwise.models.endpoint.address import without_secrets
from chunkwise.parameters import param
from chunkwise.text.analysis import Analyzed

_LONGEST_UNIT = 200
"""Tokens of a sentence that hardly is one: text without marks is grouped in parts of this size."""

_LEAST = 40
"""Sentences have turns of phrase, which are no turns of the subject: alone they make no chunk."""


@dataclass(frozen=True, kw_only=True)
class ByMeaning(Sized):
    """Groups of sentences of about one meaning, each within the limit."""

    name: ClassVar[str]

    max_tokens: int = param(
        800, "no chunk is larger", unit="tokens", low=1, high=LARGEST, aliases=("chunk_size",)
    )
    min_tokens: int | None = param(
        None, "smaller chunks join the neighbour nearer in meaning where the limit allows; 40, at most "
        "a quarter of the limit, where none is given",
        unit="tokens", low=0, high=LARGEST,
    )  # fmt: skip
    model: str | Embedder = param(
        "minilm", "minilm, another model by name, the path of a model.onnx, or an embedder"
    )
    vectors: str = param(
        "own", "own: each sentence read by itself; late: as part of the text around it",
        choices=("own", "late"),
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        check_model("model", self.model, "embed", "minilm")

    @property
    def least(self) -> int:
        """The size below which a chunk joins a neighbour."""
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
        self, document: Analyzed, starts: NDArray[np.int64], within: Sequence[Cuts] = ()
    ) -> list[Piece]:
        """A chunk a group; one over the limit is cut at `within`, then sentences, clauses, words."""
        sentences = sentence_levels(document)
        packer = self.packer(
            document,
            [ArrayCuts(lambda: starts), *within, *sentences, *clause_levels(document)],
            nested=True,
            overlap_cuts=sentences[1],
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
        """Pieces below the least size joined with the neighbour nearer in meaning where the limit allows.

        Where it does not, they take over some of a neighbour's last or first sentences.
        """
        if not self.least:
            return pieces
        measure = document.measure(self.tokenizer)
        sizes = self.least, self.max_tokens
        return Crumbs(document, measure, units, similarity, *sizes, not self.overlaps).without(
            pieces
        )


def check_model(
    name: str, given: object, method: str, example: str, *, or_has: str | None = None
) -> None:
    """Refuses what is neither the name of a model nor one, and a name that holds a secret."""
    can = (method, *([or_has] if or_has else []))
    if not isinstance(given, str) and not any(callable(getattr(given, each, None)) for each in can):
        raise InvalidParameter(
            f"{name} is {given!r}; a name such as {example!r} or an object with `{method}` is needed"
        )
    if isinstance(given, str) and given.lower().startswith(("http://", "https://")):
        without_secrets(given)  # every chunk is labelled with it
