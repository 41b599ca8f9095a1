"""Texts, ids, patterns and questions are data, whatever characters they are made of."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from urllib.parse import quote

import numpy as np
import psycopg
import pytest

import chunkwise
from chunkwise.base.errors import NotAllowed
from chunkwise.core import Document
from chunkwise.options import SearchOptions
from chunkwise.retrieval.filters import EVERYTHING, Filter
from chunkwise.retrieval.local.index import LocalIndex
from chunkwise.retrieval.postgres.connection import parse_address
from chunkwise.retrieval.postgres.index import PostgresIndex
from chunkwise.retrieval.search.search import search
from retrieval.postgres_server import embedded, new_url, put, server_url
from retrieval.tiny_embedder import Tiny
from tables import cases

pytestmark = pytest.mark.usefixtures("postgres")

IDS = [
    "plain.txt",
    'o\'brien "quoted".txt',
    "100%_done.txt",
    "100x_done.txt",
    "'); drop schema public cascade; --",
    "nul\0inside",
    "nul\ufffdinside",
    "half\ud800pair",
    "back\\slash\\U00000041",
    "שלום עולם",
    "line\nbreak\ttab\r",
    "{documents}%s %(keys)s %%",
    "long" * 1000,
    "[x]",
    "😀" * 5,
]
TEXT = (
    'Zero\0zero one. \ud800 lone halves \udfff stay. It\'s "quoted"; drop table documents; -- 100% _done_ \\. '
    "שלום עולם كيف الحال؟ 😀👩‍👩‍👧 {documents}%s %(keys)s. Zażółć gęślą jaźń. 你好世界。\r\n\x1b[31mred\x07"
)
QUESTIONS = [
    *IDS,
    TEXT,
    "zero\0one",
    "%",
    "_",
    "'",
    "' or 1=1 --",
    "$1 $$ %(terms)s {postings}",
    "\ud800",
    "word " * 20_000,
    "".join(chr(code) for code in range(1, 0x250)),
]


def _documents() -> list[Document]:
    return [
        Document(
            id, f"{TEXT} Number {number}.", id[:200], id[:200], metadata={"id": id, id[:50]: None}
        )
        for number, id in enumerate(IDS)
    ]


def test_hostile_texts_come_back_to_the_character() -> None:
    documents = _documents()
    index, changes = put(documents, url := new_url())
    assert changes.added == len(IDS)
    assert index.ids() == IDS
    for number, document in zip(index.document_numbers(), documents, strict=True):
        assert index.document(number) == document
        chunks = index.chunks(range(*index.chunk_range(number)))
        assert chunks
        for chunk in chunks:
            assert document.text[chunk.start : chunk.end].strip()
    assert str(put(documents, url)[1]) == f"{len(IDS)} unchanged"


def test_hostile_questions_get_the_answers_of_the_memory_engine() -> None:
    documents = _documents()
    index, _ = put(documents, new_url())
    memory = embedded(documents).source
    for question in QUESTIONS:
        there, here = index.words([question], 50)[0], memory.words([question], 50, EVERYTHING)[0]
        np.testing.assert_allclose(there.scores, here.scores, atol=1e-4)
    hits = search(index, QUESTIONS, SearchOptions(k=2), embedder=Tiny)
    assert all(hit.text == hit.document.text[hit.start : hit.end] for some in hits for hit in some)


@cases("id", IDS)
def test_every_id_names_itself_and_no_other(id: str) -> None:
    only = Filter(documents=(id,))
    documents = _documents()
    index, memory = _both()
    found = index.words(["quoted"], 100, only)[0].numbers.tolist()
    named = {index.document(chunk.document).id for chunk in index.chunks(found)}
    expected = memory.words(["quoted"], 100, only)[0].numbers.tolist()
    assert {documents[chunk.document].id for chunk in memory.chunks(expected)} <= named
    assert id in named
    assert all(other == id or fnmatchcase(other, id) for other in named)


@cache
def _both() -> tuple[PostgresIndex, LocalIndex]:
    return put(_documents(), new_url())[0], embedded(_documents()).source


@cases("name", ['we"ird; drop schema public--', "Üñí cödé 知", "a.b", "{chunks}", "SELECT"])
def test_names_of_knowledge_bases_are_quoted(name: str) -> None:
    index, _ = put([Document("a", "One plum.")], f"{server_url()}&kb={quote(name)}")
    assert parse_address(f"{server_url()}&kb={quote(name)}").name == name
    assert index.words(["plum"], 1)[0].numbers.size == 1
    assert index.stats().bytes > 0


@pytest.mark.parametrize("name", ["evil.py:Model", "http://127.0.0.1:9/v1#m"])
def test_a_row_that_another_writer_changed_runs_no_code_and_gets_no_key(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.py").write_text("open('ran', 'w').close()\nclass Model:\n    pass\n")
    url = new_url()
    chunkwise.index([Document("a", "A heron.")], "sentences", into=url, embedder=Tiny())
    with psycopg.connect(parse_address(url).url) as connection:
        connection.execute(
            f"update {parse_address(url).name}.state set text = "
            "jsonb_set(jsonb_set(text::jsonb, '{settings,embedder}', to_jsonb(%s::text)), '{settings,strategy}', "
            "to_jsonb(%s::text))::text",
            [name, f"semantic(model={name!r})"],
        )
    for ask in (
        lambda: chunkwise.open_index(url).search("heron", retriever="dense"),
        lambda: chunkwise.open_index(url).update([Document("b", "An otter.")]),
        lambda: chunkwise.index([Document("b", "An otter.")], into=url),
    ):
        with pytest.raises(NotAllowed, match=r"the index postgresql://.* names"):
            ask()
    assert not (tmp_path / "ran").exists()
