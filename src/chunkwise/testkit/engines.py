"""What every engine keeps to: what an index in memory finds, whatever was asked, written, interrupted or removed."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import BrokenContract, ChunkwiseError
from chunkwise.base.wording import counted, percent, thousands
from chunkwise.core import Document, Hit
from chunkwise.models.embed.embedder import Kind
from chunkwise.options import SearchOptions
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.indexes import Index, index, open_index
from chunkwise.retrieval.local import folder
from chunkwise.testkit.sample_run import HashedWords, sample_documents, sample_queries

_STRATEGY = "sentences(max_tokens=20, overlap=0)"
_DEPTH = 8
_BUDGET = 80
_LONGEST_WAIT = 600.0
"""Seconds for what must happen at the same time: only what hangs takes as long."""
_RETRIEVERS = ("bm25", "dense", "hybrid", "multiscale")
_FILTERS: tuple[Filter, ...] = (
    Filter(documents=("*.md",)),
    Filter(documents=("leave.md", "nowhere")),
    Filter(sections=("sick leave",)),
    Filter(where={"year": 2024}),
    Filter(where="year>=2023 and (lang=de or not lang exists)"),
    Filter(where={"it's": "x'; drop table documents; --"}),
    Filter(documents=("*",), where="lang in de,en"),
)


class Interrupted(Exception):
    """Raised amid an update, as a connection that drops or a process that is ended would be."""


@dataclass
class WatchedWords:
    """The embedder of the checks: counts what it is asked for, and stops or waits where a check says so."""

    identity: str
    """Another one in each check: what a known model gave is kept, and nothing would be asked for here."""
    dimensions: int = HashedWords.dimensions
    embedded: int = 0
    fails_after: int | None = None
    began: threading.Event | None = None
    may_go_on: threading.Event | None = None

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        if kind == "passage":
            self.embedded += len(texts)
            if self.fails_after is not None and self.embedded > self.fails_after:
                raise Interrupted("the check interrupts the update here")
            if self.began is not None and self.may_go_on is not None:
                self.began.set()
                self.may_go_on.wait(_LONGEST_WAIT)
        return HashedWords().embed(texts, kind)


class FoundPlace(NamedTuple):
    """A hit, as it is compared."""

    document: str
    start: int
    end: int
    score: float


def check_engine(
    new_place: Callable[[], str],
    *,
    make: Callable[..., Index] = index,
    opened: Callable[..., Index] = open_index,
    tolerance: float = 1e-4,
    least_recall: float | None = None,
) -> None:
    """Hold an engine to the contract; raise `BrokenContract` at the first breach.

    `new_place` gives a place that nobody has used: a folder, or an address. `make` and `opened` make, update and open
    an index there, as `chunkwise.index` and `chunkwise.open_index` do, which are taken where none are given.
    Hits are those of an index in memory, their scores within `tolerance`. An engine that looks for vectors in its own
    way, and may miss some, is held to `least_recall` of them instead.
    """
    check = _EngineCheck(new_place, make, opened, tolerance, least_recall)
    check.finds_what_memory_finds()
    check.follows_changes()
    check.survives_an_interrupt()
    check.lets_one_write_at_a_time()


class _EngineCheck:
    def __init__(
        self,
        new_place: Callable[[], str],
        make: Callable[..., Index],
        opened: Callable[..., Index],
        tolerance: float,
        least_recall: float | None,
    ) -> None:
        self.new_place = new_place
        self.make = make
        self.opened = opened
        self.tolerance = tolerance
        self.least_recall = least_recall
        self.identity = f"{HashedWords.identity}:{secrets.token_hex(8)}"
        self._in_memory_found: dict[
            tuple[Index, str, Filter, int], list[list[FoundPlace]] | str
        ] = {}
        self.texts = [query.text for query in sample_queries() if query.text.strip()]

    def words(self, **more: Any) -> WatchedWords:
        return WatchedWords(self.identity, **more)

    def _made(
        self,
        documents: Sequence[Document],
        place: str,
        embedder: WatchedWords | None = None,
        **more: Any,
    ) -> Index:
        return self.make(
            list(documents), _STRATEGY, into=place, embedder=embedder or self.words(), vectors="own", **more
        )  # fmt: skip

    def _in_memory(self, documents: Sequence[Document]) -> Index:
        return index(list(documents), _STRATEGY, embedder=self.words(), vectors="own")

    def _opened(self, place: str) -> Index:
        return self.opened(place, embedder=self.words(), strategy=_STRATEGY)

    def finds_what_memory_finds(self) -> None:
        documents = engine_documents()
        place = self.new_place()
        made = self._made(documents, place)
        expected = self._in_memory(documents)
        self.is_same(made, expected, "when it is made")
        self.is_same(self._opened(place), expected, "opened again", thorough=True)

    def follows_changes(self) -> None:
        """What changed is made anew, and nothing else; what is gone is gone."""
        documents, place, embedder = engine_documents(), self.new_place(), self.words()
        self._made(documents, place, embedder)
        before = self._opened(place)
        old = self._in_memory(documents)
        changed = [
            *documents[1:-1],
            replace(documents[-1], text=f"{documents[-1].text}\n\nThe bell was hung in 1907."),
            Document("new.md", "# Bells\n\nThe bell rings at noon.", format="markdown"),
        ]
        embedder.embedded = 0
        done = self._made(changed, place, embedder).changes
        assert done is not None
        counts = (done.added, done.changed, done.removed, done.unchanged)
        if counts != (1, 1, 1, len(documents) - 2):
            raise BrokenContract(
                f"added, changed and removed one document each, but the engine returned {done}"
            )
        if embedder.embedded > 2 * len(changed[-1].text + changed[-2].text):
            raise BrokenContract("unchanged documents were embedded again")
        new = self._in_memory(changed)
        self.is_same(self._opened(place), new, "after an update")
        if self._differs(before, new) and self._differs(before, old):
            raise BrokenContract(
                "an index that was open during an update returns neither the old nor the new hits"
            )
        embedder.embedded = 0
        if self._made(changed, place, embedder).changes != replace(
            done, added=0, changed=0, removed=0, unchanged=len(changed)
        ):
            raise BrokenContract("an update with the same documents changed something")
        if embedder.embedded:
            raise BrokenContract("an update with the same documents embedded texts")
        self._made([documents[0]], place, embedder, keep_others=True)
        self.is_same(
            self._opened(place),
            self._in_memory([*changed, documents[0]]),
            "after documents were added",
        )
        self._made(documents, place, embedder, rebuild=True)
        self.is_same(self._opened(place), old, "after a rebuild")

    def survives_an_interrupt(self) -> None:
        """Wherever an update stops, the index that was is there, whole, and the next update goes through."""
        documents, place = engine_documents(), self.new_place()
        self._made(documents, place)
        old = self._in_memory(documents)
        others: list[Document] = []
        for after in (0, 1, 10):
            # Others each time: what was embedded before an update failed need not be embedded again.
            others = [
                Document(f"{after}-{number}.md", f"Pier {after} of {number} has a lamp.")
                for number in range(20)
            ]
            try:
                self._made([*documents, *others], place, self.words(fails_after=after))
            except (Interrupted, ChunkwiseError):
                pass
            else:
                raise BrokenContract("an update succeeded although its embedder failed")
            self.is_same(
                self._opened(place), old, f"after an update that failed after text {after}"
            )
        self._made([*documents, *others], place)
        self.is_same(
            self._opened(place),
            self._in_memory([*documents, *others]),
            "after failed updates",
        )

    def lets_one_write_at_a_time(self) -> None:
        """Who comes second is told, and changes nothing; who reads meanwhile is answered."""
        documents, place = engine_documents(), self.new_place()
        self._made(documents, place)
        old = self._in_memory(documents)
        first = self.words(began=threading.Event(), may_go_on=threading.Event())
        more = [*documents, Document("more.md", "The mole has a lamp.")]
        problems: list[BaseException] = []

        def write() -> None:
            try:
                self._made(more, place, first)
            except BaseException as error:
                problems.append(error)

        writer = threading.Thread(target=write, name="check_engine")
        writer.start()
        assert first.began is not None
        assert first.may_go_on is not None
        try:
            if not first.began.wait(_LONGEST_WAIT):
                raise BrokenContract("the first writer never started to embed")
            self.is_same(self._opened(place), old, "while another writes")
            try:
                with mock.patch.object(folder, "LOCK_WAIT", 0.0):
                    self._made(documents[:-1], place)
            except ChunkwiseError:
                pass
            else:
                raise BrokenContract("two writers wrote to one index at the same time")
        finally:
            first.may_go_on.set()
            writer.join(_LONGEST_WAIT)
        if problems:
            raise BrokenContract(f"the first of two writers failed: {problems[0]}") from problems[0]
        self.is_same(self._opened(place), self._in_memory(more), "after two writers")

    def is_same(self, found: Index, expected: Index, when: str, *, thorough: bool = False) -> None:
        if problem := self._differs(found, expected, thorough=thorough):
            raise BrokenContract(f"{when}, {problem}")

    def _differs(self, found: Index, expected: Index, *, thorough: bool = False) -> str:
        """What is not as it is in memory; empty: everything is. `thorough`: with every question and filter."""
        return next(self._problems(found, expected, thorough), "")

    def _problems(self, found: Index, expected: Index, thorough: bool) -> Iterator[str]:
        if len(found) != len(expected):
            yield f"it has {counted(len(found), 'document')} instead of {thousands(len(expected))}"
        mine, theirs = _documents(found), _documents(expected)
        if mine.keys() != theirs.keys():
            yield f"it has the documents {sorted(mine)!r:.300}"
        for id, document in theirs.items():
            if mine[id] != document or mine[id].metadata != document.metadata:
                yield f"the document {id!r:.80} differs from the input"
        if _chunks(found) != _chunks(expected):
            yield "its chunks differ"
        yield from self._vectors(found, expected)
        texts, filters = (self.texts, _FILTERS) if thorough else (self.texts[:4], _FILTERS[4:5])
        yield from self._hits(found, expected, texts, filters)

    def _vectors(self, found: Index, expected: Index) -> Iterator[str]:
        own, theirs = (dict(zip(*item.vectors(), strict=True)) for item in (found, expected))
        if own.keys() != theirs.keys():
            yield "vectors belong to other chunks"
        elif any(np.abs(own[id] - theirs[id]).max(initial=0) > self.tolerance for id in own):
            yield "vectors differ"

    def _hits(
        self, found: Index, expected: Index, texts: Sequence[str], filters: Sequence[Filter]
    ) -> Iterator[str]:
        for retriever in _RETRIEVERS:
            for only in (Filter(), *filters):
                limit: dict[str, Any] = (
                    {"budget": _BUDGET} if retriever == "multiscale" else {"k": _DEPTH}
                )
                asked = SearchOptions(retriever=retriever, **only.changed(), **limit)
                mine = _searched(found, texts, asked)
                key = expected, retriever, only, len(texts)
                if key not in self._in_memory_found:
                    self._in_memory_found[key] = _searched(expected, texts, asked)
                theirs = self._in_memory_found[key]
                if isinstance(mine, str) or isinstance(theirs, str):
                    if mine != theirs:
                        yield f"{retriever} with {only} returns {mine!r:.200}, memory {theirs!r:.200}"
                    continue
                if self.least_recall is not None and retriever in ("dense", "hybrid"):
                    recall = _recall(mine, theirs)
                    if recall < self.least_recall:
                        yield f"{retriever} finds {percent(recall)} of the hits in memory with {only}"
                    continue
                for text, own, other in zip(texts, mine, theirs, strict=True):
                    if self._is_other(own, other):
                        yield (
                            f"{retriever} returns {own[:3]!r:.300} for {text[:60]!r} with "
                            f"{only}, memory {other[:3]!r:.300}"
                        )
        for where in ("nothing=1", {"yaer": 2024}):
            asked = SearchOptions(k=1, where=where)
            said = {str(_searched(index, ["leave"], asked)) for index in (found, expected)}
            if len(said) > 1:
                yield f"the error for an unknown key differs: {said!r:.300}"

    def _is_other(self, places: Sequence[FoundPlace], other: Sequence[FoundPlace]) -> bool:
        if len(places) != len(other):
            return True
        scores = np.array([[one.score, two.score] for one, two in zip(places, other, strict=True)])
        if len(scores) and np.abs(scores[:, 0] - scores[:, 1]).max() > self.tolerance:
            return True
        # Places may change where scores are the same but for the rounding of a sum, at the end with those left out.
        last = min((place.score for place in other), default=0.0)
        known = {place[:3]: place.score for place in other}
        return any(
            abs(known.get(place[:3], last) - place.score) > self.tolerance for place in places
        )


def _recall(mine: Sequence[Sequence[FoundPlace]], theirs: Sequence[Sequence[FoundPlace]]) -> float:
    """The share of what memory finds, over all questions together."""
    result = wanted = 0
    for own, other in zip(mine, theirs, strict=True):
        places = {row[:3] for row in other}
        wanted += len(places)
        result += len(places & {row[:3] for row in own})
    return result / wanted if wanted else 1.0


def engine_documents() -> list[Document]:
    """Those of the other checks, and some whose names, texts and metadata a database could stumble over."""
    years: dict[str, dict[str, Any]] = {
        "harbour.md": {"year": 2023, "lang": "en", "tags": ["ship", "lamp"]},
        "leave.md": {"year": 2024, "lang": "de", "author": {"name": "Ann"}},
    }
    plain = [
        replace(document, metadata=years.get(document.id, {})) for document in sample_documents()
    ]
    hostile = [
        Document("x'; drop table documents; --", "A lamp's light; \"quoted\" % {braces} $1 \\n.",
                 metadata={"it's": "x'; drop table documents; --", "year": "2024"}),
        Document("a\0b", "The lamp\0of the mole.", metadata={"nul": "a\0b"}),
        Document("half \ud800", "Half of a pair: \ud83d. The lamp is lit.", metadata={"lang": "\ud800"}),
        Document("日本/東京.txt", "灯台は港にある。港は夜も明るい。", metadata={"lang": "ja", "n": 1 << 40}),
        Document("l" * 900, "A long name for a lamp.", metadata={"k" * 900: "v" * 900}),
    ]  # fmt: skip
    return [*plain, *hostile]


def _documents(found: Index) -> dict[str, Document]:
    source = found.source
    return {document.id: document for document in map(source.document, source.document_numbers())}


def _chunks(found: Index) -> dict[str, tuple[int, int, int, str, str]]:
    return {
        chunk.id: (chunk.start, chunk.end, chunk.token_count, chunk.section_path, chunk.text)
        for chunk in found.chunks()
    }


def _searched(
    found: Index, texts: Sequence[str], asked: SearchOptions
) -> list[list[FoundPlace]] | str:
    """The hits of each question; a text: what was said instead."""
    try:
        every: list[list[Hit]] = found.search(list(texts), options=asked)
    except ChunkwiseError as error:
        return str(error)
    return [
        [FoundPlace(hit.doc_id, hit.start, hit.end, hit.score) for hit in hits] for hits in every
    ]
