"""What the adapters share: a text of another framework cut, and an index as their retrievers hold it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np

from chunkwise.base import parameters, spec
from chunkwise.base.errors import InvalidParameter
from chunkwise.chunkers import Strategy, get_strategy, strategies
from chunkwise.chunkers.chunk import StrategyLike
from chunkwise.core import Chunk, Hit
from chunkwise.models import get_reranker
from chunkwise.models.rerank.reranker import Reranker
from chunkwise.options import SearchOptions
from chunkwise.retrieval.indexes import Index, open_index
from chunkwise.retrieval.metadata_conditions import Clause, conditions_of
from chunkwise.retrieval.search.rerank import reranked_texts

LengthFunction = Callable[[str], int]


def strategy_of(strategy: StrategyLike, given: dict[str, Any]) -> Strategy:
    """The strategy with parameters beside its name; those of None are not given."""
    said = {name: value for name, value in given.items() if value is not None}
    if said and not isinstance(strategy, str):
        raise InvalidParameter(
            f"{next(iter(said))} can't be combined with a strategy object; give the "
            f"strategy by name, such as 'sentences', or omit {next(iter(said))}"
        )
    return get_strategy(strategy, **said)


def counted_by(strategy: StrategyLike, length_function: LengthFunction | None) -> dict[str, Any]:
    """The parameter that counts sizes as a function does; without one, in characters, as `len` counts."""
    if not isinstance(strategy, str):
        return {}
    name, values = spec.parse(strategy)
    if "tokenizer" in values:
        return {}
    part = strategies.get(name)
    own = {field.name for field in parameters.fields(part)} if isinstance(part, type) else set()
    if "tokenizer" not in own:
        if length_function not in (None, len):
            raise InvalidParameter(
                f"length_function doesn't apply to {name}; leave it out, or choose a strategy "
                f"with a tokenizer, such as recursive or sentences"
            )
        return {}
    plain = length_function in (None, len)
    return {"tokenizer": "characters" if plain else length_function}


def chunk_metadata(chunk: Chunk) -> dict[str, Any]:
    """What there is to know of a chunk beside its place and text; what is empty is left out."""
    result: dict[str, Any] = {"section": chunk.section_path, "context": chunk.context}
    if chunk.page is not None:
        result["page"] = chunk.page
    if chunk.parent is not None:
        result |= {"parent_start": chunk.parent.start, "parent_end": chunk.parent.end}
    if chunk.level:
        result |= {"level": chunk.level, "spans": [list(span) for span in chunk.spans]}
    return {name: value for name, value in result.items() if value != ""}


IndexLike = str | os.PathLike[str] | Index


class IndexSearch:
    """An index and how it is searched; an index named by its path is opened by the first question."""

    def __init__(self, index: IndexLike, options: SearchOptions = SearchOptions()) -> None:
        self.index = index
        self.options = options

    @cached_property
    def opened(self) -> Index:
        """The index itself."""
        return self.index if isinstance(self.index, Index) else open_index(self.index)

    def hits(self, query: str, **changes: Any) -> list[Hit]:
        """Find the hits of one question; `changes` are search options for this question only."""
        return self.batch([query], **changes)[0]

    def batch(self, queries: Sequence[str], **changes: Any) -> list[list[Hit]]:
        """Find the hits of several questions, searched together."""
        options = self.options.override(**changes)
        if isinstance(options.reranker, str):
            options = options.override(reranker=_named_reranker(options.reranker))
        return self.opened.search(queries, options=options)

    def __deepcopy__(self, memo: dict[int, Any]) -> IndexSearch:
        # An index is read and never changed by a search: copies of a program share it.
        return self

    def __reduce__(self) -> tuple[object, ...]:
        # Another process opens the index for itself.
        return IndexSearch, (self.index, self.options)


@cache
def _named_reranker(name: str) -> Reranker:
    """Loaded once: it may take seconds."""
    return get_reranker(name)


def index_place(index: IndexLike) -> str | None:
    """What names an index in a file; None: it lives in memory alone."""
    place = index.place if isinstance(index, Index) else index
    return None if place is None else os.fspath(place)


def hit_metadata(hit: Hit) -> dict[str, Any]:
    """What its document is known by, then where the hit is and how good; what is empty is left out."""
    result: dict[str, Any] = {
        "doc_id": hit.doc_id,
        "title": hit.document.title,
        "section": hit.section_path,
        "page": hit.page,
        "chunk_id": hit.matched_id,
        "opening": hit.opening,
        "closing": hit.closing,
        "hidden": [list(span) for span in hit.hidden] or None,
        "score": float(hit.score),
        "rank": hit.rank,
        "token_count": hit.token_count,
    }
    if hit.level:
        result |= {
            "level": hit.level,
            "spans": [list(span) for span in hit.spans],
            "elsewhere": [[row.doc_id, row.start, row.end] for row in hit.elsewhere] or None,
        }
    told = {name: value for name, value in result.items() if value not in (None, "")}
    return {"source": hit.doc_id, **hit.metadata, **told}


def hit_id(hit: Hit) -> str:
    """The same for the same place, whatever was asked."""
    place = f"{hit.doc_id}::{hit.start}-{hit.end}"
    return hit.chunk_id or (f"{place}@{hit.level}" if hit.level else place)


def best_texts(
    reranker: Reranker, query: str, texts: Sequence[str], scores: Sequence[float | None]
) -> list[tuple[int, float]]:
    """Positions of texts with the reranker's scores, best first; `scores` are those they came with, if they had any."""
    if not texts:
        return []
    # Without scores the order that they came in says which was thought better.
    known = [score for score in scores if score is not None]
    first = known if len(known) == len(texts) else range(len(texts), 0, -1)
    order = reranked_texts(query, texts, np.array(first, np.float32), reranker)
    return list(zip(order.numbers.tolist(), order.scores.tolist(), strict=True))


_SIGNS = {"==": "=", "eq": "=", "nin": "not in"}
"""Of other filter languages, where they differ from ours."""


def joined(parts: Sequence[tuple[Clause, ...]], by: str) -> tuple[Clause, ...]:
    """Clauses joined as another framework says: all hold (and), any does (or), none does (not)."""
    parts = [group for group in parts if group]
    if by not in ("and", "or", "not"):
        raise InvalidParameter(f"filters are joined by {by!r}; allowed: and, or, not")
    if by == "and" or not parts:
        return tuple(item for part in parts for item in part)
    any_of = conditions_of({"$or": parts})
    return any_of if by == "or" else conditions_of({"$not": any_of})


def conditions_in(said: Sequence[tuple[str, str, object]]) -> tuple[Clause, ...]:
    """Conditions of another framework, all of which hold: key, comparison, value."""
    return tuple(
        condition
        for key, sign, value in said
        for condition in conditions_of({key: {_SIGNS.get(sign, sign): value}})
    )
