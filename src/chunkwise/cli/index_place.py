"""Where an index is, as it may be shown: the address of a server can hold a password."""

from __future__ import annotations


def shown_place(place: str) -> str:
    """On one line, without a password."""
    from chunkwise.report.plain_text import one_line

    if "://" in place:
        from chunkwise.retrieval.postgres.address import masked

        place = masked(place)
    return one_line(place)
