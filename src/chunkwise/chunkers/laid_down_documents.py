"""A long document in the hands of one worker, which lays down what becomes of it piece by piece."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from chunkwise.base.errors import UnreadableDocument
from chunkwise.base.laid_down import take_up
from chunkwise.base.workers import OneByOne, WorkerDied, WorkerGroup
from chunkwise.documents.source import Source


def begin_laying_down(
    workers: WorkerGroup[Any, Any], one_by_one: OneByOne, source: Source, folder: Path
) -> Callable[[], Iterator[Any]]:
    """To be called in its turn: the pieces, or what is wrong with the document, of which then nothing is used."""
    path = folder / secrets.token_hex(8)
    laid = workers.lay_down(one_by_one, source, path)
    return lambda: _pieces(laid, source, path)


def _pieces(laid: Future[None], source: Source, path: Path) -> Iterator[Any]:
    try:
        laid.result()
    except UnreadableDocument as problem:
        path.unlink(missing_ok=True)
        yield problem
    except WorkerDied as error:
        path.unlink(missing_ok=True)
        yield died_at(source.origin, error)
    else:
        yield from take_up(path)


def died_at(name: str, error: WorkerDied) -> UnreadableDocument:
    """A document that ends the process of whoever works on it."""
    return UnreadableDocument(name, f"{error} while it was cut, perhaps for lack of memory")
