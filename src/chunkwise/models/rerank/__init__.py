"""Rerankers: on this machine, behind an endpoint, of other libraries."""
