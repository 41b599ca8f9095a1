"""Vectors of chunks: asked for together, whatever documents they are from, and each where it belongs."""

import json
import math
import warnings
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest
from numpy.typing import NDArray

import chunkwise
from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Chunk, Document
from chunkwise.models.embed.embedder import Kind, TokenVectors
from chunkwise.models.embed.endpoint import EndpointEmbedder
from chunkwise.options import IndexOptions, SearchOptions
from chunkwise.retrieval.indexing.build import own_vectors
from chunkwise.retrieval.settings import Vectors
from models.endpoint_server import Answer, Seen, serving, vector
from retrieval.tiny_embedder import Tiny, TinyTokens
from tables import cases
from untimed import HANG


class Counting:
    """Remembers how many texts it was asked for at once; a text's vector is its length."""

    identity, dimensions = "counting", 1

    def __init__(self, slice_size: int) -> None:
        self.slice_size = slice_size
        self.asked: list[int] = []

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> np.ndarray:
        self.asked.append(len(texts))
        return np.array([[len(text)] for text in texts], np.float32).reshape(-1, 1)


def cut(*counts: int) -> list[list[Chunk]]:
    """Documents with so many chunks each, every chunk one longer than the last."""
    documents = []
    for number, count in enumerate(counts):
        document = Document(f"{number}", "x" * (count * (count + 1)))
        ends = [at * (at + 1) // 2 for at in range(count + 1)]
        documents.append([
            Chunk(document, at, start, end, end - start)
            for at, (start, end) in enumerate(pairwise(ends))
        ])  # fmt: skip
    return documents


@cases("counts", [(), (0,), (3,), (0, 2, 0), (1,) * 300, (500, 1, 0, 70, 200)])
@cases("slice_size", [1, 100])
def test_each_document_gets_the_vectors_of_its_chunks(
    counts: tuple[int, ...], slice_size: int
) -> None:
    documents, embedder = cut(*counts), Counting(slice_size)
    told: list[int] = []
    found = list(own_vectors(documents, embedder, told.append))
    assert [each[:, 0].tolist() for each in found] == [
        [len(chunk.text) for chunk in chunks] for chunks in documents
    ]
    most = max(64, slice_size)
    assert all(count <= most for count in embedder.asked)
    assert len(embedder.asked) <= sum(counts) / most + len([n for n in counts if n >= most]) + 1
    assert sum(told) == sum(chunks[-1].end for chunks in documents if chunks)


@cases("vectors", ["own", "late"])
@cases("bad", [np.nan, np.inf])
def test_what_is_no_vector_is_no_index(bad: float, vectors: Vectors) -> None:
    class Broken(Tiny):
        def embed(self, texts: Sequence[str], kind: Kind = "passage") -> np.ndarray:
            return super().embed(texts, kind) * np.float32(bad)

        def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
            return [
                each._replace(vectors=each.vectors + np.float32(bad))
                for each in super().token_vectors(texts)
            ]

    model = Broken()
    model.identity = f"broken {bad}"
    for _ in range(2):  # nothing of it is kept
        with pytest.raises(ChunkwiseError, match=f"broken {bad} .*non-finite"):
            chunkwise.index([Document("a", "One plum.")], embedder=model, vectors=vectors)


class Zeros(TinyTokens):
    """Nothing but zeros, for questions too."""

    def __init__(self) -> None:
        super().__init__(name="zeros")

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        return np.zeros((len(texts), self.dimensions), np.float32)

    def _tokens(self, text: str) -> TokenVectors:
        found = super()._tokens(text)
        return found._replace(vectors=np.zeros_like(found.vectors))


@pytest.mark.parametrize("maxsim", [False, True])
@pytest.mark.parametrize("vectors", ["own", "late", "both"])
def test_vectors_of_zeros_are_told_and_found_by_nothing(
    vectors: Vectors, maxsim: bool, tmp_path: Path
) -> None:
    documents = [Document(str(n), f"One plum of {n}. Another pear.") for n in range(4)]
    into = tmp_path / "kb" if maxsim else None
    model = Zeros()
    with np.errstate(all="raise"), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        kb = chunkwise.index(
            documents,
            into=into,
            embedder=model,
            vectors=vectors,
            settings=IndexOptions(maxsim=model if maxsim else None),
        )
        assert any("returns zero vectors" in str(each.message) for each in told)
        for budget in (None, 50):
            assert kb.search("plum", retriever="dense", budget=budget) == []
            by_words = kb.search("plum of 2", retriever="bm25", budget=budget)
            found = kb.search("plum of 2", retriever="hybrid", budget=budget)
            assert found[0].doc_id == by_words[0].doc_id == "2"
            assert all(math.isfinite(hit.score) for hit in found)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a text without words has no vector, and needs none
        chunkwise.index([Document("a", "… !")], embedder=model, vectors=vectors)


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
def test_an_endpoint_gets_many_records_in_few_requests(tmp_path: Path) -> None:
    """One text a request, one request after the other, would take half an hour for ten thousand."""
    records = [
        {"id": f"r{n}", "text": f"Record {n} speaks of salt number {n}."} for n in range(300)
    ]
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))

    together = Barrier(2)

    def answer(number: int, seen: Seen) -> Answer:
        if number in (1, 2):
            together.wait(HANG)
        rows = [
            {"index": at, "embedding": vector(text)} for at, text in enumerate(seen.body["input"])
        ]
        return Answer({"data": rows})

    with serving(answer) as server:
        embedder = EndpointEmbedder(f"{server.url}/v1", "m", dimensions=5)
        index = chunkwise.index(path, embedder=embedder, vectors="own")
    assert index.stats().documents == 300
    assert len(server.seen) <= 7
    assert server.most_at_once > 1
    for at in (0, 63, 64, 133, 299):
        expected = np.array(vector(records[at]["text"]))
        expected /= np.linalg.norm(expected)
        assert index.source.chunk_vectors([at])[0] == pytest.approx(expected, abs=1e-6)


class _Zeros(Tiny):
    """Of every text without an otter it knows nothing."""

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        rows = super().embed(texts, kind)
        return rows * np.array([["otter" in text] for text in texts], np.float32)

    def _tokens(self, text: str) -> TokenVectors:
        found = super()._tokens(text)
        return found._replace(vectors=found.vectors * np.float32("otter" in text))


@pytest.mark.filterwarnings("ignore:.*zero vectors")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("vectors", ["late", "own", "both"])
@pytest.mark.parametrize("retriever", ["dense", "hybrid", "multiscale"])
def test_a_vector_of_zeros_is_near_nothing(vectors: Vectors, retriever: str) -> None:
    documents = [Document(name, f"A {name} is here.") for name in ("heron", "otter", "crane")]
    index = chunkwise.index(
        documents, "sentences", embedder=_Zeros(name=f"zeros {vectors}"), vectors=vectors
    )
    if retriever == "multiscale" and vectors == "own":
        return
    for question in ("a heron", "an otter", "nothing"):
        for mmr in (None, 0.5) if retriever != "multiscale" else (None,):
            hits = index.search(question, retriever=retriever, options=SearchOptions(mmr=mmr))
            assert all(math.isfinite(hit.score) for hit in hits)
    assert index.search("an otter", retriever=retriever)[0].doc_id == "otter"
    if retriever == "dense":
        others = [hit.score for hit in index.search("an otter", retriever=retriever)[1:]]
        assert others == [0.0] * len(others)
