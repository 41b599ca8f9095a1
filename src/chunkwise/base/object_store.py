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
from functools import partial
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
_LOST_BY_REQUESTS = frozenset(
    ("ConnectionError", "ConnectTimeout", "ReadTimeout", "ChunkedEncodingError")
)
"""By their names, since it need not be installed: its errors have no number."""
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
    found = _SCHEME.match(text)
    if found is None or os.path.lexists(text):
        return None
    scheme = found[1].lower()
    if scheme not in PACKAGES and scheme not in _registered():
        return None
    return f"{scheme}://{text[found.end() :]}"


def local_name(name: str) -> str:
    """`/docs` of `file:///docs`; every other name as it is."""
    found = _SCHEME.match(name)
    if found is None or found[1].lower() != "file" or os.path.lexists(name):
        return name
    return unquote(f"/{name[found.end() :]}")


def _registered() -> frozenset[str]:
    """Schemes that somebody has told fsspec of; not those of this machine, and not those that wrap others."""
    try:
        from fsspec.registry import known_implementations, registry
    except ImportError:
        return frozenset()
    return frozenset((*known_implementations, *registry)) - _NOT_STORES


_NOT_STORES = frozenset(
    "file local asynclocal asyncwrapper blockcache cached filecache simplecache dir generic reference root zip tar "
    "libarchive data dask pyscript".split()
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
        if scheme in _NOT_FORKED:
            return _kept(address)
        found: tuple[Any, str] = url_to_fs(address)
    except ImportError as error:
        package = PACKAGES.get(scheme)
        install = f"pip install 'chunkwise[remote]' {package}" if package else str(error)
        raise ChunkwiseError(f"{scheme}:// needs a package of its own: {install}") from error
    except Exception as error:  # credentials, a host that is no host: in each library's own words
        if PACKAGES.get(scheme) == "adlfs" and re.search(
            "connection_string|account_name", str(error)
        ):
            raise ChunkwiseError(
                f"{scheme}:// needs an account of Azure: set AZURE_STORAGE_CONNECTION_STRING, or "
                "AZURE_STORAGE_ACCOUNT_NAME with AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN"
            ) from error
        if scheme == "hdfs" and re.search("libhdfs|libjvm", str(error)):
            raise ChunkwiseError(
                "hdfs:// by PyArrow needs Java and Hadoop's libhdfs on this machine, which are not here; without them: "
                f"pip install 'chunkwise[remote]' {PACKAGES['hdfs']}"
            ) from error
        raise as_os_error(error) from error
    _limit_silence(found[0])
    return found


_SILENCE = 60.0
"""Seconds for which a server may say nothing: as many as libraries of other stores allow of themselves."""


def _limit_silence(files: Any) -> None:
    """`requests` waits for ever, and so do the libraries that leave it at that (WebHDFS, DBFS)."""
    session: Any = getattr(files, "session", None)
    if type(session).__module__ != "requests.sessions" or isinstance(session.request, partial):
        return
    session.request = partial(session.request, timeout=_SILENCE)


_NOT_FORKED = ("hdfs", "viewfs")
"""Whose library has threads that wait forever in a forked process, where fsspec lets go of all that it keeps."""
_hosts: dict[str, Any] = {}


def _kept(address: str) -> tuple[Any, str]:
    """The same, kept here and not by fsspec: one for each host."""
    from fsspec.core import url_to_fs

    host = "/".join(address.split("/")[:3])
    if host not in _hosts:
        _hosts[host] = url_to_fs(address, skip_instance_cache=True)[0]
    return _hosts[host], str(_hosts[host]._strip_protocol(address))


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
    for each in _causes(error):
        status = _status(each)
        if status is not None:
            return status in _BUSY
        if isinstance(each, OSError) and each.errno in _LOST:
            return True
        if isinstance(each, TimeoutError | ConnectionError | EOFError):
            return True
        if type(each).__module__.partition(".")[0] == "aiohttp" and not isinstance(each, OSError):
            return "Payload" in type(each).__name__ or "Disconnected" in type(each).__name__
        if type(each).__module__ == "requests.exceptions":
            # A host that nobody knows is a mistyped one, as a rule.
            is_unknown = type(_why(each)).__name__ == "NameResolutionError"
            return type(each).__name__ in _LOST_BY_REQUESTS and not is_unknown
    return False


def _why(error: BaseException) -> object:
    """What requests wraps twice: its own words are about the tries of the library below it."""
    return getattr(error.args[0] if error.args else None, "reason", None)


def as_os_error(error: BaseException, attempts: int = 1) -> OSError:
    """The same with a number where there is one for it, and in one line."""
    status = next(filter(None, map(_status, _causes(error))), None)
    number = error.errno if isinstance(error, OSError) else None
    number = number or (_REFUSED.get(status) if status else None)
    if isinstance(error, FileNotFoundError):
        number = errno.ENOENT
    if isinstance(error, PermissionError):
        number = errno.EACCES
    said = (isinstance(error, OSError) and error.strerror) or _why(error) or error
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


_PARTIAL = 206
_WITHOUT_RANGES: set[type] = set()
"""Kinds of stores that send a file as a whole whatever part is asked for, unless it is opened."""


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
            raise OSError(errno.EINVAL, "the library of this store knows no names with '#' or '?'")
        if self.size is None or self._is_web:
            return asked(lambda: self._streamed(files, start, end))
        if start == 0 and (end is None or end >= self.size):
            whole: bytes = asked(lambda: files.cat_file(self.path))
            return whole
        if type(files) not in _WITHOUT_RANGES:
            part: bytes = asked(lambda: files.cat_file(self.path, start=start, end=end))
            if len(part) <= (self.size if end is None else end) - start:
                return part
            _WITHOUT_RANGES.add(type(files))  # it sent the whole, and would again for every part
        return asked(lambda: self._sought(files, start, end))

    def _sought(self, files: Any, start: int, end: int | None) -> bytes:
        with files.open(self.path, "rb") as file:
            file.seek(start)
            found: bytes = file.read(-1 if end is None else end - start)
        return found

    @property
    def _is_web(self) -> bool:
        return self.root.startswith(("http://", "https://"))

    def _streamed(self, files: Any, start: int, end: int | None) -> bytes:
        """Of a server that says nothing of a size, or may say anything: as much as is asked for and no more."""
        how: dict[str, Any] = {}
        if self._is_web:
            how = {"block_size": 0, "size": 1}  # fsspec hands out what comes, without looking first
            if start or (end is not None and self.size is not None and end < self.size):
                given = files.kwargs.get("headers", {})
                how["headers"] = {
                    **given,
                    "Range": f"bytes={start}-{'' if end is None else end - 1}",
                }
        parts: list[bytes] = []
        length = 0
        with files.open(self.path, "rb", **how) as file:
            # Only the answer says whether it is the part that was asked for, or all from the beginning.
            is_part = getattr(getattr(file, "r", None), "status", None) == _PARTIAL
            before = 0 if is_part else start
            most = LARGEST + 1 if end is None else before + end - start
            while length < most and (part := file.read(min(most - length, _BLOCK))):
                parts.append(part)
                length += len(part)
        if end is None and length > LARGEST:
            raise OSError(errno.EFBIG, f"larger than {counted(LARGEST, 'byte')}")
        return b"".join(parts)[before:]

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
            raise OSError(errno.EIO, "shorter than it was when it was listed")
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def is_there(address: str) -> bool:
    """Whether there is a file at an address; what cannot be looked at may be one."""
    try:
        files, path = store(address)
        return bool(asked(lambda: files.isfile(path)))
    except OSError:
        return True


_RENAMES = ("sftp", "ssh", "ftp", "ftps", "hdfs", "viewfs", "webhdfs", "smb", "webdav")
"""Where a file can be seen while it is written; elsewhere an object is there once its last byte has come."""
_REPLACES = {"hdfs": {"overwrite": True}, "viewfs": {"overwrite": True}}
"""What must be said for a file to take a name that another one has."""


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
    except _MayBeGone:  # then neither of the two is removed
        raise
    except OSError:
        with suppress(Exception):  # that it was not written is what is told
            files.rm_file(staged)
        raise


def _beside(path: str) -> str:
    """A name of one's own in the same folder, which no reader of documents looks at."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/.{name[:40]}.{secrets.token_hex(8)}"


class _MayBeGone(OSError):
    """A file was to be replaced, and cannot be seen under its name any more."""


def move_file(files: Any, scheme: str, path: str, target: str) -> None:
    """Under another name, in the place of the file that has it; where that fails, the older one stays."""
    if scheme not in _RENAMES:
        asked(lambda: files.mv(path, target))
        return
    older = _kind_and_size(files, target)
    if older is not None and older[0] == "directory":
        raise IsADirectoryError(errno.EISDIR, f"{target} is a folder")
    aside = f"{_beside(target)}.old"
    try:
        _replace(files, path, target, aside, _REPLACES.get(scheme, {}))
    except OSError as error:
        if older is None or _is_back(files, aside, target):
            raise
        kept = f"if {target} is gone, the older file is {aside} and the new one {path}"
        raise _MayBeGone(error.errno, f"{error.strerror}; {kept}: rename one of them") from error


def _replace(files: Any, path: str, target: str, aside: str, how: dict[str, Any]) -> None:
    try:
        _rename(files, path, target, **how)
        return
    except OSError:
        if None in (_kind_and_size(files, path), _kind_and_size(files, target)):
            raise
    # Not every server replaces a file, and not every library says so: then the older one makes room.
    _rename(files, target, aside)
    _rename(files, path, target)
    with suppress(OSError):  # the new file is there, whatever else is
        asked(lambda: files.rm_file(aside))


def _is_back(files: Any, aside: str, target: str) -> bool:
    """Whether there is a file under its name: still, or again."""
    try:
        if _kind_and_size(files, target) is None:
            _rename(files, aside, target)
    except OSError:
        return False
    return True


def _rename(files: Any, path: str, target: str, **how: Any) -> None:
    """Neither an error nor its absence says whether it was done: an answer may be lost, and WebHDFS's is not read."""
    meant = _kind_and_size(files, path)
    if meant is None:
        raise FileNotFoundError(errno.ENOENT, f"{path} is not there any more")
    why = OSError(errno.EIO, f"the server did not rename {path} to {target}")
    try:
        asked(lambda: files.mv(path, target, **how))
    except OSError as error:
        if meant[1] is None:  # an older file could not be told from it
            raise
        why = error
    if _kind_and_size(files, path) is not None or _kind_and_size(files, target) != meant:
        raise why


def _kind_and_size(files: Any, path: str) -> tuple[str, int | None] | None:
    """None: nothing is there. `exists` of fsspec says so of a lost connection, too."""
    files.invalidate_cache()
    try:
        found = asked(lambda: files.info(path))
    except FileNotFoundError:
        return None
    return found["type"], found.get("size")


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
    found = asked(lambda: files.info(path))
    is_folder = found.get("type") == "directory"
    return StoredFile(address, path, found.get("size"), version_of(found)), is_folder


def version_of(info: dict[str, Any]) -> str:
    """What tells whether a file has changed; empty where a store says nothing that would."""
    tags = [str(info[name]) for name in _TAGS if info.get(name)]
    times = [str(info[name]) for name in _TIMES if info.get(name)]
    told = tags or times[:1]
    return " ".join([str(info.get("size")), *told]) if told else ""


StorePages = Iterator[list[StoreEntry]]


def folder_pages(files: Any, folder: str, below: str = "") -> StorePages:
    """The entries of one folder, a page at a time, in the order of their names; `below`: its own path."""
    if hasattr(files, "call_s3"):  # a page of a million names, not all of them
        return _s3_pages(files, folder, below)
    return _whole_folder(files, folder, below)


def _whole_folder(files: Any, folder: str, below: str) -> StorePages:
    found = asked(lambda: files.ls(folder, detail=True))
    # It would be held for as long as the program runs; of a folder alone some libraries know another spelling.
    files.invalidate_cache()
    entries = []
    for each in found:
        name = each["name"].rstrip("/").rpartition("/")[2]
        if name and each["name"].rstrip("/") != folder.rstrip("/"):
            end = "/" if each.get("type") == "directory" else ""
            entries.append(
                StoreEntry(f"{below}{name}{end}", each["name"], each.get("size"), version_of(each))
            )
    yield sorted(entries)


def _s3_pages(files: Any, folder: str, below: str) -> StorePages:
    bucket, key, _ = files.split_path(folder)
    if not bucket:
        raise OSError("no bucket is named")
    prefix = f"{key.rstrip('/')}/" if key.rstrip("/") else ""
    more: dict[str, str] = {}
    while True:
        ask = partial(
            files.call_s3,
            "list_objects_v2",
            Bucket=bucket,
            Prefix=prefix,
            Delimiter="/",
            **more,
        )
        page = asked(ask)
        entries = []
        for each in page.get("Contents", ()):
            if name := each["Key"][len(prefix) :]:  # empty: the mark of the folder itself
                path = f"{bucket}/{each['Key']}"
                version = version_of({**each, "size": each["Size"]})
                entries.append(StoreEntry(f"{below}{name}", path, each["Size"], version))
        for each in page.get("CommonPrefixes", ()):
            name = each["Prefix"][len(prefix) :].rstrip("/")
            path = f"{bucket}/{prefix}{name}"
            entries.append(StoreEntry(f"{below}{name}/", path, None, ""))
        yield sorted(entries)
        if not page.get("IsTruncated"):
            return
        more = {"ContinuationToken": page["NextContinuationToken"]}
