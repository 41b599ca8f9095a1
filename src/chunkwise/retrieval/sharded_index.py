"""An index in parts on several machines, searched as one: each part counts words as if it had all of them."""

from __future__ import annotations

import base64
import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from typing import Any, NoReturn, Protocol
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, warn_user
from chunkwise.core import Document, Span
from chunkwise.models.http_client import Endpoint, EndpointError, JsonClient, NoAnswer
from chunkwise.retrieval.bm25 import K1, B
from chunkwise.retrieval.databases.store import LOOPBACK
from chunkwise.retrieval.errors import (
    ChangedMeanwhile,
    DamagedIndex,
    no_vectors_error,
    wrong_dimensions_error,
)
from chunkwise.retrieval.filters import EVERYTHING, Filter
from chunkwise.retrieval.indexed_document import DocumentsCache, document_of
from chunkwise.retrieval.indexing.resolve_settings import RequestedSettings
from chunkwise.retrieval.indexing.update import BuiltIndex, Reading
from chunkwise.retrieval.ranking import NOTHING, Ranking
from chunkwise.retrieval.searchable import AtomBounds, ChunkTable, FoundChunk
from chunkwise.retrieval.settings import IndexStats, Settings, read_settings
from chunkwise.retrieval.shard_server import NUMBER_BITS, NUMBERS, described
from chunkwise.retrieval.tables_lists_code import ROW_WIDTH, WholeBlocks
from chunkwise.text.terms import query_terms

KEY_VARIABLE = "CHUNKWISE_SHARD_KEY"
PATH = "/api/shard"
_SECONDS = 30.0
"""The longest that a shard is waited for."""
_CONNECT_SECONDS = 3.0
"""A machine that is on says at once whether somebody listens."""
_ADDRESS = re.compile(r"shards(?:\+(https?))?://(.+)", re.IGNORECASE)


class ShardDown(ChunkwiseError):
    """Nobody is there, or nobody who can work: asked again later, it may be otherwise."""


class Shard(Protocol):
    """A part of an index, wherever it lies."""

    @property
    def name(self) -> str: ...

    def ask(self, call: str, given: Mapping[str, Any]) -> Any:
        """What `answer_shard` says there; `ShardDown` where nobody answers, another error where it refuses."""

    def close(self) -> None: ...


class ServedShard:
    """What `chunkwise serve` answers for."""

    def __init__(self, address: str) -> None:
        self.name = address
        found = urlsplit(address)
        if (
            os.environ.get(KEY_VARIABLE)
            and found.scheme == "http"
            and found.hostname not in LOOPBACK
        ):
            raise InvalidParameter(
                f"{KEY_VARIABLE} would travel to {found.hostname} unencrypted; write shards+https://…, or unset it"
            )
        # Asked once: whoever searches waits.
        self._client = JsonClient(
            Endpoint(
                f"{address.rstrip('/')}{PATH}", "", KEY_VARIABLE, timeout=_SECONDS, attempts=1,
                connect_timeout=_CONNECT_SECONDS,
            )
        )  # fmt: skip

    def ask(self, call: str, given: Mapping[str, Any]) -> Any:
        payload = {"call": call, "given": json.dumps(given)}
        try:
            return self._client.ask(payload, lambda answer: json.loads(answer["answer"]))
        except NoAnswer as error:
            raise ShardDown(str(error)) from error
        except EndpointError as error:
            if error.status is not None and error.status >= 500:
                raise ShardDown(str(error)) from error
            raise

    def close(self) -> None:
        self._client.close()


def shard_addresses(place: str) -> list[str]:
    """The servers that an address names."""
    found = _ADDRESS.fullmatch(place)
    hosts = [each.strip().rstrip("/") for each in found[2].split(",")] if found else []
    if not found or not all(hosts) or any("/" in each or "@" in each for each in hosts):
        raise InvalidParameter(
            "the place of the shards is written shards://host:8420,other:8420 (shards+https://…), and the key that "
            f"they ask for stands in {KEY_VARIABLE}"
        )
    return [f"{(found[1] or 'http').lower()}://{each}" for each in hosts]


_AT_ONCE = 4
"""Questions to one shard at the same time."""
_FIRST_PAUSE, _LONGEST_PAUSE = 2.0, 60.0
"""Seconds for which one that is down is not asked: each time longer."""
_SENT = 1 << 19
"""Bytes of questions in one request: `chunkwise serve` takes 1 MB, and quotes within JSON count twice."""
_TERMS, _LOOKED_UP = 20_000, 2_000


class _Part:
    """What is known of one shard, as long as it stays what it is."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        # Of its own: one that does not answer takes no threads from the others.
        self.threads = ThreadPoolExecutor(_AT_ONCE)
        self.down_until = 0.0
        """By the clock that never goes back: until then it is not asked again."""
        self.why = ""
        """What was said when it was down."""
        self._pause = _FIRST_PAUSE
        self.forget("")

    def forget(self, stamp: str) -> None:
        """It has another content now."""
        self.stamp = stamp
        self.about: dict[str, Any] | None = None
        self.counts: dict[int, int] = {}
        """In how many of its chunks terms stand."""
        self.documents = DocumentsCache(self._read_document)

    @property
    def is_down(self) -> bool:
        return time.monotonic() < self.down_until

    def ask(self, call: str, given: Mapping[str, Any]) -> Any:
        try:
            answer = self.shard.ask(call, {**given, "stamp": self.stamp or None})
            stamp, is_here = str(answer["stamp"]), "found" in answer
        except ShardDown as error:
            self.why = str(error)
            self.down_until = time.monotonic() + self._pause
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
            raise
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, ChunkwiseError):
                raise
            raise ChunkwiseError(
                f"{self.shard.name} is a shard of another version ({error}): serve it with the chunkwise that asks"
            ) from error
        self.down_until, self._pause = 0.0, _FIRST_PAUSE
        if not is_here:
            self.forget(stamp)
            raise ChangedMeanwhile(f"{self.shard.name} was indexed anew meanwhile; ask again")
        self.stamp = stamp
        return answer["found"]

    def _read_document(self, number: int) -> WholeBlocks:
        found = self.ask("document", {"number": number})
        try:
            rows = np.array(found["blocks"], np.int64).reshape(-1, ROW_WIDTH)
            id, record, text, pages = (found[name] for name in ("id", "record", "text", "pages"))
            return WholeBlocks(document_of(id, record, text, tuple(pages)), rows)
        except (ValueError, TypeError, KeyError) as error:
            raise DamagedIndex(f"document {number} of {self.shard.name}", error) from error


class ShardedIndex:
    """`Searchable` by chunks; a part that does not answer is told, and the others answer."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self.shards = tuple(shards)
        self.down: tuple[str, ...] = ()
        """Parts that did not answer when they were wanted last."""
        self._parts = [_Part(each) for each in shards]
        self._learn_about()
        self.settings: Settings = self._settings_of(self._known[0])

    def _learn_about(self) -> None:
        missing = [at for at, each in enumerate(self._parts) if each.about is None]
        for at, found in self._asked("about", {at: {} for at in missing}).items():
            self._parts[at].about = found
        known = self._known
        if not known:
            raise self._nobody()
        settings = [self._settings_of(each) for each in known]
        for part, other in zip(known[1:], settings[1:], strict=True):
            if other != settings[0]:
                raise ChunkwiseError(
                    f"{part.shard.name} was made with other settings than {known[0].shard.name}: make all shards by "
                    "the same command"
                )

    def _nobody(self) -> ChunkwiseError:
        return ChunkwiseError(
            f"no shard answers ({', '.join(self.down)}): start each with chunkwise serve, and set {KEY_VARIABLE}"
        )

    @property
    def _known(self) -> list[_Part]:
        return [each for each in self._parts if each.about is not None]

    @staticmethod
    def _settings_of(part: _Part) -> Settings:
        try:
            assert part.about is not None
            return read_settings(part.about["settings"], part.shard.name)
        except (ValueError, KeyError, TypeError) as error:
            raise ChunkwiseError(
                f"{part.shard.name} is a shard of another version ({error})"
            ) from error

    def _asked(self, call: str, given: Mapping[int, Mapping[str, Any]]) -> dict[int, Any]:
        """Of each of these shards what it answers; those that are down are told and left out."""
        found: dict[int, Any] = {}
        lost: dict[int, str] = {}
        waiting = {}
        for at, each in given.items():
            part = self._parts[at]
            if part.is_down:
                lost[at] = part.why  # the same words: warnings that were shown are not shown again
            else:
                waiting[at] = part.threads.submit(part.ask, call, each)
        refusals: list[ChunkwiseError] = []
        for at, future in waiting.items():
            try:
                found[at] = future.result()
            except ShardDown as error:
                lost[at] = str(error)
            except ChunkwiseError as error:  # all are waited for, before one is told
                refusals.append(error)
        if refusals:
            raise refusals[0]
        self._tell_down(given, lost)
        return found

    def _tell_down(self, asked: Iterable[int], lost: Mapping[int, str]) -> None:
        names = {at: self._parts[at].shard.name for at in asked}
        self.down = (
            *(name for name in self.down if name not in names.values()),
            *(names[at] for at in lost),
        )
        for at, why in lost.items():
            warn_user(
                f"the shard {names[at]} does not answer ({why}): what it holds is not among the hits"
            )

    def _ask(self, at: int, call: str, **given: Any) -> Any:
        """What cannot be left out: it was found there a moment ago. Asked again, the question goes without it."""
        try:
            return self._parts[at].ask(call, given)
        except ShardDown as error:
            raise self._stopped(at, error) from error

    def _stopped(self, at: int, error: ShardDown) -> ChangedMeanwhile:
        self._tell_down([at], {at: str(error)})
        return ChangedMeanwhile(
            f"the shard {self._parts[at].shard.name} stopped answering during the search; ask again"
        )

    def _sum(self, name: str) -> int:
        return sum(each.about[name] for each in self._known if each.about is not None)

    def _renew(self) -> None:
        """What each shard holds now, whatever it held when it was asked last."""
        known = [at for at, each in enumerate(self._parts) if each.about is not None]
        with suppress(ChangedMeanwhile):
            for at, found in self._asked("about", {at: {} for at in known}).items():
                self._parts[at].about = found
        self._learn_about()

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(
            sorted({name for each in self._known for name in (each.about or {})["languages"]})
        )

    @property
    def document_count(self) -> int:
        self._renew()
        return self._sum("documents")

    @property
    def chunk_count(self) -> int:
        self._renew()
        return self._sum("chunks")

    @property
    def has_summaries(self) -> bool:
        return bool(self._sum("summaries"))

    def words(
        self, queries: Sequence[str], depth: int, only: Filter, *, k1: float = K1, b: float = B
    ) -> list[Ranking]:
        self._learn_about()
        terms = [query_terms(query, self.languages) for query in queries]
        self._learn_counts(np.unique(np.concatenate([np.empty(0, np.uint64), *terms])).tolist())
        shared = {
            "depth": depth, "only": described(only), "k1": k1, "b": b, "rows": self._sum("chunks"),
            "length": self._sum("length"),
        }  # fmt: skip
        found: list[Ranking] = []
        for some in _sent_together([80 * len(each) + 20 for each in terms]):
            own = [terms[at].tolist() for at in some]
            frequency = [
                [term, sum(part.counts.get(term, 0) for part in self._parts)]
                for term in sorted({term for each in own for term in each})
            ]
            given = {**shared, "terms": own, "frequency": frequency}
            found += self._merged("words", given, len(own), depth)
        return found

    def _learn_counts(self, terms: Sequence[int]) -> None:
        for low in range(0, len(terms), _TERMS):
            some = terms[low : low + _TERMS]
            given = {}
            for at, part in enumerate(self._parts):
                new = [term for term in some if term not in part.counts]
                if new and part.about is not None:
                    given[at] = {"terms": new}
            for at, found in self._asked("frequencies", given).items():
                self._parts[at].counts.update(zip(given[at]["terms"], found, strict=True))

    def nearest(
        self, vectors: NDArray[np.float32], depth: int, only: Filter = EVERYTHING
    ) -> list[Ranking]:
        if not self.settings.dimensions:
            raise no_vectors_error()
        if vectors.ndim != 2 or vectors.shape[1] != self.settings.dimensions:
            raise wrong_dimensions_error(vectors.shape, self.settings.dimensions)
        self._learn_about()
        rows = [
            base64.b64encode(each.tobytes()).decode("ascii")
            for each in np.ascontiguousarray(vectors, "<f4")
        ]
        found: list[Ranking] = []
        for some in _sent_together([len(each) + 8 for each in rows]):
            given = {
                "vectors": [rows[at] for at in some], "depth": depth, "only": described(only),
            }  # fmt: skip
            found += self._merged("nearest", given, len(some), depth)
        return found

    def _merged(
        self, call: str, given: Mapping[str, Any], queries: int, depth: int
    ) -> list[Ranking]:
        there = {at: given for at, part in enumerate(self._parts) if part.about is not None}
        answers = self._asked(call, there)
        if not answers:  # no hits would mean that nothing was found
            raise self._nobody()
        merged = []
        for query in range(queries):
            parts = [(at, *each[query]) for at, each in answers.items() if each[query][0]]
            if not parts:
                merged.append(NOTHING)
                continue
            numbers = np.concatenate(
                [np.array(own, np.int64) + (at << NUMBER_BITS) for at, own, _ in parts]
            )
            scores = np.concatenate([np.array(own, np.float32) for _, _, own in parts])
            order = np.lexsort((numbers, -scores))[:depth]
            merged.append(Ranking(numbers[order], scores[order]))
        return merged

    def chunks(self, numbers: Sequence[int]) -> list[FoundChunk]:
        found: dict[int, FoundChunk] = {}
        for at, own in _by_shard(numbers).items():
            for low in range(0, len(own), _LOOKED_UP):
                for row in self._ask(at, "chunks", numbers=own[low : low + _LOOKED_UP]):
                    chunk = _chunk(row, at)
                    found[chunk.number] = chunk
        return [found[int(number)] for number in numbers]

    def chunk_vectors(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        if not self.settings.dimensions:
            raise no_vectors_error()
        rows: dict[int, Any] = {}
        for at, own in _by_shard(numbers).items():
            for low in range(0, len(own), _LOOKED_UP):
                some = own[low : low + _LOOKED_UP]
                vectors = self._ask(at, "vectors", numbers=some)
                rows.update(
                    zip(((at << NUMBER_BITS) + each for each in some), vectors, strict=True)
                )
        found = [rows[int(number)] for number in numbers]
        return np.array(found, np.float32).reshape(len(found), self.settings.dimensions)

    def chunk_range(self, document: int) -> tuple[int, int]:
        at = document >> NUMBER_BITS
        low, high = self._ask(at, "range", number=document & NUMBERS)
        return (at << NUMBER_BITS) + low, (at << NUMBER_BITS) + high

    def document(self, number: int) -> Document:
        return self.blocks(number).document

    def blocks(self, document: int) -> WholeBlocks:
        at = document >> NUMBER_BITS
        try:
            return self._parts[at].documents.get(document & NUMBERS)
        except ShardDown as error:
            raise self._stopped(at, error) from error

    def atoms(self, document: int) -> AtomBounds:
        start, end, tokens = self._ask(document >> NUMBER_BITS, "atoms", number=document & NUMBERS)
        return AtomBounds(
            np.array(start, np.int64), np.array(end, np.int64), np.array(tokens, np.int32)
        )

    def ids(self) -> list[str]:
        return [id for _, found in self._of_all("ids") for id in found]

    def document_numbers(self) -> list[int]:
        self._renew()
        return [
            (at << NUMBER_BITS) + number
            for at, part in enumerate(self._parts)
            if part.about is not None
            for number in range(part.about["documents"])
        ]

    def chunk_table(self) -> ChunkTable:
        columns: list[list[int]] = [[], [], [], []]
        before = 0
        for part, found in self._of_all("table"):
            document, *others = found
            columns[0] += [before + each for each in document]
            for column, own in zip(columns[1:], others, strict=True):
                column += own
            before += part.about["documents"] if part.about else 0
        return ChunkTable(*(np.array(each, np.int64) for each in columns))

    def _of_all(self, call: str) -> list[tuple[_Part, Any]]:
        self._renew()
        return [
            (part, self._ask(at, call))
            for at, part in enumerate(self._parts)
            if part.about is not None
        ]

    def stats(self) -> IndexStats:
        every = [IndexStats(**each) for _, each in self._of_all("stats")]
        summed = {name: sum(getattr(each, name) for each in every) for name in asdict(every[0])}
        return IndexStats(**{**summed, "dimensions": self.settings.dimensions})

    def close(self) -> None:
        """Lets threads and connections go."""
        for part in self._parts:
            part.threads.shutdown(wait=False, cancel_futures=True)
            part.shard.close()


def _sent_together(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Questions by their places, as many at once as a server takes: what is too large alone it refuses itself."""
    group: list[int] = []
    room = 0
    for at, size in enumerate(sizes):
        if group and room + size > _SENT:
            yield group
            group, room = [], 0
        group.append(at)
        room += size
    if group:
        yield group


def _by_shard(numbers: Sequence[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for number in numbers:
        found.setdefault(int(number) >> NUMBER_BITS, []).append(int(number) & NUMBERS)
    return found


def _chunk(row: Sequence[Any], at: int) -> FoundChunk:
    found = FoundChunk(*row)
    return found._replace(
        number=(at << NUMBER_BITS) + found.number,
        document=(at << NUMBER_BITS) + found.document,
        section=tuple(found.section),
        parent=(found.parent[0], found.parent[1]),
        spans=tuple(Span(*each) for each in found.spans),
        span_tokens=tuple(found.span_tokens),
    )


class ShardsEngine:
    """`shards://host:8420,other:8420`, or `shards+https://…`: what `chunkwise serve` answers for, searched as one."""

    def into(
        self,
        place: str,
        reading: Reading,
        requested: RequestedSettings,
        *,
        rebuild: bool,
        wait: float,
    ) -> BuiltIndex[Any]:
        self._refuse(place)

    def open(self, place: str) -> Any:
        return ShardedIndex([ServedShard(each) for each in shard_addresses(place)])

    def settings(self, place: str, *, of_any_version: bool) -> Settings | None:
        opened: ShardedIndex = self.open(place)
        try:
            return opened.settings
        finally:
            opened.close()

    def _refuse(self, place: str) -> NoReturn:
        raise InvalidParameter(
            f"the index of {', '.join(shard_addresses(place))} is searched, not written: make each shard where it is "
            "served, chunkwise index PART --into shard, by the same settings"
        )
