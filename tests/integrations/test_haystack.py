"""`chunkwise.haystack` in real pipelines (`make test-adapters` installs Haystack)."""

import asyncio
import inspect
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise.base.errors import ChunkwiseError
from integrations.small_index import DOCUMENTS, QUESTION, STRATEGIES, TEXTS, make_index, uncovered

pytest.importorskip("haystack")

from haystack import Document, Pipeline
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy

from chunkwise.haystack import ChunkwiseRetriever, ChunkwiseSplitter
from tables import cases


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_index(tmp_path_factory.mktemp("haystack"))


def loaded(yaml: str) -> Pipeline:
    """Newer versions ask which modules a file may name."""
    asks = "allowed_modules" in inspect.signature(Pipeline.loads).parameters
    return Pipeline.loads(yaml, **({"allowed_modules": ["chunkwise.haystack"]} if asks else {}))


def check_splits(document: Document, found: list[Document]) -> None:
    text = document.content or ""
    spans = [(each.meta["split_idx_start"], each.meta["split_idx_end"]) for each in found]
    for number, (each, (start, end)) in enumerate(zip(found, spans, strict=True)):
        assert text[start:end] == each.content != ""
        assert each.meta["split_id"] == number
        assert each.meta["source_id"] == document.id
        assert each.meta["page_number"] == text[:start].count("\f") + 1
    assert all(before < behind for before, behind in pairwise(spans))
    assert uncovered(text, spans) == ""


@cases("strategy", STRATEGIES)
def test_every_split_is_an_exact_place_of_any_text(strategy: str) -> None:
    splitter = ChunkwiseSplitter(strategy)
    for name, text in TEXTS.items():
        if name != "lone surrogate":  # Haystack's own documents cannot hold it
            document = Document(content=text, meta={"name": name})
            found = splitter.run(documents=[document])["documents"]
            check_splits(document, found)
            assert all(each.meta["name"] == name for each in found)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200), st.sampled_from(STRATEGIES))
def test_the_same_for_what_nobody_thought_of(text: str, strategy: str) -> None:
    document = Document(content=text)
    check_splits(document, ChunkwiseSplitter(strategy).run(documents=[document])["documents"])


def test_documents_without_text_have_no_splits_and_pages_are_counted() -> None:
    splitter = ChunkwiseSplitter("sentences(max_tokens=5, overlap=0)")
    assert splitter.run(documents=[Document(content=None), Document(content=" ")]) == {
        "documents": []
    }
    found = splitter.run(documents=[Document(content="One is here.\fTwo is here.")])["documents"]
    assert [each.meta["page_number"] for each in found] == [1, 2]


@pytest.mark.usefixtures("processes")
def test_a_pipeline_with_both_is_written_to_yaml_and_does_the_same(place: Path) -> None:
    filters = {
        "operator": "AND",
        "conditions": [{"field": "meta.year", "operator": ">=", "value": 2020}],
    }
    made = Pipeline()
    made.add_component("splitter", ChunkwiseSplitter("sentences(max_tokens=8, overlap=0)"))
    made.add_component("writer", DocumentWriter(InMemoryDocumentStore(), DuplicatePolicy.OVERWRITE))
    made.add_component(
        "retriever",
        ChunkwiseRetriever(place, top_k=2, filters=filters, retriever="bm25", neighbors=1),
    )
    made.connect("splitter.documents", "writer.documents")
    again = loaded(made.dumps())
    assert again.dumps() == made.dumps()
    asked: dict[str, Any] = {
        "splitter": {"documents": [Document(content=DOCUMENTS[0].text)]}, "retriever": {"query": QUESTION}
    }  # fmt: skip
    first, second = made.run(asked), again.run(asked)
    assert first == second
    assert first["writer"]["documents_written"] > 1
    assert len(first["retriever"]["documents"]) == 2


SEARCHES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"top_k": 2}, {"k": 2}),
    ({"budget": 30}, {"budget": 30}),
    ({"filters": {"field": "meta.year", "operator": "==", "value": 2022}}, {"where": "year=2022"}),
    (
        {"top_k": 3, "filters": {"operator": "AND", "conditions": [
            {"field": "meta.year", "operator": "in", "value": [2020, 2022]},
            {"field": "year", "operator": "!=", "value": 2022},
        ]}},
        {"k": 3, "where": "year=2020"},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "plain"), SEARCHES)
def test_a_retriever_finds_what_the_index_finds(
    place: Path, settings: dict[str, Any], plain: dict[str, Any]
) -> None:
    texts = {each.id: each.text for each in DOCUMENTS}
    hits = chunkwise.open_index(place).search(QUESTION, **plain)
    made = ChunkwiseRetriever(str(place), **settings)
    made.warm_up()
    asked = ChunkwiseRetriever(chunkwise.open_index(place))
    for answer in (
        made.run(QUESTION),
        asked.run(QUESTION, **settings),
        asyncio.run(made.run_async(QUESTION)),
        ChunkwiseRetriever.from_dict(made.to_dict()).run(QUESTION),
    ):
        found = answer["documents"]
        assert hits
        assert [(each.meta["source_id"], each.meta["split_idx_start"], each.score) for each in found] == [
            (hit.doc_id, hit.start, pytest.approx(hit.score)) for hit in hits
        ]  # fmt: skip
        for each in found:
            span = slice(each.meta["split_idx_start"], each.meta["split_idx_end"])
            assert texts[each.meta["source_id"]][span] == each.content


def test_what_cannot_be_is_told(place: Path, tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match="lives in memory"):
        ChunkwiseRetriever(chunkwise.index(DOCUMENTS, vectors="none")).to_dict()
    other = {"operator": "XOR", "conditions": [{"field": "a", "operator": "==", "value": 1}] * 2}
    with pytest.raises(ChunkwiseError, match="joined by 'xor'"):
        ChunkwiseRetriever(place, filters=other)
    with pytest.raises(ChunkwiseError, match="a filter has no 'value'"):
        ChunkwiseRetriever(place, filters={"field": "a", "operator": "=="})
    with pytest.raises(ChunkwiseError, match="no index"):
        ChunkwiseRetriever(tmp_path / "nothing").warm_up()


def test_code_that_the_file_of_a_pipeline_names_is_not_run(tmp_path: Path) -> None:
    code = f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Own:\n    def split(self, document): return []\n"
    (tmp_path / "own.py").write_text(code)
    made = Pipeline()
    made.add_component("splitter", ChunkwiseSplitter("words"))
    yaml = made.dumps().replace("strategy: words", f"strategy: {tmp_path}/own.py:Own")
    with pytest.raises(Exception) as told:  # noqa: PT011 - of which class, and how told, differs by version
        loaded(yaml)
    assert "names code that would run" in f"{told.value} {told.value.__cause__}"
    assert not (tmp_path / "ran").exists()
