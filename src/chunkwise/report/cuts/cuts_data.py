"""What the page of cuts knows about one document, as JSON that is safe inside HTML."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import numpy as np

from chunkwise.core import Chunk
from chunkwise.metrics.cuts.boundary_issues import KINDS, Issue
from chunkwise.text.analysis import Analyzed

# "<" could end the script element; the rest would reorder the page's source or not be UTF-8.
_UNSAFE = re.compile("[<>&\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


def embedded(value: object) -> str:
    """JSON for a script element: no markup, no line separators, no lone surrogates."""
    found = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", found)


def document_data(
    document: Analyzed, chunks: Sequence[Chunk], issues: Sequence[Issue]
) -> dict[str, object]:
    """A document's text, its chunks as columns and the issues of their edges."""
    number = {kind: index for index, kind in enumerate(KINDS)}
    paths: dict[tuple[str, ...], int] = {}
    return {
        "id": document.document.id,
        "title": document.document.title,
        "text": document.text,
        # JavaScript counts UTF-16 units: every character listed here counts twice.
        "astral": np.flatnonzero(document.characters.points > 0xFFFF).tolist(),
        "index": [chunk.index for chunk in chunks],
        "start": [chunk.start for chunk in chunks],
        "end": [chunk.end for chunk in chunks],
        "size": [chunk.token_count for chunk in chunks],
        "words": [chunk.word_count for chunk in chunks],
        "section": [paths.setdefault(chunk.section, len(paths)) for chunk in chunks],
        "paths": list(paths),
        "pages": [[chunk.page, chunk.last_page] for chunk in chunks]
        if document.document.pages
        else None,
        "context": {i: chunk.context for i, chunk in enumerate(chunks) if chunk.context},
        "issues": [[number[issue.kind], issue.chunk, issue.offset] for issue in issues],
    }
