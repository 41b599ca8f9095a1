"""Which passages are repeated, and what share of any group they make up."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunkwise.profile.results import Place, Repeat, Repeats

_EXAMPLES = 5
_PLACES = 3


@dataclass(frozen=True, slots=True)
class Repeated:
    """Rows are occurrences of repeated passages, in the order they were met."""

    passage: NDArray[np.int64]
    count: NDArray[np.int64]
    """Of each passage, in the whole corpus."""
    tokens: NDArray[np.int64]
    cell: NDArray[np.int64]
    document: NDArray[np.int64]
    start: NDArray[np.int64]
    documents: Sequence[str]
    previews: Sequence[str]
    """Of each passage."""
    complete: bool

    def of(self, cells: Collection[int], total_tokens: int) -> Repeats:
        """What one group has of them."""
        rows = np.flatnonzero(np.isin(self.cell, list(cells)))
        found, first = np.unique(self.passage[rows], return_index=True)
        tokens = int(self.tokens[rows].sum())
        # Most tokens spent on copies first.
        weight = self.count[found] * self.tokens[rows[first]]
        top = np.argsort(-weight, kind="stable")[:_EXAMPLES].tolist()
        examples = tuple(self._example(int(found[index]), rows) for index in top)
        share = tokens / total_tokens if total_tokens else 0.0
        return Repeats(len(found), len(rows), share, examples, self.complete)

    def _example(self, passage: int, rows: NDArray[np.int64]) -> Repeat:
        here = rows[self.passage[rows] == passage]
        places = tuple(
            Place(self.documents[self.document[row]], int(self.start[row]), int(self.tokens[row]))
            for row in here[:_PLACES].tolist()
        )
        return Repeat(int(self.count[passage]), places[0].tokens, self.previews[passage], places)


def repeated(
    columns: Mapping[str, NDArray[np.generic]],
    documents: Sequence[str],
    previews: Mapping[int, str],
    *,
    complete: bool,
) -> Repeated:
    """Occurrences of what stands there twice; those inside a repeated paragraph are told by it alone."""
    own = columns["own"]
    values, count = np.unique(own, return_counts=True)
    many = values[count > 1]
    rows = np.isin(own, many) & ~np.isin(columns["parent"], many)
    passage = many.searchsorted(own[rows])
    tokens, cell, document, start = (
        columns[name][rows].astype(np.int64) for name in ("tokens", "cell", "document", "start")
    )
    texts = [previews.get(value, "") for value in many.tolist()]
    return Repeated(
        passage, count[count > 1], tokens, cell, document, start, documents, texts, complete
    )
