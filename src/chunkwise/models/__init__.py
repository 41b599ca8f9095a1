"""Embedders and rerankers: real models, local or behind an endpoint, and the cache of what they gave."""
