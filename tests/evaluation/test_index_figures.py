"""Coherence and cost of real indexes, against what their documents say when looked at plainly."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import chunkwise
from chunkwise import Document, Query, Reference
from chunkwise.evaluation.cost import index_cost
from chunkwise.metrics.cuts.coherence import index_coherence
from chunkwise.options import ScoreOptions
from chunkwise.retrieval.export import chunked_documents
from chunkwise.retrieval.settings import Vectors
from chunkwise.text.analyzed import Analyzed
from hash_embedder import HashEmbedder, _vector
from tables import cases

TEXTS = [
    "The lamp is lit at dusk. The lamp burns till dawn. The keeper trims the lamp. "
    "Boats come in with the tide. Boats go out with the ebb. Nets dry on the wall. Salt is white.",
    "One sentence alone.",
    "",
    "# Rope\n\nRope is spun. Rope is tarred.\n\n# Sails\n\nSails are cut. Sails are sewn twice over.\n",
]
DOCUMENTS = [Document(f"{n}.md", text, format="markdown") for n, text in enumerate(TEXTS)]
STRATEGY = "sentences(max_tokens=14, overlap=0)"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))


def made(vectors: Vectors, strategy: str = STRATEGY) -> chunkwise.Index:
    model = None if vectors == "none" else HashEmbedder()
    return chunkwise.index(DOCUMENTS, strategy, embedder=model, vectors=vectors)


def test_an_index_with_a_model_of_ones_own_is_judged_by_it(tmp_path: Path) -> None:
    query = Query("q", "The lamp is lit at dusk", (Reference("0.md", 0, 24),), answer="At dusk.")
    answers = tmp_path / "answers.json"
    answers.write_text('[{"query_id": "q", "answer": "The lamp is lit at dusk."}]')
    names = "retrieval_precision.similarity", "answer_relevancy.similarity"
    kept = chunkwise.index(DOCUMENTS, STRATEGY, embedder=HashEmbedder(), into=tmp_path / "kb")
    opened = chunkwise.open_index(tmp_path / "kb", embedder=HashEmbedder())
    for each in (made("late"), kept, opened):
        results = chunkwise.evaluate(
            each, [query], metrics=names, score=ScoreOptions(answers=answers)
        )
        assert [results.summary[name].scored for name in names] == [1, 1]
        assert results.configuration["judge_model"] == HashEmbedder.identity
    # Without it nobody can be asked, and that is said.
    bare = chunkwise.evaluate(str(tmp_path / "kb"), [query], metrics=names[0], retriever="bm25")
    assert bare.summary[names[0]].mean is None
    assert bare.summary[names[0]].unscored


def summed(text: str) -> np.ndarray:
    """The sum of the vectors of a text's tokens: what a late vector is made of here."""
    return sum((_vector(token) for token in re.findall(r"\w+|[^\w\s]", text)), np.zeros(16))


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def plainly(strategy: str) -> tuple[float, float]:
    """Coherence and cohesion, one text after the other."""
    near, inside = [], []
    for document in DOCUMENTS:
        chunks = chunkwise.ext.chunk_document(document, strategy)
        near += [cosine(summed(a.text), summed(b.text)) for a, b in pairwise(chunks)]
        starts = Analyzed(document).sentences.tolist()
        sentences = list(pairwise([*starts, len(document.text)]))
        for chunk in chunks:
            own = [(low, high) for low, high in sentences if chunk.start <= low < chunk.end]
            if len(own) > 1:
                texts = [summed(document.text[low:high]) for low, high in own]
                inside.append(np.mean([cosine(text, summed(chunk.text)) for text in texts]))
    return float(np.mean(near)), float(np.mean(inside))


@cases("vectors", ["late", "both"])
@cases("strategy", [STRATEGY, "sentences(max_tokens=20, overlap=8)"])
def test_late_vectors_give_all_three(vectors: Vectors, strategy: str) -> None:
    found = index_coherence(made(vectors, strategy))
    coherence, cohesion = plainly(strategy)
    # An index keeps the sums of its atoms in eight bits.
    assert found["coherence"].value == pytest.approx(coherence, abs=0.01)
    assert found["cohesion"].value == pytest.approx(cohesion, abs=0.01)
    assert found["contrast"].value == pytest.approx(cohesion - coherence, abs=0.02)
    assert not any(score.reason for score in found.values())


def test_own_vectors_tell_of_neighbors_alone() -> None:
    found = index_coherence(made("own"))
    assert found["coherence"].value == pytest.approx(plainly(STRATEGY)[0], abs=1e-5)
    assert found["cohesion"].value is None
    assert found["contrast"].value is None
    assert "--vectors late or both" in found["cohesion"].reason
    assert found["contrast"].reason == found["cohesion"].reason


def test_words_have_no_direction() -> None:
    found = index_coherence(made("none"))
    assert {score.value for score in found.values()} == {None}
    assert all("no vectors" in score.reason for score in found.values())


def test_chunks_without_neighbors_and_without_sentences() -> None:
    alone = chunkwise.index([DOCUMENTS[1]], STRATEGY, embedder=HashEmbedder())
    found = index_coherence(alone)
    assert found["coherence"].reason == "no document has two chunks"
    assert found["cohesion"].reason == "no chunk has two sentences"
    assert found["contrast"].value is None


def test_the_chunks_of_an_index_are_those_it_was_made_of() -> None:
    index = made("none", "parent_child(max_tokens=14)")
    for document, chunked in zip(DOCUMENTS, chunked_documents(index.source), strict=True):
        expected = chunkwise.ext.chunk_document(document, "parent_child(max_tokens=14)")
        assert chunked.document.text == document.text
        assert [chunk.id for chunk in chunked.chunks] == [chunk.id for chunk in expected]
        for got, known in zip(chunked.chunks, expected, strict=True):
            assert (got.span, got.text, got.section) == (known.span, known.text, known.section)
            parent = None if known.parent == known.span else known.parent
            assert (got.parent, got.strategy) == (parent, known.strategy)


@pytest.mark.unwatched
@pytest.mark.parametrize("vectors", ["late", "own", "both", "none"])
def test_cost(vectors: Vectors) -> None:
    strategy = "sentences(max_tokens=20, overlap=8)"
    found = index_cost(made(vectors, strategy), [10, 20, 60])
    chunks = [chunk for each in DOCUMENTS for chunk in chunkwise.ext.chunk_document(each, strategy)]
    tokens = sum(len(Analyzed(each).measure().starts) for each in DOCUMENTS)
    indexed = sum(chunk.token_count for chunk in chunks)
    assert found["chunks"] == len(chunks)
    assert found["max_tokens"] == max(chunk.token_count for chunk in chunks)
    assert (found["document_tokens"], found["indexed_tokens"]) == (tokens, indexed)
    assert found["storage"] == pytest.approx(indexed / tokens)
    read = {"late": tokens, "own": indexed, "both": tokens + indexed, "none": 0}
    assert found["tokens_embedded"] == read[vectors]
    assert found["context_tokens"] == 30
    assert isinstance(found["index_bytes"], int)
    assert found["index_bytes"] > 0
    assert index_cost(made("none"))["context_tokens"] is None
