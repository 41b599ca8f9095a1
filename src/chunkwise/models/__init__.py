"""Embedders, rerankers, language models and finders of names, each by its name."""

from chunkwise.models.models_by_name import (
    DEFAULT,
    EMBEDDER_FORMS,
    LANGUAGE_MODEL_FORMS,
    RERANKER_FORMS,
    embedders,
    get_embedder,
    get_language_model,
    get_name_finder,
    get_reranker,
    get_token_encoder,
    language_models,
    name_finders,
    rerankers,
    split_patience,
)

__all__ = [
    "DEFAULT",
    "EMBEDDER_FORMS",
    "LANGUAGE_MODEL_FORMS",
    "RERANKER_FORMS",
    "embedders",
    "get_embedder",
    "get_language_model",
    "get_name_finder",
    "get_reranker",
    "get_token_encoder",
    "language_models",
    "name_finders",
    "rerankers",
    "split_patience",
]
