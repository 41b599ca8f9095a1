"""Identity and kinds of models of other libraries, on stand-ins: the libraries are too large for every test run."""

import json
import sys
from pathlib import Path
from typing import Any

import fake_libraries
import numpy as np
import pytest

from chunkwise.errors import ChunkwiseError, InvalidParameter
from chunkwise.models.libraries.fastembed_embedder import FastembedEmbedder
from chunkwise.models.libraries.sentence_transformers_embedder import SentenceTransformersEmbedder
from chunkwise.models.libraries.sentence_transformers_reranker import SentenceTransformersReranker

TEXTS = ["the lamps", " \n", "half \ud83d a pair"]


@pytest.fixture(autouse=True)
def _libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, module in fake_libraries.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr("chunkwise.models.libraries.fastembed_embedder.version", lambda name: "0.7")


def folder(path: Path, **told: Any) -> str:
    path.mkdir(exist_ok=True)
    (path / "model.json").write_text(json.dumps(told))
    return str(path)


@pytest.mark.parametrize("kind", [SentenceTransformersEmbedder, SentenceTransformersReranker])
def test_whatever_changes_a_vector_changes_the_identity(kind: Any, tmp_path: Path) -> None:
    name = str(tmp_path / "model")
    seen = []
    for told in (
        {}, {"weights": [1, 3]}, {"pooling": "cls"}, {"lower": True}, {"words": ["a", "b"]}, {"window": 32},
        {"prompts": {"query": "q: "}}, {"classes": 2},
    ):  # fmt: skip
        seen.append(kind(folder(Path(name), **told)).identity)
    assert seen.pop() == seen[0]  # that the stand-in has two classes is no part of its files
    if kind is SentenceTransformersReranker:
        assert seen.pop() == seen[0]  # nor has a reranker prompts
    assert len(set(seen)) == len(seen)


def test_use_does_not_change_the_identity(tmp_path: Path) -> None:
    name = folder(tmp_path)
    used = SentenceTransformersEmbedder(name)
    used.embed(TEXTS)
    assert used.identity == SentenceTransformersEmbedder(name).identity


@pytest.mark.parametrize(
    ("told", "query", "passage"),
    [
        ({"both": True}, ("query", None), ("doc", None)),
        ({"prompts": {"query": "q: ", "passage": "p: "}}, ("plain", "query"), ("plain", "passage")),
        ({"prompts": {"document": "d: "}}, ("plain", None), ("plain", "document")),
        ({}, ("plain", None), ("plain", None)),
    ],
)
def test_questions_and_passages_are_read_as_such(
    told: Any, query: Any, passage: Any, tmp_path: Path
) -> None:
    model = SentenceTransformersEmbedder(folder(tmp_path, **told))
    rows = model.embed(TEXTS, "query")
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 0, 1], atol=1e-6)
    model.embed(TEXTS)
    calls = [(way, settings.get("prompt_name")) for way, _, settings in model._model.calls]
    assert calls == [passage, query, passage]  # the first to learn the dimensions
    assert model._model.calls[1][1] == ["the lamps", "half \ufffd a pair"]


def test_a_model_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match=r"cannot load .*none': FileNotFoundError"):
        SentenceTransformersEmbedder(str(tmp_path / "none")).embed(["text"])
    with pytest.raises(ChunkwiseError, match=r"cannot load 'no/such': .* not supported; its"):
        FastembedEmbedder("no/such").embed(["text"])


@pytest.mark.parametrize("classes", [1, 2, 3])
def test_rerankers_give_a_score_or_two_classes(classes: int, tmp_path: Path) -> None:
    model = SentenceTransformersReranker(folder(tmp_path, classes=classes))
    if classes == 3:
        with pytest.raises(InvalidParameter, match="one score or two classes"):
            model.scores("q", TEXTS)
        return
    assert model.scores("q", TEXTS).tolist() == [len(text) for text in TEXTS]


def test_a_folder_of_fastembed_is_known_by_its_files(tmp_path: Path) -> None:
    def identity(where: Path) -> str:
        return FastembedEmbedder("a/model", folder=where).identity

    one, two = tmp_path / "one", tmp_path / "two"
    for where in (one, two):
        (where / "onnx").mkdir(parents=True)
        (where / "onnx" / "model.onnx").write_bytes(b"weights")
        (where / "config.json").write_text("{}")
    first = identity(one)
    assert identity(two) == first  # wherever it lies
    (two / "onnx" / "model.onnx").write_bytes(b"Weights")
    assert identity(two) != first
    (one / "config.json").rename(one / "other.json")
    assert identity(one) != first
    assert FastembedEmbedder("a/model").identity == "fastembed:a/model@0.7"


def test_fastembed_reads_one_text_a_call_by_its_kind() -> None:
    model = FastembedEmbedder("a/model")
    rows = model.embed(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 0, 1], atol=1e-6)
    assert not np.allclose(model.embed(TEXTS, "query"), rows)
    kinds = [(kind, size) for kind, _, size in model._model.calls]
    assert kinds == [("passage", 1), ("passage", 1), ("query", 1)]
