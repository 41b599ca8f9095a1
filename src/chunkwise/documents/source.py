"""One file of an input, or one member of an archive: named, not yet read."""

from __future__ import annotations

import errno
import io
import os
import stat
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import BinaryIO

from chunkwise.base.errors import UnreadableDocument
from chunkwise.base.object_store import StoredFile
from chunkwise.base.wording import counted

HEAD = 8192
"""Bytes a loader sees when it decides whether a file is its own."""

NO_SUCH_FILE = "no such file or folder"
TOO_LONG_A_PATH = "its path is too long"
_REASONS = {
    errno.ENOENT: NO_SUCH_FILE,
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EISDIR: "a folder, not a file",
    errno.ENOTDIR: "a parent in its path is not a folder",
    errno.ELOOP: "a loop of symbolic links",
    errno.ENAMETOOLONG: TOO_LONG_A_PATH,
    errno.ENXIO: "not a regular file (a socket or device)",
}


def os_reason(error: OSError) -> str:
    """Why the operating system refused, in words."""
    words = error.strerror or type(error).__name__
    # Words of the system begin with a capital; names of errors have several.
    if words.partition(" ")[0][1:].islower():
        words = words[:1].lower() + words[1:]
    return _REASONS.get(error.errno or 0, words)


def printable(name: str) -> str:
    """A file name whose bytes are not UTF-8 has no text form: those bytes become U+FFFD."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def special_file(mode: int) -> str | None:
    """What a file is that must not be opened, since reading it may never end."""
    if stat.S_ISREG(mode):
        return None
    if stat.S_ISDIR(mode):
        return "a folder, not a file"
    kind = "FIFO" if stat.S_ISFIFO(mode) else "socket" if stat.S_ISSOCK(mode) else "device"
    return f"not a regular file (a {kind}); to read it, pipe it to '-'"


def _without_blocking(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


@dataclass(frozen=True, slots=True)
class Source:
    """Where bytes are, cheap to make and to send to another process."""

    id: str
    """Document id when the source holds one document; records without an id build on it."""
    origin: str
    """What the user calls it: in messages, and as `Document.source`."""
    path: str | None = None
    data: bytes | None = field(default=None, repr=False)
    stored: StoredFile | None = None
    """Of a file elsewhere: where."""
    opening: bytes | None = field(default=None, repr=False)
    """The first bytes of a file elsewhere, once they have been read."""

    @property
    def name(self) -> str:
        name = PurePath(self.origin).name
        return name.partition("?")[0] if self.origin.startswith(("http://", "https://")) else name

    @property
    def is_elsewhere(self) -> bool:
        """Whether nothing of a file of a store has been fetched."""
        return self.stored is not None and self.data is None and self.opening is None

    @property
    def size(self) -> int:
        """In bytes; of what cannot be looked at 0."""
        if self.data is not None:
            return len(self.data)
        if self.stored is not None:
            return self.stored.size or 0
        try:
            return os.path.getsize(self.path or "")
        except (OSError, ValueError):
            return 0

    def open(self) -> BinaryIO:
        """The bytes as a stream; a FIFO or device is refused and never waited for."""
        if self.data is None and self.stored is not None:
            try:
                return self.stored.open()
            except OSError as error:
                raise UnreadableDocument(self.origin, os_reason(error)) from error
        if self.path is None:
            return io.BytesIO(self.data or b"")
        try:
            # Opened first and looked at after, so that nothing can be swapped in between.
            handle = open(self.path, "rb", opener=_without_blocking)  # noqa: SIM115 (returned)
        except OSError as error:
            raise UnreadableDocument(self.origin, os_reason(error)) from error
        except ValueError as error:  # a NUL character in the path
            raise UnreadableDocument(self.origin, str(error)) from error
        refused = special_file(os.fstat(handle.fileno()).st_mode)
        if refused is not None:
            handle.close()
            raise UnreadableDocument(self.origin, refused)
        return handle

    def head(self, size: int = HEAD) -> bytes:
        """The first bytes."""
        return self._read(size)

    def read(self, limit: int | None = None) -> bytes:
        """All bytes; more than `limit` of them are an unreadable document."""
        if limit is None:
            return self._read(-1)
        data = self._read(limit + 1)
        if len(data) > limit:
            raise UnreadableDocument(self.origin, f"larger than {counted(limit, 'byte')}")
        return data

    def _read(self, size: int) -> bytes:
        if self.data is not None:
            return self.data if size < 0 else self.data[:size]
        if self.opening is not None and 0 <= size <= len(self.opening):
            return self.opening[:size]
        try:
            if self.stored is not None:
                return self.stored.read(0, None if size < 0 else size)
            with self.open() as handle:
                # No more is asked for than there is: room is made for all of it at once.
                there = os.fstat(handle.fileno()).st_size + 1
                if not 0 <= there < size:
                    return handle.read(size)
                data = handle.read(there)
                # Written to meanwhile, or a file of the system's own, which has no size.
                return data if len(data) < there else data + handle.read(size - there)
        except OSError as error:  # a disk or network error, a file that vanished
            raise UnreadableDocument(self.origin, os_reason(error)) from error
