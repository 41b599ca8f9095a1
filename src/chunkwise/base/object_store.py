"""Files elsewhere (`s3://…`, `https://…`), read, written and listed through fsspec with the user's own credentials."""

from __future__ import annotations

import errno
import io
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple, TypeVar
from urllib.parse import unquote

from chunkwise.base.errors import ChunkwiseError, MissingExtra
from chunkwise.base.retries import Retryable, retry
from chunkwise.base.secrets import mask
from chunkwise.base.wording import counted, one_or_many

PACKAGES = {
    "s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs",
    "abfss": "adlfs", "adl": "adlfs", "http": "aiohttp requests", "https": "aiohttp requests",
    "ftp": "", "ftps": "", "sftp": "paramiko", "ssh": "paramiko", "hdfs": "hdfs-native", "webhdfs": "requests",
    "memory": "", "hf": "huggingface_hub", "oss": "ossfs", "oci": "ocifs", "smb": "smbprotocol",
    "webdav": "webdav4", "github": "requests", "dbfs": "requests",
}  # fmt: skip
"""By scheme, what must be installed beside fsspec itself."""

ATTEMPTS = 6
"""Of one request that a store is too busy for, or that the network loses."""
LARGEST = 1 << 30
"""Bytes of a file that no size is known of: a server may send without end."""
_BLOCK = 4 << 20
"""Bytes that are asked for at once of a file that is read in ranges."""

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):/+", re.IGNORECASE)
_BUSY = frozenset((408, 425, 429, 500, 502, 503, 504, 509))
"""Statuses of servers that may answer a moment later."""
_LOST = frozenset(
    (errno.EBUSY, errno.EAGAIN, errno.ETIMEDOUT, errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE,
     errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH)
)  # fmt: skip
_LOST_BY_NAME = frozenset(
    "ConnectionError ConnectTimeout ReadTimeout ChunkedEncodingError ServerDisconnectedError ClientPayloadError".split()
)
"""Errors of requests and aiohttp, which need not be installed: most have no number."""
_REFUSED = {
    401: errno.EACCES, 403: errno.EACCES, 404: errno.ENOENT, 410: errno.ENOENT, 416: errno.EINVAL,
}  # fmt: skip
_FIRST_WAIT = 0.5
"""Seconds, doubled each time, less a random part."""
_PATIENCE = 120.0
"""Seconds after which nothing is asked a third time: some libraries try for minutes by themselves."""

T = TypeVar("T")


def address_of(name: str | os.PathLike[str]) -> str | None:
    """`s3://bucket/a` of what begins so, also with the one slash `pathlib` leaves; None: a name on this machine."""
    text = os.fspath(name)
    match = _SCHEME.match(text)
    if match is None or os.path.lexists(text):
        return None
    scheme = match[1].lower()
    if scheme not in PACKAGES and scheme not in _registered():
        return None
    return f"{scheme}://{text[match.end() :]}"


def local_name(name: str) -> str:
    """`/docs` of `file:///docs`; every other name as it is."""
    match = _SCHEME.match(name)
    if match is None or match[1].lower() != "file" or os.path.lexists(name):
        return name
    return unquote(f"/{name[match.end() :]}")


def _registered() -> frozenset[str]:
    """Schemes that somebody has told fsspec of; not those of this machine, and not those that wrap others."""
    try:
        from fsspec.registry import known_implementations, registry
    except ImportError:
        return frozenset()
    return frozenset((*known_implementations, *registry)) - _NOT_STORES


_NOT_STORES = frozenset(
    "file local asynclocal asyncwrapper blockcache cached filecache simplecache dir generic "
    "reference root zip tar libarchive data dask pyscript".split()
)


def shown_address(address: str) -> str:
    """As it may be written down: without a password, a token or a signature."""
    return mask(address)


def store(address: str) -> tuple[Any, str]:
    """The file system of fsspec that an address belongs to, and the path in it."""
    scheme = address.partition(":")[0]
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtra(f"{scheme}://", "remote") from None
    try:
        result: tuple[Any, str] = url_to_fs(address)
    except ImportError as error:
        package = PACKAGES.get(scheme)
        install = f"pip install 'chunkwise[remote]' {package}" if package else str(error)
        raise ChunkwiseError(f"{scheme}:// needs a package: {install}") from error
    except Exception as error:  # credentials, a host that is no host: in each library's own words
        raise as_os_error(error) from error
    return result


def asked(call: Callable[[], T]) -> T:
    """What a request answers: asked again, later each time, where the store is busy or the network fails.

    Whatever a library raises comes out as an `OSError` that says why.
    """
    begun = clock()

    def ask(attempt: int) -> T:
        try:
            return call()
        except Exception as error:
            problem = as_os_error(error, attempt)
            # Of a large file one try may take longer than that: there is always a second.
            is_late = attempt > 1 and clock() - begun > _PATIENCE
            if is_late or not may_pass(error):
                raise problem from error
            raise Retryable(problem) from error

    return retry(ask, ATTEMPTS, _FIRST_WAIT, _PATIENCE)


clock = time.monotonic


def may_pass(error: BaseException) -> bool:
    """Whether the same request may be answered a moment later."""
    for cause in _causes(error):
        status = _status(cause)
        if status is not None:
            return status in _BUSY
        if (isinstance(cause, OSError) and cause.errno in _LOST) or type(
            cause
        ).__name__ in _LOST_BY_NAME:
            return True
        if isinstance(cause, TimeoutError | ConnectionError | EOFError):
            return True
    return False


def as_os_error(error: BaseException, attempts: int = 1) -> OSError:
    """The same with a number where there is one for it, and in one line."""
    status = next(filter(None, map(_status, _causes(error))), None)
    number = error.errno if isinstance(error, OSError) else None
    number = number or (_REFUSED.get(status) if status else None)
    if isinstance(error, FileNotFoundError):
        number = errno.ENOENT
    if isinstance(error, PermissionError):
        number = errno.EACCES
    said = (isinstance(error, OSError) and error.strerror) or error
    words = " ".join(str(said).split())[:200] or type(error).__name__
    if status in _BUSY:
        often = one_or_many(attempts, "once", f"{attempts} times")
        words = f"the server answered {status} {often}: {words}"
    elif not isinstance(error, OSError):
        words = f"{type(error).__name__}: {words}"
    return OSError(number or errno.EIO, mask(words))


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and each not in seen:
        seen.append(each)
        yield each
        each = each.__cause__


def _status(error: BaseException) -> int | None:
    """Of an answer of HTTP, wherever a library keeps it."""
    for name in ("status", "status_code", "code", "http_status"):
        status = getattr(error, name, None)
        if isinstance(status, int) and not isinstance(status, bool) and 300 <= status < 600:
            return status
    answer = getattr(error, "response", None)
    if isinstance(answer, dict):  # botocore's
        status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode")
        return status if isinstance(status, int) else None
    status = getattr(answer, "status_code", None)
    return status if isinstance(status, int) else None


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file in a store: named, not yet read; cheap to make and to send to another process."""

    root: str = field(repr=False)
    """The address the user named, with whatever password stands in it."""
    path: str
    """Inside the store, as it lists it: never taken for an address, since others choose it."""
    size: int | None
    """In bytes; None: a server that does not say."""
    version: str = ""
    """What tells whether it has changed: its ETag or its number, or size and time; empty where a store has none."""

    def read(self, start: int = 0, end: int | None = None) -> bytes:
        """These bytes, or all; a web server that knows no ranges sends all, and the rest is not read."""
        files = store(self.root)[0]
        if {"#", "?"} & set(self.path) and files._strip_protocol(self.path) != self.path:
            # It would read another file, or none.
            raise OSError(
                errno.EINVAL, "this object store's library doesn't support names with '#' or '?'"
            )
        if self.size is None:
            return asked(lambda: self._streamed(files, start, end))
        if start == 0 and (end is None or end >= self.size):
            whole: bytes = asked(lambda: files.cat_file(self.path))
            return whole
        end = self.size if end is None else min(end, self.size)
        part: bytes = asked(lambda: files.cat_file(self.path, start=start, end=end))
        # A store that knows no ranges sends the whole.
        return part[start:end] if len(part) > end - start else part

    def _streamed(self, files: Any, start: int, end: int | None) -> bytes:
        """Read from a server that says nothing of a size: as much as is asked for and no more."""
        most = LARGEST + 1 if end is None else end
        parts: list[bytes] = []
        length = 0
        with files.open(self.path, "rb") as file:
            while length < most and (part := file.read(min(most - length, _BLOCK))):
                parts.append(part)
                length += len(part)
        if length > LARGEST:
            raise OSError(errno.EFBIG, f"larger than {counted(LARGEST, 'byte')}")
        return b"".join(parts)[start:]

    def open(self) -> BinaryIO:
        """Read in ranges, each asked for again where it fails."""
        if self.size is None:
            return io.BytesIO(self.read())
        return io.BufferedReader(_Ranges(self, self.size), _BLOCK)


class _Ranges(io.RawIOBase):
    def __init__(self, file: StoredFile, size: int) -> None:
        self._file = file
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = max(0, offset + (0, self._at, self._size)[whence])
        return self._at

    def readinto(self, buffer: Any) -> int:
        end = min(self._at + len(buffer), self._size)
        if end <= self._at:
            return 0
        data = self._file.read(self._at, end)
        if not data:
            raise OSError(errno.EIO, "truncated during reading")
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


_RENAMES = ("sftp", "ssh", "ftp", "ftps", "hdfs", "viewfs", "webhdfs", "smb", "webdav")
"""Where a file can be seen while it is written; elsewhere an object is there once its last byte has come."""


def upload(local: str | os.PathLike[str], address: str) -> None:
    """A file under this address, whole or not at all."""
    files, path = store(address)
    scheme = address.partition(":")[0]
    if scheme not in _RENAMES:
        asked(lambda: files.put_file(os.fspath(local), path))
        return
    staged = _beside(path)
    try:
        asked(lambda: files.put_file(os.fspath(local), staged))
        move_file(files, scheme, staged, path)
    except OSError:
        with suppress(Exception):  # that it was not written is what is told
            files.rm_file(staged)
        raise


def _beside(path: str) -> str:
    """A name of one's own in the same folder, which no reader of documents looks at."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/.{name[:40]}.{secrets.token_hex(8)}"


def move_file(files: Any, scheme: str, path: str, target: str) -> None:
    """Rename a file; one that has the name already is replaced, and comes back where that fails."""
    if scheme not in _RENAMES:
        asked(lambda: files.mv(path, target))
        return
    aside = f"{_beside(target)}.old"
    if is_replaced := _is_file(files, target):  # not every server replaces a file
        asked(lambda: files.mv(target, aside))
    try:
        asked(lambda: files.mv(path, target))
        if _is_file(files, path):  # WebHDFS says nothing of a failure
            raise OSError(errno.EIO, f"the server did not rename {path} to {target}")
    except OSError:
        if is_replaced:
            asked(lambda: files.mv(aside, target))
        raise
    if is_replaced:
        with suppress(OSError):  # the new file is there, whatever else is
            asked(lambda: files.rm_file(aside))


def _is_file(files: Any, path: str) -> bool:
    files.invalidate_cache()
    return bool(asked(lambda: files.isfile(path)))


_TAGS = (
    "ETag", "etag", "generation", "VersionId", "version_id", "md5Hash", "content_md5", "checksum", "sha",
)  # fmt: skip
_TIMES = (
    "mtime", "LastModified", "last_modified", "modified", "modificationTime", "modification_time", "updated", "created",
)  # fmt: skip
"""Where stores keep what tells one state of a file from the next; a tag says more than a time."""


class StoreEntry(NamedTuple):
    """A file or a folder below what was named."""

    below: str
    """`/` between its parts; that of a folder ends in one."""
    path: str
    """Inside the store."""
    size: int | None
    version: str

    @property
    def is_folder(self) -> bool:
        return self.below.endswith("/")


def look_up(address: str) -> tuple[StoredFile, bool]:
    """What is at an address, and whether it is a folder."""
    files, path = store(address)
    files.invalidate_cache()  # what it knew when this process looked last may have changed
    result = asked(lambda: files.info(path))
    is_folder = result.get("type") == "directory"
    return StoredFile(address, path, result.get("size"), version_of(result)), is_folder


def version_of(info: dict[str, Any]) -> str:
    """What tells whether a file has changed; empty where a store says nothing that would."""
    tags = [str(info[name]) for name in _TAGS if info.get(name)]
    times = [str(info[name]) for name in _TIMES if info.get(name)]
    messages = tags or times[:1]
    return " ".join([str(info.get("size")), *messages]) if messages else ""


def folder_entries(files: Any, folder: str, below: str = "") -> list[StoreEntry]:
    """The entries of one folder, sorted by name; `below`: its own path."""
    result = asked(lambda: files.ls(folder, detail=True))
    # It would be held for as long as the program runs; of a folder alone some libraries know another spelling.
    files.invalidate_cache()
    entries = []
    for each in result:
        name = each["name"].rstrip("/").rpartition("/")[2]
        if name and each["name"].rstrip("/") != folder.rstrip("/"):
            end = "/" if each.get("type") == "directory" else ""
            entries.append(
                StoreEntry(f"{below}{name}{end}", each["name"], each.get("size"), version_of(each))
            )
    return sorted(entries)
