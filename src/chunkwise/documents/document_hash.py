"""The hashes of documents, by which runs and caches know them again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

from chunkwise.core import Document


def document_hash(document: Document) -> str:
    """Of its id and its text."""
    return sha256(
        document.id.encode("utf-8", "surrogatepass")
        + b"\0"
        + document.text.encode("utf-8", "surrogatepass")
    ).hexdigest()


def documents_hash(documents: Iterable[Document]) -> str:
    """Of ids and texts, whatever order they came in."""
    return hash_of_hashes(map(document_hash, documents))


def documents_data(documents: Sequence[Document]) -> dict[str, int | str]:
    """How many, of how many characters, and their hash: what results say of them."""
    return {
        "count": len(documents),
        "characters": sum(len(document.text) for document in documents),
        "hash": documents_hash(documents),
    }


def hash_of_hashes(hashes: Iterable[str]) -> str:
    """Of documents that are known by their hashes alone."""
    return sha256("".join(sorted(hashes)).encode()).hexdigest()
