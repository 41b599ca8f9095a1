"""The terms of a finished index: tables by term, and rows again where documents are to be cut out of it."""

from __future__ import annotations

from chunkwise.retrieval.embedded.layout import TERM_COLUMNS, Arrays
from chunkwise.retrieval.term_table import TermTable


def term_table(arrays: Arrays, table: str) -> TermTable:
    """The terms of the rows of a table, where they lie."""
    return TermTable(**{name: arrays[f"{table}_terms.{name}"] for name in TERM_COLUMNS})


def with_rows_of_terms(arrays: Arrays) -> Arrays:
    """A finished index as documents can be cut out of: its tables of terms turned back into rows."""
    found = dict(arrays)
    for table in ("chunk", "atom"):
        counts = term_table(arrays, table).counts()
        found |= {
            f"{table}_term.first": counts.first,
            f"{table}_term.hash": counts.term,
            f"{table}_term.times": counts.times,
        }
    return found
