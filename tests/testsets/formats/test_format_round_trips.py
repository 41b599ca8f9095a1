"""Written and read again: questions come back, and references where the format holds spans."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.core import Document, Passage, Query, Reference
from chunkwise.testsets.formats import FORMATS, CarriesDocuments
from how_many import examples
from testsets.formats.format_files import queries, read, write

quick = settings(max_examples=examples(25), deadline=None)
"""Files are written and read: a disk has slow moments."""

LETTERS = st.characters(codec="utf-8", exclude_characters="\0\ufeff")
HOSTILE = st.sampled_from(
    ['"', "\n", "\r\n", ",", "\t", "'", "\\", "[", "{", "😀", "e\u0301", "\u2028"]
)
TEXTS = st.lists(st.one_of(LETTERS, HOSTILE), min_size=1, max_size=40).map("".join)
NAMES = st.text("abc-é.", min_size=1, max_size=6).filter(lambda name: ".." not in name)


@st.composite
def documents(draw: st.DrawFn) -> list[Document]:
    ids = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    return [Document(id, draw(TEXTS)) for id in ids]


@st.composite
def sets(draw: st.DrawFn, *, one_document: bool) -> tuple[list[Document], list[Query]]:
    given_documents = draw(documents())

    def place(document: Document) -> Passage:
        start = draw(st.integers(0, len(document.text) - 1))
        return Passage(document.id, start, draw(st.integers(start + 1, len(document.text))))

    asked = []
    for number in range(1, draw(st.integers(1, 4)) + 1):
        chosen = [draw(st.sampled_from(given_documents)) for _ in range(draw(st.integers(1, 3)))]
        chosen = chosen[:1] * len(chosen) if one_document else chosen
        places = list(dict.fromkeys(place(document) for document in chosen))
        text = draw(TEXTS).strip() or "?"
        asked.append(Query(str(number), text, tuple(Reference(*each) for each in places)))
    return given_documents, asked


def back(
    name: str, file: str, asked: list[Query], texts: list[Document]
) -> tuple[Path, list[Query]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        write(name, path, asked, texts)
        return path, queries(name, path)


@quick
@given(sets(one_document=True))
def test_chroma_keeps_spans_of_one_document(made: tuple[list[Document], list[Query]]) -> None:
    texts, asked = made
    assert back("chroma", "q.csv", asked, texts)[1] == asked


@quick
@given(sets(one_document=False))
def test_legalbench_keeps_spans(made: tuple[list[Document], list[Query]]) -> None:
    texts, asked = made
    tagged = [replace(query, types=("a", "b c")) for query in asked]
    assert back("legalbench", "q.json", tagged, texts)[1] == tagged


@quick
@given(sets(one_document=True))
def test_squad_keeps_a_span_and_its_alternatives(made: tuple[list[Document], list[Query]]) -> None:
    texts, asked = made
    by_id = {each.id: each.text for each in texts}
    expected = []
    for query in asked:
        first, *others = query.references
        places = tuple(each.places[0] for each in others)
        reference = replace(first, alternatives=places)
        said = by_id[first.doc_id][first.start : first.end]
        expected.append(Query(f"id {query.id}", query.text, (reference,), answer=said))
    found = back("squad", "q.json", expected, texts)[1]
    assert {each.id: each for each in found} == {each.id: each for each in expected}


@quick
@given(sets(one_document=False))
def test_formats_of_documents_keep_which_ones(made: tuple[list[Document], list[Query]]) -> None:
    texts, asked = made
    lengths = {each.id: len(each.text) for each in texts}
    for name in ("beir", "autorag"):
        found = back(name, "folder", asked, texts)[1]
        for query, read_back in zip(asked, found, strict=True):
            named = dict.fromkeys(each.doc_id for each in query.references)
            whole = tuple(Reference(id, 0, lengths[id]) for id in named)
            assert read_back == Query(query.id, query.text, whole)


@quick
@given(sets(one_document=False))
def test_trec_keeps_questions_on_one_line(made: tuple[list[Document], list[Query]]) -> None:
    texts, asked = made
    found = back("trec", "folder", asked, texts)[1]
    assert [each.id for each in found] == [each.id for each in asked]
    for query, read_back in zip(asked, found, strict=True):
        assert read_back.text.split() == query.text.split()
        named = dict.fromkeys(each.doc_id for each in query.references)
        assert [each.doc_id for each in read_back.references] == list(named)


@pytest.mark.parametrize("file", ["q.csv", "q.jsonl", "q.json"])
@quick
@given(made=sets(one_document=False))
def test_ragas_keeps_questions_and_passages(
    file: str, made: tuple[list[Document], list[Query]]
) -> None:
    texts, asked = made
    by_id = {each.id: each.text for each in texts}
    asked = [replace(query, answer="An answer.") for query in asked]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        write("ragas", path, asked, texts)
        drafts, bad = read("ragas", path)
    assert not bad
    for query, draft in zip(asked, drafts, strict=True):
        assert draft.query == replace(query, references=())
        said = (by_id[each.doc_id][each.start : each.end] for each in query.references)
        passages = dict.fromkeys(text for text in said if text.strip())
        assert [passage.text for passage in draft.passages] == list(passages)


@quick
@given(sets(one_document=False))
def test_ragchecker_keeps_questions_and_answers(made: tuple[list[Document], list[Query]]) -> None:
    texts, asked = made
    asked = [Query(f"q{query.id}", query.text, answer="An answer.") for query in asked]
    assert back("ragchecker", "q.json", asked, texts)[1] == asked


@quick
@given(documents())
def test_texts_come_back_to_the_character(texts: list[Document]) -> None:
    asked = [Query("1", "?", (Reference(texts[0].id, 0, 1),))]
    for name in ("beir", "squad", "autorag"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "written"
            write(name, path, asked, texts)
            format = FORMATS[name]
            assert isinstance(format, CarriesDocuments)
            found = [each for each in format.documents(path) if isinstance(each, Document)]
        assert [(each.id, each.text) for each in found] == [(each.id, each.text) for each in texts]


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "chunkwise"])
def test_half_a_surrogate_pair_breaks_nothing(name: str, tmp_path: Path) -> None:
    texts = [Document("d", "Lit \ud83d at dusk.")]
    asked = [Query("1", "Why \udc00?", (Reference("d", 0, 5),), answer="\ud83d")]
    path = tmp_path / {"chroma": "q.csv", "ragas": "q.csv"}.get(name, "written")
    write(name, path, asked, texts)
    assert len(queries(name, path)) == 1
