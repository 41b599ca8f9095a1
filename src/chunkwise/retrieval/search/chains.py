"""By which names hits were found, each with the sentence it stands in: what a reader can follow and cite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Hit, Query
from chunkwise.models.embed.embedder import Embedder, TokenEncoder
from chunkwise.options import SearchOptions
from chunkwise.retrieval.errors import reporting_damage
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.graph.walk_along_names import Chain, ChainLink, NamePlace
from chunkwise.retrieval.retrievers import (
    MultiscaleRetriever,
    Retriever,
    follows_names,
    get_retriever,
)
from chunkwise.retrieval.search.rerank import resolve_reranker
from chunkwise.retrieval.searchable import QueryBatch, Searchable
from chunkwise.text.names import name_hash, name_key
from chunkwise.text.names_by_rules import unwritten_title


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence, and where in it the name stands."""

    doc_id: str
    start: int
    end: int
    """Of the name in the text of the document; equal where only the document's title says it."""
    sentence: tuple[int, int]
    text: str
    """Of the sentence."""


@dataclass(frozen=True, slots=True)
class ChainHop:
    """From the question, or from a sentence, by a name to another sentence."""

    name: str
    """As it is spelled where the hop begins or ends; empty: the question names nothing here, its other words do."""
    question: tuple[int, int] | None
    """Where the question says it; None: the hop begins at a sentence, or with no name."""
    before: CitedSentence | None
    """None: it begins at the question."""
    after: CitedSentence


@dataclass(frozen=True, slots=True)
class HitChain:
    """How one hit was found: from the question to its passage."""

    hops: tuple[ChainHop, ...]
    """The first from the question; no other: the question finds the hit by itself."""
    graph_share: float
    """Of the walk along names in the score, 0 to 1; the rest came from the words (and vectors) of the question."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "graph_share": round(self.graph_share, 4),
            "chain": [_row(hop) for hop in self.hops],
        }


def _row(hop: ChainHop) -> dict[str, Any]:
    return {
        "name": hop.name,
        "question": list(hop.question) if hop.question else None,
        "from": None if hop.before is None else _sentence_row(hop.before),
        "to": _sentence_row(hop.after),
    }


def _sentence_row(place: CitedSentence) -> dict[str, Any]:
    return {
        "doc_id": place.doc_id,
        "start": place.start,
        "end": place.end,
        "sentence": list(place.sentence),
        "text": place.text,
    }


def chains_of_hits(
    source: Searchable,
    queries: Sequence[Query],
    hits: Sequence[Sequence[Hit]],
    options: SearchOptions,
    *,
    embedder: Callable[[], Embedder] | None = None,
    token_encoder: Callable[[], TokenEncoder] | None = None,
) -> list[list[HitChain]]:
    """For each hit of each question the names that led to it; all else as it was given to `search`."""
    walker = get_retriever(options.retriever) if options.retriever else None
    check_walks(walker)
    assert isinstance(walker, MultiscaleRetriever)
    texts = [query.text for query in queries]
    batch = QueryBatch(texts, source.settings, embedder, token_encoder)
    numbers = dict(zip(source.ids(), source.document_numbers(), strict=True))
    places = [[(numbers[hit.doc_id], hit.start, hit.end) for hit in group] for group in hits]
    asked = [at for at, own in enumerate(places) if own]
    with reporting_damage(source):
        result = walker.chains_for(
            source,
            batch.some(asked),
            [places[at] for at in asked],
            Filter.of(options),
            resolve_reranker(options.reranker),
        )
        chains: list[list[HitChain]] = [[] for _ in hits]
        for at, own in zip(asked, result, strict=True):
            chains[at] = [_told(source, texts[at], chain) for chain in own]
    return chains


def check_walks(retriever: Retriever | None) -> None:
    """That it follows names: what else would there be to explain?"""
    if not follows_names(retriever):
        raise InvalidParameter(
            "explain needs named documents or a graph: choose --retriever multiscale with a "
            "--budget, or --retriever graph"
        )


def _told(source: Searchable, question: str, chain: Chain) -> HitChain:
    begin = _cited(source, chain.begin)
    name = question[slice(*chain.asked)] if chain.asked else ""
    hops = [ChainHop(name, chain.asked, None, begin)]
    for link in chain.links:
        one, other = _cited(source, link.before), _cited(source, link.after)
        hops.append(ChainHop(_spelled(source, link), None, one, other))
    return HitChain(tuple(hops), chain.share)


def _spelled(source: Searchable, link: ChainLink) -> str:
    """As the shorter of the places does, without a possessive; as the title or the file, which no text may repeat.

    Else as a language model says it, or the way a short form, or the text of a link, stands for it.
    """
    places = [(source.document(row.document), row) for row in (link.before, link.after)]
    texts = [text for document, at in places if (text := document.text[at.start : at.end])]
    spelled = [text for text in texts if name_hash(name_key(text)) == link.name]
    unwritten = unwritten_title(places[-1][0], link.name)
    if not spelled and name_hash(name_key(unwritten)) == link.name:
        return unwritten
    if not spelled and source.settings.graph == "relations":
        for number in (link.before.document, link.after.document):
            if stated := source.relations(number).spelling(link.name):
                return stated
    return min(spelled or texts, key=len, default=unwritten)


def _cited(source: Searchable, place: NamePlace) -> CitedSentence:
    document = source.document(place.document)
    text = document.text[slice(*place.sentence)]
    return CitedSentence(document.id, place.start, place.end, place.sentence, text)
