"""Addresses, and the one line each that tells what is wrong with a server."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.base.secrets import mask_address, without_password
from chunkwise.core import Document
from chunkwise.retrieval import open_index
from chunkwise.retrieval.engine import shown_place
from chunkwise.retrieval.postgres.connection import (
    is_postgres,
    parse_address,
)
from retrieval.postgres_server import new_url, put, server_url
from tables import cases

pytestmark = pytest.mark.usefixtures("postgres")

SECRET = "s3cr:t/@p%40ss"


def test_a_name_is_taken_out_of_the_address() -> None:
    found = parse_address("postgres://ada@db.example:5433/wiki?sslmode=require&kb=hand%20book")
    assert found.name == "hand book"
    assert found.url == "postgresql://ada@db.example:5433/wiki?sslmode=require"
    assert parse_address("postgresql:///wiki").name == "chunkwise"


@cases("name", ["", "pg_mine", "information_schema", "x" * 64, "a%00b", "a%25b"])
def test_names_the_server_would_not_keep_are_refused(name: str) -> None:
    with pytest.raises(InvalidParameter, match="kb is"):
        parse_address(f"postgresql:///db?kb={name}")


def test_folders_are_no_servers() -> None:
    assert is_postgres("PostgreSQL://host/db")
    assert not is_postgres("postgresql")
    assert not is_postgres("./postgresql")
    assert not is_postgres(Path("x"))
    with pytest.raises(InvalidParameter, match="postgresql://"):
        parse_address("mysql://ada:secret@host/db")


@cases(
    "url",
    [
        f"postgresql://ada:{SECRET}@host/db",
        f"postgresql://host/db?user=ada&password={SECRET}",
        f"postgresql://ada:{SECRET}@127.0.0.1:1/db?kb=x&sslpassword={SECRET}&connect_timeout=2",
        f"mysql://ada:{SECRET}@host/db",
        f"postgresql://ada@127.0.0.1:1/db?pass%77ord={SECRET}&connect_timeout=2",
        f"postgresql://ada@127.0.0.1:1/db?connect_timeout=2&PASSWORD={SECRET}",
    ],
)
def test_passwords_are_never_shown(url: str) -> None:
    assert "s3cr" not in mask_address(url)
    assert "p%40ss" not in mask_address(url)
    with pytest.raises(ChunkwiseError) as caught:
        open_index(url)
    told = f"{caught.value} {caught.value!r} {caught.value.__cause__}"
    assert "s3cr" not in told
    assert "p@ss" not in told
    assert "p%40ss" not in told
    assert "\n" not in str(caught.value)


@cases(
    "place",
    [
        "opensearch://host/kb?api_key=s3cret", "qdrant://host/kb?apikey=s3cret", "elasticsearch://h/kb?token=s3cret",
        "lancedb+az://box/kb?sas_token=s3cret&kb=x", "lancedb+az://box/kb?sv=1&sig=s3cret",
        "lancedb+s3://box/kb?aws_secret_access_key=s3cret", "qdrant://h/kb?api%5Fkey=s3cret",
    ],
)  # fmt: skip
def test_keys_in_addresses_of_every_engine_are_never_shown(place: str) -> None:
    assert "s3cret" not in mask_address(place)
    assert "s3cret" not in shown_place(place)
    assert "s3cret" not in without_password(place)
    with pytest.raises(ChunkwiseError) as caught:
        open_index(place)
    assert "s3cret" not in f"{caught.value} {caught.value!r} {caught.value.args}"


def test_the_name_of_a_file_is_no_secret() -> None:
    url = "postgresql://ada@host/db?sslkey=/home/ada/client.key&sslmode=require"
    assert mask_address(url) == without_password(url) == url


def test_an_address_to_be_typed_again_has_no_password() -> None:
    plain = "postgresql://ada@host/db?kb=x"
    for url in (
        plain,
        "postgresql://ada:s3cr:t/@host/db?kb=x",
        "postgresql://ada@host/db?pass%77ord=s3cret&kb=x",
        "postgresql://ada:s3cret@host/db?kb=x&sslpassword=s3@cret",
    ):
        assert without_password(url) == plain
    assert without_password("postgresql://ada@host/db?password=x") == "postgresql://ada@host/db"


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(ChunkwiseError, match="check host and port") as caught:
        open_index("postgresql://ada:secret@127.0.0.1:1/db")
    assert str(caught.value).startswith("postgresql://ada:***@127.0.0.1:1/db: ")


def test_a_database_that_is_not_there() -> None:
    with pytest.raises(ChunkwiseError, match=r'database "nowhere" does not exist; create it first'):
        open_index(server_url().replace("/postgres?", "/nowhere?"))


def test_a_knowledge_base_that_is_not_there() -> None:
    with pytest.raises(
        ChunkwiseError, match="no index here; create it: chunkwise index DOCUMENTS --into ADDRESS"
    ):
        open_index(new_url())


@pytest.mark.parametrize("package", ["psycopg", "pgvector.psycopg"])
def test_a_client_that_is_not_installed(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    url = server_url()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"chunkwise\[postgres\]"):
        open_index(url)


def test_a_database_that_cannot_hold_all_texts() -> None:
    import psycopg

    with psycopg.connect(server_url(), autocommit=True) as connection:
        connection.execute(
            "create database narrow encoding 'SQL_ASCII' template template0 locale 'C'"
        )
        try:
            with pytest.raises(
                ChunkwiseError, match="use UTF8: createdb -E UTF8 -T template0 NAME"
            ):
                put([Document("a", "One plum.")], server_url().replace("/postgres?", "/narrow?"))
        finally:
            connection.execute("drop database narrow with (force)")


@pytest.fixture
def roles() -> Iterator[str]:
    """Users `weak` without rights, and `locked` who needs a password."""
    import psycopg

    with psycopg.connect(server_url(), autocommit=True) as connection:
        connection.execute("drop role if exists weak")
        connection.execute("create role weak login")
        connection.execute("drop role if exists locked")
        connection.execute("create role locked login password 'right'")
        row = connection.execute("show hba_file").fetchone()
        assert row
        rules = Path(row[0])
        before = rules.read_text()
        rules.write_text(f"local all locked scram-sha-256\n{before}")
        connection.execute("select pg_reload_conf()")
        yield urlsplit(server_url()).query
        rules.write_text(before)
        connection.execute("select pg_reload_conf()")


def test_rights_and_passwords_that_are_missing(roles: str) -> None:
    documents = [Document("a", "One plum.")]
    with pytest.raises(ChunkwiseError, match="needs CREATE on the database"):
        put(documents, f"postgresql://weak@/postgres?{roles}&kb=weak")
    with pytest.raises(ChunkwiseError, match="check user and password") as caught:
        open_index(f"postgresql://locked:wrongword@/postgres?{roles}")
    assert "wrongword" not in str(caught.value)
    with pytest.raises(
        ChunkwiseError, match="no index here; create it: chunkwise index DOCUMENTS --into ADDRESS"
    ):
        open_index(f"postgresql://locked:right@/postgres?{roles}&kb=none_yet")


def test_pgvector_that_may_not_be_created(roles: str) -> None:
    import psycopg

    with psycopg.connect(server_url(), autocommit=True) as connection:
        connection.execute("create database bare")
        connection.execute("grant create on database bare to weak")
        try:
            with pytest.raises(ChunkwiseError, match="CREATE EXTENSION vector"):
                put([Document("a", "One plum.")], f"postgresql://weak@/bare?{roles}")
        finally:
            connection.execute("drop database bare with (force)")


def test_tables_of_somebody_else_are_never_touched() -> None:
    import psycopg

    url = new_url()
    name = parse_address(url).name
    with psycopg.connect(server_url(), autocommit=True) as connection:
        connection.execute(f"create schema {name}")
        for table in ("documents", "state"):
            connection.execute(f"create table {name}.{table} (mine int)")
            connection.execute(f"insert into {name}.{table} values (1)")
            with pytest.raises(ChunkwiseError, match="not chunkwise's"):
                put([Document("a", "One plum.")], url)
            with pytest.raises(ChunkwiseError, match="not chunkwise's"):
                put([Document("a", "One plum.")], url, rebuild=True)
            assert connection.execute(f"select mine from {name}.{table}").fetchall() == [(1,)]
