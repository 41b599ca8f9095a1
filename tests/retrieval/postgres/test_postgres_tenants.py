"""Tenants of one knowledge base: the server lets a role read its own documents, whatever it asks."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

import chunkwise
from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document
from chunkwise.retrieval import Index
from chunkwise.retrieval.postgres import search_sql
from chunkwise.testkit.sample_run import HashedWords
from retrieval.postgres_server import new_url, server_url
from tables import cases

pytestmark = pytest.mark.usefixtures("postgres")

_numbers = itertools.count()
TABLES = ("documents", "sections", "chunks", "atoms", "postings", "document_tenants")


def role() -> str:
    """A new one that may log in; its name is one that has to be quoted."""
    name = f'tenant {next(_numbers)}\'s "role"'
    with psycopg.connect(server_url(), autocommit=True) as owner:
        owner.execute(psycopg.sql.SQL("create role {} login").format(psycopg.sql.Identifier(name)))
    return name


def as_role(url: str, name: str) -> str:
    from urllib.parse import quote

    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{quote(name, safe='')}@{host}"))


def documents(*tenants: object) -> list[Document]:
    return [
        Document(
            f"{number}.md", f"# Pier\n\nThe lamp of pier {number} is red.", format="markdown",
            metadata={} if tenant is None else {"org": {"tenant": tenant}},
        )
        for number, tenant in enumerate(tenants)
    ]  # fmt: skip


def made(url: str, given: list[Document], **more: Any) -> Index:
    return chunkwise.index(given, into=url, embedder=HashedWords(), vectors="own", **more)


def seen(url: str, **asked: Any) -> dict[str, list[str]]:
    """What a reader finds with each retriever, and without any condition of its own."""
    index = chunkwise.open_index(url, embedder=HashedWords())
    found = {
        retriever: sorted(
            hit.doc_id for hit in index.search("the red lamp", k=50, retriever=retriever, **asked)
        )
        for retriever in ("bm25", "dense", "hybrid")
    }
    found["multiscale"] = sorted(
        {hit.doc_id for hit in index.search("the red lamp", budget=1000, retriever="multiscale")}
    )
    found["ids"] = sorted(index.source.ids())
    return found


@pytest.fixture
def url() -> str:
    return f"{new_url()}&tenants=org.tenant"


def test_a_role_reads_its_own_documents_by_every_way(url: str) -> None:
    ann, bob = role(), role()
    made(url, documents(ann, bob, ann, None, [ann, bob], 7))
    assert set(map(tuple, seen(as_role(url, ann)).values())) == {("0.md", "2.md", "4.md")}
    assert set(map(tuple, seen(as_role(url, bob)).values())) == {("1.md", "4.md")}
    assert len(seen(url)["dense"]) == 6


def test_not_by_sql_of_its_own_either(url: str) -> None:
    ann, bob = role(), role()
    made(url, documents(ann, bob))
    schema = url.partition("kb=")[2].partition("&")[0]
    plain = as_role(url, bob).partition("?")
    options = "&".join(
        each for each in plain[2].split("&") if not each.startswith(("kb=", "tenants="))
    )
    with psycopg.connect(f"{plain[0]}?{options}", autocommit=True) as reader:
        for table in TABLES:
            rows = reader.execute(
                psycopg.sql.SQL("select * from {}").format(psycopg.sql.Identifier(schema, table))
            ).fetchall()
            assert rows, table
            whole = repr(rows)
            assert "pier 0" not in whole, table
        counted = psycopg.sql.SQL("select count(distinct {}) from {}").format
        for column, table in (
            ("number", "documents"),
            ("document", "chunks"),
            ("document", "atoms"),
        ):
            name = psycopg.sql.Identifier(schema, table)
            assert reader.execute(counted(psycopg.sql.Identifier(column), name)).fetchone() == (1,)
        for statement in (
            "delete from {}",
            "update {} set tenant = tenant",
            "alter table {} disable row level security",
        ):
            with pytest.raises(psycopg.Error):
                reader.execute(
                    psycopg.sql.SQL(statement).format(
                        psycopg.sql.Identifier(schema, "document_tenants")
                    )  # type: ignore[arg-type]
                )


@cases(
    "again",
    [
        lambda url, given: made(url, given),
        lambda url, given: made(url.replace("&tenants=org.tenant", ""), given),
        lambda url, given: made(url.replace("&tenants=org.tenant", ""), given, rebuild=True),
    ],
)
def test_updates_keep_tenants_apart(
    url: str, again: Callable[[str, list[Document]], object]
) -> None:
    ann, bob = role(), role()
    made(url, documents(ann, bob))
    again(url, documents(bob, bob, ann))  # the first moved to another tenant
    assert seen(as_role(url, ann))["hybrid"] == ["2.md"]
    assert seen(as_role(url, bob))["ids"] == ["0.md", "1.md"]


def test_a_knowledge_base_that_was_there_is_separated_later(url: str) -> None:
    ann, bob = role(), role()
    given = documents(ann, bob)
    made(url.replace("&tenants=org.tenant", ""), given)
    with pytest.raises(ChunkwiseError, match="permission denied"):
        seen(as_role(url, ann))
    made(url, given)
    assert seen(as_role(url, ann))["ids"] == ["0.md"]


def test_filters_are_asked_within_what_a_role_reads(url: str) -> None:
    ann, bob = role(), role()
    made(url, documents(ann, bob, bob))
    assert seen(as_role(url, ann), where={"org.tenant": [ann, bob]})["hybrid"] == ["0.md"]


def test_a_name_that_no_role_can_have_is_refused(url: str) -> None:
    with pytest.raises(ChunkwiseError, match="a tenant is a role of the server"):
        made(url, documents("x" * 64))
    with pytest.raises(ChunkwiseError, match="no knowledge base"):
        chunkwise.open_index(url, embedder=HashedWords())


def test_names_that_link_documents_of_all_tenants_are_refused() -> None:
    url = new_url()
    with pytest.raises(ChunkwiseError, match="names of an index link documents of all tenants"):
        made(f"{url}&tenants=org.tenant", documents(role()), graph=True)
    kept = new_url()
    made(f"{kept}&tenants=org.tenant", documents(role()))
    with pytest.raises(ChunkwiseError, match="names of an index link documents of all tenants"):
        made(kept, documents(role()), graph=True, rebuild=True)


def test_a_small_tenant_beside_a_large_one_finds_all_of_its_own(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = role(), role()
    made(url, documents(*[large] * 60, small, small))
    monkeypatch.setattr(search_sql, "FEW", 10)
    indexed: list[int] = []
    monkeypatch.setattr(
        search_sql, "search_index", lambda connection, depth, version: indexed.append(depth)
    )
    index = chunkwise.open_index(as_role(url, small), embedder=HashedWords())
    found = index.search("the red lamp", k=5, retriever="dense")
    assert sorted({hit.doc_id for hit in found}) == ["60.md", "61.md"]
    assert indexed == []  # few enough to compare them all
    index = chunkwise.open_index(as_role(url, large), embedder=HashedWords())
    assert len(index.search("the red lamp", k=5, retriever="dense")) == 5
    assert indexed
