"""Hits that stand nowhere in the documents: each keeps its rank and what it costs, in a document of its own."""

from __future__ import annotations

from collections.abc import Iterable

from chunkwise.core import Document, Hit
from chunkwise.evaluation.files.row_fields import Said

_MARK = "nowhere"
_UNKNOWN = "\ufffd"
_LONGEST = 100_000
"""Characters; a longer place is taken for a slip."""


def nowhere(where: str, said: Said, taken: Iterable[str]) -> Document:
    """Holds the hit's text and no reference; `taken` are the ids that documents have."""
    id = f"{_MARK}: {where}"
    while id in taken:
        id += "'"
    text = said.text or _UNKNOWN * _length(said)
    # JSON can spell half a character; documents hold none.
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return Document(id, text, format="text", metadata={_MARK: True})


def is_nowhere(hit: Hit) -> bool:
    """Whether this is a hit that could not be found."""
    return hit.document.metadata.get(_MARK) is True


def _length(said: Said) -> int:
    """As its offsets say, where they can be believed."""
    size = 0 if said.start is None or said.end is None else said.end - said.start
    return size if 0 < size <= _LONGEST else 1
