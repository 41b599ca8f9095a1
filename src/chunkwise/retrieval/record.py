"""What is known of a document besides its id, text and pages, as one line of JSON."""

from __future__ import annotations

import json

from chunkwise.core import BLOCK_KINDS, Block, Document
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
    layout = {} if document.blocks is None else {"blocks": _numbers(document.blocks)}
    return json.dumps({**known, "metadata": metadata, **layout}, ensure_ascii=True)


def document_of(id: str, record: str, text: str, pages: tuple[int, ...]) -> Document:
    """The document again, with the layout its format declared."""
    known = json.loads(record)
    numbers = known.pop("blocks", None)
    blocks = None if numbers is None else _blocks(numbers)
    return Document(id, text, **known, blocks=blocks, pages=pages)


def _numbers(blocks: tuple[Block, ...]) -> list[int]:
    """One row a block, all in one list: it is read much faster than many small ones."""
    return [number for kind, *rest in blocks for number in (BLOCK_KINDS.index(kind), *rest)]


def _blocks(numbers: list[int]) -> tuple[Block, ...]:
    rows = zip(*[iter(numbers)] * 5, strict=True)
    return tuple(Block(BLOCK_KINDS[kind], *rest) for kind, *rest in rows)


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
