"""Models of other libraries: told apart on stand-ins, said to be missing, and the real thing where it is there."""

import json
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chunkwise
from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.core import Document
from chunkwise.models.embed.embedder import accelerator_of, made_on, same_model
from chunkwise.models.embed.fastembed import FastembedEmbedder
from chunkwise.models.sentence_transformers import (
    SentenceTransformersEmbedder,
    SentenceTransformersReranker,
)
from chunkwise.models.weights.catalog import MINILM
from chunkwise.models.weights.installed import ensure
from models import fake_libraries
from tables import cases

TEXTS = ["the lamps are lit at dusk", " \n", "half \ud83d a pair", "lamps " * 600]
needs_sentence_transformers = pytest.mark.skipif(
    find_spec("sentence_transformers") is None, reason="sentence-transformers is not installed"
)
needs_fastembed = pytest.mark.skipif(
    find_spec("fastembed") is None, reason="fastembed is not installed"
)


@pytest.mark.parametrize(
    ("module", "extra", "use"),
    [
        (
            "sentence_transformers",
            "sentence-transformers",
            lambda: SentenceTransformersEmbedder("x").embed(["text"]),
        ),
        (
            "sentence_transformers",
            "sentence-transformers",
            lambda: SentenceTransformersReranker("x").scores("a", ["b"]),
        ),
        ("fastembed", "fastembed", lambda: FastembedEmbedder("x").embed(["text"])),
    ],
)
def test_a_library_that_is_missing_is_named_with_its_command(
    module: str, extra: str, use: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra) as caught:
        use()
    assert f"pip install 'chunkwise[{extra}]'" in str(caught.value)


@cases("kind", [SentenceTransformersEmbedder, SentenceTransformersReranker, FastembedEmbedder])
def test_a_name_is_needed(kind: Any) -> None:
    with pytest.raises(InvalidParameter, match="needs a model"):
        kind("")


def _copied(folder: Path) -> Path:
    for name, path in ensure(MINILM).items():
        shutil.copy(path, folder / name)
    return folder


def _checked(embedder: Any) -> Any:
    """The contract of an embedder; its vectors of the texts above."""
    vectors = embedder.embed(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), embedder.dimensions)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 0, 1, 1], atol=1e-5)
    assert embedder.embed([]).shape == (0, embedder.dimensions)
    return vectors


@needs_fastembed
def test_fastembed_reads_a_folder(tmp_path: Path) -> None:
    _copied(tmp_path)
    (tmp_path / "config.json").write_text('{"pad_token_id": 0}')
    (tmp_path / "tokenizer_config.json").write_text(
        '{"model_max_length": 256, "pad_token": "[PAD]"}'
    )
    (tmp_path / "special_tokens_map.json").write_text("{}")
    embedder = FastembedEmbedder("sentence-transformers/all-MiniLM-L6-v2", folder=tmp_path)
    vectors = _checked(embedder)
    questions = embedder.embed(["when are the lamps lit?"], "query")
    assert (questions @ vectors.T).argmax() == 0
    assert embedder.identity.startswith("fastembed:sentence-transformers/all-MiniLM-L6-v2@")
    with pytest.raises(ChunkwiseError, match="fastembed cannot load 'no/such'"):
        FastembedEmbedder("no/such").embed(["text"])


def _tiny_bert(folder: Path, labels: int = 1) -> Any:
    """A configuration of a few thousand random weights, and a tokenizer of letters."""
    import transformers

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz:"]
    words += [f"##{letter}" for letter in words[5:]]
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(words))
    tokenizer = transformers.BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64)
    tokenizer.save_pretrained(folder)
    return transformers.BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64, num_labels=labels,
    )  # fmt: skip


@needs_sentence_transformers
@pytest.mark.filterwarnings("ignore")
def test_sentence_transformers_reads_a_folder_and_minds_its_prompts(tmp_path: Path) -> None:
    import transformers

    config = _tiny_bert(tmp_path)
    transformers.BertModel(config).save_pretrained(tmp_path)
    plain = SentenceTransformersEmbedder(str(tmp_path))
    unused = SentenceTransformersEmbedder(str(tmp_path)).identity
    _checked(plain)
    assert plain.identity == unused
    other = SentenceTransformersEmbedder(str(tmp_path))
    other._model[1].pooling_mode = "cls"
    assert other.identity != unused
    (tmp_path / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": {"query": "query: ", "document": "passage: "}})
    )
    prompted = SentenceTransformersEmbedder(str(tmp_path))
    if not prompted._model.prompts.get("query"):
        prompted._model.prompts = {"query": "query: ", "document": "passage: "}
    for kind, prefix in (("query", "query: "), ("passage", "passage: ")):
        np.testing.assert_allclose(
            prompted.embed(["lamps"], kind), plain.embed([prefix + "lamps"]), atol=1e-5
        )
    assert prompted.identity != plain.identity
    with pytest.raises(ChunkwiseError, match="sentence-transformers cannot load"):
        SentenceTransformersEmbedder(str(tmp_path / "none")).embed(["text"])


@needs_sentence_transformers
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("labels", [1, 2, 3])
def test_sentence_transformers_rerank_from_a_folder(tmp_path: Path, labels: int) -> None:
    import transformers

    config = _tiny_bert(tmp_path, labels)
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path)
    reranker = SentenceTransformersReranker(str(tmp_path))
    if labels == 3:
        with pytest.raises(InvalidParameter, match="one score or two classes"):
            reranker.scores("lamps", TEXTS)
        return
    scores = reranker.scores("lamps", TEXTS)
    assert scores.shape == (len(TEXTS),)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(
        scores, [reranker.scores("lamps", [text])[0] for text in TEXTS], atol=1e-5
    )
    assert reranker.scores("lamps", []).shape == (0,)


STAND_IN_TEXTS = ["the lamps", " \n", "half \ud83d a pair"]


@pytest.fixture(autouse=True)
def _libraries(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.get_closest_marker("skipif"):
        return  # it is about the library itself
    for name, module in fake_libraries.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr("chunkwise.models.embed.fastembed.version", lambda name: "0.7")


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
    used.embed(STAND_IN_TEXTS)
    assert used.identity == SentenceTransformersEmbedder(name).identity


def test_an_index_is_made_on_one_kind_of_device_and_searched_on_any(tmp_path: Path) -> None:
    path, place = tmp_path / "model", tmp_path / "kb"
    model = f"sentence-transformers:{folder(path, device='cuda:0')}"
    lamps, ropes = Document("a", "Lamps are lit at dusk."), Document("b", "Ropes are dried.")
    accelerated = SentenceTransformersEmbedder(str(path))
    assert (accelerated.runs_on, accelerated.batch) == ("cuda", 256)
    chunkwise.index([lamps], into=place, embedder=model)
    processor = SentenceTransformersEmbedder(folder(path))
    assert accelerated.identity == f"{processor.identity} on=cuda"
    assert (processor.runs_on, processor.batch) == ("cpu", 32)
    (hits,) = chunkwise.open_index(place, embedder=model).search(
        ["when are lamps lit?"], retriever="dense"
    )
    assert [hit.document.id for hit in hits] == ["a"]
    with pytest.raises(InvalidParameter, match=r"cuda.* CPU"):
        chunkwise.index([lamps, ropes], into=place, embedder=model)
    folder(path, device="cuda:1")
    chunkwise.index([lamps, ropes], into=place, embedder=model)
    assert {chunk.document.id for chunk in chunkwise.open_index(place).chunks()} == {"a", "b"}


def test_only_the_end_of_an_identity_names_a_device() -> None:
    assert accelerator_of("a on=cuda") == "cuda"
    assert accelerator_of("a prompts=[('q', ' on=cuda ')]") == ""
    assert accelerator_of(made_on("a", "cpu")) == ""
    assert same_model(made_on("a", "cuda"), made_on("a", "mps"))
    assert not same_model(made_on("a", "cuda"), made_on("b", "cuda"))


@cases(
    "told, query, passage",
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
    rows = model.embed(STAND_IN_TEXTS, "query")
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 0, 1], atol=1e-6)
    model.embed(STAND_IN_TEXTS)
    calls = [(way, settings.get("prompt_name")) for way, _, settings in model._model.calls]
    assert calls == [passage, query, passage]  # the first to learn the dimensions
    assert model._model.calls[1][1] == ["the lamps", "half \ufffd a pair"]


def test_a_model_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match=r"cannot load .*none': FileNotFoundError"):
        SentenceTransformersEmbedder(str(tmp_path / "none")).embed(["text"])
    with pytest.raises(ChunkwiseError, match=r"cannot load 'no/such'.*list_supported_models"):
        FastembedEmbedder("no/such").embed(["text"])


@cases("classes", [1, 2, 3])
def test_rerankers_give_a_score_or_two_classes(classes: int, tmp_path: Path) -> None:
    model = SentenceTransformersReranker(folder(tmp_path, classes=classes))
    if classes == 3:
        with pytest.raises(InvalidParameter, match="one score or two classes"):
            model.scores("q", STAND_IN_TEXTS)
        return
    assert model.scores("q", STAND_IN_TEXTS).tolist() == [len(text) for text in STAND_IN_TEXTS]


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
    rows = model.embed(STAND_IN_TEXTS)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 0, 1], atol=1e-6)
    assert not np.allclose(model.embed(STAND_IN_TEXTS, "query"), rows)
    kinds = [(kind, size) for kind, _, size in model._model.calls]
    assert kinds == [("passage", 1), ("passage", 1), ("query", 1)]
