"""Retrieval without choosing a size: one text at several sizes, votes for its atoms, spans within a budget."""

from chunkwise.retrieval.multiscale.filling import Atoms, Candidates, Texts
from chunkwise.retrieval.multiscale.search import Multiscale, Prepared
from chunkwise.retrieval.multiscale.spans import ScoredSpan, assemble
from chunkwise.retrieval.multiscale.voices import Voice, votes

__all__ = [
    "Atoms",
    "Candidates",
    "Multiscale",
    "Prepared",
    "ScoredSpan",
    "Texts",
    "Voice",
    "assemble",
    "votes",
]
