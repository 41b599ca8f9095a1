"""Updates of a knowledge base: only what changed, all or nothing, one writer at a time."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.core import Document
from chunkwise.options import IndexOptions, LoadOptions
from chunkwise.retrieval.engine import open_source
from chunkwise.retrieval.filters import EVERYTHING
from chunkwise.retrieval.indexes import index
from chunkwise.retrieval.postgres.connection import parse_address
from chunkwise.retrieval.postgres.index import PostgresEngine
from retrieval.postgres_server import embedded, new_url, put
from retrieval.tiny_embedder import Tiny

pytestmark = pytest.mark.usefixtures("postgres")

WORDS = "apple pear plum cherry grape lemon melon fig peach olive".split()


def _document(number: int, more: str = "") -> Document:
    text = " ".join(
        f"The {word} of row {number} is ripe in week {at}." for at, word in enumerate(WORDS)
    )
    return Document(f"{number}.txt", f"{text} {more}")


DOCUMENTS = [_document(number) for number in range(12)]


@contextmanager
def _sql(url: str) -> Iterator[Any]:
    import psycopg

    with psycopg.connect(parse_address(url).url, autocommit=True) as connection:
        yield connection


def _tables(url: str) -> dict[str, int]:
    name = parse_address(url).name
    tables = ("documents", "chunks", "postings")
    with _sql(url) as connection:
        return {
            table: connection.execute(f'select count(*) from "{name}".{table}').fetchone()[0]
            for table in tables
        }


def test_only_what_changed_is_written() -> None:
    url = new_url()
    first, changes = put(DOCUMENTS, url)
    assert str(changes) == "12 added"
    before = first.document_numbers()
    now = [*DOCUMENTS[1:5], _document(5, "It is picked by hand."), *DOCUMENTS[6:], _document(99)]
    second, changes = put(now, url)
    assert (changes.added, changes.changed, changes.removed, changes.unchanged) == (1, 1, 1, 10)
    assert sorted(second.ids()) == sorted(each.id for each in now)
    for at, number in enumerate(before):
        if at not in (0, 5):  # untouched, under the number it had
            assert second.document(number) == DOCUMENTS[at]
        else:
            with pytest.raises(ChunkwiseError, match="ask again"):
                second.document(number)


def test_an_updated_index_is_the_one_made_at_once() -> None:
    url = new_url()
    put(DOCUMENTS, url)
    now = [*DOCUMENTS[3:], _document(50), _document(51, "Figs are dried.")]
    updated, _ = put(now, url)
    fresh, _ = put(now, other := new_url())
    assert _tables(url) == _tables(other)
    assert replace(updated.stats(), bytes=0) == replace(fresh.stats(), bytes=0)
    queries = ["ripe fig", "week 3 plum", "dried"]
    for one, same in zip(updated.words(queries, 500), fresh.words(queries, 500), strict=True):
        np.testing.assert_array_equal(np.sort(one.scores), np.sort(same.scores))
    vectors = Tiny().embed(queries, "query")
    pairs = zip(updated.nearest(vectors, 500), fresh.nearest(vectors, 500), strict=True)
    for one, same in pairs:
        np.testing.assert_array_equal(np.sort(one.scores), np.sort(same.scores))


def test_many_documents_removed_at_once_leave_nothing_behind() -> None:
    url = new_url()
    many = [_document(number) for number in range(60)]
    put(many, url)
    put(many[:2], url)
    assert _tables(url) == _tables_of_memory(many[:2])


def _tables_of_memory(documents: list[Document]) -> dict[str, int]:
    index = embedded(documents)
    table = index.source.arrays
    return {
        "documents": len(documents),
        "chunks": index.source.chunk_count,
        "postings": len(table["chunk_terms.row"]),
    }


def test_nothing_to_do_does_nothing() -> None:
    url = new_url()
    put(DOCUMENTS, url)
    with _sql(url) as connection:
        state = f"select xmin::text, * from {parse_address(url).name}.state"
        before = connection.execute(state).fetchone()
        _, changes = put(DOCUMENTS, url)
        assert str(changes) == f"{len(DOCUMENTS)} unchanged"
        assert connection.execute(state).fetchone() == before


def test_what_is_said_about_a_document_follows_without_reading_it_again() -> None:
    url = new_url()
    index, _ = put(DOCUMENTS[:2], url)
    named = replace(DOCUMENTS[0], source="new/place.txt", metadata={"owner": "Ada"})
    _, changes = put([named, DOCUMENTS[1]], url)
    assert changes.unchanged == 2
    found = [index.document(each) for each in index.document_numbers()]  # the open index notices
    assert sorted(found, key=lambda each: each.id) == [named, DOCUMENTS[1]]


def test_other_settings_make_new_tables_and_keep_what_else_is_there() -> None:
    url = new_url()
    old, _ = put(DOCUMENTS[:3], url)
    with _sql(url) as connection:
        connection.execute(f"create table {parse_address(url).name}.mine (x int)")
        with pytest.raises(InvalidParameter, match="rebuild"):
            put(DOCUMENTS[:3], url, vectors="own")
        new, _ = put(DOCUMENTS[:3], url, vectors="none", rebuild=True)
        connection.execute(f"select from {parse_address(url).name}.mine")
    assert new.settings.vectors == "none"
    assert new.words(["plum"], 3)[0].numbers.size == 3
    with pytest.raises(ChunkwiseError, match="other settings; open it again"):
        old.words(["plum"], 3)


def test_readers_see_the_old_state_until_the_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chunkwise.retrieval.databases.update._BATCH", 1)
    url = new_url()
    index, _ = put(DOCUMENTS[:3], url)
    old = [each.id for each in DOCUMENTS[:3]]

    def watched() -> Iterator[Document]:
        for document in DOCUMENTS[5:9]:
            yield document
            assert index.ids() == old
            assert index.document_count == 3

    put(watched(), url)  # type: ignore[arg-type]
    assert index.ids() == [each.id for each in DOCUMENTS[5:9]]


def test_a_snapshot_stays_as_it_was() -> None:
    url = new_url()
    index, _ = put(DOCUMENTS[:3], url)
    with index.snapshot():
        found = index.words(["plum"], 10)[0].numbers.tolist()
        thread = threading.Thread(target=put, args=(DOCUMENTS[3:], url))
        thread.start()
        thread.join()
        assert [chunk.number for chunk in index.chunks(found)] == found
    with pytest.raises(ChunkwiseError, match="the index changed during the search; try again"):
        index.chunks(found)


def test_an_update_that_fails_changes_nothing() -> None:
    url = new_url()
    put(DOCUMENTS[:3], url)
    before = _tables(url)

    def fails() -> Iterator[Document]:
        yield _document(20)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        put(fails(), url)  # type: ignore[arg-type]
    assert _tables(url) == before


def test_a_second_writer_waits_and_is_told() -> None:
    url = new_url()

    def meanwhile() -> Iterator[Document]:
        started = time.monotonic()
        with pytest.raises(
            ChunkwiseError,
            match="is locked by another writer or a long transaction; try again later",
        ):
            put(DOCUMENTS[:4], url, wait=0.3)
        assert time.monotonic() - started > 0.2  # it did wait
        # Another knowledge base has another lock.
        put(DOCUMENTS[:1], new_url(), wait=0.3)
        yield DOCUMENTS[0]

    assert str(put(meanwhile(), url)[1]) == "1 added"  # type: ignore[arg-type]


def test_two_writers_at_once_come_one_after_the_other() -> None:
    url = new_url()
    errors: list[BaseException] = []

    def work(documents: list[Document]) -> None:
        try:
            put(documents, url, wait=60)
        except BaseException as error:
            errors.append(error)

    threads = [
        threading.Thread(target=work, args=(some,)) for some in (DOCUMENTS[:6], DOCUMENTS[4:])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    found = sorted(open_source(url).ids())
    assert found in (sorted(e.id for e in DOCUMENTS[:6]), sorted(e.id for e in DOCUMENTS[4:]))


def test_two_first_writers_of_one_database_both_make_their_tables() -> None:
    other = new_url().replace("/postgres?", "/fresh?")
    with _sql(new_url()) as connection:
        connection.execute("create database fresh")
        try:
            threads = [
                threading.Thread(target=put, args=(DOCUMENTS[:2], f"{other}_{name}"))
                for name in ("a", "b")
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for name in ("a", "b"):
                with open_source(f"{other}_{name}") as index:
                    assert index.document_count == 2
        finally:
            connection.execute("drop database fresh with (force)")


def test_a_killed_writer_leaves_the_last_good_state() -> None:
    url = new_url()
    index, _ = put(DOCUMENTS[:3], url)
    before = _tables(url)
    program = f"""
import os, sys
sys.path[:0] = {sys.path!r}
from chunkwise.options import IndexOptions
from chunkwise.retrieval.databases import update
from chunkwise.retrieval.indexing.update import Reading
from chunkwise.retrieval.postgres.index import PostgresEngine
from retrieval.postgres import test_postgres_update as tests
from retrieval.postgres_server import STRATEGY
from retrieval.tiny_embedder import Tiny
update._BATCH = 1
def documents():
    yield from tests.DOCUMENTS[5:9]
    os.kill(os.getpid(), 9)
given = IndexOptions(strategy=STRATEGY, embedder=Tiny(), vectors="late")
PostgresEngine().into({url!r}, Reading(documents()), given, rebuild=sys.argv[1] == "anew", wait=9)
"""
    for how in ("as it is", "anew"):
        done = subprocess.run([sys.executable, "-c", program, how], check=False)
        assert done.returncode == -9
        assert _tables(url) == before
    assert index.words(["plum"], 9)[0].numbers.size == 3
    _, changes = put(DOCUMENTS[:4], url, wait=20)  # and the lock went with it
    assert (changes.added, changes.unchanged) == (1, 3)


def test_a_lost_connection_is_opened_again() -> None:
    url = new_url()
    index, _ = put(DOCUMENTS[:3], url)
    with _sql(url) as connection:
        connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where application_name = 'chunkwise' and pid <> pg_backend_pid()"
        )
    assert index.words(["plum"], 9, EVERYTHING)[0].numbers.size == 3


def test_tables_of_another_version_are_refused() -> None:
    url = new_url()
    put(DOCUMENTS[:2], url)
    with _sql(url) as connection:
        table = f"{parse_address(url).name}.state"
        connection.execute(f"update {table} set text = jsonb_set(text::jsonb, '{{format}}', '99')")
    before = _tables(url)
    rebuild = partial(put, DOCUMENTS, rebuild=True)
    for does in (open_source, PostgresEngine().settings, partial(put, DOCUMENTS), rebuild):
        with pytest.raises(ChunkwiseError, match="format 99"):
            does(url)
    assert _tables(url) == before


def test_an_index_of_nothing_answers_nothing() -> None:
    url = new_url()
    index, _ = put([], url)
    assert index.words(["plum"], 3)[0].numbers.size == 0
    assert index.nearest(np.ones((1, 16), np.float32), 3)[0].numbers.size == 0
    assert len(index.atom_table()) == 0


def test_a_knowledge_base_that_was_dropped_and_made_again_is_noticed() -> None:
    url = new_url()
    index, _ = put([Document("a", "Plums are blue.")], url)
    assert index.document(*index.document_numbers()).text == "Plums are blue."
    table = index.atom_table()
    with _sql(url) as connection:
        connection.execute(f"drop schema {parse_address(url).name} cascade")
    put([Document("a", "Pears are green.")], url)
    (ranking,) = index.words(["pears"], 3)
    assert (
        index.document(index.chunks(ranking.numbers.tolist())[0].document).text
        == "Pears are green."
    )
    assert index.atom_table() is not table


def test_an_index_made_anew_keeps_the_settings_it_had() -> None:
    url = new_url()
    first = index(
        DOCUMENTS[:2], "sentences(max_tokens=25)", into=url, vectors="none", context="headings",
        settings=IndexOptions(language="en", tokenizer="cl100k_base"),
    )  # fmt: skip
    anew = index(DOCUMENTS[:3], into=url, rebuild=True)
    assert anew.settings == first.settings
    assert len(anew) == 3
    other = index(DOCUMENTS[:3], "words", into=url, rebuild=True)
    assert other.settings == replace(first.settings, strategy="words(max_words=500, overlap=75)")


def test_sources_that_cannot_be_read_keep_their_documents(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text(f"The plum of {name}.")
    url = new_url()

    def update() -> str:
        return str(
            index(
                tmp_path,
                into=url,
                vectors="none",
                options=LoadOptions(on_unreadable=lambda _: None),
            ).changes
        )

    assert update() == "3 added"
    (tmp_path / "b.txt").write_bytes(b"")
    (tmp_path / "c.txt").unlink()
    assert update() == "1 removed, 2 unchanged, 1 skipped"
    assert open_source(url).ids() == ["a.txt", "b.txt"]
    with pytest.raises(ChunkwiseError, match="is unchanged, with 2 documents"):
        index([], into=url)
    assert open_source(url).document_count == 2


def test_among_equals_what_was_read_first_comes_first() -> None:
    url = new_url()
    same = [Document(name, "The plum is ripe.") for name in "abc"]
    put(same, url)
    index, _ = put([Document("a", "The plum is  ripe."), *same[1:]], url)
    (ranking,) = index.words(["plum"], 3)
    found = [index.document(chunk.document).id for chunk in index.chunks(ranking.numbers.tolist())]
    assert len(set(ranking.scores.tolist())) == 1
    assert found == ["b", "c", "a"]
