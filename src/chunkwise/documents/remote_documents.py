"""Documents in a store (`s3://bucket/docs/`): found below a folder in the order of a disk, and read ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from chunkwise.base.errors import UnreadableDocument
from chunkwise.base.object_store import (
    StoreEntry,
    StorePages,
    asked,
    folder_pages,
    shown_address,
    store,
)
from chunkwise.documents.loader import OnUnreadable
from chunkwise.documents.source import HEAD, Source, os_reason, printable
from chunkwise.documents.walk import PACKAGES_HERE, is_built, names_meant

_TOGETHER = 16
"""Requests at the same time: what is waited for is the way there and back."""
_AHEAD = 32
"""Files read before they are asked for."""
_SMALL = 1 << 20
"""Bytes of a file that is fetched whole at once: a second request would take longer."""


def walk_store(
    address: str, folder: str, on_unreadable: OnUnreadable, depth: int | None = None
) -> Iterator[StoreEntry]:
    """The files below a folder of a store, sorted by their paths as those of a folder on a disk are.

    A page of names is held of each folder that is open; the first pages of those to come are asked for meanwhile.
    """
    files = store(address)[0]
    with _threads() as threads:
        listing = _Listing(address.partition("://")[0], files, threads, on_unreadable)
        open_folders = [("", listing.children("", folder_pages(files, folder), depth))]
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


class _OpenFolder(NamedTuple):
    below: str
    pages: StorePages
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

    def children(
        self, below: str, pages: StorePages, depth: int | None
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
                    inner = folder_pages(self._files, entry.path, entry.below)
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

    def _begun(self, pages: StorePages) -> StorePages:
        first: Future[list[StoreEntry] | None] = self._threads.submit(next, pages, None)

        def all_pages() -> StorePages:
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
