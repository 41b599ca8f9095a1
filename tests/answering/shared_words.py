"""A reranker without weights, which the tests of quoting can foretell."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.terms import text_terms


class SharedWords:
    """From -10 (no word of the question) to 10 (all of them)."""

    identity = "shared-words:1"

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        asked = _terms(query)
        shares = [len(asked & _terms(text)) / max(len(asked), 1) for text in texts]
        return np.array([20 * share - 10 for share in shares], np.float32)


def _terms(text: str) -> set[int]:
    return set(text_terms(text, "en").hash.tolist())
