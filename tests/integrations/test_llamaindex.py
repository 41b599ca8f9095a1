"""`chunkwise.llamaindex` against LlamaIndex itself (`make test-adapters` installs it)."""

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise.base.errors import ChunkwiseError
from integrations.small_index import (
    DOCUMENTS,
    QUESTION,
    STRATEGIES,
    TEXTS,
    SharedWords,
    make_index,
    uncovered,
)

pytest.importorskip("llama_index.core")

from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import get_leaf_nodes, get_root_nodes
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import AutoMergingRetriever
from llama_index.core.schema import (
    BaseNode,
    Document,
    MetadataMode,
    TextNode,
)
from llama_index.core.vector_stores import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

from chunkwise.llamaindex import (
    ChunkwiseEmbedding,
    ChunkwiseNodeParser,
    ChunkwiseReranker,
    ChunkwiseRetriever,
)
from tables import cases


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_index(tmp_path_factory.mktemp("llamaindex"))


def check_nodes(documents: list[Document], nodes: list[BaseNode]) -> None:
    """Places are exact, relations lead to nodes that lead back, and each document's nodes are one chain a level."""
    texts = {document.node_id: document.text for document in documents}
    by_id = {node.node_id: node for node in nodes}
    assert len(by_id) == len(nodes)
    for node in nodes:
        assert isinstance(node, TextNode)
        assert node.source_node is not None
        text = texts[node.source_node.node_id]
        assert node.start_char_idx is not None
        assert text[node.start_char_idx : node.end_char_idx] == node.text != ""
        if node.prev_node:
            before = by_id[node.prev_node.node_id]
            assert before.next_node.node_id == node.node_id
            assert before.source_node.node_id == node.source_node.node_id
            assert before.start_char_idx < node.start_char_idx
        if node.parent_node:
            parent = by_id[node.parent_node.node_id]
            assert node.node_id in [child.node_id for child in parent.child_nodes]
            assert parent.start_char_idx <= node.start_char_idx
            assert node.end_char_idx <= parent.end_char_idx
        for child in node.child_nodes or []:
            assert by_id[child.node_id].parent_node.node_id == node.node_id
    of_document: dict[str, list[Any]] = {id: [] for id in texts}
    for node in nodes:
        of_document[node.source_node.node_id].append(node)
    for id, text in texts.items():
        own = of_document[id]
        leaves = get_leaf_nodes(own)
        for level in (leaves, [node for node in own if node.child_nodes]):
            assert sum(node.prev_node is None for node in level) == bool(level)
            assert sum(node.next_node is None for node in level) == bool(level)
            for before, behind in pairwise(level):
                assert before.next_node.node_id == behind.node_id
        spans = [(leaf.start_char_idx, leaf.end_char_idx) for leaf in leaves]
        assert uncovered(text, spans) == ""


@cases("strategy", STRATEGIES)
def test_places_and_relations_hold_for_any_text(strategy: str) -> None:
    # LlamaIndex hashes what it holds, and half a surrogate pair has no bytes.
    texts = {name: text for name, text in TEXTS.items() if "\ud83d" not in text}
    documents = [Document(text=text, id_=name) for name, text in texts.items()]
    nodes = ChunkwiseNodeParser(strategy).get_nodes_from_documents(documents)
    check_nodes(documents, nodes)
    if strategy.startswith("parent_child"):
        leaves = get_leaf_nodes(nodes)
        assert all(leaf.parent_node is not None for leaf in leaves)
        assert {node.node_id for node in get_root_nodes(nodes)} == {
            leaf.parent_node.node_id for leaf in leaves
        }


@given(st.lists(st.text(max_size=200), max_size=3), st.sampled_from(STRATEGIES))
def test_the_same_for_what_nobody_thought_of(texts: list[str], strategy: str) -> None:
    documents = [Document(text=text, id_=str(number)) for number, text in enumerate(texts)]
    check_nodes(documents, ChunkwiseNodeParser(strategy).get_nodes_from_documents(documents))


def test_nodes_have_the_same_ids_each_time_and_others_if_cut_otherwise() -> None:
    document = Document(text=TEXTS["markdown"], id_="m")
    first, second = (
        [node.node_id for node in ChunkwiseNodeParser(chunk_size=20)([document])] for _ in "ab"
    )
    assert first == second
    others = ChunkwiseNodeParser(chunk_size=21)([document])
    assert not {*first} & {node.node_id for node in others}
    own = ChunkwiseNodeParser(
        chunk_size=20, id_func=lambda number, source: f"{source.node_id}-{number}"
    )
    assert [node.node_id for node in own([document])][:2] == ["m-0", "m-1"]


def test_nodes_that_were_cut_before_are_cut_further_in_the_document_they_come_from() -> None:
    document = Document(text=TEXTS["markdown"], id_="m")
    sections = ChunkwiseNodeParser("sections(max_tokens=100)").get_nodes_from_documents([document])
    found = ChunkwiseNodeParser("sentences(max_tokens=15, overlap=0)")(sections)
    assert len(found) > len(sections)
    for node in found:
        assert node.source_node.node_id == "m"
        assert document.text[node.start_char_idx : node.end_char_idx] == node.text


def test_metadata_is_the_documents_and_eats_no_budget() -> None:
    metadata = {"file": "x" * 500}
    document = Document(text="# One\n\nText of it. More of it.", id_="a", metadata=metadata)
    nodes = ChunkwiseNodeParser("sentences", chunk_size=8, chunk_overlap=0, format="markdown")(
        [document]
    )
    assert len(nodes) > 1
    assert all(node.metadata["file"] == metadata["file"] for node in nodes)
    assert nodes[-1].metadata["section"] == "One"
    assert "section: One" in nodes[-1].get_content(MetadataMode.LLM)
    assert "section: One" not in nodes[-1].get_content(MetadataMode.EMBED)
    bare = ChunkwiseNodeParser(include_metadata=False, include_prev_next_rel=False, chunk_size=8)(
        [document]
    )
    assert all("file" not in node.metadata and node.next_node is None for node in bare)


def test_a_parser_is_written_down_and_made_again() -> None:
    parser = ChunkwiseNodeParser("sentences", chunk_size=20, chunk_overlap=5)
    again = ChunkwiseNodeParser.from_dict(parser.to_dict())
    document = Document(text=TEXTS["markdown"], id_="m")
    assert [node.node_id for node in again([document])] == [
        node.node_id for node in parser([document])
    ]
    with pytest.raises(ChunkwiseError, match="did you mean sentences"):
        ChunkwiseNodeParser("sentence")


def test_a_pipeline_takes_parser_and_embedding() -> None:
    pipeline = IngestionPipeline(
        transformations=[ChunkwiseNodeParser("sentences", chunk_size=12, chunk_overlap=0), ChunkwiseEmbedding("minilm")]
    )  # fmt: skip
    document = Document(text=DOCUMENTS[0].text, id_="lamps")
    nodes = pipeline.run(documents=[document])
    assert all(len(node.embedding) == 384 for node in nodes)
    assert pipeline.run(documents=[document])[0].node_id == nodes[0].node_id  # out of its cache


def test_parents_are_merged_by_llamaindexs_own_retriever() -> None:
    document = Document(text=" ".join(each.text for each in DOCUMENTS), id_="all")
    parser = ChunkwiseNodeParser("parent_child(max_tokens=8, parent_size=30)")
    nodes = parser.get_nodes_from_documents([document])
    storage = StorageContext.from_defaults()
    storage.docstore.add_documents(nodes)
    index = VectorStoreIndex(
        get_leaf_nodes(nodes), storage_context=storage, embed_model=ChunkwiseEmbedding()
    )
    merging = AutoMergingRetriever(index.as_retriever(similarity_top_k=12), storage)
    found = merging.retrieve(QUESTION)
    assert any(each.node.child_nodes for each in found)


SEARCHES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"similarity_top_k": 1}, {"k": 1}),
    ({"budget": 30}, {"budget": 30}),
    ({"similarity_top_k": 3, "reranker": SharedWords()}, {"k": 3, "reranker": SharedWords()}),
    ({"filters": {"year": {">=": 2021}}}, {"where": {"year": {">=": 2021}}}),
    (
        {"filters": MetadataFilters(filters=[
            MetadataFilter(key="year", value=2021, operator=FilterOperator.GT),
            MetadataFilter(key="year", value=[2022, 2030], operator=FilterOperator.IN),
        ])},
        {"where": "year=2022"},
    ),
    (
        {"filters": MetadataFilters(filters=[
            MetadataFilter(key="topics", value="oil", operator=FilterOperator.CONTAINS),
        ])},
        {"where": "topics=oil"},
    ),
    (
        {"filters": MetadataFilters(filters=[
            MetadataFilter(key="topics", value="oil", operator=FilterOperator.CONTAINS),
            MetadataFilter(key="year", value=1900, operator=FilterOperator.GT),
        ], condition=FilterCondition.OR)},
        {"where": "topics=oil or year>1900"},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "plain"), SEARCHES)
def test_a_retriever_finds_what_the_index_finds(
    place: Path, settings: dict[str, Any], plain: dict[str, Any]
) -> None:
    texts = {each.id: each.text for each in DOCUMENTS}
    hits = chunkwise.open_index(place).search(QUESTION, **plain)
    retriever = ChunkwiseRetriever(place, **settings)
    for found in (retriever.retrieve(QUESTION), asyncio.run(retriever.aretrieve(QUESTION))):
        assert hits
        assert [(each.node.source_node.node_id, each.node.start_char_idx, each.score) for each in found] == [
            (hit.doc_id, hit.start, pytest.approx(hit.score)) for hit in hits
        ]  # fmt: skip
        for each in found:
            own = texts[each.node.source_node.node_id]
            assert own[each.node.start_char_idx : each.node.end_char_idx] == each.node.text


def test_what_an_index_cannot_be_asked_is_told(place: Path, tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match="no index"):
        ChunkwiseRetriever(tmp_path / "nothing")


def test_a_query_engine_takes_retriever_and_reranker(place: Path) -> None:
    engine = RetrieverQueryEngine.from_args(
        ChunkwiseRetriever(chunkwise.open_index(place), similarity_top_k=5),
        llm=MockLLM(),
        node_postprocessors=[ChunkwiseReranker(SharedWords(), top_n=2)],
    )
    answer = engine.query("who lights the lamps")
    assert len(answer.source_nodes) == 2
    assert answer.source_nodes[0].node.metadata["source"] == "lamps.md"
    scores = [each.score for each in answer.source_nodes]
    assert scores == sorted(scores, reverse=True)


def test_embeddings_are_those_of_the_embedder() -> None:
    embedding = ChunkwiseEmbedding("minilm")
    own = chunkwise.models.get_embedder("minilm")
    texts = ["Lamps are lit at dusk.", "Bread."]
    wanted = own.embed(texts, "passage").tolist()
    assert embedding.get_text_embedding_batch(texts) == wanted
    assert asyncio.run(embedding.aget_text_embedding_batch(texts)) == wanted
    assert embedding.get_text_embedding(texts[0]) == wanted[0]
    assert embedding.get_query_embedding(QUESTION) == own.embed([QUESTION], "query")[0].tolist()
    assert embedding.model_name == "minilm"
