"""What stands beside a chunk and is indexed with it, never part of it: title, headings, the header of its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from chunkwise.core import SECTION_SEPARATOR, Chunk
from chunkwise.text.analyzed import Analyzed

_LONGEST_HEADER = 1000
"""Characters: a longer one would say more than the rows it stands above."""


def with_headings(chunks: Sequence[Chunk], analyzed: Analyzed) -> list[Chunk]:
    """The chunks of one document with its title and their section path as context, above the context they had.

    One that begins among the rows of a table has the table's header, too. A summary stays as it is: it stands in no
    section.
    """
    title = " ".join(analyzed.document.title.split())
    headers = analyzed.table_headers(
        np.array([chunk.start for chunk in chunks], dtype=np.int64),
        lambda header: header.end - header.start <= _LONGEST_HEADER,
    )
    return [
        chunk
        if chunk.level
        else _placed(
            chunk, title, analyzed.section(chunk.start, chunk.end), headers.get(at, "").strip()
        )
        for at, chunk in enumerate(chunks)
    ]


def _placed(chunk: Chunk, title: str, section: tuple[str, ...], header: str) -> Chunk:
    # A document's title is mostly its first heading: said once.
    told = section and section[0].casefold() == title.casefold()
    path = section if told or not title else (title, *section)
    # A strategy may have put the header there itself.
    header = "" if f"\n{header}\n" in f"\n{chunk.context}\n" else header
    lines = [SECTION_SEPARATOR.join(filter(None, path)), header, chunk.context]
    context = "\n".join(line for line in lines if line)
    return (
        chunk
        if context == chunk.context
        else replace(chunk, context=context, context_token_count=-1)
    )
