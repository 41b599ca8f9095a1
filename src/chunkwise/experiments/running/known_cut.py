"""Documents cut at a number of tokens, many places at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chunkwise.metrics.spans.overlaps import Numbers
from chunkwise.metrics.spans.token_cut import containing
from chunkwise.text.measure import Measure


class KnownCut:
    """The ends that `TokenCut` finds, where the tokens of all documents are known already."""

    def __init__(self, measures: Sequence[Measure]) -> None:
        self._measures = measures

    def ends(self, document: Numbers, start: Numbers, end: Numbers, tokens: Numbers) -> Numbers:
        """Where each place ends after this many of its document's tokens."""
        found = end.copy()
        for number in np.unique(document).tolist():
            own = np.flatnonzero(document == number)
            starts = self._measures[number].starts
            following = containing(starts, start[own]) + tokens[own]
            inside = following < len(starts)
            own = own[inside]
            found[own] = np.minimum(end[own], starts[following[inside]])
        return found
