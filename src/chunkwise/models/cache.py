"""What models gave (vectors, answers, contexts, verdicts), kept by what they were given: nothing is paid for twice.

One SQLite file, shared by every run. An answer is on disk before the next one is asked for, so that a run killed at any
moment goes on where it was. Each value has a seal, a hash of its key and itself, as SQLite does not notice bytes that a
disk has changed: such a value is asked for again.
"""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, warn_user
from chunkwise.base.sqlite import BUSY, DAMAGED, SqliteFormat, connect, reason_of, transaction
from chunkwise.base.wording import counted, thousands
from chunkwise.models.embed.embedder import (
    Embedder,
    Kind,
    TokenEmbedder,
    TokenVectors,
    as_vectors,
    suits_late,
    vectors_of,
)
from chunkwise.models.home_folder import CACHE_VARIABLE, HOME_VARIABLE, keeps_results, vectors_file


class _OtherCache(ChunkwiseError):
    """A file of another program or version."""


_FORMAT = SqliteFormat(
    "cache",
    0x63686361,
    (
        "create table models (id integer primary key, identity text not null unique)",
        "create table vectors (key blob primary key, model integer not null, value blob not "
        "null, seal blob not null)",
        "create index vectors_of_model on vectors (model)",
    ),
    _OtherCache,
    "",
    survives_power_loss=False,
)
_BUSY_SECONDS = 60.0
_AT_ONCE = 500
"""Keys in one question; SQLite allows 999 at least."""
_FIRST = 16
_MOST = 1024
_SECONDS = 1.0
"""About how long texts are read before their vectors are put on disk: what a killed run loses at most."""
Result = TypeVar("Result")
Wanted = TypeVar("Wanted")


def key_of(identity: str, kind: str, text: str, more: bytes = b"") -> bytes:
    """The name of a result: a hash of all it depends on, each part with its length before it."""
    hashed = blake2b(digest_size=20)
    for part in (identity.encode(), kind.encode(), more, text.encode("utf-8", "surrogatepass")):
        hashed.update(len(part).to_bytes(8, "little"))
        hashed.update(part)
    return hashed.digest()


def _seal(key: bytes, value: bytes) -> bytes:
    return blake2b(key + value, digest_size=8).digest()


class CachedAmount(NamedTuple):
    """How much is kept of one model."""

    model: str
    entries: int
    bytes: int


class ModelCache:
    """Written as results arrive; several processes may share it, and any of them may be killed."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or vectors_file()
        self._connection: sqlite3.Connection | None = None
        self._left: sqlite3.Connection | None = None
        self._process = 0
        self._file = 0
        self._lock = threading.Lock()
        self._refused = not keeps_results()
        """Whether it is done without."""
        self._told_damage = False

    def __reduce__(self) -> tuple[object, ...]:
        return ModelCache, (self.path,)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are there, as they were written."""
        nothing: tuple[dict[bytes, bytes], int] = ({}, 0)
        result, damaged = self._or_without(lambda connection: _select(connection, keys), nothing)
        if damaged and not self._told_damage:
            self._told_damage = True
            warn_user(
                f"the cache {self.path} has {counted(damaged, 'damaged entry')} of "
                f"{thousands(len(keys))} read; recomputing. Check the disk"
            )
        return result

    def put(self, identity: str, values: Mapping[bytes, bytes]) -> None:
        """Keeps results of one model; they survive a kill when this returns, if not a loss of power."""
        self._or_without(lambda connection: _insert(connection, identity, values), None)

    def stats(self) -> list[CachedAmount]:
        """What is kept of each model, the most first."""
        return self._or_error(_count) if self.path.exists() else []

    def size(self) -> int:
        """Bytes on disk, with what SQLite has not folded in yet."""
        return sum(file.stat().st_size for file in self._files() if file.exists())

    def clear(self, model: str | None = None) -> int:
        """Forgets all, or the models whose identity starts so; how many entries that were."""
        if model == "":
            raise InvalidParameter(
                "model is ''; expected a prefix of a model identity, or None to clear all"
            )
        return self._or_error(lambda item: _delete(item, model)) if self.path.exists() else 0

    def close(self) -> None:
        with self._lock:
            self._close_unlocked()

    def __del__(self) -> None:
        if os is not None:  # at the end of a program modules go before objects do
            self._close_unlocked()  # nobody else is left to use it

    def _close_unlocked(self) -> None:
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()
        self._connection = None

    def _files(self) -> list[Path]:
        return [self.path.with_name(self.path.name + ending) for ending in ("", "-wal", "-shm")]

    def _or_error(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        try:
            with self._lock:
                return self._mended(work)
        except (sqlite3.Error, OSError) as error:
            raise ChunkwiseError(f"cannot use the cache {self.path}: {error}") from error

    def _or_without(self, work: Callable[[sqlite3.Connection], Result], nothing: Result) -> Result:
        """A cache saves time; where the disk is full or may not be written to, work goes on without."""
        with self._lock:
            if self._refused:
                return nothing
            try:
                return self._mended(work)
            except (sqlite3.Error, OSError) as error:
                if reason_of(error) in BUSY:
                    warn_user(
                        f"the cache {self.path} was locked for more than "
                        f"{thousands(_BUSY_SECONDS)} seconds; continuing without it"
                    )
                    return nothing
                self._refused = True
                warn_user(
                    f"continuing without the cache {self.path} ({error}); free disk space, set "
                    f"another folder with {HOME_VARIABLE}, or disable it with {CACHE_VARIABLE}=off"
                )
                return nothing

    def _mended(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Once more with a new file where the old one turns out to be damaged."""
        try:
            return work(self._open())
        except (sqlite3.DatabaseError, _OtherCache) as error:
            if isinstance(error, sqlite3.Error) and reason_of(error) not in DAMAGED:
                raise
            self._set_aside()
            return work(self._open())

    def _open(self) -> sqlite3.Connection:
        if self._connection is None or self._process != os.getpid():
            self._left = self._connection  # must not be used, nor closed, beyond a fork
            self._process = os.getpid()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = None
            # Whichever file turns out to be damaged, it is no newer one than this.
            self._file = self.path.stat().st_ino if self.path.exists() else 0
            self._connection = connect(self.path, _FORMAT, _BUSY_SECONDS, check_same_thread=False)
            self._file = self.path.stat().st_ino
        elif self._connection.in_transaction:  # of a call that was interrupted
            self._connection.rollback()
        return self._connection

    def _set_aside(self) -> None:
        self._close_unlocked()
        if not self.path.exists() or self.path.stat().st_ino != self._file:
            return  # another process was quicker
        away = self.path.with_name(f"{self.path.name}.damaged-{time.time_ns()}")
        for file, ending in zip(self._files(), ("", "-wal", "-shm"), strict=True):
            with suppress(FileNotFoundError):
                file.rename(away.with_name(away.name + ending))
        warn_user(f"the cache {self.path} was damaged or from another version; moved to {away}")


def _select(
    connection: sqlite3.Connection, keys: Sequence[bytes]
) -> tuple[dict[bytes, bytes], int]:
    """Values by key, and how many were damaged, which are forgotten."""
    result: dict[bytes, bytes] = {}
    damaged: list[tuple[bytes, bytes]] = []
    for first in range(0, len(keys), _AT_ONCE):
        some = keys[first : first + _AT_ONCE]
        marks = ",".join("?" * len(some))
        rows = connection.execute(
            f"select key, value, seal from vectors where key in ({marks})", some
        )
        for key, value, seal in rows:
            if seal == _seal(key, value):
                result[key] = value
            else:
                damaged.append((key, seal))
    if damaged:
        # What was read is sound all the same where it may not be written to, or another writes for long.
        with suppress(sqlite3.OperationalError), transaction(connection):
            connection.executemany("delete from vectors where key = ? and seal = ?", damaged)
    return result, len(damaged)


def _insert(connection: sqlite3.Connection, identity: str, values: Mapping[bytes, bytes]) -> None:
    with transaction(connection):
        connection.execute("insert or ignore into models (identity) values (?)", [identity])
        (model,) = connection.execute(
            "select id from models where identity = ?", [identity]
        ).fetchone()
        connection.executemany(
            "insert or ignore into vectors (key, model, value, seal) values (?, ?, ?, ?)",
            [(key, model, value, _seal(key, value)) for key, value in values.items()],
        )


def _count(connection: sqlite3.Connection) -> list[CachedAmount]:
    rows = connection.execute(
        "select identity, count(*), sum(length(value)) from vectors join models on id = model"
        " group by identity order by 3 desc, 1"
    )
    return [CachedAmount(*row) for row in rows]


def _delete(connection: sqlite3.Connection, model: str | None) -> int:
    chosen = "select id from models where substr(identity, 1, length(:name)) = :name"
    done = connection.execute(
        f"delete from vectors where model in ({chosen})", {"name": model or ""}
    )
    connection.execute("vacuum")
    connection.execute("pragma wal_checkpoint(truncate)")
    return done.rowcount


class CachedTexts:
    """What one model wrote, of one kind: answers, contexts, verdicts."""

    def __init__(self, cache: ModelCache | None, identity: str, kind: str) -> None:
        self.cache = cache or ModelCache()
        self.identity = identity
        self._kind = kind

    def key(self, text: str, how: object) -> bytes:
        """Of the text that was asked about; `how` it was asked is JSON: prompt, schema, temperature …"""
        more = json.dumps(how, sort_keys=True).encode()
        return key_of(self.identity, self._kind, text, more)

    def get(self, keys: Iterable[bytes]) -> dict[bytes, str]:
        """Those that are known."""
        result = self.cache.get(list(keys))
        return {key: value.decode("utf-8", "surrogatepass") for key, value in result.items()}

    def put(self, texts: Mapping[bytes, str]) -> None:
        """On disk when this returns."""
        values = {key: text.encode("utf-8", "surrogatepass") for key, text in texts.items()}
        self.cache.put(self.identity, values)


def kept_or_made(
    cache: ModelCache | None,
    identity: str,
    wanted: Mapping[bytes, Wanted],
    make: Callable[[Sequence[Wanted]], Iterable[bytes]],
) -> dict[bytes, bytes]:
    """The value of every key, from the cache where it is known; the others are made together, and kept."""
    known = cache.get(list(wanted)) if cache else {}
    missing = {key: item for key, item in wanted.items() if key not in known}
    if missing:
        fresh = dict(zip(missing, make(list(missing.values())), strict=True))
        if cache:
            cache.put(identity, fresh)
        known = {**known, **fresh}
    return known


class CachedEmbedder:
    """Looks into the cache first; what is new is kept as it comes."""

    def __init__(self, embedder: Embedder, cache: ModelCache) -> None:
        self.embedder = embedder
        self.cache = cache

    @property
    def identity(self) -> str:
        return self.embedder.identity

    @property
    def slice_size(self) -> int:
        """How many texts keep the embedder busy: one that sends requests says so."""
        size: int = getattr(self.embedder, "slice_size", 1)
        return size

    @cached_property
    def dimensions(self) -> int:
        """Kept with the first vectors: an endpoint has to be asked for it."""
        key = key_of(self.identity, "dimensions", "")
        kept = self.cache.get([key]).get(key)
        return self.embedder.dimensions if kept is None else int.from_bytes(kept, "little")

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        identity = self.identity
        keys = [key_of(identity, kind, text) for text in texts]
        known = {
            key: np.frombuffer(value, dtype="<f4")
            for key, value in self.cache.get(list(dict.fromkeys(keys))).items()
        }
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        for some, fresh in self._fresh(missing, kind):
            rows = dict(zip(some, fresh.astype("<f4"), strict=True))
            self._check_length(fresh.shape[1])
            # What is no vector is for the caller to judge, and not for ever.
            sound = {key: row.tobytes() for key, row in rows.items() if np.isfinite(row).all()}
            size = {key_of(identity, "dimensions", ""): self.dimensions.to_bytes(8, "little")}
            self.cache.put(identity, {**size, **sound})
            known.update(rows)
        if left := sum(key not in known for key in missing):
            raise ChunkwiseError(
                f"{identity} returned no vector for {thousands(left)} of "
                f"{counted(len(missing), 'text')}"
            )
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, key in enumerate(keys):
            self._check_length(len(known[key]))
            vectors[row] = known[key]
        return vectors

    def _fresh(
        self, missing: Mapping[bytes, str], kind: Kind
    ) -> Iterator[tuple[Sequence[bytes], NDArray[np.float32]]]:
        """Keys and their vectors as they come; an embedder that hands out batches itself loses none to a refusal."""
        keys, texts = list(missing), list(missing.values())
        embed_each = getattr(self.embedder, "embed_each", None)
        if embed_each is None:
            for some in self._slices(keys):
                yield some, vectors_of(self.embedder, [missing[key] for key in some], kind)
        elif texts:
            for at, rows in embed_each(texts, kind):
                yield keys[at : at + len(rows)], as_vectors(self.identity, rows, len(rows))

    def _check_length(self, length: int) -> None:
        if length != self.dimensions:
            raise ChunkwiseError(
                f"{self.identity} returns {length} dimensions, expected {self.dimensions}: "
                f"correct its `dimensions` or, if the model has changed, clear its cache: "
                f"chunkwise models cache clear --model {shlex.quote(self.identity)}"
            )

    def _slices(self, keys: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
        """As many at once as take about a second, or keep the embedder busy."""
        least = self.slice_size
        first, size = 0, max(least, _FIRST)
        while first < len(keys):
            began = time.monotonic()
            yield keys[first : first + size]
            first += size
            took = time.monotonic() - began
            size = max(least, min(_MOST, size * 2) if took < _SECONDS else size // 2)


class CachedTokenEmbedder(CachedEmbedder):
    """The same for an embedder that can look inside a text; late sums are kept in the cache, too."""

    embedder: TokenEmbedder

    def __init__(self, embedder: TokenEmbedder, cache: ModelCache) -> None:
        super().__init__(embedder, cache)

    @property
    def window(self) -> int:
        return self.embedder.window

    @property
    def suits_late(self) -> bool:
        return suits_late(self.embedder)

    def token_starts(self, text: str) -> NDArray[np.int64]:
        return self.embedder.token_starts(text)

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        return self.embedder.token_vectors(texts)


def cached(embedder: Embedder, cache: ModelCache) -> CachedEmbedder:
    """Wrapped so that it still is, or is not, a `TokenEmbedder`."""
    # Not isinstance: that would ask for `dimensions`, and an endpoint would send a request.
    if hasattr(type(embedder), "token_vectors"):
        return CachedTokenEmbedder(cast(TokenEmbedder, embedder), cache)
    return CachedEmbedder(embedder, cache)
