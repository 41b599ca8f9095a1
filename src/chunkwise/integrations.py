"""What the adapters share: a text of another framework cut, and an index as their retrievers hold it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from threading import Lock
from typing import Any

import numpy as np

from chunkwise.base import parameters, spec
from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import did_you_mean
from chunkwise.chunkers import Strategy, get_strategy, strategies
from chunkwise.chunkers.chunk import StrategyLike
from chunkwise.core import Chunk, Hit
from chunkwise.models import get_reranker
from chunkwise.models.rerank.reranker import Reranker
from chunkwise.retrieval.filters import EVERYTHING, Filter
from chunkwise.retrieval.indexes import Index, open_index
from chunkwise.retrieval.metadata_conditions import Clause, Where, conditions_of
from chunkwise.retrieval.retrievers import Retriever
from chunkwise.retrieval.search.rerank import reranked_texts
from chunkwise.text.tokens.tokenizers import TokenizerLike

LengthFunction = Callable[[str], int]


def strategy_of(strategy: StrategyLike, given: dict[str, Any]) -> Strategy:
    """The strategy with parameters beside its name; those of None are not given."""
    said = {name: value for name, value in given.items() if value is not None}
    if said and not isinstance(strategy, str):
        raise InvalidParameter(
            f"{next(iter(said))} is given beside a strategy that is made already; name the strategy in a text, such as "
            "'sentences', or leave it out"
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
                f"length_function is given, and {name} counts by itself; leave it out, or choose a strategy that has a "
                "tokenizer, such as recursive or sentences"
            )
        return {}
    plain = length_function in (None, len)
    return {"tokenizer": "characters" if plain else length_function}


def chunk_metadata(chunk: Chunk) -> dict[str, Any]:
    """What there is to know of a chunk beside its place and text; what is empty is left out."""
    found: dict[str, Any] = {"section": chunk.section_path, "context": chunk.context}
    if chunk.page is not None:
        found["page"] = chunk.page
    if chunk.parent is not None:
        found |= {"parent_start": chunk.parent.start, "parent_end": chunk.parent.end}
    if chunk.level:
        found |= {"level": chunk.level, "spans": [list(span) for span in chunk.spans]}
    return {name: value for name, value in found.items() if value != ""}


IndexLike = str | os.PathLike[str] | Index
FilterLike = Filter | Where | None
"""Parts of the index, or conditions on the metadata of documents."""


@dataclass(frozen=True, eq=False)
class IndexSearch:
    """An index and how it is searched; an index that is named by its place is opened by the first question."""

    index: IndexLike
    k: int | None = None
    budget: int | None = None
    retriever: str | Retriever | None = None
    filter: FilterLike = None
    neighbours: int = 0
    mmr: float | None = None
    reranker: str | Reranker | None = None
    tokenizer: TokenizerLike | None = None
    _opened: list[Index] = field(default_factory=list, repr=False)
    _rerankers: dict[str, Reranker] = field(default_factory=dict, repr=False)
    _making: Lock = field(default_factory=Lock, repr=False)

    @property
    def opened(self) -> Index:
        """The index itself."""
        if isinstance(self.index, Index):
            return self.index
        with self._making:  # frameworks ask from several threads at once
            if not self._opened:
                self._opened.append(open_index(self.index))
        return self._opened[0]

    def _made_reranker(self) -> Reranker | None:
        """Made once: many questions are asked, and it may take seconds to load."""
        if not isinstance(self.reranker, str):
            return self.reranker
        with self._making:
            if self.reranker not in self._rerankers:
                self._rerankers[self.reranker] = get_reranker(self.reranker)
        return self._rerankers[self.reranker]

    def hits(self, query: str, **changes: Any) -> list[Hit]:
        """The hits of one question, as `Index.search` gives them; `changes` hold for this question alone."""
        return self.batch([query], **changes)[0]

    def batch(self, queries: Sequence[str], **changes: Any) -> list[list[Hit]]:
        """The hits of several questions, searched together."""
        now = self.changed(changes)
        only, where = (
            (now.filter, ()) if isinstance(now.filter, Filter) else (EVERYTHING, now.filter or ())
        )
        return self.opened.search(
            queries, k=now.k, budget=now.budget, retriever=now.retriever, only=only, where=where,
            neighbours=now.neighbours, mmr=now.mmr, reranker=now._made_reranker(), tokenizer=now.tokenizer,
        )  # fmt: skip

    def changed(self, changes: Mapping[str, Any]) -> IndexSearch:
        """The same index, searched in another way; what is None stays as it was."""
        for name in changes:
            if name not in SETTINGS:
                known = f"known: {', '.join(SETTINGS)}"
                raise InvalidParameter(
                    f"a search has no parameter {name!r}; {did_you_mean(name, SETTINGS, known)}"
                )
        said = {name: value for name, value in changes.items() if value is not None}
        return replace(self, **said) if said else self

    def settings(self) -> dict[str, Any]:
        """How it is searched, without what is as usual."""
        plain = {each.name: each.default for each in fields(self) if each.name in SETTINGS}
        own = {name: getattr(self, name) for name in SETTINGS}
        return {name: value for name, value in own.items() if value != plain[name]}

    def __deepcopy__(self, memo: dict[int, Any]) -> IndexSearch:
        # An index is read and never changed by a search: copies of a program share it.
        return self

    def __reduce__(self) -> tuple[object, ...]:
        # Another process opens the index for itself.
        return _remade, (self.index, {name: getattr(self, name) for name in SETTINGS})


def _remade(index: IndexLike, settings: dict[str, Any]) -> IndexSearch:
    return IndexSearch(index, **settings)


SETTINGS = tuple(
    each.name for each in fields(IndexSearch) if each.name != "index" and each.name[0] != "_"
)


def index_place(index: IndexLike) -> str | None:
    """What names an index in a file; None: it lives in memory alone."""
    place = index.place if isinstance(index, Index) else index
    return None if place is None else os.fspath(place)


def hit_metadata(hit: Hit) -> dict[str, Any]:
    """What its document is known by, then where the hit is and how good; what is empty is left out."""
    found: dict[str, Any] = {
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
        found |= {
            "level": hit.level,
            "spans": [list(span) for span in hit.spans],
            "elsewhere": [[each.doc_id, each.start, each.end] for each in hit.elsewhere] or None,
        }
    told = {name: value for name, value in found.items() if value not in (None, "")}
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
    parts = [each for each in parts if each]
    if by not in ("and", "or", "not"):
        raise InvalidParameter(f"filters are joined by {by!r}; allowed: and, or, not")
    if by == "and" or not parts:
        return tuple(each for part in parts for each in part)
    any_of = conditions_of({"$or": parts})
    return any_of if by == "or" else conditions_of({"$not": any_of})


def conditions_in(said: Sequence[tuple[str, str, object]]) -> tuple[Clause, ...]:
    """Conditions of another framework, all of which hold: key, comparison, value."""
    return tuple(
        each
        for key, sign, value in said
        for each in conditions_of({key: {_SIGNS.get(sign, sign): value}})
    )
