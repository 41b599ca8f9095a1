"""Documents into a knowledge base; what has not changed is not touched."""

from __future__ import annotations

from typing import NamedTuple

from chunkwise.errors import ChunkwiseError
from chunkwise.retrieval.making.changes import Changes, Tally
from chunkwise.retrieval.making.choice import Choice, Given, choose
from chunkwise.retrieval.making.gather import Reading, gather
from chunkwise.retrieval.postgres.address import address
from chunkwise.retrieval.postgres.index import PostgresIndex
from chunkwise.retrieval.postgres.writing import WAIT_SECONDS, writing


class Made(NamedTuple):
    """A knowledge base, what it was made with, and what was done."""

    source: PostgresIndex
    choice: Choice
    changes: Changes


def into_postgres(
    url: str, reading: Reading, given: Given, *, rebuild: bool = False, wait: float = WAIT_SECONDS
) -> Made:
    """A knowledge base on a server: a new one, or the one that is there brought up to date."""
    place = address(url)
    with writing(place, wait) as writer:
        choice = choose(given, None if rebuild else writer.settings, reading.advance)
        update = writer.start(choice.settings, anew=rebuild)
        known = update.fingerprints()
        tally = Tally(known)

        def is_known(id: str, fingerprint: str) -> bool:
            return known.get(id) == fingerprint

        for gathered in gather(reading, choice, known, tally, is_known):
            if gathered.built:
                update.add(gathered.built)
            else:
                update.keep(gathered.document)
        if known and tally.skipped and not tally.documents:
            raise ChunkwiseError(
                f"no document could be read ({tally.skipped:,} skipped): the knowledge base stays as it was, with "
                f"{len(known):,} documents; look at the inputs"
            )
    return Made(PostgresIndex(place), choice, tally.changes(choice.notes))
