"""An index as a user holds it: the same answers from memory and from a folder."""

from __future__ import annotations

import json
import os
import random
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import chunkwise
from chunkwise import ChunkwiseError, Document, Index
from chunkwise.options import IndexOptions, LoadOptions, SearchOptions
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.indexes import is_index
from chunkwise.retrieval.local.nearest_vectors import nearest
from chunkwise.retrieval.ranking import best
from chunkwise.text.analyzed import Analyzed
from retrieval.tiny_embedder import Tiny, WholeTexts
from tables import cases

WORDS = "heron otter badger falcon river forest meadow night winter stone bridge boat".split()


def test_an_address_of_this_machine_is_an_index_only_where_one_is(tmp_path: Path) -> None:
    chunkwise.index(DOCUMENTS[:1], into=f"file://{tmp_path}/k%20b", embedder="none")
    assert is_index(f"file://{tmp_path}/k%20b")
    assert not is_index(f"file://{tmp_path}")


def test_chunks_are_read_from_a_file_address(tmp_path: Path) -> None:
    (tmp_path / "a b.txt").write_text("One. Two.")
    row = {"text": "One.", "doc_id": "a b.txt", "start": 0, "end": 4}
    (tmp_path / "chunks.jsonl").write_text(json.dumps(row))
    found = chunkwise.index(
        f"file://{tmp_path}/a%20b.txt", chunks=f"file://{tmp_path}/chunks.jsonl", embedder="none"
    )
    assert [(hit.start, hit.end) for hit in found.search("one")] == [(0, 4)]


def _documents(count: int = 12) -> list[Document]:
    chance = random.Random(5)
    documents = []
    for number in range(count):
        sections = [
            f"## {chance.choice(WORDS)}\n\n"
            + " ".join(
                f"The {chance.choice(WORDS)} by the {chance.choice(WORDS)} saw a {chance.choice(WORDS)}."
                for _ in range(6)
            )
            for _ in range(4)
        ]
        text = f"# Part {number}\n\n" + "\n\n".join(sections)
        pages = (0, len(text) // 3, 2 * len(text) // 3) if number % 2 else ()
        documents.append(Document(f"book/{number}.md", text, pages=pages, format="markdown"))
    return documents


DOCUMENTS = _documents()
QUESTIONS = ["otter by the river", "a falcon in winter", "bridge", "nothing of the kind", "?"]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="module")
def index() -> Index:
    return chunkwise.index(DOCUMENTS, "sentences(max_tokens=40)", embedder=Tiny())


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("opened") / "kb"
    chunkwise.index(DOCUMENTS, "sentences(max_tokens=40)", embedder=Tiny(), into=folder)
    return chunkwise.open_index(folder, embedder=Tiny())


ASKED = [
    {"retriever": "bm25", "k": 4},
    {"retriever": "dense", "k": 4},
    {"retriever": "hybrid", "k": 4},
    {"budget": 120},
    {"retriever": "hybrid", "k": 3, "options": SearchOptions(neighbors=1)},
    {"retriever": "dense", "k": 3, "options": SearchOptions(mmr=0.5)},
    {"retriever": "bm25", "k": 9, "options": SearchOptions(documents=("book/1*.md",))},
    {"retriever": "dense", "k": 9, "options": SearchOptions(sections=("OTTER",))},
    {"budget": 120, "options": SearchOptions(pages=(2, 3))},
]


@cases("asked", ASKED)
def test_memory_and_folder_answer_alike(index: Index, opened: Index, asked: dict) -> None:  # type: ignore[type-arg]
    answers = index.search(QUESTIONS, **asked)
    assert answers == opened.search(QUESTIONS, **asked)
    assert any(answers)
    # One question by itself has the same answer as among others.
    assert [index.search(question, **asked) for question in QUESTIONS] == answers
    only = Filter.of(asked.get("options", SearchOptions()))
    for hit in (hit for hits in answers for hit in hits):
        assert _is_taken(hit.document, hit.start, hit.end, only)


def _is_taken(document: Document, start: int, end: int, only: Filter) -> bool:
    """One place in the text at least lies in a section asked for, one on a page asked for."""
    analyzed = Analyzed(document)
    every = range(start, end)
    first, last = only.pages or (0, 0)
    return (
        only.takes_document(document.id)
        and any(only.takes_section(analyzed.section(at, at + 1)) for at in every)
        and (not only.pages or any(first <= (document.page(at) or -1) <= last for at in every))
    )


def test_chunks_are_those_of_the_strategy(index: Index) -> None:
    expected = [
        chunk
        for document in DOCUMENTS
        for chunk in chunkwise.ext.chunk_document(document, "sentences(max_tokens=40)")
    ]
    source = index.source
    found = source.chunks(range(source.chunk_count))
    assert len(found) == len(expected)
    for each, chunk in zip(found, expected, strict=True):
        document = source.document(each.document)
        assert document == chunk.document
        assert (each.position, each.start, each.end) == (chunk.index, chunk.start, chunk.end)
        assert (each.tokens, each.section) == (chunk.token_count, chunk.section)
        low, high = source.chunk_range(each.document)
        assert each.number == low + each.position < high


def test_atoms_are_those_of_the_documents(index: Index) -> None:
    table = index.source.atom_table()
    assert len(table) == len(table.start) == table.terms.rows
    for number, document in enumerate(DOCUMENTS):
        bounds = index.source.atoms(number)
        mine = table.document == number
        assert (table.start[mine] == bounds.start).all()
        assert (table.tokens[mine] == bounds.tokens).all()
        assert bounds.end[-1] == len(document.text)
    assert table.vectors is not None
    assert table.vectors.turned(slice(None)).shape == (len(table), 16)
    paths = {index.source.section_path(int(section)) for section in table.section}
    assert ("Part 3",) in paths


@pytest.mark.unwatched
def test_filters_take_what_they_say(index: Index) -> None:
    for only in (
        Filter(documents=("book/3.md", "book/7.md")),
        Filter(documents=("*1*",), pages=(1, 1)),
        Filter(sections=("otter", "part 2")),
        Filter(pages=(3, 9)),
        Filter(documents=("nothing",)),
    ):
        taken = index.source.allowed("chunk", only)
        assert taken is not None
        expected = []
        for chunk in index.source.chunks(range(index.source.chunk_count)):
            document = index.source.document(chunk.document)
            expected.append(_is_taken(document, chunk.start, chunk.end, only))
        assert taken.tolist() == expected
    assert index.source.allowed("chunk", Filter()) is None


@given(
    arrays.arrays(np.float32, st.integers(0, 300), elements=st.sampled_from([0, 0.5, 1, -np.inf])),
    st.integers(0, 20),
)
def test_the_best_are_those_a_sort_finds(scores: np.ndarray, depth: int) -> None:
    order = [at for at in np.lexsort((np.arange(len(scores)), -scores)) if scores[at] > -np.inf]
    found = best(scores, depth)
    assert found.numbers.tolist() == order[:depth]
    assert (found.scores == scores[order[:depth]]).all()


@cases("rows", [0, 1, 50, 3000, 70_000])
@cases("share", [1.0, 0.01])
def test_the_nearest_are_those_a_sort_finds(rows: int, share: float) -> None:
    rng = np.random.default_rng(rows)
    vectors = rng.standard_normal((rows, 8)).astype(np.float32)
    vectors[rows // 2 :] = vectors[: rows - rows // 2]  # every vector twice: ties everywhere
    queries = rng.standard_normal((5, 8)).astype(np.float32)
    allowed = None if share == 1 else rng.random(rows) < share
    found = nearest(vectors, queries, 7, allowed)
    alone = [nearest(vectors, query[None], 7, allowed)[0] for query in queries]
    numbers = np.arange(rows) if allowed is None else np.flatnonzero(allowed)
    for query, ranking, single in zip(queries, found, alone, strict=True):
        exact = (vectors[numbers].astype(np.float64) @ query.astype(np.float64)).round(5)
        order = numbers[np.lexsort((numbers, -exact))][:7]
        assert ranking.numbers.tolist() == order.tolist()
        assert ranking.numbers.tolist() == single.numbers.tolist()
        assert ranking.scores.tolist() == single.scores.tolist()


def test_a_question_without_direction_is_near_to_nothing() -> None:
    vectors = np.eye(4, dtype=np.float32)
    found = nearest(vectors, np.zeros((2, 4), np.float32), 3)
    assert [len(ranking.numbers) for ranking in found] == [0, 0]


def test_an_index_in_memory_is_brought_up_to_date() -> None:
    index = chunkwise.index(DOCUMENTS, "sentences(max_tokens=40)", embedder=Tiny())
    model = index._embedder
    assert model is not None
    changes = index.update([*DOCUMENTS[2:], Document("new", "An otter in a boat.")])
    assert (changes.added, changes.removed, changes.unchanged) == (1, 2, 10)
    fresh = chunkwise.index(
        [*DOCUMENTS[2:], Document("new", "An otter in a boat.")],
        "sentences(max_tokens=40)",
        embedder=Tiny(),
    )
    assert index.source.arrays.keys() == fresh.source.arrays.keys()  # type: ignore[union-attr]
    for name, values in fresh.source.arrays.items():  # type: ignore[union-attr]
        assert (index.source.arrays[name] == values).all(), name  # type: ignore[union-attr]
    assert index.search("otter boat", k=1, retriever="hybrid")[0].doc_id == "new"


def test_an_opened_index_is_brought_up_to_date(tmp_path: Path) -> None:
    chunkwise.index(
        DOCUMENTS[:3], "sentences(max_tokens=40)", embedder=Tiny(), into=tmp_path / "kb"
    )
    opened = chunkwise.open_index(tmp_path / "kb", embedder=Tiny())
    assert opened.changes is None
    assert str(opened.update(DOCUMENTS[1:4])) == "1 added, 1 removed, 2 unchanged"
    assert len(opened) == len(chunkwise.open_index(tmp_path / "kb")) == 3


def test_an_embedder_without_tokens_votes_by_windows_read_once(tmp_path: Path) -> None:
    text = " ".join(
        f"Sentence {number} is about the otter of lake {number}." for number in range(60)
    )
    documents = [Document("lakes.txt", text), *DOCUMENTS[:2]]
    model = WholeTexts()
    index = chunkwise.index(documents, embedder=model, into=tmp_path / "kb")
    assert index.settings.vectors == "late"
    windows = [*index.source.document(0).text.split(". ")]
    assert 2 + len(documents) < model.calls < len(windows)
    ranked = index.search(
        "otter of lake 41", budget=60, options=SearchOptions(retriever="multiscale(words=0)")
    )
    assert "lake 41" in ranked[0].text
    read = model.calls
    index.update([*documents, Document("new.txt", "A new one.")])
    assert model.calls == read + 1, "what is known is not read again"


def test_an_index_of_words_has_no_vectors() -> None:
    index = chunkwise.index(DOCUMENTS[:2], vectors="none")
    assert (index.settings.embedder, index.settings.dimensions) == ("", 0)
    assert index.search("otter")
    with pytest.raises(ChunkwiseError, match="vectors='none'"):
        index.source.nearest(np.zeros((1, 16), np.float32), 3, Filter())
    with pytest.raises(ChunkwiseError, match="vectors='none'"):
        index.search("otter", retriever="dense")


def test_vectors_of_another_size_are_refused(index: Index) -> None:
    with pytest.raises(ChunkwiseError, match="16 dimensions"):
        index.source.nearest(np.zeros((1, 8), np.float32), 3, Filter())


@cases(
    "given_, message",
    [
        ({"vectors": "some"}, "vectors"),
        ({"settings": IndexOptions(language="klingon")}, "klingon"),
        ({"settings": IndexOptions(tokenizer="unheard")}, "unheard"),
        ({"strategy": "unheard"}, "unheard"),
        ({"into": ""}, "the index path is"),
        ({"into": "a\0b"}, "the index path is"),
        (
            {"into": "mysql://ada:secret@host/db"},
            r"'mysql://ada:\*\*\*@host/db'; expected a folder or a URL",
        ),
        ({"source": [DOCUMENTS[0], 5]}, "one source is int; expected the path of a file"),
        ({"jobs": 0, "source": "."}, "jobs is 0"),
    ],
)
def test_wrong_values_are_told(given_: dict[str, object], message: str) -> None:
    values = {"source": DOCUMENTS[:1], "embedder": Tiny(), **given_}
    with pytest.raises(ChunkwiseError, match=message):
        chunkwise.index(**values)  # type: ignore[arg-type]


def test_figures(index: Index) -> None:
    stats = index.stats()
    assert stats.documents == len(index) == 12
    assert stats.tokens == sum(int(index.source.atoms(number).tokens.sum()) for number in range(12))
    assert stats.vectors == stats.chunks + stats.atoms
    told = chunkwise.index(
        DOCUMENTS, "sentences(max_tokens=40)", embedder=Tiny(), context="headings"
    )
    assert told.stats().tokens == stats.tokens
    assert told.stats().indexed_tokens > stats.indexed_tokens
    assert repr(index) == (
        f"<Index in memory: 12 documents, {stats.chunks} chunks, sentences(max_tokens=40, overlap=10), tiny-16>"
    )


@pytest.mark.usefixtures("processes")
def test_files_are_read_by_several_processes(tmp_path: Path) -> None:
    for document in DOCUMENTS:
        path = tmp_path / "in" / document.id
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document.text)
    (tmp_path / "in" / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    skipped: list[Exception] = []
    steps: list[tuple[int, str]] = []

    def advance(amount: int, note: str) -> None:
        steps.append((amount, note))

    made = chunkwise.index(
        tmp_path / "in", into=tmp_path / "kb", embedder=Tiny(), jobs=2,
        options=LoadOptions(on_unreadable=skipped.append),
        advance=advance,
    )  # fmt: skip
    alone = chunkwise.index(
        tmp_path / "in", embedder=Tiny(), options=LoadOptions(on_unreadable=skipped.append)
    )
    assert len(made) == len(alone) == 12
    assert len(skipped) == 2
    assert sum(amount for amount, _ in steps) == sum(len(each.text) for each in DOCUMENTS)
    for name, values in alone.source.arrays.items():  # type: ignore[union-attr]
        assert (made.source.arrays[name] == values).all(), name  # type: ignore[union-attr]
    os.remove(tmp_path / "in" / "book" / "3.md")
    again = chunkwise.index(
        tmp_path / "in",
        into=tmp_path / "kb",
        embedder=Tiny(),
        jobs=2,
        options=LoadOptions(on_unreadable=skipped.append),
    )
    assert str(again.changes) == "1 removed, 11 unchanged, 1 skipped"
    with pytest.raises(chunkwise.ext.UnreadableDocument, match=r"broken\.pdf"):
        chunkwise.index(
            tmp_path / "in", embedder=Tiny(), options=LoadOptions(on_unreadable="raise")
        )


SECTIONS = Document(
    "handbook.md",
    "# Handbook\n\nWelcome.\n\n## Leave\n\nThirty days.\n\n## Approval\n\n"
    "The head of the team says yes, or gives the reasons for saying no in writing.\n",
    format="markdown",
)


@cases(
    "strategy", ["structure", "recursive", "sentences", "parent_child", "sentences(max_tokens=8)"]
)
def test_a_chunk_over_several_sections_is_found_by_each(strategy: str) -> None:
    index = chunkwise.index([SECTIONS, *DOCUMENTS[:3]], strategy, embedder=Tiny())
    for retriever in ("bm25", "dense", "multiscale"):
        for section in ("approval", "leave > "):
            only = Filter(sections=(section,))
            hits = index.search(
                "head of the team",
                retriever=retriever,
                budget=200,
                options=SearchOptions(**only.changed()),
            )
            assert bool(hits) == (section == "approval")
            assert {hit.doc_id for hit in hits} <= {"handbook.md"}


def test_short_documents_are_read_by_the_model_together() -> None:
    class Counts(Tiny):
        def __init__(self) -> None:
            super().__init__()
            self.together: list[int] = []

        def token_vectors(self, texts):  # type: ignore[no-untyped-def]
            self.together.append(len(texts))
            return super().token_vectors(texts)

    model = Counts()
    documents = [Document(f"{number}", f"Short text number {number}.") for number in range(64)]
    steps: list[int] = []
    made = chunkwise.index(
        documents, embedder=model, advance=lambda amount, _: steps.append(amount)
    )
    assert len(made) == sum(model.together) == 64
    assert max(model.together) >= 16
    assert sum(steps) == sum(len(each.text) for each in documents)
    alone = chunkwise.index(documents[5:6], embedder=Tiny())
    assert (made.source.chunk_vectors([5]) == alone.source.chunk_vectors([0])).all()


def test_a_filter_by_a_name_that_no_document_has_is_told() -> None:
    made = chunkwise.index([Document("a.md", "The lamp is lit at dusk.")], vectors="none")
    with pytest.warns(UserWarning, match=r"unknown document 'docs/\*'; ids are as in 'a.md'"):
        assert made.search("lamp", options=SearchOptions(documents=("docs/*",))) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made.search("lamp", options=SearchOptions(documents=("*.md",)))
        assert (
            made.search("nothing like it", options=SearchOptions(documents=("*.md",))) is not None
        )
