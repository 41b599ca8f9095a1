"""Chunks as a data set: parts, each of some of the documents, made by workers of any kind, and one commit.

A part is made of its documents and of how they are cut, and of nothing else: whoever makes it makes the same bytes, and
what is there already is not made again.
"""

from __future__ import annotations

import json
import os
import secrets
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from chunkwise.base.atomic_files import only_writer, replacing
from chunkwise.base.errors import UnreadableDocument
from chunkwise.base.user_code import stands_in_files
from chunkwise.base.version import __version__
from chunkwise.base.wording import counted
from chunkwise.base.workers import WorkerDied
from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.chunk import StrategyLike, batches, weight
from chunkwise.chunkers.chunk_long_texts import LostHalfwayError, cut_units
from chunkwise.chunkers.context_from_headings import with_headings
from chunkwise.chunkers.dataset_layout import (
    FORMAT,
    MANIFEST,
    RECORDS,
    STAGED,
    DatasetFolder,
    is_begun_part,
    is_part,
    part_name,
    renamed_part,
)
from chunkwise.chunkers.write_chunks import SegmentPlace, VectorRows, WriteChunks, chunk_file
from chunkwise.core import Chunk, Document, OnProgress
from chunkwise.documents import (
    InputItem,
    InputReader,
    Inputs,
    LoadOptions,
    OnUnreadable,
    options_given,
)
from chunkwise.documents.remote_documents import read_ahead
from chunkwise.documents.source import Source

_BATCHES = 16
"""In a part: up to 16 MB of files, or a thousand of them."""
_TRIES = 3
_TOGETHER = 16
"""Records that are asked for at the same time."""


@dataclass(frozen=True, slots=True)
class PartWork:
    """What a worker is sent."""

    name: str
    batches: list[list[InputItem]]
    new_ids: Mapping[int, str] = field(default_factory=dict)
    """Of documents whose id another one has, by their number in the part."""
    files: Sequence[str] = ()
    """What its record says of files of a store: the marks of those that need not be fetched to be known again."""
    is_trial: bool = False
    """Cut, and write nothing: to find out which document ends the process, or can be read by now."""

    @property
    def size(self) -> int:
        return sum(weight(unit) for batch in self.batches for unit in batch)


@dataclass(frozen=True, slots=True)
class PartRecord:
    """What is in a part; lies beside it."""

    documents: list[list[str]] = field(default_factory=list)
    """Id and source of each."""
    chunks: int = 0
    problems: list[list[str]] = field(default_factory=list)
    """Source and reason of what could not be read."""
    own_ids: list[list[Any]] = field(default_factory=list)
    """Number and own id of each document that was given another."""
    files: list[str] = field(default_factory=list)
    """Marks of its files of a store."""

    def as_read(self) -> PartRecord:
        """With the ids that the documents have of themselves."""
        documents = [list(each) for each in self.documents]
        for number, id in self.own_ids:
            documents[number][0] = id
        return PartRecord(documents, self.chunks, self.problems, files=self.files)


@dataclass(frozen=True, slots=True)
class ChunkDataset:
    """What was written."""

    documents: int
    chunks: int
    skipped: int
    parts: int
    reused: int
    """Parts that were there already."""


class PartWorkers(Protocol):
    """`Workers` of this machine, or those of a cluster."""

    def submit(self, given: PartWork) -> Future[PartRecord]: ...


def _nowhere(
    chunks: Iterable[Chunk],
    vectors: VectorRows | None = None,
    place: SegmentPlace | None = None,
) -> None:
    """Writes nothing."""


@dataclass(frozen=True, slots=True)
class PartRecipe:
    """How documents become a part: sent to every worker once."""

    strategy: StrategyLike
    options: LoadOptions
    context: Literal["none", "headings"]
    output: Path

    def __call__(self, work: PartWork) -> PartRecord:
        """Makes a part, beside the others that are not yet part of the data set."""
        try:
            if work.is_trial:
                return PartRecord(problems=self._filled(work, _nowhere).problems)
            with chunk_file(self.output / STAGED / f"{work.name}.parquet") as write:
                record = self._filled(work, write)
        except LostHalfwayError as lost:
            return self(replace(work, batches=lost.left_out_of(work.batches)))
        with replacing(self.output / STAGED / f"{work.name}.json") as temporary:
            temporary.write_text(json.dumps(asdict(record)), encoding="utf-8")
        return record

    def _filled(self, work: PartWork, write: WriteChunks) -> PartRecord:
        documents: list[list[str]] = []
        problems: list[list[str]] = []
        own_ids: list[list[Any]] = []
        chunks = 0
        found = (cut_units(self.strategy, self.options, batch) for batch in work.batches)
        for cut in chain.from_iterable(found):
            if isinstance(cut, UnreadableDocument):
                problems.append([cut.source, cut.reason])
                continue
            id = work.new_ids.get(len(documents), cut.document.id)
            if id != cut.document.id:
                own_ids.append([len(documents), cut.document.id])
            documents.append([id, cut.document.source])
            for segment in cut.segments(id):
                rows = segment.chunks
                if self.context == "headings":
                    rows = with_headings(rows, segment.chunked.analyzed)
                chunks += len(rows)
                write(rows, place=segment.place)
                del segment, rows  # before the next one is made
        return PartRecord(documents, chunks, problems, own_ids, list(work.files))

    def how(self) -> str:
        """What makes the same documents the same chunks: strategy, its code where it is not ours, options, version."""
        made = get_strategy(self.strategy)
        code = made.code
        if code and not stands_in_files(type(made.chunker)):
            code = secrets.token_hex(8)  # what cannot be told is made anew
        known = (made.label, code, self.context, __version__)
        return repr((known, sorted(options_given(self.options).items())))

    def key(self, units: list[list[InputItem]], how: str) -> str:
        """The same for the same documents, cut in the same way by the same version."""
        found = blake2b(how.encode("utf-8", "surrogatepass"), digest_size=10)
        for batch in units:
            found.update(repr([_state(unit) for unit in batch]).encode("utf-8", "surrogatepass"))
        return found.hexdigest()


def _state(unit: InputItem) -> tuple[object, ...]:
    """What tells a unit of work from what it was before."""
    if isinstance(unit, UnreadableDocument):
        return (unit.source, unit.reason)
    if isinstance(unit, Document):
        return (unit.id, unit.source, _hash(repr((unit, unit.text, unit.blocks, unit.pages))))
    state: object = unit.stored.version if unit.stored else ""
    if not state and unit.data is not None:
        state = _hash(unit.data)
    elif not state and unit.path is not None:
        try:
            there = os.stat(unit.path)
            state = (there.st_size, there.st_mtime_ns)
        except OSError:
            state = None
    return (unit.id, unit.origin, state or secrets.token_hex(8))  # what cannot be told is made anew


def _mark(source: Source, how: str) -> str:
    """The same for the same file of a store in the same state; empty where it has to be fetched to be known."""
    stored = source.stored
    if stored is None or not stored.version or stored.size is None:
        return ""
    return _hash(f"{how} {_state(source)!r}")


def _fetched(units: list[InputItem]) -> list[InputItem]:
    """With the bytes of files of a store that were known by their names alone."""
    named = [each for each in units if isinstance(each, Source) and each.is_elsewhere]
    if not named:
        return units
    found = iter([problem or each for each, problem in read_ahead(named, lambda each: True)])
    return [
        next(found) if isinstance(each, Source) and each.is_elsewhere else each for each in units
    ]


def _hash(value: str | bytes) -> str:
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return blake2b(data, digest_size=16).hexdigest()


def write_dataset(
    source: Inputs,
    recipe: PartRecipe,
    workers: PartWorkers,
    at_once: int,
    on_unreadable: OnUnreadable,
    advance: OnProgress = lambda amount, note: None,
) -> ChunkDataset:
    """Cuts documents into a data set; what an earlier run has made of the same documents is taken as it is."""
    DatasetFolder(recipe.output).check()
    with only_writer(recipe.output):
        return _written(source, recipe, workers, at_once, on_unreadable, advance)


def _written(
    source: Inputs,
    recipe: PartRecipe,
    workers: PartWorkers,
    at_once: int,
    on_unreadable: OnUnreadable,
    advance: OnProgress,
) -> ChunkDataset:
    folder = DatasetFolder(recipe.output)
    made = _DatasetRun(folder, recipe, workers, source)
    recipe_parts: list[dict[str, object]] = []
    documents = chunks = skipped = reused = 0
    for work, record in made.parts(at_once):
        for origin, reason in record.problems:
            skipped += 1
            on_unreadable(UnreadableDocument(origin, reason))
        documents += len(record.documents)
        chunks += record.chunks
        reused += work.name in made.reused
        recipe_parts.append(
            {
                "name": f"{work.name}{_PARQUET}",
                "documents": len(record.documents),
                "chunks": record.chunks,
            }
        )
        advance(work.size, f"{counted(documents, 'document')}, {counted(chunks, 'chunk')}")
    if documents:
        manifest = {
            "format": FORMAT, "version": 1, "strategy": get_strategy(recipe.strategy).label, "documents": documents,
            "chunks": chunks, "parts": recipe_parts,
        }  # fmt: skip
        made.commit(manifest)
    return ChunkDataset(documents, chunks, skipped, len(recipe_parts), reused)


class _DatasetRun:
    def __init__(
        self,
        folder: DatasetFolder,
        recipe: PartRecipe,
        workers: PartWorkers,
        source: Inputs,
    ) -> None:
        self._folder, self._recipe = folder, recipe
        self._workers = workers
        self._how = recipe.how()
        self._reader = InputReader(source, recipe.options, self._has)
        parts = {name.removesuffix(_PARQUET) for name in folder.names()}
        self._there = folder.names(RECORDS) & {f"{name}.json" for name in parts}
        self._staged = folder.names(STAGED)
        files = (name.removesuffix(".json") for name in self._there | self._staged)
        self._under_other_ids = {each.rpartition("-")[0]: each for each in files}
        """By the name of a part, that of the same part in which documents were given other ids."""
        self._made: set[str] = set()
        self.reused: set[str] = set()
        """Names of parts that are taken as they are."""

    def parts(self, at_once: int) -> Iterator[tuple[PartWork, PartRecord]]:
        """Every part with its record, in order, a few being made ahead."""
        waiting: deque[tuple[PartWork, Callable[[], PartRecord]]] = deque()
        for number, units in enumerate(_grouped(batches(self._reader.units()), _BATCHES)):
            sources = (each for batch in units for each in batch if isinstance(each, Source))
            marks = [mark for each in sources if (mark := _mark(each, self._how))]
            work = PartWork(
                part_name(number, self._recipe.key(units, self._how)), units, files=marks
            )
            waiting.append((work, self._begun(work)))
            if len(waiting) >= at_once:
                yield self._finished(*waiting.popleft())
        while waiting:
            yield self._finished(*waiting.popleft())

    def _begun(self, work: PartWork) -> Callable[[], PartRecord]:
        known = self._known(work.name)
        if known is not None and not known.problems:
            self.reused.add(work.name)
            return lambda: known
        if known is not None and (again := _missing(work, known)):
            # A busy store, rights and memory may be others now: what is missing is tried, and nothing else.
            trial = self._workers.submit(PartWork("", [_fetched(again)], is_trial=True))
            return partial(self._tried_again, work, known, trial)
        return self._making(work)

    def _making(self, work: PartWork) -> Callable[[], PartRecord]:
        self._made.add(work.name)
        work = replace(work, batches=list(map(_fetched, work.batches)))
        return partial(self._result, work, self._workers.submit(work))

    def _tried_again(
        self, work: PartWork, known: PartRecord, trial: Future[PartRecord]
    ) -> PartRecord:
        """The part as it is, where what it lacks cannot be read now, either."""
        try:
            found = trial.result().problems
        except WorkerDied:
            found = []
        if sorted(found) == sorted(known.problems):
            self.reused.add(work.name)
            return known
        return self._making(work)()

    def _has(self, source: Source) -> bool:
        """Whether a part that is there was made of this file as it is."""
        mark = _mark(source, self._how)
        return bool(mark) and mark in self._marks

    @cached_property
    def _marks(self) -> set[str]:
        """Of all parts that are there; looked up where a store is read."""
        staged = {name for name in self._staged if name.endswith(".json")} - self._there
        with ThreadPoolExecutor(_TOGETHER) as threads:
            records = threads.map(self._record, sorted(self._there | staged))
            return {mark for each in records if each for mark in each.files}

    def _known(self, name: str) -> PartRecord | None:
        """The record of a part that was made before: in the data set, or by a run that did not end."""
        for each in (name, self._under_other_ids.get(name, "")):
            record = self._record(f"{each}.json")
            if record is not None:
                return record if each == name else record.as_read()
        return None

    def _record(self, file: str) -> PartRecord | None:
        part = f"{file.removesuffix('.json')}.parquet"
        if file not in self._there and not {file, part} <= self._staged:
            return None
        place = RECORDS if file in self._there else STAGED
        try:
            return msgspec.convert(self._folder.json(f"{place}/{file}"), PartRecord)
        except msgspec.ValidationError:  # damaged: it is made again
            return None

    def _finished(
        self, work: PartWork, record: Callable[[], PartRecord]
    ) -> tuple[PartWork, PartRecord]:
        """Ids are those of the whole, so a document whose id was taken is given another, and its part made again."""
        found = record()
        new_ids = {}
        for number, (id, origin) in enumerate(found.documents):
            own = self._reader.distinct_id(id, origin)
            if own != id:
                new_ids[number] = own
        if not new_ids:
            return work, found
        again = replace(work, name=renamed_part(work.name, _hash(repr(new_ids))), new_ids=new_ids)
        return again, self._begun(again)()

    def _result(self, work: PartWork, future: Future[PartRecord], tries: int = 1) -> PartRecord:
        try:
            return future.result()
        except WorkerDied:
            if tries == _TRIES:
                raise
        alive = [self._without_crashing(batch) for batch in work.batches]
        work = replace(work, batches=alive)
        return self._result(work, self._workers.submit(work), tries + 1)

    def _without_crashing(self, batch: list[InputItem]) -> list[InputItem]:
        """Each is tried by itself; one that ends its process is unreadable, and said to be."""
        tried = [
            None
            if isinstance(unit, UnreadableDocument)
            else self._workers.submit(PartWork("", [[unit]], is_trial=True))
            for unit in batch
        ]
        return [_survivor(unit, future) for unit, future in zip(batch, tried, strict=True)]

    def commit(self, manifest: Mapping[str, Any]) -> None:
        """What was made takes its place, the manifest says so, and what it does not name goes."""
        parts = [each["name"].removesuffix(_PARQUET) for each in manifest["parts"]]
        waiting = {
            name for name in parts if name in self._made or f"{name}.json" not in self._there
        }
        for name in sorted(waiting):
            self._folder.move(f"{STAGED}/{name}{_PARQUET}", f"{name}{_PARQUET}")
            self._folder.move(f"{STAGED}/{name}.json", f"{RECORDS}/{name}.json")
        with replacing(self._recipe.output / MANIFEST) as temporary:
            temporary.write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        names = set(parts)
        for each in self._folder.names():
            if _is_old(each, _PARQUET, names):
                self._folder.remove(each)
        for each in self._folder.names(RECORDS):
            if _is_old(each, ".json", names):
                self._folder.remove(f"{RECORDS}/{each}")
        mine = self._staged | {f"{name}{end}" for name in self._made for end in _ENDS}
        for each in self._folder.names(STAGED) & mine:
            if is_begun_part(each):
                self._folder.remove(f"{STAGED}/{each}")
        self._folder.remove_empty(STAGED)


def _missing(work: PartWork, known: PartRecord) -> list[InputItem]:
    """What could not be read of a part; nothing where that cannot be told file by file."""
    lost = {source for source, _ in known.problems}
    units = [
        unit
        for batch in work.batches
        for unit in batch
        if (unit.origin if isinstance(unit, Source) else unit.source) in lost
    ]
    return units if len(units) == len(known.problems) else []


_PARQUET = ".parquet"
_ENDS = (_PARQUET, ".json")


def _is_old(file: str, ending: str, names: set[str]) -> bool:
    name = file.removesuffix(ending)
    return name != file and name not in names and is_part(name)


def _survivor(unit: InputItem, future: Future[PartRecord] | None) -> InputItem:
    try:
        if future is not None:
            future.result()
        return unit
    except WorkerDied as error:
        name = unit.origin if isinstance(unit, Source) else str(unit.source)
        return UnreadableDocument(name, f"{error} while it was cut, perhaps for lack of memory")


def _grouped(found: Iterator[list[InputItem]], count: int) -> Iterator[list[list[InputItem]]]:
    group: list[list[InputItem]] = []
    for each in found:
        group.append(each)
        if len(group) == count:
            yield group
            group = []
    if group:
        yield group
