"""Levers that would double a whole grid each, tried on the best of it: k1 and b, other models, rerankers,
token vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from chunkwise.base import spec
from chunkwise.models import get_embedder
from chunkwise.models.embed.embedder import TokenEmbedder, suits_late
from chunkwise.retrieval.retrievers import get_retriever
from chunkwise.tuning.plan.grid import retriever_levers
from chunkwise.tuning.plan.plan import default_retrieval
from chunkwise.tuning.sweep import Configuration, Sweep, VectorKind

WORD_VARIATIONS: tuple[Mapping[str, float], ...] = (
    {"k1": 0.8},
    {"k1": 2.5},
    {"b": 0.4},
    {"b": 1.0},
)
"""Of BM25, around its usual k1 of 1.5 and b of 0.75."""
_BY_WORDS = ("bm25", "hybrid")


def variations(best: Sequence[Configuration], sweep: Sweep) -> dict[str, tuple[Configuration, ...]]:
    """What differs from one of these in one lever, by the model that its vectors are of; none twice.

    k1 and b where the plan leaves to us how to search; models and rerankers where they are named. What searches several
    sizes has no chunks: it takes token vectors, and models whose token vectors are good for late ones.
    """
    is_usual = sweep.retrieval == default_retrieval(sweep.embedder)
    usual = [
        each
        for one in best
        for each in (
            *(_by_words(one) if is_usual else ()),
            *_reranked(one, sweep),
            *_compared(one, sweep),
        )
    ]
    found = {sweep.embedder: tuple(dict.fromkeys(usual))}
    for name in sweep.embedders:
        kind = vectors_of(name)
        own = [
            _embedded(each, name, kind)
            for each in best
            if each.vectors != "none" and (each.strategy or kind == "late")
        ]
        found[name] = tuple(dict.fromkeys(own))
    return {name: own for name, own in found.items() if own}


def vectors_of(embedder: str) -> VectorKind:
    """Late where the model's token vectors are good for it."""
    made = get_embedder(embedder)
    late = hasattr(made, TokenEmbedder.token_vectors.__name__) and suits_late(made)
    return "late" if late else "own"


def _by_words(configuration: Configuration) -> list[Configuration]:
    name, given = spec.parse(configuration.retriever)
    if name not in _BY_WORDS or {"k1", "b"} & given.keys():
        return []
    labels = [
        spec.describe(name, replace(get_retriever(configuration.retriever), **values))  # type: ignore[type-var]
        for values in WORD_VARIATIONS
    ]
    return [
        replace(
            configuration, retriever=label, baseline="", varies=configuration.key,
            levers={**configuration.levers, **retriever_levers(label)},
        )
        for label in labels
    ]  # fmt: skip


def _reranked(configuration: Configuration, sweep: Sweep) -> list[Configuration]:
    return [
        replace(
            configuration, reranker=name, baseline="", varies=configuration.key,
            levers={**configuration.levers, "reranker": name},
        )
        for name in sweep.rerankers
    ]  # fmt: skip


def _compared(configuration: Configuration, sweep: Sweep) -> list[Configuration]:
    """By token vectors, too, where several sizes are searched."""
    if not sweep.maxsim or configuration.strategy:
        return []
    return [
        replace(
            configuration, maxsim=sweep.maxsim, baseline="", varies=configuration.key,
            levers={**configuration.levers, "token vectors": sweep.maxsim},
        )
    ]  # fmt: skip


def _embedded(configuration: Configuration, name: str, vectors: VectorKind) -> Configuration:
    return replace(
        configuration, embedder=name, vectors=vectors, baseline="", varies=configuration.key,
        levers={**configuration.levers, "embedder": name},
    )  # fmt: skip
