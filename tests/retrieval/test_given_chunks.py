"""An index of chunks that are there already: `Chunk`s, rows, or files of any tool."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise import Chunk, Document, Index, Query, Reference
from chunkwise.base.errors import ChunkwiseError, InvalidParameter, UnreadableDocument
from chunkwise.evaluation.scoring import Listeners
from chunkwise.options import LoadOptions
from retrieval.tiny_embedder import Tiny
from tables import cases

LAMPS = "The keeper lights the lamps at dusk. He trims them at dawn. The oil is kept below."
BREAD = "Bread is baked before dawn. The oven is cold by noon. Fragments go to the gulls."
DOCUMENTS = [Document("lamps.txt", LAMPS), Document("bread.txt", BREAD)]
ROWS: list[dict[str, Any]] = [
    {"document": "lamps.txt", "start": 0, "end": 36},
    {"document": "lamps.txt", "start": 37, "end": 82},
    {"document": "bread.txt", "start": 0, "end": 53},
]


def spans(index: Index) -> list[tuple[str, int, int]]:
    return sorted((chunk.doc_id, chunk.start, chunk.end) for chunk in index.chunks())


EXPECTED = sorted((row["document"], row["start"], row["end"]) for row in ROWS)


def of(chunks: Any, **more: Any) -> Index:
    return chunkwise.index(DOCUMENTS, chunks=chunks, **{"vectors": "none", **more})


def test_rows_are_indexed_as_they_are() -> None:
    index = of(ROWS)
    assert spans(index) == EXPECTED
    hit = index.search("who lights the lamps?", k=1)[0]
    assert (hit.doc_id, hit.start, hit.end) == ("lamps.txt", 0, 36)
    assert index.settings.strategy.startswith("FileChunks(file='given', hash='")


def test_chunks_are_indexed_as_they_are_with_context_and_parent() -> None:
    cut = list(chunkwise.chunk(DOCUMENTS, "parent_child(max_tokens=8)"))
    again = list(of(cut).chunks())
    assert [(each.id, each.span) for each in again] == [(each.id, each.span) for each in cut]
    own = [None if each.parent == each.span else each.parent for each in cut]
    assert [each.parent for each in again] == own
    one = Chunk(DOCUMENTS[0], 0, 0, 36, 8, context="Of the lighthouse")
    assert next(of([one]).chunks()).context == "Of the lighthouse"
    assert of([one]).search("lighthouse", k=1)[0].chunk_id == "lamps.txt::0"


@dataclass
class SplitDocument:
    """As LangChain's splitters hand chunks over."""

    page_content: str
    metadata: dict[str, object]


@dataclass
class TextNode:
    """As LlamaIndex's do."""

    text: str
    start_char_idx: int
    end_char_idx: int
    ref_doc_id: str


def test_objects_of_other_libraries_are_chunks() -> None:
    """tests/integrations gives theirs."""
    texts = [
        (row["document"], LAMPS if row["document"] == "lamps.txt" else BREAD, row) for row in ROWS
    ]
    split = [
        SplitDocument(text[row["start"] : row["end"]], {"source": id, "start_index": row["start"]})
        for id, text, row in texts
    ]
    nodes = [
        TextNode(text[row["start"] : row["end"]], row["start"], row["end"], id)
        for id, text, row in texts
    ]
    assert spans(of(split)) == spans(of(nodes)) == EXPECTED
    assert repr(of(split)) == "<Index in memory: 2 documents, 3 chunks, given, BM25 only>"
    with pytest.raises(InvalidParameter, match="chunk 2 is object; expected a Chunk, a row"):
        of([split[0], object()])


def test_chunks_of_an_iterator_are_taken_once() -> None:
    assert spans(of(iter(ROWS))) == EXPECTED


def test_files_of_any_tool_are_read(tmp_path: Path) -> None:
    lines = tmp_path / "ours.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    assert spans(of(lines)) == EXPECTED
    with (tmp_path / "table.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, ["document", "start", "end"])
        table.writeheader()
        table.writerows(ROWS)
    assert spans(of(str(tmp_path / "table.csv"))) == EXPECTED
    theirs = tmp_path / "langchain.jsonl"
    texts = {document.id: document.text for document in DOCUMENTS}
    theirs.write_text("".join(
        json.dumps({
            "page_content": texts[row["document"]][row["start"] : row["end"]],
            "metadata": {"source": row["document"], "start_index": row["start"]},
        }) + "\n"
        for row in ROWS
    ))  # fmt: skip
    assert spans(of(theirs)) == EXPECTED


def test_a_row_without_a_place_is_left_out_and_told() -> None:
    lost = {"document": "lamps.txt", "text": "Nobody wrote this."}
    told: list[UnreadableDocument] = []
    assert spans(of([*ROWS, lost], options=LoadOptions(on_unreadable=told.append))) == EXPECTED
    assert list(map(str, told)) == [
        "chunk 4: its text isn't in the document, so it can't be searched"
    ]
    with pytest.warns(UserWarning, match="chunk 4: its text isn't in the document"):
        of([*ROWS, lost])


def test_thousands_of_bad_rows_are_few_lines() -> None:
    told: list[UnreadableDocument] = []
    of(
        [*ROWS, *({"document": "nowhere.txt", "start": 0, "end": 3} for _ in range(2_000))],
        options=LoadOptions(on_unreadable=told.append),
    )
    assert len(told) == 11
    assert str(told[-1]) == "given: and 1,990 more rows"


def test_what_cannot_be_meant_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="chunk 1 is int; expected a Chunk, a row"):
        of([3])
    with pytest.raises(ChunkwiseError, match="no chunk was given"):
        of([])
    with pytest.raises(InvalidParameter, match="conflict; leave one out"):
        of(ROWS, strategy="sentences")


def test_the_file_of_chunks_is_no_document(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for document in DOCUMENTS:
        (folder / document.id).write_text(document.text)
    (folder / "theirs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    index = chunkwise.index(folder, chunks=folder / "theirs.jsonl", vectors="none")
    assert spans(index) == EXPECTED
    assert len(index) == 2


def test_what_cannot_be_read_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "lamps.txt").write_text(LAMPS)
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    told: list[UnreadableDocument] = []
    index = chunkwise.index(
        tmp_path, chunks=ROWS[:2], vectors="none", options=LoadOptions(on_unreadable=told.append)
    )
    assert spans(index) == EXPECTED[1:]
    assert [Path(problem.source).name for problem in told] == ["broken.pdf"]
    assert index.changes is not None
    assert index.changes.skipped == 1


def test_an_index_of_chunks_is_not_updated_without_them(tmp_path: Path) -> None:
    place = tmp_path / "kb"
    made = chunkwise.index(DOCUMENTS, chunks=ROWS, embedder=Tiny(), into=place)
    again = chunkwise.index(DOCUMENTS, chunks=ROWS, embedder=Tiny(), into=place)
    assert again.changes is not None
    assert (again.changes.unchanged, again.changes.added) == (2, 0)
    for update in (
        lambda: chunkwise.index(DOCUMENTS, embedder=Tiny(), into=place),
        lambda: chunkwise.index(DOCUMENTS, embedder=Tiny(), into=place, rebuild=True),
        lambda: made.update(DOCUMENTS),
        lambda: chunkwise.open_index(place, embedder=Tiny()).update(DOCUMENTS),
    ):
        with pytest.raises(InvalidParameter, match="built from existing chunks"):
            update()
    with pytest.raises(InvalidParameter, match=r"built from other chunks .*rebuild=True"):
        chunkwise.index(DOCUMENTS, chunks=ROWS[:2], embedder=Tiny(), into=place)
    fewer = chunkwise.index(DOCUMENTS, chunks=ROWS[:2], embedder=Tiny(), into=place, rebuild=True)
    assert spans(fewer) == EXPECTED[1:]
    cut = chunkwise.index(DOCUMENTS, "sentences", embedder=Tiny(), into=place, rebuild=True)
    assert cut.settings.strategy.startswith("sentences")


def test_the_same_chunks_under_another_name_are_the_same(tmp_path: Path) -> None:
    for name in ("one.jsonl", "two.jsonl"):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    place = tmp_path / "kb"
    chunkwise.index(DOCUMENTS, chunks=tmp_path / "one.jsonl", vectors="none", into=place)
    again = chunkwise.index(DOCUMENTS, chunks=tmp_path / "two.jsonl", vectors="none", into=place)
    assert again.changes is not None
    assert again.changes.unchanged == 2


def test_it_is_evaluated_and_linted_as_the_same_chunks_are() -> None:
    queries = [Query("1", "who lights the lamps?", (Reference("lamps.txt", 0, 36),))]
    from_index = chunkwise.evaluate(of(ROWS), queries, retriever="bm25", k=1)
    directly = chunkwise.evaluate(DOCUMENTS, queries, chunks=ROWS, retriever="bm25", k=1)
    assert from_index.questions == directly.questions
    assert from_index.label == directly.label == "given · bm25"
    issues = chunkwise.lint(DOCUMENTS, chunks=ROWS).issues
    assert issues == chunkwise.lint(of(ROWS)).issues


LOST: list[dict[str, Any]] = [
    {"document": "lamps.txt", "text": "isn't in the document"},
    {"document": "gone.txt", "start": 0, "end": 5},
]


@cases("verb", ["index", "evaluate", "lint"])
def test_rows_of_which_none_can_be_used_are_an_error_that_says_why(verb: str) -> None:
    def call() -> object:
        if verb == "index":
            return of(LOST, options=LoadOptions(on_unreadable="ignore"))
        if verb == "lint":
            return chunkwise.lint(DOCUMENTS, chunks=LOST)
        queries = [Query("1", "lamps", (Reference("lamps.txt", 0, 5),))]
        return chunkwise.evaluate(
            DOCUMENTS,
            queries,
            chunks=LOST,
            retriever="bm25",
            listeners=Listeners(on_bad=lambda line: None),
        )

    with pytest.raises(
        ChunkwiseError, match=r"^no chunk given was located in the documents: chunk 1: .*"
    ):
        call()


def test_a_file_of_which_no_row_can_be_used_is_named(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, LOST)), encoding="utf-8")
    with pytest.raises(
        ChunkwiseError,
        match=r"no chunk in .*rows\.jsonl was located in the documents: .*and 1 more",
    ):
        of(file, options=LoadOptions(on_unreadable="ignore"))


@dataclass
class HaystackDocument:
    """As Haystack's splitter hands chunks over; the id of the source is one that Haystack makes up."""

    content: str
    meta: dict[str, object]


def test_an_id_that_a_framework_made_up_says_nothing_and_offsets_tell_repeats_apart() -> None:
    text = "Cats like milk. Dogs like bones. Cats like milk."
    documents = [Document("other.txt", "Bread is baked."), Document("pets.txt", text)]
    meta = {"source_id": "0f9c", "split_idx_start": 33}
    second = HaystackDocument("Cats like milk.", meta)
    node = TextNode("Cats like milk.", 33, 48, "3f-uuid")
    for given in (second, node):
        made = chunkwise.index(documents, chunks=[given], vectors="none")
        assert [(each.doc_id, each.start) for each in made.chunks()] == [("pets.txt", 33)]


def test_a_property_of_somebody_else_may_raise() -> None:
    class Odd:
        @property
        def node(self) -> object:
            raise RuntimeError("boom")

        @property
        def get_content(self) -> object:
            raise RuntimeError("boom")

    with pytest.raises(InvalidParameter, match="chunk 1 is Odd; expected a Chunk, a row"):
        of([Odd()])
