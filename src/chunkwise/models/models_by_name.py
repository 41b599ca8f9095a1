"""Embedders, rerankers, language models by their names: real ones, local or behind an endpoint."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunkwise.base import spec
from chunkwise.base.errors import InvalidParameter
from chunkwise.base.parameters import build
from chunkwise.base.registry import Registry, import_target

if TYPE_CHECKING:
    from chunkwise.models.embed.embedder import Embedder, TokenEncoder
    from chunkwise.models.llm.language_model import LanguageModel
    from chunkwise.models.name_finder import NameFinder
    from chunkwise.models.rerank.reranker import Reranker


_NAMES = ("timeout", "attempts")
# Only what begins with one of these: names of models may have brackets of their own.
_SAID = re.compile(rf"(.+?)(\(\s*(?:{'|'.join(_NAMES)})\s*=[^()]*\))\s*", re.DOTALL)


def split_patience(model: str) -> tuple[str, dict[str, Any]]:
    """The name, and what stands behind it in brackets: seconds an answer may take, requests made at most."""
    match = _SAID.fullmatch(model)
    if match is None:
        return model, {}
    try:
        values = spec.parse(f"endpoint{match[2]}")[1]
    except InvalidParameter:
        values = {}
    if not values or values.keys() - set(_NAMES) or not all(map(_is_number, values.values())):
        raise InvalidParameter(
            f"cannot parse {match[2]} after a model name; expected (timeout=10, attempts=2)"
        )
    return match[1], values


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


DEFAULT = "minilm"
_MAXSIM = "maxsim"
_LOCAL = "local"

EMBEDDER_FORMS = {
    "minilm": "all-MiniLM-L6-v2, local; minilm(long=truncate) embeds only the start of long texts",
    "bge-small": "bge-small-en-v1.5, local; English",
    "arctic-s": "snowflake-arctic-embed-s, local; English",
    "e5-small": "e5-small, local; English",
    "gte-small": "unquantized gte-small, local, from the hub; English, slow",
    "use-multi": "universal-sentence-encoder-multilingual v3, local; 15 languages",
    "openai:NAME": "OpenAI API; key in OPENAI_API_KEY",
    "https://HOST/v1#NAME": "any OpenAI-compatible endpoint; key in CHUNKWISE_API_KEY; "
    "NAME(timeout=10, attempts=2) limits retries",
    "sentence-transformers:NAME": "any model of the library",
    "fastembed:NAME": "any model of the library",
    "PATH/model.onnx": "your own export, with tokenizer.json in the same folder",
}
"""How a model may be named, and what it then is."""

RERANKER_FORMS = {
    "local": "ms-marco-MiniLM-L-12-v2, local; English; local(seconds=5) limits the time per question",
    "maxsim": "MaxSim over minilm token vectors, local; English; measure its effect",
    "https://HOST/rerank#NAME": "any rerank endpoint; key in CHUNKWISE_API_KEY; "
    "NAME(timeout=10, attempts=2) limits retries",
    "cohere:NAME": "Cohere API; key in COHERE_API_KEY",
    "jina:NAME": "Jina API; key in JINA_API_KEY",
    "sentence-transformers:NAME": "any cross-encoder of the library",
    "PATH/reranker.onnx": "your own export, with tokenizer.json in the same folder",
}

LANGUAGE_MODEL_FORMS = {
    "local": "SmolLM2-135M-Instruct, local; small, measure its quality first",
    "local:qwen-1.5b": "Qwen2.5-Coder-1.5B-Instruct, local; 1.1 GB",
    "PATH/model.gguf": "any local GGUF file",
    "openai:NAME": "OpenAI API; key in OPENAI_API_KEY",
    "https://HOST/v1#NAME": "any OpenAI-compatible server: Ollama, vLLM; key in CHUNKWISE_API_KEY",
}


embedders = Registry(
    "embedder",
    "chunkwise.embedders",
    {
        DEFAULT: "chunkwise.models.embed.pretrained:minilm",
        "bge-small": "chunkwise.models.embed.pretrained:bge_small",
        "arctic-s": "chunkwise.models.embed.pretrained:arctic_s",
        "e5-small": "chunkwise.models.embed.pretrained:e5_small",
        "gte-small": "chunkwise.models.embed.pretrained:gte_small",
        "use-multi": "chunkwise.models.embed.pretrained:use_multilingual",
    },
    needs=("embed(texts, kind)", "identity", "dimensions"),
    example=f"{DEFAULT}(long=truncate)",
    forms=EMBEDDER_FORMS,
)
rerankers = Registry(
    "reranker",
    "chunkwise.rerankers",
    {
        _LOCAL: "chunkwise.models.rerank.cross_encoder:PretrainedReranker",
        _MAXSIM: "chunkwise.models.rerank.maxsim:MaxSimReranker",
    },
    needs=("scores(query, texts)", "identity"),
    example=f"{_MAXSIM}(first=0.5)",
    forms=RERANKER_FORMS,
)
language_models = Registry(
    "language model",
    "chunkwise.language_models",
    {},
    needs=("complete(request, stop)", "identity", "price_name", "window", "concurrency"),
    example="mine(parameter=1)",
    forms=LANGUAGE_MODEL_FORMS,
)

name_finders = Registry(
    "name finder",
    "chunkwise.name_finders",
    {
        "spacy": "chunkwise.models.name_finder:SpacyNames",
        "lac": "chunkwise.models.name_finder:LacNames",
    },
    needs=("names(text)", "identity"),
    example="spacy(model=en_core_web_sm)",
)


def get_name_finder(finder: str | NameFinder) -> NameFinder:
    """The name finder of this name, or the one given."""
    made: NameFinder = name_finders.make(finder)
    return made


def get_embedder(model: str | Embedder = DEFAULT, *, cache: bool = True) -> Embedder:
    """The embedder of this name, or the one given; with `cache` no text is ever read twice."""
    embedder: Embedder = embedders.make(model, _embedder)
    if not cache:
        return embedder
    from chunkwise.models.cache import CachedEmbedder, ModelCache, cached

    return embedder if isinstance(embedder, CachedEmbedder) else cached(embedder, ModelCache())


def _embedder(model: str) -> Embedder | None:
    made: Embedder | None = _of_form(
        model,
        {
            "http": "chunkwise.models.embed.endpoint:EndpointEmbedder",
            "openai": "chunkwise.models.embed.endpoint:EndpointEmbedder",
            "sentence-transformers": "chunkwise.models.sentence_transformers:SentenceTransformersEmbedder",
            "fastembed": "chunkwise.models.embed.fastembed:FastembedEmbedder",
            ".onnx": "chunkwise.models.embed.onnx:OnnxEmbedder",
        },
    )
    return made


def _of_form(model: str, forms: Mapping[str, str]) -> Any:
    """What makes a model of such a form: `form:NAME`, an address or a file; None: it has none of these forms.

    `forms`: `module:Class` of each, `http` for addresses.
    """
    kind, _, name = model.partition(":")
    kind, ending = kind.lower(), Path(model).suffix.lower()
    if kind in ("http", "https") and "http" in forms:
        address, name, patience = _endpoint(model)
        return import_target(forms["http"])(address, name, **patience)
    if kind in forms and name:
        if kind not in _SERVICES:
            return import_target(forms[kind])(name)
        address, variable = _SERVICES[kind]
        name, patience = split_patience(name)
        return import_target(forms[kind])(address, name, variable, **patience)
    return import_target(forms[ending])(model) if ending in forms else None


def get_token_encoder(model: str | TokenEncoder) -> TokenEncoder:
    """What gives a vector a token (late interaction): the model of this name, or the one given."""
    if not isinstance(model, str):
        return model
    from chunkwise.models.embed.colbert import PretrainedTokenEncoder

    return PretrainedTokenEncoder(model)


def get_reranker(model: str | Reranker) -> Reranker:
    """The reranker of this name, or the one given."""
    made: Reranker = rerankers.make(model, _reranker)
    return made


def _reranker(model: str) -> Reranker | None:
    if model.partition("(")[0].strip() in _RERANKER_PARAMETERS:
        return _local_reranker(model)
    endpoint = "chunkwise.models.rerank.endpoint:EndpointReranker"
    return _of_form(
        model,
        {
            "http": endpoint,
            "cohere": endpoint,
            "jina": endpoint,
            "sentence-transformers": "chunkwise.models.sentence_transformers:SentenceTransformersReranker",
            ".onnx": "chunkwise.models.rerank.cross_encoder:OnnxReranker",
        },
    )


_RERANKER_PARAMETERS = {_MAXSIM: "first", _LOCAL: "seconds"}
"""Of those on this machine; a model and a cache of one's own are objects, which cannot be written in a name."""


def _local_reranker(model: str) -> Reranker:
    name, values = spec.parse(model, rerankers.kind, f"{_LOCAL}(seconds=5)")
    allowed = _RERANKER_PARAMETERS[name]
    for other in values.keys() - {allowed}:
        raise InvalidParameter(f"{name} has no parameter {other!r}; it has: {allowed}")
    made: Reranker = build(rerankers.get(name), name, values)
    return made


def get_language_model(model: str | LanguageModel) -> LanguageModel:
    """The language model of this name, or the one given."""
    made: LanguageModel = language_models.make(model, _language_model)
    return made


def _language_model(model: str) -> LanguageModel | None:
    kind, _, name = model.partition(":")
    if kind == _LOCAL:
        from chunkwise.models.llm.local import packaged

        return packaged(name)
    endpoint = "chunkwise.models.llm.endpoint:EndpointModel"
    local = "chunkwise.models.llm.local:LocalModel"
    return _of_form(model, {"http": endpoint, "openai": endpoint, ".gguf": local})


_SERVICES = {
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "cohere": ("https://api.cohere.com/v2/rerank", "COHERE_API_KEY"),
    "jina": ("https://api.jina.ai/v1/rerank", "JINA_API_KEY"),
}
"""Address and the environment variable of the key."""


def _endpoint(model: str) -> tuple[str, str, dict[str, Any]]:
    """Address, model and patience of `https://host/v1#name(timeout=10)`."""
    from chunkwise.models.http_client import parse_public_url, place

    model, patience = split_patience(model)
    address, _, name = model.partition("#")
    scheme = parse_public_url(address).scheme
    if not name:
        where = f"{scheme}://{place(address)}"
        raise InvalidParameter(f"{where} has no model; expected {where}#NAME")
    return address, name, patience
