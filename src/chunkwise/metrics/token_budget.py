"""Hits cut to what a reader takes in: the first k, or a number of tokens; and lengths counted in tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Document
from chunkwise.metrics.span_tables import Chunking, Gold, HitTable, Numbers
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, TokenizerLike, get_tokenizer


class TokenEnds(Protocol):
    """Knows where a text ends after so many tokens."""

    def ends(self, document: Numbers, start: Numbers, end: Numbers, tokens: Numbers) -> Numbers:
        """Of each place: the end of its first so many tokens, never behind its own end."""
        ...


def first_hits(found: HitTable, k: int) -> HitTable:
    """The best k of each question."""
    return _kept(found, found.rank < k)


def within(found: HitTable, budget: int, cut: TokenEnds) -> HitTable:
    """Hits in rank order while they fit; the place that crosses the budget is cut, the rest dropped."""
    spent = np.cumsum(found.tokens)
    begins = found.hit.searchsorted(found.first)
    paid = spent - np.concatenate(([0], spent))[begins[found.question]]
    left = budget - (paid - found.tokens)
    crossing = np.flatnonzero((left > 0) & (found.tokens > left))
    end, tokens = found.end.copy(), found.tokens.copy()
    tokens[crossing] = left[crossing]
    places = (column[crossing] for column in (found.document, found.start, found.end, left))
    end[crossing] = cut.ends(*places)
    fits = paid <= budget
    fits[crossing] = end[crossing] > found.start[crossing]
    return _kept(replace(found, end=end, tokens=tokens), fits)


def _kept(table: HitTable, which: NDArray[np.bool_]) -> HitTable:
    """A hit none of whose places is kept is gone."""
    hits = np.flatnonzero(which)
    if table.hits_of is not None:
        hits, numbers = np.unique(table.hits_of[which], return_inverse=True)
    counts = np.bincount(table.hit_question[hits], minlength=len(table.first) - 1)
    return HitTable(
        np.concatenate(([0], np.cumsum(counts))),
        table.document[which],
        table.start[which],
        table.end[which],
        table.tokens[which],
        None if table.hits_of is None else numbers.reshape(-1),
        None if table.summary is None else table.summary[hits],
    )


_LOOK = 64
"""How far from a place a restart of the tokenizer is sought; without one the whole document is tokenized."""


class TokenCut:
    """Tokenises what it is asked about when it is asked, and no more of a document than it must."""

    def __init__(
        self, documents: Sequence[Document], tokenizer: TokenizerLike = DEFAULT_TOKENIZER
    ) -> None:
        self._documents = documents
        self._tokenizer = get_tokenizer(tokenizer)
        self._starts: dict[int, Numbers] = {}

    def starts(self, document: int) -> Numbers:
        """Where the tokens of a document start."""
        if document not in self._starts:
            self._starts[document] = self._tokenizer.offsets(self._documents[document].text)
        return self._starts[document]

    def ends(self, document: Numbers, start: Numbers, end: Numbers, tokens: Numbers) -> Numbers:
        """Where each place ends after this many of its document's tokens; one it begins inside of counts whole."""
        rows = zip(*(column.tolist() for column in (document, start, end, tokens)), strict=True)
        return np.fromiter((self._end(*row) for row in rows), np.int64, len(document))

    def _end(self, document: int, start: int, end: int, tokens: int) -> int:
        starts = self._near(document, start, end)
        following = int(containing(starts, np.array([start]))[0]) + tokens
        return min(end, int(starts[following])) if following < len(starts) else end

    def _near(self, document: int, start: int, end: int) -> Numbers:
        """Starts of the document's tokens from the one `start` lies in, up to `end` and a little further."""
        text, restart = self._documents[document].text, self._tokenizer.restart
        if restart is None or document in self._starts:
            return self.starts(document)
        tail = next(
            (p for p in range(end, end + _LOOK) if p >= len(text) or restart.match(text, p)), -1
        )
        for head in range(start, max(-1, start - _LOOK), -1) if tail >= 0 else ():
            if head == 0 or restart.match(text, head):
                starts = self._tokenizer.offsets(text[head:tail]) + head
                # White space may belong to no token: then the one before it is what `start` lies in.
                if len(starts) and starts[0] <= start:
                    return starts
        return self.starts(document)

    def first_token(self, document: Numbers, position: Numbers) -> Numbers:
        """The number of the token each position lies in."""
        return _each_document(document, position, containing, self.starts)

    def next_token(self, document: Numbers, position: Numbers) -> Numbers:
        """The number of the first token at or behind each position."""
        return _each_document(document, position, np.searchsorted, self.starts)


def containing(starts: Numbers, position: Numbers) -> Numbers:
    """Which token each position lies in; what comes before the first token belongs to it."""
    behind = starts.searchsorted(position)
    inside = behind < len(starts)
    inside[inside] = starts[behind[inside]] == position[inside]
    return np.maximum(behind - ~inside, 0)


def _each_document(
    document: Numbers,
    position: Numbers,
    numbered: Callable[[Numbers, Numbers], Numbers],
    starts: Callable[[int], Numbers],
) -> Numbers:
    """Positions numbered by the tokens of their documents; those in documents that are not there stay."""
    out = position.copy()
    order = np.argsort(document, kind="stable")
    numbers, first = np.unique(document[order], return_index=True)
    bounds = np.append(first, len(order))
    for number, low, high in zip(numbers.tolist(), bounds, bounds[1:], strict=False):
        if number >= 0:
            which = order[low:high]
            out[which] = numbered(starts(number), position[which])
    return out


Table = TypeVar("Table", Gold, HitTable, Chunking)


class NumberCut:
    """Cuts what is measured in tokens already."""

    def ends(self, document: Numbers, start: Numbers, end: Numbers, tokens: Numbers) -> Numbers:
        return np.minimum(start + tokens, end)


class InTokens(NamedTuple):
    """Tables whose starts and ends are numbers of tokens, and the cut that goes with them."""

    gold: Gold
    found: HitTable
    chunking: Chunking | None
    cut: NumberCut


def in_tokens(
    gold: Gold,
    found: HitTable,
    chunking: Chunking | None,
    documents: Sequence[Document],
    tokenizer: TokenizerLike = DEFAULT_TOKENIZER,
) -> InTokens:
    """A start is the token it lies in, an end the first token at or behind it."""
    tokens = TokenCut(documents, tokenizer)
    return InTokens(
        _mapped(gold, tokens),
        _mapped(found, tokens),
        _chunking(chunking, tokens) if chunking is not None else None,
        NumberCut(),
    )


def _chunking(chunking: Chunking, tokens: TokenCut) -> Chunking:
    mapped = _mapped(chunking, tokens)
    if chunking.stood_for is None:
        return mapped
    chunk, start, end, size = chunking.stood_for.T
    places = _mapped(Chunking(chunking.document[chunk], start, end, size), tokens)
    return replace(mapped, stood_for=np.column_stack((chunk, places.start, places.end, size)))


def _mapped(table: Table, tokens: TokenCut) -> Table:
    start = tokens.first_token(table.document, table.start)
    end = tokens.next_token(table.document, table.end)
    # What is empty holds no token, also inside one.
    return replace(table, start=start, end=np.where(table.start < table.end, end, start))
