"""Files of a store (`s3://bucket/docs/`): listed in the order of a folder, page by page, and read ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from chunkwise.base.errors import UnreadableDocument
from chunkwise.base.object_store import StoredFile, asked, shown_address, store
from chunkwise.documents.loader import OnUnreadable
from chunkwise.documents.source import HEAD, Source, os_reason, printable
from chunkwise.documents.walk import PACKAGES_HERE, is_built, names_meant

_TOGETHER = 16
"""Requests at the same time: what is waited for is the way there and back."""
_AHEAD = 32
"""Files read before they are asked for."""
_SMALL = 1 << 20
"""Bytes of a file that is fetched whole at once: a second request would take longer."""

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


def walk_store(
    address: str, folder: str, on_unreadable: OnUnreadable, depth: int | None = None
) -> Iterator[StoreEntry]:
    """The files below a folder of a store, sorted by their paths as those of a folder on a disk are.

    A page of names is held of each folder that is open; the first pages of those to come are asked for meanwhile.
    """
    files = store(address)[0]
    with _threads() as threads:
        listing = _Listing(address.partition("://")[0], files, threads, on_unreadable)
        open_folders = [("", listing.children("", listing.pages(folder, ""), depth))]
        while open_folders:
            below, children = open_folders[-1]
            try:
                found = next(children, None)
            except OSError as error:
                if not below:
                    raise  # the folder the user named
                open_folders.pop()
                where = f"{shown_address(address).rstrip('/')}/{below}"
                on_unreadable(UnreadableDocument(printable(where), os_reason(error)))
                continue
            if found is None:
                open_folders.pop()
            elif isinstance(found, StoreEntry):
                yield found
            else:
                open_folders.append((found.below, listing.children(*found)))


@contextmanager
def _threads() -> Iterator[ThreadPoolExecutor]:
    threads = ThreadPoolExecutor(_TOGETHER, "chunkwise-store")
    try:
        yield threads
    finally:
        # Nobody wants the rest, and what is under way must not keep the caller waiting.
        threads.shutdown(wait=False, cancel_futures=True)


Pages = Iterator[list[StoreEntry]]


class _OpenFolder(NamedTuple):
    below: str
    pages: Pages
    depth: int | None


class _Listing:
    """The folders of one store."""

    def __init__(
        self, scheme: str, files: Any, threads: ThreadPoolExecutor, told: OnUnreadable
    ) -> None:
        self._scheme = scheme
        """As the user spells it: several stores speak the language of S3."""
        self._files = files
        self._threads = threads
        self._told = told

    def pages(self, folder: str, below: str) -> Pages:
        """The entries of one folder, a page at a time, in the order of their names."""
        if hasattr(self._files, "call_s3"):  # a page of a million names, not all of them
            return self._s3_pages(folder, below)
        return self._whole(folder, below)

    def _whole(self, folder: str, below: str) -> Pages:
        found = asked(lambda: self._files.ls(folder, detail=True))
        # It would be held for as long as the program runs; of a folder alone some libraries know another spelling.
        self._files.invalidate_cache()
        entries = []
        for each in found:
            name = each["name"].rstrip("/").rpartition("/")[2]
            if name and each["name"].rstrip("/") != folder.rstrip("/"):
                end = "/" if each.get("type") == "directory" else ""
                entries.append(
                    StoreEntry(
                        f"{below}{name}{end}", each["name"], each.get("size"), version_of(each)
                    )
                )
        yield sorted(entries)

    def _s3_pages(self, folder: str, below: str) -> Pages:
        bucket, key, _ = self._files.split_path(folder)
        if not bucket:
            raise OSError("no bucket is named")
        prefix = f"{key.rstrip('/')}/" if key.rstrip("/") else ""
        more: dict[str, str] = {}
        while True:
            ask = partial(
                self._files.call_s3,
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

    def children(
        self, below: str, pages: Pages, depth: int | None
    ) -> Iterator[StoreEntry | _OpenFolder]:
        """Files, and folders with their first page on its way."""
        for names in pages:
            page = [entry for entry in names if entry.below != f"{below}/"]
            for nameless in (
                entry for entry in names if entry.below == f"{below}/"
            ):  # no path leads into it
                reason = "a folder without a name (// in keys): what is in it is not read"
                where = printable(f"{self._scheme}://{nameless.path}/")
                self._told(UnreadableDocument(where, reason))
            # Of a page at a time: a folder of thousands is no checkout of code and no test set.
            by_name = {entry.below[len(below) :].rstrip("/"): entry for entry in page}
            if below and PACKAGES_HERE in by_name:
                return
            meant = names_meant(by_name, partial(self._head, by_name))
            wanted: list[StoreEntry | _OpenFolder] = []
            for entry in page:
                name = entry.below[len(below) :].rstrip("/")
                if name not in meant:
                    continue
                if not entry.is_folder:
                    wanted.append(entry)
                elif (depth is None or depth > 1) and not is_built(name, by_name):
                    inner = self.pages(entry.path, entry.below)
                    wanted.append(
                        _OpenFolder(entry.below, inner, None if depth is None else depth - 1)
                    )
            yield from self._looking_ahead(wanted)

    def _looking_ahead(
        self, wanted: list[StoreEntry | _OpenFolder]
    ) -> Iterator[StoreEntry | _OpenFolder]:
        started: deque[_OpenFolder] = deque()
        upcoming = iter([each for each in wanted if isinstance(each, _OpenFolder)])
        for entry in wanted:
            if isinstance(entry, StoreEntry):
                yield entry
                continue
            while len(started) < _TOGETHER and (following := next(upcoming, None)) is not None:
                started.append(following._replace(pages=self._begun(following.pages)))
            yield started.popleft()

    def _begun(self, pages: Pages) -> Pages:
        first: Future[list[StoreEntry] | None] = self._threads.submit(next, pages, None)

        def all_pages() -> Pages:
            page = first.result()
            if page is not None:
                yield page
                yield from pages

        return all_pages()

    def _head(self, entries: Mapping[str, StoreEntry], name: str) -> bytes:
        """The first bytes of a file; of what cannot be read none."""
        path = entries[name].path
        try:
            data: bytes = asked(lambda: self._files.cat_file(path, start=0, end=HEAD))
        except OSError:
            return b""
        return data[:HEAD]


def read_ahead(
    sources: Iterable[Source], is_wanted: Callable[[Source], bool]
) -> Iterator[tuple[Source, UnreadableDocument | None]]:
    """The sources in their order, many of them being read at once: small ones whole, of others the first bytes.

    What is not wanted comes as it is; what cannot be read comes with the reason.
    """
    with _threads() as threads:
        waiting: deque[tuple[Source, Future[Source] | None]] = deque()
        remaining = iter(sources)
        failed: Exception | None = None
        while True:
            try:
                source = next(remaining, None)
            except (OSError, UnreadableDocument) as error:  # what was listed before it is read
                source, failed = None, error
            if source is None:
                break
            future = threads.submit(_begun, source) if is_wanted(source) else None
            waiting.append((source, future))
            if len(waiting) >= _AHEAD:
                yield _outcome(*waiting.popleft())
        while waiting:
            yield _outcome(*waiting.popleft())
        if failed is not None:
            raise failed


def _outcome(
    source: Source, future: Future[Source] | None
) -> tuple[Source, UnreadableDocument | None]:
    if future is None:
        return source, None
    try:
        return future.result(), None
    except UnreadableDocument as error:
        return source, error


def _begun(source: Source) -> Source:
    stored = source.stored
    assert stored is not None
    if stored.size is not None and stored.size > _SMALL:
        return replace(source, opening=source.head())
    data = source.head(_SMALL + 1)
    if len(data) <= _SMALL:
        return replace(source, data=data)
    return replace(source, opening=data[:HEAD])  # more than was said, or nothing was
