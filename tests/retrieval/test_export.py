"""Chunks and vectors come out of an index as they went in, wherever it lives."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import chunkwise
from chunkwise import Chunk, Document, Index
from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Span
from chunkwise.options import IndexOptions
from retrieval.postgres_server import new_url
from retrieval.tiny_embedder import Tiny
from tables import cases

DOCUMENTS = [
    Document(f"{n}.md", f"# Boat {n}\n\n" + f"Boat {n} is out. Its net is wide. " * (4 + n), format="markdown")
    for n in range(4)
]  # fmt: skip
STRATEGY = "sentences(max_tokens=30, overlap=0)"
PLACES: dict[str, Callable[[Path], str | Path | None]] = {
    "memory": lambda folder: None,
    "folder": lambda folder: folder / "kb",
    "postgres": lambda folder: new_url(),
}


def made(place: str, folder: Path, **more: object) -> Index:
    wanted = {"embedder": Tiny(), **more}
    return chunkwise.index(DOCUMENTS, STRATEGY, into=PLACES[place](folder), **wanted)  # type: ignore[arg-type]


def same(one: Chunk, other: Chunk) -> bool:
    return one.to_dict() == other.to_dict()


@pytest.mark.usefixtures("postgres")
@cases("place", PLACES)
def test_chunks_are_those_that_were_indexed(place: str, tmp_path: Path) -> None:
    found = list(made(place, tmp_path).chunks())
    cut = list(chunkwise.chunk(DOCUMENTS, STRATEGY))
    assert len(found) == len(cut) > 8
    assert all(map(same, found, cut))


@pytest.mark.usefixtures("postgres")
@cases("place", PLACES)
def test_every_chunk_has_its_vector(place: str, tmp_path: Path) -> None:
    index = made(place, tmp_path, vectors="own")
    ids, vectors = index.vectors()
    assert (
        repr(index.vectors()) == f"<ChunkVectors {len(ids)} chunks, {vectors.shape[1]} dimensions>"
    )
    chunks = list(index.chunks())
    assert ids == [chunk.id for chunk in chunks]
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(chunks), index.settings.dimensions)
    expected = Tiny().embed([chunk.text for chunk in chunks])
    assert vectors == pytest.approx(expected, abs=1e-3)


def test_late_vectors_are_those_that_are_searched(tmp_path: Path) -> None:
    index = made("folder", tmp_path)
    ids, vectors = index.vectors()
    query = Tiny().embed(["a wide net"])[0]
    best = ids[int((vectors @ query).argmax())]
    assert index.search("a wide net", k=1, retriever="dense")[0].chunk_id == best


@pytest.mark.parametrize("place", ["folder", "postgres"])
def test_a_file_of_parquet_holds_both(place: str, tmp_path: Path) -> None:
    index = made(place, tmp_path)
    file = tmp_path / "chunks.parquet"
    count = index.export(file)
    table = pa.parquet.read_table(file)
    assert table.num_rows == count == index.stats().chunks
    assert table.schema.field("vector").type == pa.list_(pa.float32())
    ids, vectors = index.vectors()
    assert table["id"].to_pylist() == ids
    assert np.array(table["vector"].to_pylist(), np.float32) == pytest.approx(vectors)
    rows = pa.parquet.read_table(file, columns=["doc_id", "start", "end", "text"]).to_pylist()
    texts = {document.id: document.text for document in DOCUMENTS}
    assert all(texts[row["doc_id"]][row["start"] : row["end"]] == row["text"] for row in rows)


def test_lines_and_tables_hold_the_same(tmp_path: Path) -> None:
    index = made("memory", tmp_path)
    _, vectors = index.vectors()
    index.export(tmp_path / "chunks.jsonl")
    lines = [
        json.loads(line)
        for line in (tmp_path / "chunks.jsonl").read_text("utf-8").split("\n")
        if line
    ]
    assert np.array([line["vector"] for line in lines]) == pytest.approx(vectors)
    index.export(tmp_path / "chunks.csv")
    with (tmp_path / "chunks.csv").open(encoding="utf-8", newline="") as file:
        cells = [json.loads(row["vector"]) for row in csv.DictReader(file)]
    assert np.array(cells) == pytest.approx(vectors)
    index.export(tmp_path / "plain.jsonl", with_vectors=False)
    assert "vector" not in json.loads((tmp_path / "plain.jsonl").read_text("utf-8").split("\n")[0])


def test_a_file_that_was_exported_makes_the_same_index(tmp_path: Path) -> None:
    first = made("memory", tmp_path)
    first.export(tmp_path / "chunks.parquet")
    again = chunkwise.index(DOCUMENTS, chunks=tmp_path / "chunks.parquet", embedder=Tiny())
    assert [chunk.span for chunk in again.chunks()] == [chunk.span for chunk in first.chunks()]
    assert again.vectors().vectors == pytest.approx(first.vectors().vectors, abs=1e-6)


@pytest.mark.usefixtures("postgres")
@cases("place", PLACES)
def test_an_index_without_vectors_says_so(place: str, tmp_path: Path) -> None:
    index = made(place, tmp_path, vectors="none", embedder=None)
    with pytest.raises(InvalidParameter, match="built without vectors"):
        index.vectors()
    older = tmp_path / "older.parquet"
    older.write_bytes(b"kept")
    with pytest.raises(InvalidParameter, match="built without vectors"):
        index.export(older, with_vectors=True)
    assert older.read_bytes() == b"kept"
    assert index.export(tmp_path / "chunks.jsonl") == index.stats().chunks
    assert '"vector"' not in (tmp_path / "chunks.jsonl").read_text(encoding="utf-8")


def test_parents_come_out_and_only_where_there_are_some(tmp_path: Path) -> None:
    strategy = "parent_child(max_tokens=10)"
    index = chunkwise.index(DOCUMENTS, strategy, vectors="none")
    found = list(index.chunks())
    cut = list(chunkwise.chunk(DOCUMENTS, strategy))
    own = [None if each.parent == each.span else each.parent for each in cut]
    assert [each.parent for each in found] == own
    assert any(isinstance(each.parent, Span) for each in found)


def test_no_documents_no_vectors() -> None:
    ids, vectors = chunkwise.index([], embedder=Tiny()).vectors()
    assert (ids, len(vectors)) == ([], 0)


def test_sizes_are_counted_by_the_tokenizer_of_the_index_those_of_contexts_too(
    tmp_path: Path,
) -> None:
    """So that they add up to a budget; the strategy may count something else."""
    index = chunkwise.index(
        DOCUMENTS,
        "words(max_words=10)",
        vectors="none",
        context="headings",
        settings=IndexOptions(tokenizer="characters"),
    )
    file = tmp_path / "chunks.jsonl"
    index.export(file, with_vectors=False)
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for chunk, row in zip(index.chunks(), rows, strict=True):
        told = chunk.to_dict()
        assert chunk.context
        assert told["token_count"] == row["token_count"] == len(chunk.text)
        assert told["context_token_count"] == row["context_token_count"] == len(chunk.context)
    assert sum(hit.token_count for hit in index.search("net", budget=100)) <= 100
