"""Zip files that are one document (DOCX, EPUB), checked before a parser unpacks them."""

from __future__ import annotations

import io
import zipfile

from chunkwise.documents.archive import Budget, TooLargeError
from chunkwise.errors import UnreadableDocument


def open_container(data: bytes, origin: str) -> zipfile.ZipFile:
    """The zip of a document; its headers' sizes bound what the standard library will unpack."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        budget = Budget(len(data))
        for info in archive.infolist():
            if info.flag_bits & 1:
                raise UnreadableDocument(origin, "encrypted; save it without its password")
            budget.spend(info.file_size)
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise UnreadableDocument(origin, "damaged or truncated zip container") from error
    except TooLargeError as error:
        raise UnreadableDocument(origin, str(error)) from error
    return archive


def check_container(data: bytes, origin: str) -> None:
    """For a parser that opens the zip itself."""
    open_container(data, origin).close()
