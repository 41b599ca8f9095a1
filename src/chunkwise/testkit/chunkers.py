"""What every strategy keeps to: spans of the text, nothing lost, no cluster cut, no limit passed, always the same."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate

import regex

from chunkwise.base.errors import BrokenContract
from chunkwise.base.wording import counted, thousands
from chunkwise.chunkers import Chunker, Strategy, get_strategy
from chunkwise.chunkers.check_pieces import check_summary, merged_spans
from chunkwise.core import Chunk, Document, Piece, Span
from chunkwise.testkit.hostile import hostile_documents
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, TokenizerLike, get_tokenizer

_CLUSTER = regex.compile(r"\X")
_CONJUNCT = regex.compile(
    r"(?=\p{InCB=Consonant})(?<=\p{InCB=Consonant}[\p{InCB=Extend}\p{InCB=Linker}]*\p{InCB=Linker}\p{InCB=Extend}*)"
)
"""Between consonants that a virama joins: one cluster by Unicode's rules, two by `\\X` of the `regex` module."""


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
        check_chunks(
            document,
            chunks,
            limit=strategy.limit,
            overlap=overlap,
            summary_limit=strategy.summary_limit,
        )
        again = list(get_strategy(chunker).chunks(document))
        if again != chunks or [c.id for c in again] != [c.id for c in chunks]:
            raise BrokenContract(
                f"{strategy.label}: a second run on {document.id!r} returned other chunks"
            )


def check_chunks(
    document: Document,
    chunks: Sequence[Chunk],
    *,
    limit: tuple[TokenizerLike, int] | None = None,
    overlap: bool = True,
    summary_limit: int | None = None,
) -> None:
    """Hold the chunks of one document to the contract.

    Summaries come behind the chunks, the lower levels first: each has a text of its own, of at most `summary_limit`
    tokens, and stands for places of the level below it.
    """
    text = document.text
    every, chunks = chunks, [chunk for chunk in chunks if not chunk.level]
    _check_summaries(document, every, limit[0] if limit else DEFAULT_TOKENIZER, summary_limit)
    _check_spans(document, chunks, overlap)
    _check_coverage(text, chunks)
    breaks = _grapheme_breaks(text)
    for chunk in chunks:
        for edge in (chunk.start, chunk.end):
            if edge not in breaks:
                raise BrokenContract(_say(chunk, f"splits the grapheme cluster around {edge}"))
        if limit is not None:
            _check_size(chunk, breaks, *limit)


def _say(chunk: Chunk, problem: str) -> str:
    return f"{chunk.strategy or 'chunk'}: {chunk.id} [{chunk.start}:{chunk.end}] {problem}: {chunk.text[:60]!r}"


def _check_summaries(
    document: Document, every: Sequence[Chunk], tokenizer: TokenizerLike, limit: int | None
) -> None:
    below: list[Span] = []
    for number, chunk in enumerate(every):
        level = every[number - 1].level if number else 0
        if chunk.level not in (level, level + 1):
            raise BrokenContract(_say(chunk, f"has level {chunk.level} after level {level}"))
        if not chunk.level:
            continue
        if chunk.level > level:
            below = sorted(
                span for item in every[:number] if item.level == level for span in item.spans
            )
        if chunk.index != number or chunk.doc_id != document.id:
            raise BrokenContract(_say(chunk, f"should be number {number} of {document.id!r}"))
        piece = Piece(*chunk.span, summary=chunk.text, summarized=chunk.spans, level=chunk.level)
        check_summary(piece, _say(chunk, "isn't a summary"))
        if merged_spans(span for row in chunk.spans for span in _inside(below, row)) != chunk.spans:
            raise BrokenContract(_say(chunk, f"covers more than chunks of level {level}"))
        size = get_tokenizer(tokenizer).count(chunk.text)
        if size != chunk.token_count:
            raise BrokenContract(
                _say(
                    chunk,
                    f"has token_count {thousands(chunk.token_count)}, but its text has "
                    f"{counted(size, 'token')}",
                )
            )
        if limit is not None and size > limit and len(_grapheme_breaks(chunk.text)) > 2:
            raise BrokenContract(
                _say(chunk, f"has {counted(size, 'token')}, the limit is {thousands(limit)}")
            )


def _inside(spans: Sequence[Span], outer: Span) -> list[Span]:
    """Those of sorted spans that lie whole in another."""
    first, behind = bisect_left(spans, (outer.start,)), bisect_left(spans, (outer.end,))
    return [span for span in spans[first:behind] if span.end <= outer.end]


def _check_spans(document: Document, chunks: Sequence[Chunk], overlap: bool) -> None:
    before = None
    for number, chunk in enumerate(chunks):
        if not 0 <= chunk.start < chunk.end <= len(document.text):
            raise BrokenContract(
                f"{chunk.id} [{chunk.start}:{chunk.end}] is not a span of {len(document.text)}"
            )
        if chunk.text != document.text[chunk.start : chunk.end]:
            raise BrokenContract(_say(chunk, "is not the text of its span"))
        if chunk.index != number or chunk.doc_id != document.id:
            raise BrokenContract(_say(chunk, f"should be number {number} of {document.id!r}"))
        if before is not None and chunk.start <= before.start:
            raise BrokenContract(
                _say(chunk, f"doesn't start after the previous chunk ({before.start})")
            )
        if before is not None and not overlap and chunk.start < before.end:
            raise BrokenContract(
                _say(chunk, f"repeats text of the previous chunk, which ends at {before.end}")
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
        raise BrokenContract(f"no chunk contains the text from {start} to {end}: {lost[:60]!r}")


def _check_size(
    chunk: Chunk, breaks: Collection[int], tokenizer: TokenizerLike, limit: int
) -> None:
    size = get_tokenizer(tokenizer).count(chunk.text)
    if size != chunk.token_count:
        raise BrokenContract(
            _say(
                chunk,
                f"has token_count {thousands(chunk.token_count)}, but its text has "
                f"{counted(size, 'token')}",
            )
        )
    if size > limit and any(edge in breaks for edge in range(chunk.start + 1, chunk.end)):
        raise BrokenContract(
            _say(chunk, f"has {counted(size, 'token')}, the limit is {thousands(limit)}")
        )


def _grapheme_breaks(text: str) -> Collection[int]:
    # Signs of ASCII are clusters of one, but for this pair.
    if text.isascii() and "\r\n" not in text:
        return range(len(text) + 1)
    starts = {0, *accumulate(map(len, _CLUSTER.findall(text)))}
    return starts - {match.start() for match in _CONJUNCT.finditer(text)}
