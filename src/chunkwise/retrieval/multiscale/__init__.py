"""Retrieval without choosing a size: one text at several sizes, votes for its atoms, spans within a budget."""

from chunkwise.retrieval.multiscale.search import Multiscale, Prepared
from chunkwise.retrieval.multiscale.spans import Atoms, ScoredSpan, assemble
from chunkwise.retrieval.multiscale.voices import Voice, votes

__all__ = ["Atoms", "Multiscale", "Prepared", "ScoredSpan", "Voice", "assemble", "votes"]
