"""What is known of a document besides its id, text and pages, as one line of JSON."""

from __future__ import annotations

import json

from chunkwise.core import Document
from chunkwise.errors import InvalidParameter


def record_of(document: Document) -> str:
    """The same line for the same document in every process: a document is written again where it differs."""
    known = {
        "title": document.title,
        "source": document.source,
        "format": document.format,
        "language": document.language,
    }
    metadata = {key: _plain(document, key, value) for key, value in document.metadata.items()}
    return json.dumps({**known, "metadata": metadata}, ensure_ascii=True)


def document_of(id: str, record: str, text: str, pages: tuple[int, ...]) -> Document:
    """The document again; its layout is not kept, the index has what was made of it."""
    return Document(id, text, **json.loads(record), pages=pages)


def _plain(document: Document, key: object, value: object) -> object:
    """What JSON can hold; metadata of one's own may be sets and dates, or what cannot be written at all."""
    try:
        (found,) = json.loads(json.dumps({key: value}, default=_written)).values()
        return found
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidParameter(
            f"the document {document.id!r} has metadata that cannot be kept: {key!r} is {type(value).__name__} "
            f"({error}); give texts, numbers, lists and dictionaries with texts as keys"
        ) from None


def _written(value: object) -> object:
    if isinstance(value, set | frozenset):  # in an order that is the same in every process
        return sorted(
            (json.loads(json.dumps(each, default=_written)) for each in value), key=json.dumps
        )
    if type(value).__str__ is object.__str__ and type(value).__repr__ is object.__repr__:
        raise TypeError("its text would be another in every run")
    return str(value)
