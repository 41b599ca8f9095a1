"""An index in parts on several machines, searched as one: each part counts words as if it had all of them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any, NoReturn, Protocol
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, warn_user
from chunkwise.core import Document, Span
from chunkwise.models.http.client import Endpoint, JsonClient
from chunkwise.retrieval.bm25 import K1, B, Bm25, CorpusStatistics
from chunkwise.retrieval.conditions import COMPARISONS, Clause, Combined, Condition
from chunkwise.retrieval.errors import DamagedIndex, no_vectors_error, wrong_dimensions_error
from chunkwise.retrieval.filters import EVERYTHING, Filter
from chunkwise.retrieval.indexed_document import DocumentsCache, document_of
from chunkwise.retrieval.indexing.resolve import RequestedSettings
from chunkwise.retrieval.indexing.update import BuiltIndex, Reading
from chunkwise.retrieval.local.arrays import term_table
from chunkwise.retrieval.local.index import LocalIndex
from chunkwise.retrieval.ranking import NOTHING, Ranking
from chunkwise.retrieval.searchable import AtomBounds, ChunkTable, FoundChunk
from chunkwise.retrieval.settings import IndexStats, Settings, read_settings
from chunkwise.retrieval.stored.address import LOOPBACK
from chunkwise.text.terms import query_terms

KEY_VARIABLE = "CHUNKWISE_SHARD_KEY"
PATH = "/api/shard"
_BITS = 40
"""Of a number that tell chunks and documents of one shard; those above tell the shard."""
_MINE = (1 << _BITS) - 1
_SECONDS = 30.0
"""The longest that a shard is waited for."""
_MOST = 1 << 20
"""Chunks a question, or numbers looked up at once."""
_ADDRESS = re.compile(r"shards(?:\+(https?))?://(.+)", re.IGNORECASE)


class Shard(Protocol):
    """A part of an index, wherever it lies."""

    @property
    def name(self) -> str: ...

    def ask(self, call: str, given: Mapping[str, Any]) -> Any:
        """What `answer_shard` says there; an error where nobody answers."""


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
            Endpoint(f"{address.rstrip('/')}{PATH}", "", KEY_VARIABLE, timeout=_SECONDS, attempts=1)
        )

    def ask(self, call: str, given: Mapping[str, Any]) -> Any:
        payload = {"call": call, "given": json.dumps(given)}
        return self._client.ask(payload, lambda answer: json.loads(answer["answer"]))


def answer_shard(index: object, call: str, given: str) -> str:
    """What a server of one part answers: JSON to JSON."""
    if type(index) is not LocalIndex:
        raise InvalidParameter("a shard is an index in a folder, or in memory; this is another one")
    answers: dict[str, Callable[..., Any]] = {
        "about": _about,
        "frequencies": _frequencies,
        "words": _words,
        "nearest": _nearest,
        "chunks": lambda index, numbers: [list(each) for each in index.chunks(_numbers(numbers))],
        "vectors": lambda index, numbers: index.chunk_vectors(_numbers(numbers)).tolist(),
        "document": _document,
        "atoms": lambda index, number: [
            each.tolist() for each in index.atoms(*_numbers([number], index.document_count))
        ],
        "range": lambda index, number: index.chunk_range(*_numbers([number], index.document_count)),
        "ids": lambda index: index.ids(),
        "table": lambda index: [each.tolist() for each in index.chunk_table()[:4]],
        "stats": lambda index: asdict(index.stats()),
    }
    if call not in answers:
        raise InvalidParameter(f"call is {call!r:.80}; allowed: {', '.join(answers)}")
    try:
        return json.dumps(answers[call](index, **json.loads(given)))
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:  # fmt: skip
        raise InvalidParameter(f"a shard cannot {call} what it was given ({error})") from error


def _numbers(given: Sequence[int], most: int = _MINE) -> list[int]:
    if len(given) > _MOST or not all(type(each) is int and 0 <= each < most for each in given):
        raise ValueError("numbers of this part are needed")
    return list(given)


def _about(index: LocalIndex) -> dict[str, Any]:
    length = term_table(index.arrays, "chunk").length
    return {
        "settings": asdict(index.settings), "languages": list(index.languages), "documents": index.document_count,
        "chunks": index.chunk_count, "length": int(length.sum(dtype=np.int64)), "summaries": index.has_summaries,
    }  # fmt: skip


def _frequencies(index: LocalIndex, terms: list[int]) -> list[int]:
    """In how many chunks each term stands."""
    table = term_table(index.arrays, "chunk").columns(np.array(terms, np.uint64))
    found: list[int] = np.diff(table.first).tolist()
    return found


def _words(
    index: LocalIndex,
    terms: list[list[int]],
    depth: int,
    only: Mapping[str, Any],
    k1: float,
    b: float,
    rows: int,
    length: int,
    frequency: list[list[int]],
) -> list[Any]:
    terms_known, counts = zip(*frequency, strict=True) if frequency else ((), ())
    known = CorpusStatistics(rows, length, dict(zip(terms_known, counts, strict=True)))
    bm25 = Bm25(term_table(index.arrays, "chunk"), k1, b, known)
    asked = [np.array(each, np.uint64) for each in terms]
    return _sent(bm25.top(asked, min(depth, _MOST), index.allowed("chunk", _filter(only))))


def _nearest(
    index: LocalIndex, vectors: list[list[float]], depth: int, only: Mapping[str, Any]
) -> list[Any]:
    rows = np.array(vectors, np.float32).reshape(len(vectors), -1)
    return _sent(index.nearest(rows, min(depth, _MOST), _filter(only)))


def _document(index: LocalIndex, number: int) -> dict[str, Any]:
    (own,) = _numbers([number], index.document_count)
    found = {name: index.text_of(name, own) for name in ("id", "record", "text")}
    return {**found, "pages": list(index.document(own).pages)}


def _sent(rankings: Sequence[Ranking]) -> list[Any]:
    return [[each.numbers.tolist(), each.scores.tolist()] for each in rankings]


def _described(only: Filter) -> dict[str, Any]:
    return {
        "documents": only.documents, "sections": only.sections, "pages": only.pages, "level": only.level,
        "where": [_described_clause(each) for each in only.where],
    }  # fmt: skip


def _described_clause(clause: Clause) -> dict[str, Any]:
    if isinstance(clause, Condition):
        return {"key": clause.key, "comparison": clause.comparison, "values": clause.values}
    return {"how": clause.how, "clauses": [_described_clause(each) for each in clause.clauses]}


def _filter(given: Mapping[str, Any]) -> Filter:
    where = tuple(_clause(each) for each in given["where"])
    pages = given["pages"]
    return Filter(
        tuple(given["documents"]), tuple(given["sections"]), None if pages is None else tuple(pages),
        given["level"], where,
    )  # fmt: skip


def _clause(given: Mapping[str, Any], depth: int = 0) -> Clause:
    if "how" in given and depth < 20 and given["how"] in ("and", "or", "not"):
        return Combined(given["how"], tuple(_clause(each, depth + 1) for each in given["clauses"]))
    if given["comparison"] not in COMPARISONS or not isinstance(given["key"], str):
        raise ValueError(f"{given['comparison']!r:.40} is no comparison")
    return Condition(given["key"], given["comparison"], tuple(given["values"]))


class ShardedIndex:
    """`Searchable` by chunks; a part that does not answer is told, and the others answer."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self.shards = tuple(shards)
        self.down: tuple[str, ...] = ()
        """Parts that did not answer when they were asked last."""
        self._threads = ThreadPoolExecutor(max(1, len(shards)))
        self._about: list[dict[str, Any] | None] = [None] * len(shards)
        self._counts: list[dict[int, int]] = [{} for _ in shards]
        self._documents = DocumentsCache(self._read_document)
        self._learn_about()
        first = next(each for each in self._about if each is not None)
        self.settings: Settings = self._settings_of(first, self.shards[0].name)

    def _learn_about(self) -> None:
        missing = [at for at, each in enumerate(self._about) if each is None]
        for at, found in self._asked("about", {at: {} for at in missing}).items():
            self._about[at] = found
        known = [
            (shard.name, self._settings_of(each, shard.name))
            for shard, each in zip(self.shards, self._about, strict=True)
            if each is not None
        ]
        if not known:
            raise ChunkwiseError(
                f"no shard answers ({', '.join(self.down)}): start each with chunkwise serve, and set {KEY_VARIABLE}"
            )
        for name, other in known[1:]:
            if other != known[0][1]:
                raise ChunkwiseError(
                    f"{name} was made with other settings than {known[0][0]}: make all shards by the same command"
                )

    @staticmethod
    def _settings_of(about: Mapping[str, Any], where: str) -> Settings:
        try:
            return read_settings(about["settings"], where)
        except (ValueError, KeyError, TypeError) as error:
            raise ChunkwiseError(f"{where} is a shard of another version ({error})") from error

    def _asked(self, call: str, given: Mapping[int, Mapping[str, Any]]) -> dict[int, Any]:
        """Of each of these shards what it answers; those that do not are told and left out."""
        waiting = {
            at: self._threads.submit(self.shards[at].ask, call, each) for at, each in given.items()
        }
        found, lost = {}, []
        for at, future in waiting.items():
            try:
                found[at] = future.result()
            except (ChunkwiseError, ValueError, KeyError, TypeError) as error:
                lost.append(self.shards[at].name)
                warn_user(
                    f"the shard {self.shards[at].name} does not answer ({error}): what it holds is not among the hits"
                )
        asked = {self.shards[at].name for at in given}
        self.down = tuple(name for name in self.down if name not in asked) + tuple(lost)
        return found

    def _ask(self, at: int, call: str, **given: Any) -> Any:
        """What cannot be left out: it was found there a moment ago."""
        try:
            return self.shards[at].ask(call, given)
        except (ValueError, KeyError, TypeError) as error:
            raise ChunkwiseError(
                f"{self.shards[at].name} is a shard of another version: {error}"
            ) from error

    def _sum(self, name: str) -> int:
        return sum(each[name] for each in self._about if each is not None)

    @property
    def languages(self) -> tuple[str, ...]:
        found = {name for each in self._about if each is not None for name in each["languages"]}
        return tuple(sorted(found))

    @property
    def document_count(self) -> int:
        return self._sum("documents")

    @property
    def chunk_count(self) -> int:
        return self._sum("chunks")

    @property
    def has_summaries(self) -> bool:
        return bool(self._sum("summaries"))

    def words(
        self, queries: Sequence[str], depth: int, only: Filter, *, k1: float = K1, b: float = B
    ) -> list[Ranking]:
        self._learn_about()
        terms = [query_terms(query, self.languages) for query in queries]
        every = np.unique(np.concatenate([np.empty(0, np.uint64), *terms])).tolist()
        self._learn_counts(every)
        frequency = [[term, sum(each.get(term, 0) for each in self._counts)] for term in every]
        given = {
            "terms": [each.tolist() for each in terms], "depth": depth, "only": _described(only), "k1": k1, "b": b,
            "rows": self.chunk_count, "length": self._sum("length"), "frequency": frequency,
        }  # fmt: skip
        return self._merged("words", given, len(queries), depth)

    def _learn_counts(self, terms: Sequence[int]) -> None:
        given = {}
        for at, known in enumerate(self._counts):
            new = [term for term in terms if term not in known]
            if new and self._about[at] is not None:
                given[at] = {"terms": new}
        for at, found in self._asked("frequencies", given).items():
            self._counts[at].update(zip(given[at]["terms"], found, strict=True))

    def nearest(
        self, vectors: NDArray[np.float32], depth: int, only: Filter = EVERYTHING
    ) -> list[Ranking]:
        if not self.settings.dimensions:
            raise no_vectors_error()
        if vectors.ndim != 2 or vectors.shape[1] != self.settings.dimensions:
            raise wrong_dimensions_error(vectors.shape, self.settings.dimensions)
        self._learn_about()
        given = {"vectors": vectors.tolist(), "depth": depth, "only": _described(only)}
        return self._merged("nearest", given, len(vectors), depth)

    def _merged(
        self, call: str, given: Mapping[str, Any], queries: int, depth: int
    ) -> list[Ranking]:
        there = {at: given for at, about in enumerate(self._about) if about is not None}
        answers = self._asked(call, there)
        merged = []
        for query in range(queries):
            parts = [(at, *each[query]) for at, each in answers.items() if each[query][0]]
            if not parts:
                merged.append(NOTHING)
                continue
            numbers = np.concatenate([np.array(own, np.int64) + (at << _BITS) for at, own, _ in parts])  # fmt: skip
            scores = np.concatenate([np.array(own, np.float32) for _, _, own in parts])
            order = np.lexsort((numbers, -scores))[:depth]
            merged.append(Ranking(numbers[order], scores[order]))
        return merged

    def chunks(self, numbers: Sequence[int]) -> list[FoundChunk]:
        found: dict[int, FoundChunk] = {}
        for at, own in _by_shard(numbers).items():
            for row in self._ask(at, "chunks", numbers=own):
                chunk = _chunk(row, at)
                found[chunk.number] = chunk
        return [found[int(number)] for number in numbers]

    def chunk_vectors(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        if not self.settings.dimensions:
            raise no_vectors_error()
        rows: dict[int, Any] = {}
        for at, own in _by_shard(numbers).items():
            vectors = self._ask(at, "vectors", numbers=own)
            rows.update(zip(((at << _BITS) + each for each in own), vectors, strict=True))
        found = [rows[int(number)] for number in numbers]
        return np.array(found, np.float32).reshape(len(found), self.settings.dimensions)

    def chunk_range(self, document: int) -> tuple[int, int]:
        at = document >> _BITS
        low, high = self._ask(at, "range", number=document & _MINE)
        return (at << _BITS) + low, (at << _BITS) + high

    def document(self, number: int) -> Document:
        return self._documents.get(number)

    def _read_document(self, number: int) -> Document:
        found = self._ask(number >> _BITS, "document", number=number & _MINE)
        try:
            return document_of(found["id"], found["record"], found["text"], tuple(found["pages"]))
        except (ValueError, TypeError, KeyError) as error:
            raise DamagedIndex(f"document {number}", error) from error

    def atoms(self, document: int) -> AtomBounds:
        start, end, tokens = self._ask(document >> _BITS, "atoms", number=document & _MINE)
        return AtomBounds(
            np.array(start, np.int64), np.array(end, np.int64), np.array(tokens, np.int32)
        )

    def ids(self) -> list[str]:
        return [id for found in self._of_all("ids") for id in found]

    def document_numbers(self) -> list[int]:
        return [
            (at << _BITS) + number
            for at, about in enumerate(self._about)
            if about is not None
            for number in range(about["documents"])
        ]

    def chunk_table(self) -> ChunkTable:
        columns: list[list[int]] = [[], [], [], []]
        before = 0
        for at, found in enumerate(self._of_all("table")):
            document, *others = found
            columns[0] += [before + each for each in document]
            for column, own in zip(columns[1:], others, strict=True):
                column += own
            before += self._known[at]["documents"]
        return ChunkTable(*(np.array(each, np.int64) for each in columns))

    @property
    def _known(self) -> list[dict[str, Any]]:
        return [each for each in self._about if each is not None]

    def _of_all(self, call: str) -> list[Any]:
        return [self._ask(at, call) for at, each in enumerate(self._about) if each is not None]

    def stats(self) -> IndexStats:
        every = [IndexStats(**each) for each in self._of_all("stats")]
        summed = {name: sum(getattr(each, name) for each in every) for name in asdict(every[0])}
        return IndexStats(**{**summed, "dimensions": self.settings.dimensions})


def _by_shard(numbers: Sequence[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for number in numbers:
        found.setdefault(int(number) >> _BITS, []).append(int(number) & _MINE)
    return found


def _chunk(row: Sequence[Any], at: int) -> FoundChunk:
    found = FoundChunk(*row)
    return found._replace(
        number=(at << _BITS) + found.number,
        document=(at << _BITS) + found.document,
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
        return opened.settings

    def _refuse(self, place: str) -> NoReturn:
        raise InvalidParameter(
            f"the index of {', '.join(shard_addresses(place))} is searched, not written: make each shard where it is "
            "served, chunkwise index PART --into shard, by the same settings"
        )


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
