"""Where a chunk stands, told beside it: what is indexed says more, what is shown stays the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chunkwise.core import SECTION_SEPARATOR, Chunk
from chunkwise.text.analysis import Analyzed


def with_headings(chunks: Sequence[Chunk], analyzed: Analyzed) -> list[Chunk]:
    """The chunks of one document with its title and their section path as context, above the context they had.

    A summary stays as it is: it stands in no section.
    """
    title = " ".join(analyzed.document.title.split())
    return [
        chunk if chunk.level else _placed(chunk, title, analyzed.section(chunk.start, chunk.end))
        for chunk in chunks
    ]


def _placed(chunk: Chunk, title: str, section: tuple[str, ...]) -> Chunk:
    # A document's title is mostly its first heading: said once.
    told = section and section[0].casefold() == title.casefold()
    path = section if told or not title else (title, *section)
    lines = [SECTION_SEPARATOR.join(filter(None, path)), chunk.context]
    context = "\n".join(line for line in lines if line)
    return chunk if context == chunk.context else replace(chunk, context=context)
