"""The contracts of strategies, embedders and rerankers as functions: what an author calls in a test of their own."""

from __future__ import annotations

import pickle
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate

import numpy as np
import regex
from numpy.typing import NDArray

from chunkwise.base.errors import BrokenContract
from chunkwise.chunkers import Chunker, Strategy, get_strategy
from chunkwise.chunkers.pieces import check_summary, merged_spans
from chunkwise.core import Chunk, Document, Piece, Span
from chunkwise.models import get_embedder, get_reranker
from chunkwise.models.embed.embedder import Embedder, Kind
from chunkwise.models.rerank.reranker import Reranker
from chunkwise.testkit.hostile import hostile_documents
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, TokenizerLike, get_tokenizer

_CLUSTER = regex.compile(r"\X")
_CONJUNCT = regex.compile(
    r"(?=\p{InCB=Consonant})(?<=\p{InCB=Consonant}[\p{InCB=Extend}\p{InCB=Linker}]*\p{InCB=Linker}\p{InCB=Extend}*)"
)
"""Between consonants that a virama joins: one cluster by Unicode's rules, two by `\\X` of the `regex` module."""
_TEXTS = (
    "The lamps are lit at dusk.", "", "Leave is asked for in writing.", " \n\t\u3000", "灯は夕暮れに灯る。",
    "half \ud83d of a pair", "\udfff\udfff", "nul \x00, bell \x07, escape \x1b[31m", "\x00\x01", "\u200b\u200d",
    "👨‍👩‍👧‍👦", "e\u0301", "The lamps are lit at dusk.", "a", "<s> [CLS] <|endoftext|>",
    "the harbour master's word " * 60,
)  # fmt: skip


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
                f"{strategy.label}: a second run on {document.id!r} gave other chunks"
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
                raise BrokenContract(_say(chunk, f"cuts the grapheme cluster around {edge}"))
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
            raise BrokenContract(_say(chunk, f"has the level {chunk.level} behind one of {level}"))
        if not chunk.level:
            continue
        if chunk.level > level:
            below = sorted(
                span for each in every[:number] if each.level == level for span in each.spans
            )
        if chunk.index != number or chunk.doc_id != document.id:
            raise BrokenContract(_say(chunk, f"should be number {number} of {document.id!r}"))
        piece = Piece(*chunk.span, summary=chunk.text, summarised=chunk.spans, level=chunk.level)
        check_summary(piece, _say(chunk, "is no summary"))
        if merged_spans(span for own in chunk.spans for span in _inside(below, own)) != chunk.spans:
            raise BrokenContract(_say(chunk, f"stands for more than chunks of level {level}"))
        size = get_tokenizer(tokenizer).count(chunk.text)
        if size != chunk.token_count:
            raise BrokenContract(
                _say(chunk, f"says {chunk.token_count} tokens, its text has {size}")
            )
        if limit is not None and size > limit and len(_grapheme_breaks(chunk.text)) > 2:
            raise BrokenContract(_say(chunk, f"has {size} tokens, the limit is {limit}"))


def _inside(spans: Sequence[Span], outer: Span) -> list[Span]:
    """Those of sorted spans that lie whole in another."""
    first, behind = bisect_left(spans, (outer.start,)), bisect_left(spans, (outer.end,))
    return [span for span in spans[first:behind] if span.end <= outer.end]


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


def _check_size(
    chunk: Chunk, breaks: Collection[int], tokenizer: TokenizerLike, limit: int
) -> None:
    size = get_tokenizer(tokenizer).count(chunk.text)
    if size != chunk.token_count:
        raise BrokenContract(_say(chunk, f"says {chunk.token_count} tokens, its text has {size}"))
    if size > limit and any(edge in breaks for edge in range(chunk.start + 1, chunk.end)):
        raise BrokenContract(_say(chunk, f"has {size} tokens, the limit is {limit}"))


def _grapheme_breaks(text: str) -> Collection[int]:
    # Signs of ASCII are clusters of one, but for this pair.
    if text.isascii() and "\r\n" not in text:
        return range(len(text) + 1)
    starts = {0, *accumulate(map(len, _CLUSTER.findall(text)))}
    return starts - {match.start() for match in _CONJUNCT.finditer(text)}


def check_embedder(
    embedder: str | Embedder, texts: Iterable[str] = (), *, tolerance: float = 1e-5
) -> None:
    """Hold an embedder to the contract on hostile texts and on yours; raise `BrokenContract` at the first breach.

    `tolerance` is how far a number may move when a text is read among others: the rounding of a sum, no more.
    """
    model = get_embedder(embedder, cache=False)
    identity, dimensions = model.identity, model.dimensions
    if not isinstance(identity, str) or not identity:
        raise BrokenContract(f"the identity of {type(model).__name__} is {identity!r}, no name")
    if type(dimensions) is not int or dimensions < 1:
        raise BrokenContract(f"{identity}: dimensions is {dimensions!r}, no whole number above 0")
    every = [*_TEXTS, *texts]
    kinds: tuple[Kind, ...] = ("passage", "query")
    for kind in kinds:
        rows = _rows(model, every, kind)
        _check_lengths(identity, every, rows)
        _check_neighbours(model, every, kind, rows, tolerance)
    _check_copy(model, every[0], tolerance)
    if model.identity != identity or model.dimensions != dimensions:
        raise BrokenContract(
            f"{identity}: identity or dimensions are others after use: {model.identity}, {model.dimensions}"
        )


def _rows(model: Embedder, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
    """Its vectors of the texts, if they are an array of the right shape."""
    rows = model.embed(texts, kind)
    wanted = (len(texts), model.dimensions)
    if not isinstance(rows, np.ndarray) or rows.dtype != np.float32 or rows.shape != wanted:
        given = f"{getattr(rows, 'dtype', type(rows).__name__)} {getattr(rows, 'shape', '')}"
        raise BrokenContract(f"{model.identity}: gave {given} where float32 {wanted} is needed")
    return rows


def _check_lengths(identity: str, texts: Sequence[str], rows: NDArray[np.float32]) -> None:
    for text, length in zip(texts, np.linalg.norm(rows.astype(np.float64), axis=1), strict=True):
        # Signs without a word may be read or not.
        allowed = {1.0} if any(map(str.isalnum, text)) else {0.0, 1.0} if text.strip() else {0.0}
        if not any(abs(length - each) <= 1e-3 for each in allowed):
            wanted = " or ".join(f"{each:g}" for each in sorted(allowed))
            raise BrokenContract(
                f"{identity}: the vector of {text[:60]!r} has length {length:g}, not {wanted}"
            )


def _check_neighbours(
    model: Embedder, texts: Sequence[str], kind: Kind, rows: NDArray[np.float32], tolerance: float
) -> None:
    """A text's vector is the same alone, the other way round and among fewer."""
    backwards = _rows(model, texts[::-1], kind)[::-1]
    alone = np.concatenate([_rows(model, [text], kind) for text in texts])
    third = np.concatenate([_rows(model, texts[at::3], kind) for at in range(3)])
    order = np.concatenate([np.arange(len(texts))[at::3] for at in range(3)])
    for how, others in (
        ("in the opposite order", backwards),
        ("alone", alone),
        ("in a smaller batch", third[order.argsort()]),
    ):
        moved = np.abs(rows - others).max(axis=1)
        worst = int(moved.argmax())
        if moved[worst] > tolerance:
            raise BrokenContract(
                f"{model.identity}: {texts[worst][:60]!r} has another vector {how}, by {moved[worst]:g} in a number"
            )
    _rows(model, [], kind)


def _check_copy(model: Embedder, text: str, tolerance: float) -> None:
    """Other processes get the model as a pickle."""
    try:
        copy: Embedder = pickle.loads(pickle.dumps(model))
    except Exception as error:  # somebody else's code: whatever it does, it is no copy
        raise BrokenContract(
            f"{model.identity}: cannot be pickled: {type(error).__name__}: {error}"
        ) from error
    if copy.identity != model.identity:
        raise BrokenContract(f"{model.identity}: its pickle calls itself {copy.identity}")
    if np.abs(_rows(copy, [text]) - _rows(model, [text])).max() > tolerance:
        raise BrokenContract(f"{model.identity}: its pickle gives another vector of {text[:60]!r}")


def check_reranker(
    reranker: str | Reranker, texts: Iterable[str] = (), *, tolerance: float = 1e-4
) -> None:
    """Hold a reranker to the contract: a finite score a text, the same in any batch and order."""
    model = get_reranker(reranker)
    every = [*_TEXTS, *texts]
    question = every[0]

    def scores(some: list[str]) -> NDArray[np.float32]:
        given = model.scores(question, some)
        if given.dtype != np.float32 or not np.isfinite(given).all():
            raise BrokenContract(f"{model.identity}: gave {given.dtype}, no scores: {given[:5]}")
        if given.shape != (len(some),):
            raise BrokenContract(
                f"{model.identity}: gave {given.shape} scores for {len(some)} texts"
            )
        return given

    together, backwards = scores(every), scores(every[::-1])[::-1]
    alone = np.concatenate([scores([text]) for text in every])
    if np.ptp([together, backwards, alone], axis=0).max() > tolerance or len(scores([])):
        raise BrokenContract(f"{model.identity}: a text's score depends on the texts around it")
