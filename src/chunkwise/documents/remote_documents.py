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
    asked,
    folder_entries,
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


class _OpenFolder(NamedTuple):
    below: str
    entries: Future[list[StoreEntry]]
    depth: int | None


def walk_store(
    address: str, folder: str, on_unreadable: OnUnreadable, depth: int | None = None
) -> Iterator[StoreEntry]:
    """The files below a folder of a store, sorted by their paths as those of a folder on a disk are."""
    files = store(address)[0]
    with _threads() as threads:

        def opened(below: str, path: str, depth: int | None) -> _OpenFolder:
            return _OpenFolder(below, threads.submit(folder_entries, files, path, below), depth)

        pending: list[StoreEntry | _OpenFolder] = [opened("", folder, depth)]
        while pending:
            result = pending.pop()
            if isinstance(result, StoreEntry):
                yield result
                continue
            try:
                entries = result.entries.result()
            except OSError as error:
                if not result.below:
                    raise  # the folder the user named
                where = f"{shown_address(address).rstrip('/')}/{result.below}"
                on_unreadable(UnreadableDocument(printable(where), os_reason(error)))
                continue
            by_name = {entry.below[len(result.below) :].rstrip("/"): entry for entry in entries}
            if result.below and PACKAGES_HERE in by_name:
                continue
            meant = names_meant(by_name, partial(_head, files, by_name))
            inner = None if result.depth is None else result.depth - 1
            children: list[StoreEntry | _OpenFolder] = []
            for name, entry in by_name.items():
                if name not in meant:
                    continue
                if not entry.is_folder:
                    children.append(entry)
                elif inner != 0 and not is_built(name, by_name):
                    children.append(opened(entry.below, entry.path, inner))
            pending.extend(reversed(children))


def _head(files: Any, entries: Mapping[str, StoreEntry], name: str) -> bytes:
    """The first bytes of a file; of what cannot be read none."""
    path = entries[name].path
    try:
        data: bytes = asked(lambda: files.cat_file(path, start=0, end=HEAD))
    except OSError:
        return b""
    return data[:HEAD]


@contextmanager
def _threads() -> Iterator[ThreadPoolExecutor]:
    threads = ThreadPoolExecutor(_TOGETHER, "chunkwise-store")
    try:
        yield threads
    finally:
        # Nobody wants the rest, and what is under way must not keep the caller waiting.
        threads.shutdown(wait=False, cancel_futures=True)


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
