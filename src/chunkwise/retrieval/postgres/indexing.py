"""Documents into a knowledge base; what has not changed is not touched."""

from __future__ import annotations

from chunkwise.retrieval.making.choice import Given, choose, choose_anew
from chunkwise.retrieval.making.fill import fill
from chunkwise.retrieval.making.gather import Reading
from chunkwise.retrieval.making.made import Made
from chunkwise.retrieval.postgres.about import check_format, read_about
from chunkwise.retrieval.postgres.address import address
from chunkwise.retrieval.postgres.connect import connect, told
from chunkwise.retrieval.postgres.index import PostgresIndex
from chunkwise.retrieval.postgres.writer import WAIT_SECONDS, writing
from chunkwise.retrieval.settings import Settings


def into_postgres(
    url: str, reading: Reading, given: Given, *, rebuild: bool = False, wait: float = WAIT_SECONDS
) -> Made[PostgresIndex]:
    """A knowledge base on a server: a new one, or the one that is there brought up to date."""
    place = address(url)
    with writing(place, wait) as writer:
        if rebuild and writer.settings:
            choice = choose_anew(given, writer.settings, reading.advance)
        else:
            writer.check_format()
            choice = choose(given, writer.settings, reading.advance)
        changes = fill(writer.start(choice.settings, anew=rebuild), reading, choice)
    return Made(PostgresIndex(place), choice, changes)


def server_settings(url: str, *, of_any_version: bool = False) -> Settings | None:
    """What a knowledge base was made with; None: it is not there yet."""
    place = address(url)
    with connect(place) as connection, told(place):
        found = read_about(connection, place)
    if found and not of_any_version:
        check_format(found, place)
    return found.settings if found else None
