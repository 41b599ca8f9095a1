"""What people call a model: its identity without hashes, windows and versions, which stay in the file."""

from __future__ import annotations

import re

_LIBRARIES = ("endpoint", "fastembed", "sentence-transformers", "sentence-transformers-reranker")
_HASHED = ("gguf",)
"""Kinds that are told apart by a hash alone: without it nothing would be left of them."""


def short_name(identity: str) -> str:
    """`minilm` of `minilm:afdb6f1a0e45:be50c3628f2b:mean:256:windows`, `big-1` of `endpoint:host/v1#'big-1'`."""
    if asked := re.search(r"#'(.+)'$", identity):
        return asked[1]
    kind, _, rest = identity.partition(":")
    if kind in _HASHED:
        return identity
    name = rest if kind in _LIBRARIES and rest else kind
    return re.split(r"[@ ]", name, maxsplit=1)[0] or identity
