"""Retrievers of other frameworks, as their users build them, asked live: what they hand out is located and scored."""

from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise.core import Document, Query, Reference
from chunkwise.evaluation.scoring import Listeners
from tables import cases

LAMP = Document("kb/lamp.md", "The lamp is lit at dusk. Write to the keeper. Good night.")
FISH = Document("kb/fish.md", "Salt the fish well. Leave it for a day. Salt keeps.")
TEXTS = {
    "kb/lamp.md": ["The lamp is lit at dusk.", "Write to the keeper."],
    "kb/fish.md": ["Salt the fish well.", "Leave it for a day."],
}
QUERIES = [
    Query("q1", "When is the lamp lit?", references=(Reference("kb/lamp.md", 0, 24),)),
    Query("q2", "How is fish treated with salt?", references=(Reference("kb/fish.md", 0, 19),)),
]
WORDS = sorted(
    {word for texts in TEXTS.values() for text in texts for word in text.lower().strip(".").split()}
)


def by_words(text: str) -> list[float]:
    """A vector of which words there are: enough to find with, and the same on every machine."""
    words = {*text.lower().replace("?", "").replace(".", "").split()}
    return [1.0 if word in words else 0.01 for word in WORDS]


def langchain() -> Any:
    core = pytest.importorskip("langchain_core")
    assert core
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore

    class ByWords(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [by_words(text) for text in texts]

        def embed_query(self, text: str) -> list[float]:
            return by_words(text)

    store = InMemoryVectorStore(ByWords())
    for source, texts in TEXTS.items():
        store.add_texts(texts, metadatas=[{"source": source}] * len(texts))
    return store.as_retriever(search_kwargs={"k": 2})


def langchain_chain() -> Any:
    """What people call a retriever often is a chain of runnables around one."""
    retriever = langchain()
    from langchain_core.runnables import RunnableLambda

    return RunnableLambda(lambda question: question.lower()) | retriever


def llamaindex() -> Any:
    pytest.importorskip("llama_index.core")
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.schema import TextNode

    class ByWords(BaseEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return by_words(text)

        def _get_query_embedding(self, query: str) -> list[float]:
            return by_words(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return by_words(query)

    nodes = [
        TextNode(text=text, metadata={"file_path": source})
        for source, texts in TEXTS.items()
        for text in texts
    ]
    return VectorStoreIndex(nodes, embed_model=ByWords()).as_retriever(similarity_top_k=2)


def haystack() -> Any:
    pytest.importorskip("haystack")
    from haystack import Document as Stored
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore()
    store.write_documents(
        [
            Stored(content=text, meta={"file_path": source})
            for source, texts in TEXTS.items()
            for text in texts
        ]
    )
    return InMemoryBM25Retriever(store, top_k=2)


def dspy() -> Any:
    dspy = pytest.importorskip("dspy")
    import numpy as np

    passages = [text for texts in TEXTS.values() for text in texts]
    embedder = dspy.Embedder(
        lambda texts, **_: np.array([by_words(text) for text in texts], dtype=np.float32)
    )
    return dspy.retrievers.Embeddings(corpus=passages, embedder=embedder, k=2)


@cases("build", [langchain, langchain_chain, llamaindex, haystack, dspy])
def test_what_a_framework_finds_is_scored(build: Any) -> None:
    told: list[str] = []
    found = chunkwise.evaluate(
        [LAMP, FISH],
        QUERIES,
        retriever=build(),
        metrics="recall,mrr",
        k=2,
        listeners=Listeners(on_bad=told.append),
    )
    assert [own.scores["recall@2"] for own in found.questions] == [1.0, 1.0], told
    assert [own.scores["mrr@2"] for own in found.questions] == [1.0, 1.0]
    first = found.questions[0].hits[0]
    assert (first.doc_id, first.start, first.end) == ("kb/lamp.md", 0, 24)


PIPELINE = """
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_text_splitters import RecursiveCharacterTextSplitter
from pathlib import Path


def build(chunk_size=40, k=2):
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=16))
    splitter = RecursiveCharacterTextSplitter(chunk_size=chunk_size, chunk_overlap=0)
    for path in sorted(Path("FOLDER").glob("*.md")):
        store.add_texts(splitter.split_text(path.read_text()), metadatas=None)
    return store.as_retriever(search_kwargs={"k": k})
"""


def test_a_file_builds_a_retriever_of_langchain(tmp_path: Path) -> None:
    pytest.importorskip("langchain_text_splitters")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "lamp.md").write_text(LAMP.text)
    (docs / "fish.md").write_text(FISH.text)
    mine = tmp_path / "mine.py"
    mine.write_text(PIPELINE.replace("FOLDER", docs.as_posix()))
    queries = [
        Query("q1", "When is the lamp lit?", references=(Reference("lamp.md", 0, 24),)),
    ]
    found = chunkwise.evaluate(
        docs, queries, retriever=f"{mine}:build(chunk_size=400, k=2)", metrics="recall", k=2
    )
    # Two documents, each one chunk of up to 400 characters: both are handed out, whatever the vectors say.
    assert found.questions[0].scores["recall@2"] == 1.0
