"""The contract of a strategy as a function: what its author calls in a test of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import regex

from chunkwise.chunkers import Chunker, Strategy, get_strategy
from chunkwise.core import Chunk, Document
from chunkwise.errors import BrokenContract
from chunkwise.hostile import hostile_documents
from chunkwise.text.tokenizers import TokenizerLike, get_tokenizer

_CLUSTER = regex.compile(r"\X")


def check_chunker(
    chunker: str | Chunker | Strategy,
    documents: Iterable[Document | str] = (),
    *,
    overlap: bool = True,
) -> None:
    """Hold a strategy to the contract on hostile documents and on yours; raise `BrokenContract` at the first breach.

    `overlap=False` asks in addition that no character is in two chunks.
    """
    strategy = get_strategy(chunker)
    for given in [*hostile_documents(), *documents]:
        document = Document("check", given) if isinstance(given, str) else given
        chunks = list(strategy.chunks(document))
        check_chunks(document, chunks, limit=strategy.limit, overlap=overlap)
        again = list(get_strategy(chunker).chunks(document))
        if again != chunks or [c.id for c in again] != [c.id for c in chunks]:
            raise BrokenContract(
                f"{strategy.label}: a second run on {document.id!r} gave other chunks"
            )


def check_chunks(
    document: Document,
    chunks: Sequence[Chunk],
    *,
    limit: tuple[TokenizerLike, int] | None = None,
    overlap: bool = True,
) -> None:
    """Hold the chunks of one document to the contract."""
    text = document.text
    _check_spans(document, chunks, overlap)
    _check_coverage(text, chunks)
    breaks = _grapheme_breaks(text)
    for chunk in chunks:
        for edge in (chunk.start, chunk.end):
            if edge not in breaks:
                raise BrokenContract(_say(chunk, f"cuts the grapheme cluster around {edge}"))
        if limit is not None:
            _check_size(chunk, breaks, *limit)


def _say(chunk: Chunk, problem: str) -> str:
    return f"{chunk.strategy or 'chunk'}: {chunk.id} [{chunk.start}:{chunk.end}] {problem}: {chunk.text[:60]!r}"


def _check_spans(document: Document, chunks: Sequence[Chunk], overlap: bool) -> None:
    before = None
    for number, chunk in enumerate(chunks):
        if not 0 <= chunk.start < chunk.end <= len(document.text):
            raise BrokenContract(
                f"{chunk.id} [{chunk.start}:{chunk.end}] is no span of {len(document.text)}"
            )
        if chunk.text != document.text[chunk.start : chunk.end]:
            raise BrokenContract(_say(chunk, "is not the text of its span"))
        if chunk.index != number or chunk.doc_id != document.id:
            raise BrokenContract(_say(chunk, f"should be number {number} of {document.id!r}"))
        if before is not None and chunk.start <= before.start:
            raise BrokenContract(
                _say(chunk, f"does not start after the one before it ({before.start})")
            )
        if before is not None and not overlap and chunk.start < before.end:
            raise BrokenContract(
                _say(chunk, f"repeats text of the one before it, which ends at {before.end}")
            )
        before = chunk


def _check_coverage(text: str, chunks: Sequence[Chunk]) -> None:
    covered = 0
    for chunk in chunks:
        _check_gap(text, covered, chunk.start)
        covered = max(covered, chunk.end)
    _check_gap(text, covered, len(text))


def _check_gap(text: str, start: int, end: int) -> None:
    lost = text[start:end].strip()
    if start < end and lost:
        raise BrokenContract(f"no chunk has the text between {start} and {end}: {lost[:60]!r}")


def _check_size(chunk: Chunk, breaks: set[int], tokenizer: TokenizerLike, limit: int) -> None:
    size = get_tokenizer(tokenizer).count(chunk.text)
    if size != chunk.token_count:
        raise BrokenContract(_say(chunk, f"says {chunk.token_count} tokens, its text has {size}"))
    divisible = any(edge in breaks for edge in range(chunk.start + 1, chunk.end))
    if size > limit and divisible:
        raise BrokenContract(_say(chunk, f"has {size} tokens, the limit is {limit}"))


def _grapheme_breaks(text: str) -> set[int]:
    return {0, *(match.end() for match in _CLUSTER.finditer(text))}
