"""Chunks as a data set: parts, each of some of the documents, made by workers of any kind, and one commit.

A part is made of its documents and of how they are cut, and of nothing else: whoever makes it makes the same bytes, and
what is there already is not made again.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec

from chunkwise.base.atomic_files import only_writer, replacing
from chunkwise.base.errors import ChunkwiseError, UnreadableDocument
from chunkwise.base.runner import Jobs, Pieces, WorkerDied, Workers, begin, begin_workers, in_order
from chunkwise.base.user_code import stands_in_files
from chunkwise.base.version import __version__
from chunkwise.base.wording import counted
from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.chunk import (
    Chunked,
    Context,
    CutPart,
    StrategyLike,
    batches,
    died_at,
    origin_of,
    under_id,
    weight,
)
from chunkwise.chunkers.chunk_long_texts import segments_of
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
from chunkwise.chunkers.write_chunks import chunk_file
from chunkwise.core import Document, OnProgress
from chunkwise.documents import (
    InputItem,
    InputReader,
    Inputs,
    LoadOptions,
    OnUnreadable,
    loaded,
    options_given,
)
from chunkwise.documents.remote_documents import read_ahead
from chunkwise.documents.source import Source

_BATCHES = 16
"""In a part: up to 16 MB of files, or a thousand of them."""
_TOGETHER = 16
"""Records that are asked for at the same time."""


@dataclass(frozen=True, slots=True)
class PartWork:
    """What a worker is sent."""

    name: str
    units: list[InputItem]
    new_ids: Mapping[int, str] = field(default_factory=dict)
    """Of documents whose id another one has, by their number in the part."""
    files: Sequence[str] = ()
    """What its record says of files of a store: the marks of those that need not be fetched to be known again."""

    @property
    def size(self) -> int:
        return sum(map(weight, self.units))

    def __len__(self) -> int:
        return len(self.units)

    def __getitem__(self, some: slice) -> PartWork:
        """A part of its own, where a process died at the whole."""
        if self.new_ids:
            raise ChunkwiseError("worker processes died, perhaps for lack of memory; run again")
        number, _, key = self.name.rpartition("-")
        return PartWork(
            f"{number}-{_hash(f'{key} {some}')[:20]}", self.units[some], files=self.files
        )


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
        documents = [list(document) for document in self.documents]
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


@dataclass(frozen=True, slots=True)
class PartRecipe:
    """How documents become a part: sent to every worker once."""

    strategy: StrategyLike
    options: LoadOptions
    context: Context
    output: Path

    def __call__(self, work: PartWork) -> Iterator[PartRecord]:
        """Makes a part, beside the others that are not yet part of the data set."""
        documents: list[list[str]] = []
        problems: list[list[str]] = []
        own_ids: list[list[Any]] = []
        chunks, id = 0, ""
        cut = CutPart(self.strategy, self.options, self.context, segments_of)
        with chunk_file(self.output / STAGED / f"{work.name}{_PARQUET}") as write:
            for outcome in cut(work.units):
                if isinstance(outcome, UnreadableDocument):
                    problems.append([outcome.source, outcome.reason])
                    continue
                assert isinstance(outcome, Chunked)
                if outcome.is_first:
                    own = outcome.document.id
                    id = work.new_ids.get(len(documents), own)
                    if id != own:
                        own_ids.append([len(documents), own])
                    documents.append([id, outcome.document.source])
                chunks += len(outcome.chunks)
                write(under_id(outcome, id).chunks, place=outcome.place)
                del outcome  # before the next one is made
        record = PartRecord(documents, chunks, problems, own_ids, list(work.files))
        with replacing(self.output / STAGED / f"{work.name}.json") as temporary:
            temporary.write_text(json.dumps(asdict(record)), encoding="utf-8")
        yield record

    def how(self) -> str:
        """What makes the same documents the same chunks: strategy, its code where it is not ours, options, version."""
        made = get_strategy(self.strategy)
        code = made.code
        if code and not stands_in_files(type(made.chunker)):
            code = secrets.token_hex(8)  # what cannot be told is made anew
        known = (made.label, code, self.context, __version__)
        return repr((known, sorted(options_given(self.options).items())))

    def key(self, units: Iterable[list[InputItem]], how: str) -> str:
        """The same for the same documents, cut in the same way by the same version."""
        result = blake2b(how.encode("utf-8", "surrogatepass"), digest_size=10)
        for batch in units:
            result.update(repr([_state(unit) for unit in batch]).encode("utf-8", "surrogatepass"))
        return result.hexdigest()


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
    named = [unit for unit in units if isinstance(unit, Source) and unit.is_elsewhere]
    if not named:
        return units
    result = iter([problem or source for source, problem in read_ahead(named, lambda item: True)])
    return [
        next(result) if isinstance(unit, Source) and unit.is_elsewhere else unit for unit in units
    ]


def _hash(value: str | bytes) -> str:
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return blake2b(data, digest_size=16).hexdigest()


def write_dataset(
    source: Inputs,
    recipe: PartRecipe,
    jobs: Jobs,
    on_unreadable: OnUnreadable,
    advance: OnProgress = lambda amount, note: None,
) -> ChunkDataset:
    """Cuts documents into a data set; what an earlier run has made of the same documents is taken as it is."""
    DatasetFolder(recipe.output).check()
    apart = get_strategy(recipe.strategy).is_of_file
    with (
        only_writer(recipe.output),
        begin_workers(jobs, recipe, "read and chunk", apart=apart) as workers,
    ):
        return _written(source, recipe, workers, on_unreadable, advance)


def _written(
    source: Inputs,
    recipe: PartRecipe,
    workers: Workers[PartWork, PartRecord],
    on_unreadable: OnUnreadable,
    advance: OnProgress,
) -> ChunkDataset:
    made = _DatasetRun(DatasetFolder(recipe.output), recipe, workers, source)
    recipe_parts: list[dict[str, object]] = []
    documents = chunks = skipped = reused = 0
    for work, record in made.parts():
        for origin, reason in record.problems:
            skipped += 1
            on_unreadable(UnreadableDocument(origin, reason))
        documents += len(record.documents)
        chunks += record.chunks
        reused += work.name in made.reused
        if record.documents:
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
        workers: Workers[PartWork, PartRecord],
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
        self._under_other_ids = {file.rpartition("-")[0]: file for file in files}
        """By the name of a part, that of the same part in which documents were given other ids."""
        self._made: set[str] = set()
        self.reused: set[str] = set()
        """Names of parts that are taken as they are."""

    def parts(self) -> Iterator[tuple[PartWork, PartRecord]]:
        """Every part with its record, in order, a few being made ahead."""
        begun = (self._begun(work) for work in self._works())
        for work, record in in_order(begun, self._workers.at_once):
            final, record = self._under_own_ids(work, record)
            self._made |= {work.name, final.name} - self.reused
            yield final, record

    def _works(self) -> Iterator[PartWork]:
        result = batches(self._reader.units())
        for number, units in enumerate(iter(lambda: list(islice(result, _BATCHES)), [])):
            name = part_name(number, self._recipe.key(units, self._how))
            flat = list(chain.from_iterable(units))
            marks = (_mark(item, self._how) for item in flat if isinstance(item, Source))
            yield PartWork(name, flat, files=list(filter(None, marks)))

    def _begun(self, work: PartWork) -> Pieces[tuple[PartWork, PartRecord]]:
        known = self._known(work.name)
        if known is not None and self._lacks_the_same(work, known):
            self.reused.add(work.name)
            return lambda: iter([(work, known)])
        return begin(self._workers, replace(work, units=_fetched(work.units)), _lost)

    def _lacks_the_same(self, work: PartWork, known: PartRecord) -> bool:
        """Whether what could not be read cannot be now: a busy store, rights and memory may be others."""
        lost = {source for source, _ in known.problems}
        units = _fetched([unit for unit in work.units if origin_of(unit) in lost])
        result = chain.from_iterable(
            loaded(unit, self._recipe.options) if isinstance(unit, Source) else [unit]
            for unit in units
        )
        problems = [
            [item.source, item.reason] for item in result if isinstance(item, UnreadableDocument)
        ]
        return sorted(problems) == sorted(known.problems)

    def _under_own_ids(self, work: PartWork, record: PartRecord) -> tuple[PartWork, PartRecord]:
        """Ids are those of the whole, so a document whose id was taken is given another, and its part made again."""
        new_ids = {}
        for number, (id, origin) in enumerate(record.documents):
            own = self._reader.distinct_id(id, origin)
            if own != id:
                new_ids[number] = own
        if not new_ids:
            return work, record
        name = renamed_part(work.name, _hash(repr(new_ids)))
        (result,) = self._begun(replace(work, name=name, new_ids=new_ids))()
        return result

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
            return {mark for record in records if record for mark in record.files}

    def _known(self, name: str) -> PartRecord | None:
        """The record of a part that was made before: in the data set, or by a run that did not end."""
        for item in (name, self._under_other_ids.get(name, "")):
            record = self._record(f"{item}.json")
            if record is not None:
                return record if item == name else record.as_read()
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
        for item in self._folder.names():
            if _is_old(item, _PARQUET, names):
                self._folder.remove(item)
        for item in self._folder.names(RECORDS):
            if _is_old(item, ".json", names):
                self._folder.remove(f"{RECORDS}/{item}")
        mine = self._staged | {f"{name}{end}" for name in self._made for end in _ENDS}
        for item in self._folder.names(STAGED) & mine:
            if is_begun_part(item):
                self._folder.remove(f"{STAGED}/{item}")
        self._folder.remove_empty(STAGED)


def _lost(part: PartWork, error: WorkerDied) -> PartRecord:
    problem = died_at(part.units[0], error)
    return PartRecord(problems=[[problem.source, problem.reason]])


_PARQUET = ".parquet"
_ENDS = (_PARQUET, ".json")


def _is_old(file: str, ending: str, names: set[str]) -> bool:
    name = file.removesuffix(ending)
    return name != file and name not in names and is_part(name)
