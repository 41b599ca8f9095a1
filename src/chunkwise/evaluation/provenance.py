"""What a result was made with: versions, and hashes of the data."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version

from chunkwise import __version__
from chunkwise.core import Document

_COUNTED = ("numpy", "regex", "bpe-openai", "lxml", "onnxruntime", "tokenizers", "PyStemmer")
"""Packages whose versions can change a figure."""


def versions() -> dict[str, str]:
    """Of chunkwise, Python and the packages that take part."""
    return dict(_versions())


@cache
def _versions() -> Mapping[str, str]:
    found = {"chunkwise": __version__, "python": platform.python_version()}
    for name in _COUNTED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def documents_hash(documents: Iterable[Document]) -> str:
    """Of ids and texts, whatever order they came in."""
    each = sorted(
        sha256(
            document.id.encode("utf-8", "surrogatepass")
            + b"\0"
            + document.text.encode("utf-8", "surrogatepass")
        ).hexdigest()
        for document in documents
    )
    return sha256("".join(each).encode()).hexdigest()
