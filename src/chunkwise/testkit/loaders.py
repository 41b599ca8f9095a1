"""What every loader keeps to: it never stops a run, and the documents it gives can be cut and shown."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

from chunkwise.base.errors import BrokenContract, InvalidParameter, UnreadableDocument
from chunkwise.base.wording import counted
from chunkwise.core import Document
from chunkwise.core.layout import BlockKind
from chunkwise.documents.loader import Loader, LoadOptions, get_loader
from chunkwise.documents.source import HEAD, Source

_HEADS = (
    b"", b"\x00" * 64, b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"\x1b[31m", b"%PDF-9.9", b"PK\x03\x04", b"<" * 200,
    b"{" * 200, "naïve — text 👨‍👩‍👧".encode(), bytes(range(256)),
)  # fmt: skip
"""Beginnings of files that are of no format, or only look like one."""
_NAMES = (
    "",
    "x",
    ".hidden",
    "a.b.c",
    "no suffix",
    "UPPER.TXT",
    "e\u0301.md",
    "a" * 300,
    "\ud83d.txt",
)
_PARTS = 12
"""Places at which a file is cut off."""


def check_loader(loader: str | Loader, files: Iterable[str | os.PathLike[str]]) -> None:
    """Hold a loader to the contract on files of its format, on the same cut off anywhere, and on bytes of no format.

    A file that cannot be read is an `UnreadableDocument`; documents have ids, and layout that lies in their texts.
    """
    made = get_loader(loader)
    name = loader if isinstance(loader, str) else type(loader).__name__
    for file_name in _NAMES:
        for head in _HEADS:
            _accepts(name, made, file_name, head)
    for number, data in enumerate(_HEADS):
        _documents(name, made, Source("hostile", f"hostile-{number}", data=data))
    samples = [Path(file) for file in files]
    if not samples:
        raise InvalidParameter(f"files is empty; give files in the format of {name}")
    for sample in samples:
        _check_sample(name, made, sample.name, sample.read_bytes())


def _check_sample(name: str, loader: Loader, file: str, data: bytes) -> None:
    source = Source(file, file, data=data)
    if not _accepts(name, loader, file, data[:HEAD]):
        raise BrokenContract(f"{name}: doesn't accept {file}")
    documents = _documents(name, loader, source)
    if not any(document.text.strip() for document in documents):
        raise BrokenContract(f"{name}: found no text in {file}")
    if _documents(name, loader, source) != documents:
        raise BrokenContract(f"{name}: a second run on {file} returned other documents")
    for part in range(_PARTS):
        _documents(name, loader, Source(file, file, data=data[: len(data) * part // _PARTS]))
    ids = [document.id for document in documents]
    if len(set(ids)) < len(ids):
        raise BrokenContract(f"{name}: two documents of {file} have the same id")


def _accepts(name: str, loader: Loader, file: str, head: bytes) -> bool:
    try:
        said = loader.accepts(file, head)
    except Exception as error:  # somebody else's code: every file of every user is shown to it
        raise BrokenContract(
            f"{name}: accepts({file[:40]!r}, {head[:20]!r}) raised {type(error).__name__}: {error}"
        ) from error
    if not isinstance(said, bool):
        raise BrokenContract(
            f"{name}: accepts({file[:40]!r}, …) returned {said!r}; expected True or False"
        )
    return said


def _documents(name: str, loader: Loader, source: Source) -> list[Document]:
    """What it reads; a file that it refuses has none."""
    refused: list[UnreadableDocument] = []
    documents: list[Document] = []
    try:
        documents.extend(loader.load(source, LoadOptions(), refused.append))
    except UnreadableDocument:
        pass
    except Exception as error:  # of a whole run it would be one line; who reads it learns nothing
        raise BrokenContract(
            f"{name}: raised {type(error).__name__} for {source.origin}; expected "
            f"UnreadableDocument with a reason: {error}"
        ) from error
    for unreadable_document in refused:
        if not isinstance(unreadable_document, UnreadableDocument):
            raise BrokenContract(
                f"{name}: reported {unreadable_document!r}; expected an UnreadableDocument"
            )
    for document in documents:
        _check_document(name, document)
    return documents


def _check_document(name: str, document: object) -> None:
    if not isinstance(document, Document):
        raise BrokenContract(f"{name}: returned {type(document).__name__}; expected a Document")
    texts = (document.id, document.text, document.title, document.source, document.format)
    if not all(isinstance(text, str) for text in texts) or not document.id:
        raise BrokenContract(
            f"{name}: the document {document.id!r} has no id, or fields that are not text"
        )
    before = 0
    for block in document.blocks or ():
        if not before <= block.start < block.end <= len(document.text):
            raise BrokenContract(
                f"{name}: the block [{block.start}:{block.end}] of {document.id!r} overlaps the "
                "previous one or is outside of the text, which has "
                f"{counted(len(document.text), 'character')}"
            )
        if block.kind not in get_args(BlockKind):
            raise BrokenContract(
                f"{name}: a block of {document.id!r} is a {block.kind!r}; known: "
                f"{', '.join(get_args(BlockKind))}"
            )
        before = block.end
    for link in document.links:
        if not 0 <= link.start < link.end <= len(document.text) or not link.target:
            raise BrokenContract(
                f"{name}: the link [{link.start}:{link.end}] of {document.id!r} to "
                f"{link.target!r} has no target or is outside of the text, which has "
                f"{counted(len(document.text), 'character')}"
            )
    pages = document.pages
    if pages and (list(pages) != sorted(pages) or pages[0] < 0 or pages[-1] > len(document.text)):
        raise BrokenContract(
            f"{name}: the pages of {document.id!r} aren't ordered offsets of its text"
        )
