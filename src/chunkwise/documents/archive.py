"""Documents inside .zip, .tar(.gz, .bz2, .xz) and compressed files, and zips that are a document, without the disk.

Every member is measured while it is read, since an archive may lie about its sizes.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO, BinaryIO, cast

from chunkwise.base.errors import UnreadableDocument
from chunkwise.base.wording import counted, one_or_many, thousands
from chunkwise.documents.loader import OnUnreadable, suffix_of
from chunkwise.documents.source import Source, os_reason, printable
from chunkwise.documents.walk import is_left_out

MAX_MEMBER = 1 << 30
MAX_TOTAL = 4 << 30
MAX_RATIO = 200
HARMLESS = 16 << 20
"""Bytes an archive may unpack to however well it is compressed."""

_BOMB = "(a zip bomb?); unpack it yourself if you trust it"
_NOT_REACHED = "the rest of the archive is not read"
_REFUSED_LINES = 20
_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00")
_DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    lzma.LZMAError,
    zlib.error,
    EOFError,
    NotImplementedError,
    ValueError,
    OverflowError,
)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_INNER_ARCHIVE = "a nested archive; unpack it first"
# Documents that are zip files; when one is broken, only its name tells.
_DOCUMENTS = {
    f".{name}": name.upper()
    for name in ("docx", "docm", "epub", "xlsx", "xlsm", "pptx", "odt", "ods", "odp")
}
_CONTAINERS = ("[Content_Types].xml", "META-INF/container.xml", "mimetype")


class TooLargeError(Exception):
    """An archive unpacks to more than it may."""


class MemberTooLargeError(TooLargeError):
    """One member does; there may be room for the others."""


def is_archive(head: bytes) -> bool:
    """By content; a zip may still turn out to be a document, see `members`."""
    return (
        head.startswith((b"PK\x03\x04", b"PK\x05\x06", *_COMPRESSED)) or head[257:262] == b"ustar"
    )


def is_container(archive: zipfile.ZipFile) -> bool:
    """Whether a zip is itself one document (DOCX, EPUB and their kin)."""
    names = set(archive.namelist())
    return any(name in names for name in _CONTAINERS)


def members(source: Source, on_unreadable: OnUnreadable) -> Iterator[Source]:
    """A source for each document inside; a zip that is a document itself comes back as it is."""
    try:
        with source.open() as handle:
            if source.head(4).startswith(b"PK"):
                yield from _zip_members(source, handle, on_unreadable)
            else:
                yield from _tar_members(source, handle, on_unreadable)
    except OSError as error:
        # gzip and bz2 report damage as an OSError without a number.
        reason = os_reason(error) if error.errno else "damaged or truncated archive"
        raise UnreadableDocument(source.origin, reason) from error
    except TooLargeError as error:
        raise UnreadableDocument(source.origin, str(error)) from error
    except _DAMAGE as error:
        what = _DOCUMENTS.get(suffix_of(source.name), "archive")
        raise UnreadableDocument(source.origin, f"damaged or truncated {what}") from error


class UnpackBudget:
    """How much an archive of this size may still unpack to."""

    def __init__(self, packed: int) -> None:
        self._packed = packed
        self._spent = 0

    @property
    def left(self) -> int:
        allowed = min(MAX_TOTAL, max(HARMLESS, MAX_RATIO * self._packed))
        return allowed - self._spent

    def spend(self, size: int) -> None:
        self._spent += size
        if self.left < 0:
            allowed = self._spent + self.left
            raise TooLargeError(f"unpacks to more than {counted(allowed, 'byte')} {_BOMB}")

    def check_member(self, size: int) -> None:
        """Refuse a member by its size before it is read."""
        if size > MAX_MEMBER:
            raise MemberTooLargeError(f"larger than {counted(MAX_MEMBER, 'byte')}")
        if size > self.left:
            are = one_or_many(self.left, "is", "are")
            room = f", of which {thousands(self.left)} {are} left" if self._spent else ""
            raise MemberTooLargeError(
                f"unpacks to {counted(size, 'byte')}, but the limit for an archive of "
                f"{counted(self._packed, 'byte')} is {thousands(self._spent + self.left)}{room} "
                f"{_BOMB}"
            )


def read_zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: UnpackBudget) -> bytes:
    """The bytes of one member; the library never reads more of them than the header says."""
    budget.check_member(info.file_size)
    try:
        with archive.open(info) as handle:
            data = handle.read(info.file_size + 1)
    except OSError as error:
        if error.errno:  # the disk's
            raise
        raise zipfile.BadZipFile(str(error)) from error  # bz2 reports damage so
    budget.spend(len(data))
    return data


def _zip_members(source: Source, handle: BinaryIO, on_unreadable: OnUnreadable) -> Iterator[Source]:
    with zipfile.ZipFile(handle) as archive:
        if is_container(archive):
            yield source
            return
        budget = UnpackBudget(handle.seek(0, 2))
        refused = 0
        for info in sorted(archive.infolist(), key=lambda info: info.filename):
            below = _inner_path(source, info.filename, on_unreadable)
            if info.is_dir() or below is None:
                continue
            where = f"{source.origin}/{below}"
            if info.flag_bits & 1:
                on_unreadable(UnreadableDocument(where, "encrypted; unpack it first"))
            elif (info.external_attr >> 28) == 0o12:
                on_unreadable(UnreadableDocument(where, "a link inside an archive"))
            else:
                try:
                    data = read_zip_member(archive, info, budget)
                except MemberTooLargeError as error:
                    refused += 1
                    if refused <= _REFUSED_LINES:
                        on_unreadable(UnreadableDocument(where, str(error)))
                    continue
                except _DAMAGE as error:
                    on_unreadable(UnreadableDocument(where, f"damaged in the archive: {error}"))
                    continue
                yield from _unpacked(source.id, source.origin, below, data, on_unreadable)
        if refused > _REFUSED_LINES:
            more = refused - _REFUSED_LINES
            why = f"... and {counted(more, 'more file')} that {one_or_many(more, 'is', 'are')} too large"
            on_unreadable(UnreadableDocument(source.origin, why))


class _Measured:
    """A stream that stops when more comes out of it than may."""

    def __init__(self, stream: IO[bytes], budget: UnpackBudget) -> None:
        self._stream = stream
        self._budget = budget

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size if 0 <= size <= self._budget.left else self._budget.left + 1)
        self._budget.spend(len(data))
        return data


def _tar_members(source: Source, handle: BinaryIO, on_unreadable: OnUnreadable) -> Iterator[Source]:
    budget = UnpackBudget(handle.seek(0, 2))
    handle.seek(0)
    plain = _decompressed(handle)
    if plain is not handle:
        is_tar = plain.read(512)[257:262] == b"ustar"
        handle.seek(0)
        plain = _decompressed(handle)
        if not is_tar:
            data = _Measured(plain, budget).read(MAX_MEMBER + 1)
            if len(data) > MAX_MEMBER:
                raise TooLargeError(f"larger than {counted(MAX_MEMBER, 'byte')}")
            name = PurePosixPath(source.name).stem
            yield from _unpacked(source.id, source.origin, name, data, on_unreadable)
            return
    with tarfile.open(fileobj=_Measured(plain, budget), mode="r|") as archive:  # type: ignore[call-overload]
        for info in archive:
            below = _inner_path(source, info.name, on_unreadable)
            where = f"{source.origin}/{below}" if below else source.origin
            if archive.offset - info.offset_data > budget.left:
                # The library would read to there, past the end of the file, for hours.
                raise UnreadableDocument(where, f"{_claim(info, budget)}; {_NOT_REACHED}")
            if info.isdir() or below is None:
                continue
            if not info.isreg() or info.issparse():
                # Holes of a sparse file cost nothing in the archive and everything in memory.
                kind = "link" if info.issym() or info.islnk() else "device, FIFO or sparse file"
                on_unreadable(UnreadableDocument(where, f"a {kind} inside an archive"))
            elif info.size > MAX_MEMBER:
                on_unreadable(
                    UnreadableDocument(where, f"larger than {counted(MAX_MEMBER, 'byte')}")
                )
            else:
                try:
                    budget.check_member(info.size)
                except MemberTooLargeError as error:
                    raise UnreadableDocument(where, f"{error}; {_NOT_REACHED}") from error
                stream = archive.extractfile(info)
                assert stream is not None  # a regular file always has one
                data = stream.read()
                yield from _unpacked(source.id, source.origin, below, data, on_unreadable)


def _claim(info: tarfile.TarInfo, budget: UnpackBudget) -> str:
    """What is wrong with the size that a member says it has."""
    try:
        budget.check_member(info.size)
    except MemberTooLargeError as error:
        return str(error)
    return "declares a size larger than its archive allows"


def _decompressed(handle: BinaryIO) -> IO[bytes]:
    """The stream inside a compressed one, or the stream itself."""
    magic = handle.read(8)
    handle.seek(0)
    if magic.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.GzipFile(fileobj=handle))
    if magic.startswith(b"BZh"):
        return cast(IO[bytes], bz2.BZ2File(handle))
    if magic.startswith(b"\xfd7zXZ"):
        return cast(IO[bytes], lzma.LZMAFile(handle))
    return handle


def _inner_path(source: Source, name: str, on_unreadable: OnUnreadable) -> str | None:
    """A member's path, or None when it is left out (with a line if the path is hostile)."""
    name = printable(name)
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or _DRIVE.match(name) or "\0" in name:
        why = "its path is outside of the archive"
        on_unreadable(UnreadableDocument(f"{source.origin}/{name}", why))
        return None
    if not path.parts or any(is_left_out(part) for part in path.parts):
        return None
    return path.as_posix()


def _unpacked(
    id: str, origin: str, below: str, data: bytes, on_unreadable: OnUnreadable
) -> Iterator[Source]:
    member = Source(f"{id}/{below}", f"{origin}/{below}", data=data)
    if not is_archive(data[:512]) or _is_document(member):
        yield member
        return
    named = _DOCUMENTS.get(suffix_of(below)) if data.startswith(b"PK") else None
    why = f"damaged or truncated {named}" if named else _INNER_ARCHIVE
    on_unreadable(UnreadableDocument(member.origin, why))


def _is_document(source: Source) -> bool:
    if not source.head(4).startswith(b"PK"):
        return False
    try:
        with source.open() as handle, zipfile.ZipFile(handle) as archive:
            return is_container(archive)
    except _DAMAGE:
        return False


def open_container(data: bytes, origin: str) -> zipfile.ZipFile:
    """The zip of a document; its headers' sizes bound what the standard library will unpack."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        budget = UnpackBudget(len(data))
        for info in archive.infolist():
            if info.flag_bits & 1:
                raise UnreadableDocument(origin, "encrypted; save it without a password")
            budget.spend(info.file_size)
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise UnreadableDocument(origin, "damaged or truncated zip container") from error
    except TooLargeError as error:
        raise UnreadableDocument(origin, str(error)) from error
    return archive
