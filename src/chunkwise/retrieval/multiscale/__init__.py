"""Retrieval without choosing a size: one text at several sizes, votes for its atoms, spans within a budget."""

from chunkwise.retrieval.multiscale.multiscale import AskedNames, Multiscale, PreparedWindows
from chunkwise.retrieval.multiscale.naming import NamedDocument, NameTable, Naming
from chunkwise.retrieval.multiscale.select import (
    AtomCandidates,
    Atoms,
    AtomTexts,
    ScoredSpan,
    assemble,
)
from chunkwise.retrieval.multiscale.window_votes import BestWindows, Windows, atom_votes

__all__ = [
    "AskedNames",
    "AtomCandidates",
    "AtomTexts",
    "Atoms",
    "BestWindows",
    "Multiscale",
    "NameTable",
    "NamedDocument",
    "Naming",
    "PreparedWindows",
    "ScoredSpan",
    "Windows",
    "assemble",
    "atom_votes",
]
