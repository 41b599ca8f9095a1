"""Offsets as numbers of tokens: the same measures then count tokens instead of characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np

from chunkwise.core import Document
from chunkwise.metrics.spans.overlaps import Numbers
from chunkwise.metrics.spans.tables import Chunking, Found, Gold
from chunkwise.metrics.spans.token_cut import TokenCut
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, TokenizerLike

Table = TypeVar("Table", Gold, Found, Chunking)


class NumberCut:
    """Cuts what is measured in tokens already."""

    def ends(self, document: Numbers, start: Numbers, end: Numbers, tokens: Numbers) -> Numbers:
        return np.minimum(start + tokens, end)


class InTokens(NamedTuple):
    """Tables whose starts and ends are numbers of tokens, and the cut that goes with them."""

    gold: Gold
    found: Found
    chunking: Chunking | None
    cut: NumberCut


def in_tokens(
    gold: Gold,
    found: Found,
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
