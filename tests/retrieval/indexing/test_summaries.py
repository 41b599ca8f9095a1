"""Summaries in an index: searched beside the chunks or by level, handed out with what they stand for."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from chunkwise.base.errors import BrokenContract, ChunkwiseError, InvalidParameter
from chunkwise.chunkers import Strategy, get_strategy
from chunkwise.core import Document, Hit, Piece, Span
from chunkwise.options import SearchOptions
from chunkwise.retrieval import index, open_index
from chunkwise.retrieval.filters import EVERYTHING, Filter
from chunkwise.retrieval.indexes import Index
from chunkwise.retrieval.local import manifest
from chunkwise.retrieval.search.index_reader import IndexReader
from chunkwise.retrieval.settings import Vectors
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.tokens.tokenizers import get_tokenizer
from retrieval.postgres_server import new_url
from retrieval.tiny_embedder import Tiny
from rule_summarizer import FirstSentences
from tables import cases

QUESTIONS = [
    "who approves leave",
    "the printer in the kitchen",
    "where is the badge asked for",
    "zebra",
]
FILTERS = [
    EVERYTHING,
    Filter(level=0),
    Filter(level=1),
    Filter(level=2),
    Filter(level=9),
    Filter(sections=("leave",)),
    Filter(sections=("leave",), level=1),
    Filter(pages=(1, 1), level=1),
    Filter(documents=("b*",), level=1),
]
SUBJECTS = "leave pay travel laptop parking training visitors badge kitchen printer".split()


def document(id: str, first: int = 0) -> Document:
    parts, pages = [f"# Guide {id}\n\n"], [0]
    for number, subject in enumerate(SUBJECTS[first:]):
        parts.append(f"## {subject.title()}\n\nThe {subject} is asked for at desk {number}. ")
        parts.append(f"Who approves {subject} is written on board {id} of the house.\n\n")
        if number % 3 == 2:
            pages.append(sum(map(len, parts)))
    return Document(id, "".join(parts), format="markdown", pages=tuple(pages))


DOCUMENTS = [document("a"), document("b", 3), Document("short", "One line alone.")]


def raptor(model: FirstSentences | None = None) -> Strategy:
    spec = "raptor(max_tokens=30, branching=3, summary_tokens=40)"
    return get_strategy(spec, llm=model or FirstSentences(), model=Tiny())


def made(into: str | Path | None = None, vectors: Vectors = "late") -> Index:
    model = None if vectors == "none" else Tiny()
    return index(DOCUMENTS, strategy=raptor(), into=into, embedder=model, vectors=vectors)


def shown(hits: list[list[Hit]]) -> list[list[tuple[object, ...]]]:
    return [
        [
            (hit.doc_id, hit.chunk, hit.level, hit.text, hit.spans, hit.span_tokens, hit.section, round(hit.score, 4))
            for hit in own
        ]
        for own in hits
    ]  # fmt: skip


@cases("vectors", ["late", "own", "none"])
def test_hits_are_the_strategys_own_chunks(vectors: Vectors) -> None:
    """What comes out is what went in: text, places, level, and sizes counted once more."""
    chunks = {chunk.id: chunk for each in DOCUMENTS for chunk in raptor().chunks(each)}
    count = get_tokenizer("o200k_base").count
    levels = set()
    for hit in (hit for own in made(vectors=vectors).search(QUESTIONS, k=50) for hit in own):
        chunk = chunks[f"{hit.doc_id}::{hit.chunk}"]
        assert (hit.level, hit.text, hit.spans) == (chunk.level, chunk.text, chunk.spans)
        assert (hit.token_count, hit.section) == (chunk.token_count, chunk.section)
        texts = [hit.document.text[start:end] for start, end in hit.spans]
        assert hit.span_tokens == tuple(map(count, texts))
        levels.add(hit.level)
    assert {0, 1, 2} <= levels


def test_the_vector_of_a_summary_is_that_of_its_text() -> None:
    for vectors in ("late", "own", "both"):
        source = made(vectors=vectors).source  # type: ignore[arg-type]
        numbers = range(source.chunk_count)
        summaries = [chunk for chunk in source.chunks(numbers) if chunk.level]
        assert summaries
        rows = source.chunk_vectors([chunk.number for chunk in summaries])
        assert rows == pytest.approx(Tiny().embed([chunk.summary for chunk in summaries]))


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> tuple[Index, list[Index]]:
    """In memory; and in a folder, opened again, on a server."""
    place = tmp_path_factory.mktemp("summaries") / "kb"
    others = [made(place), open_index(place, embedder=Tiny(), strategy=raptor()), made(new_url())]
    return made(), others


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
@pytest.mark.parametrize("only", FILTERS, ids=str)
def test_a_folder_and_a_server_answer_as_memory_does(
    engines: tuple[Index, list[Index]], only: Filter
) -> None:
    kept, others = engines
    for how in (
        {"k": 30, "retriever": "bm25"},
        {"k": 30},
        {"k": 8, "neighbors": 1},
        {"budget": 120},
    ):
        options = SearchOptions(**how, **only.changed())
        expected = shown(kept.search(QUESTIONS, options=options))
        for other in others:
            assert shown(other.search(QUESTIONS, options=options)) == expected

    table = [np.asarray(column) for column in kept.source.chunk_table()]
    for other in others:
        for column, own in zip(table, other.source.chunk_table(), strict=True):
            assert (column == own).all()


def test_a_filter_takes_one_level_and_what_the_summary_stands_for() -> None:
    kept = made(vectors="none")
    by_level = {
        level: kept.search(QUESTIONS, k=99, options=SearchOptions(level=level))
        for level in range(4)
    }
    for level, found in by_level.items():
        assert all(hit.level == level for own in found for hit in own)
    everything = kept.search(QUESTIONS, k=99)
    for number, own in enumerate(everything):
        assert len(own) == sum(len(found[number]) for found in by_level.values())
    own = kept.search("asked for", k=99, options=SearchOptions(sections=("laptop",), level=1))
    assert own
    for hit in own:
        parts = [hit.document.text[start:end].lower() for start, end in hit.spans]
        assert any("laptop" in part for part in parts)


class Apart:
    """A chunk a line, and summaries of the first line and the last, or of the middle."""

    def split(self, document: Analyzed) -> list[Piece]:
        ends = [at for at, char in enumerate(document.text, 1) if char == "\n"]
        lines = [Span(*each) for each in pairwise([0, *ends])]
        held = [(lines[0], lines[-1]), tuple(lines[3:6])]
        summaries = [
            Piece(
                own[0].start,
                own[-1].end,
                summary=f"A zebra of {len(own)}.",
                summarized=own,
                level=1,
            )
            for own in held
        ]
        return [*(Piece(*line) for line in lines), *summaries]


@pytest.mark.parametrize("engine", ["memory", "folder", "postgres"])
def test_a_page_has_the_summaries_of_its_places_alone(engine: str, tmp_path: Path) -> None:
    """From the first page to the last lie pages that a summary of those two says nothing about."""
    text = "".join(f"Page {number} tells of lamp {number}.\n" for number in range(9))
    pages = tuple(at for at in range(len(text)) if not at or text[at - 1] == "\n")
    # Another document before and one behind: numbers go on from one to the next.
    others = [Document("a", "One.\nTwo.\n" * 5), Document("z", text, pages=pages)]
    documents = [others[0], Document("m", text, pages=pages), others[1]]
    into = {"memory": None, "folder": tmp_path / "kb"}.get(engine, "")
    kept = index(
        documents,
        strategy=Apart(),
        into=new_url() if engine == "postgres" else into,
        vectors="none",
    )
    for page in range(1, 10):
        only = Filter(pages=(page, page), level=1)
        found = {
            (hit.doc_id, hit.text)
            for hit in kept.search("zebra", k=9, options=SearchOptions(**only.changed()))
        }
        told = ["A zebra of 2."] * (page in (1, 9)) + ["A zebra of 3."] * (page in (4, 5, 6))
        assert found == {(id, text) for id in ("m", "z") for text in told}
    both = kept.search("zebra", k=9, options=SearchOptions(pages=(1, 4), level=1))
    assert len(both) == 4
    chunks = kept.search("lamp", k=99, options=SearchOptions(pages=(2, 3)))
    assert sorted(hit.page or 0 for hit in chunks) == [2, 2, 3, 3]


def test_places_are_not_counted_again_at_each_search(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = made(vectors="none")
    counted: list[tuple[int, ...]] = []
    count = IndexReader.count

    def noted(self: IndexReader, document: int, start: int, end: int) -> int:
        counted.append((start, end))
        return count(self, document, start, end)

    monkeypatch.setattr(IndexReader, "count", noted)
    hits = kept.search("desk", k=9, options=SearchOptions(level=1))
    assert all(len(hit.span_tokens) == len(hit.spans) > 1 for hit in hits)
    assert hits
    assert not counted


def test_a_summary_before_the_chunks_is_refused() -> None:
    """Chunks are known by their place in the document's list: it would be another one in the index."""

    class First(Apart):
        def split(self, document: Analyzed) -> list[Piece]:
            return super().split(document)[::-1]

    with pytest.raises(BrokenContract, match=r"d::2 is a chunk after a summary, d::1 of level 1"):
        index([Document("d", "Line.\n" * 7)], strategy=First(), vectors="none")


def test_an_index_tells_of_summaries_it_is_without(tmp_path: Path) -> None:
    """And how to get them: the same command passes over documents that have not changed."""
    model = FirstSentences(stumble="laptop is asked", name="first-sentences that stumble")
    strategy = raptor(model)
    with pytest.warns(UserWarning, match="failed: "):
        kept = index(DOCUMENTS, strategy=strategy, into=tmp_path, embedder=Tiny())
    [note] = kept.changes.notes
    assert re.search("2 summaries.*stumbled.*index --rebuild", note)
    asked = len(model.asked)
    again = index(DOCUMENTS, strategy=strategy, into=tmp_path, embedder=Tiny())
    assert (again.changes.notes, len(model.asked)) == ((), asked)
    model.stumble = ""
    whole = index(DOCUMENTS, strategy=strategy, into=tmp_path, embedder=Tiny(), rebuild=True)
    assert whole.changes.notes == ()
    assert whole.stats().chunks > kept.stats().chunks
    assert len(model.asked) > asked


def test_several_sizes_have_no_levels() -> None:
    kept = made()
    with pytest.raises(InvalidParameter, match=r"level needs chunks.*bm25"):
        kept.search("leave", budget=100, retriever="multiscale", options=SearchOptions(level=1))
    with pytest.raises(InvalidParameter, match="level is -1"):
        Filter(level=-1)
    # A budget alone searches the summaries, too.
    assert any(hit.level for hit in kept.search("desk 0 desk 3 desk 6", budget=400))


@cases("budget", [1, 20, 45, 90, 300])
def test_a_budget_holds_and_no_summary_is_cut(budget: int) -> None:
    texts = {chunk.text for each in DOCUMENTS for chunk in raptor().chunks(each) if chunk.level}
    for own in made().search(QUESTIONS, budget=budget, retriever="hybrid"):
        assert sum(hit.token_count for hit in own) <= budget
        assert all(hit.text in texts for hit in own if hit.level)


def test_neighbors_are_chunks_and_summaries_stand_alone() -> None:
    kept = made(vectors="none")
    chunks = [chunk for chunk in raptor().chunks(DOCUMENTS[0]) if not chunk.level]
    for hit in kept.search(
        "printer kitchen", k=5, options=SearchOptions(neighbors=2, documents=("a",))
    ):
        if hit.level:
            assert hit.chunk is not None
            assert len(hit.spans) > 1
        else:
            assert hit.end <= chunks[-1].end
            assert hit.spans == (hit.span,)


def test_the_reranker_reads_the_summary() -> None:
    class Notes:
        identity = "notes"

        def __init__(self) -> None:
            self.read: list[str] = []

        def scores(self, question: str, texts: list[str]) -> NDArray[np.float32]:
            self.read += texts
            return np.array([len(text) for text in texts], np.float32)

    notes = Notes()
    hits = made(vectors="none").search("desk", k=3, reranker=notes, options=SearchOptions(level=1))
    assert {hit.text for hit in hits} <= set(notes.read)
    assert hits


def test_an_update_asks_for_what_is_new_alone(tmp_path: Path) -> None:
    model = FirstSentences(name="first-sentences of an update")  # nothing it said is kept
    kept = index(DOCUMENTS[:1], strategy=raptor(model), into=tmp_path, embedder=Tiny())
    asked = len(model.asked)
    assert asked > 3
    before = shown(kept.search(QUESTIONS, k=50))
    kept.update(DOCUMENTS[:1])
    assert len(model.asked) == asked
    kept.update(DOCUMENTS)
    assert len(model.asked) > asked
    kept.verify()
    again = kept.search(
        QUESTIONS, k=200, retriever="dense", options=SearchOptions(documents=("a",))
    )
    assert {row[:6] for own in before for row in own} <= {
        row[:6] for own in shown(again) for row in own
    }


def test_an_index_of_before_is_refused_with_what_to_do(tmp_path: Path) -> None:
    made(tmp_path)
    path = tmp_path / manifest.MANIFEST_NAME
    path.write_text(
        path.read_text().replace(f'"format": {manifest.MANIFEST_FORMAT}', '"format": 1')
    )
    with pytest.raises(ChunkwiseError, match=r"index format 1.*--rebuild"):
        open_index(tmp_path)
