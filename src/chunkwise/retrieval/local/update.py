"""Documents into an index in memory or in a folder; what has not changed is reused as it lies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from chunkwise.core import Document, OnProgress
from chunkwise.options import IndexOptions
from chunkwise.retrieval.errors import reporting_damage
from chunkwise.retrieval.graph.communities import community_writer
from chunkwise.retrieval.indexed_document import record_of
from chunkwise.retrieval.indexing.build import BuiltDocument
from chunkwise.retrieval.indexing.resolve_settings import (
    ResolvedSettings,
    resolve_for_rebuild,
    resolve_settings,
)
from chunkwise.retrieval.indexing.update import BuiltIndex, Changes, Reading, update_documents
from chunkwise.retrieval.local import folder as folder_module
from chunkwise.retrieval.local import manifest as manifest_module
from chunkwise.retrieval.local.columns import (
    COMMUNITIES,
    Array,
    Arrays,
    Collector,
    ColumnSink,
    MemorySink,
    encode,
    encoded,
    portion_of,
    with_rows_of_terms,
)
from chunkwise.retrieval.local.folder import (
    Generation,
    check_folder,
    clear,
    verify_folder,
)
from chunkwise.retrieval.local.index import LocalIndex, open_local_index
from chunkwise.retrieval.settings import Settings
from chunkwise.text.names_by_rules import own_file_key


class _KnownDocuments:
    """The documents of an older index, by what they are."""

    def __init__(self, index: LocalIndex | None) -> None:
        rows = [] if index is None else index.fingerprints()
        self.fingerprints = dict(zip(index.ids(), rows, strict=True)) if index else {}
        """By id."""
        self._has_names = index is not None and bool(index.settings.graph)
        # The first of several equal ones serves for all.
        self._numbers = {
            (row, self._name(id)): number
            for number, (id, row) in reversed(list(enumerate(self.fingerprints.items())))
        }
        self.own = {id: number for number, id in enumerate(self.fingerprints)}

    def number(self, id: str, fingerprint: str) -> int | None:
        """Which of its documents can serve: the one of this id rather than another of the same text."""
        if self.fingerprints.get(id) == fingerprint:
            return self.own[id]
        return self._numbers.get((fingerprint, self._name(id)))

    def _name(self, id: str) -> str:
        """What the id adds to the names of a document: one of the same text may have another."""
        return own_file_key(id) if self._has_names else ""


class LocalUpdate:
    """Documents in their order; runs of old ones are copied as they lie.

    Where the others are kept, what is new comes first, then the old ones as they lay: adding nothing changes nothing.
    """

    def __init__(
        self,
        before: LocalIndex | None,
        start: Callable[[], Collector],
        *,
        keep_others: bool = False,
    ) -> None:
        self._before = before
        self._staying: list[int] | None = [] if keep_others else None
        self._known = _KnownDocuments(before)
        self._start = start
        self._collector: Collector | None = None
        self._rows: Arrays | None = None
        self._run = (0, 0)

    def fingerprints(self) -> dict[str, str]:
        return self._known.fingerprints

    def sources(self) -> dict[str, str]:
        return {id: json.loads(record)["source"] for id, record in self._records()}

    def revisions(self) -> dict[str, str]:
        # Most have none, and what looks like one may stand in a text: parsed is what may have one.
        marked = (each for each in self._records() if '"revision": "' in each[1])
        parsed = ((id, json.loads(record).get("revision")) for id, record in marked)
        return {id: revision for id, revision in parsed if revision}

    def _records(self) -> Iterator[tuple[str, str]]:
        if self._before is not None:
            for id, number in self._known.own.items():
                yield id, self._before.text_of("record", number)

    def knows(self, id: str, fingerprint: str) -> bool:
        return self._known.number(id, fingerprint) is not None

    def add(self, built: BuiltDocument) -> None:
        self._flush()
        self._into().add(encode(built.part, built.language))

    def add_segments(self, segments: Iterator[BuiltDocument]) -> None:
        self._flush()
        self._into().add_segments(encode(built.part, built.language) for built in segments)

    def keep(self, document: Document, fingerprint: str) -> None:
        """A document of the older index, perhaps under another id or with other metadata."""
        number = self._known.number(document.id, fingerprint)
        assert self._before is not None
        assert number is not None
        if _is_same(self._before, number, document):
            self._stay(number)
        else:
            self._flush()
            self._copy(number, document)

    def leave(self, id: str) -> None:
        self._stay(self._known.own[id])

    def _stay(self, number: int) -> None:
        if self._staying is None:
            self._reuse(number)
        else:
            self._staying.append(number)

    def _reuse(self, number: int) -> None:
        if self._run[1] == number and self._run[0] < number:
            self._run = (self._run[0], number + 1)
        else:
            self._flush()
            self._run = (number, number + 1)

    def finish(self) -> Collector | None:
        """Everything collected; None: it would be the older index again, and nothing of that is missing."""
        for number in sorted(self._staying or ()):
            self._reuse(number)
        before = self._before
        same = before and not self._collector and self._run == (0, before.document_count)
        if before and same and not before.communities().missing:
            return None
        self._flush()
        return self._into()

    def _into(self) -> Collector:
        if self._collector is None:
            self._collector = self._start()
        return self._collector

    def _old(self) -> Arrays:
        if self._rows is None:
            assert self._before is not None
            self._rows = with_rows_of_terms(self._before.arrays)
        return self._rows

    def _flush(self) -> None:
        low, high = self._run
        self._run = (0, 0)
        if low < high:
            self._into().add(portion_of(self._old(), low, high))

    def _copy(self, number: int, document: Document) -> None:
        portion = portion_of(self._old(), number, number + 1)
        for name, text in (("id", document.id), ("record", record_of(document))):
            portion.size[name], portion.column[f"{name}.bytes"] = encoded([text])
        self._into().add(portion)


def _is_same(before: LocalIndex, number: int, document: Document) -> bool:
    return before.text_of("id", number) == document.id and before.text_of(
        "record", number
    ) == record_of(document)


def _communities(
    index: LocalIndex, resolved: ResolvedSettings, changes: Changes, advance: OnProgress | None
) -> tuple[Array | None, Changes]:
    """What the language model says of the passages of all documents, as bytes; None: it is not asked."""
    writer = community_writer(resolved)
    if writer is None:
        return None, changes
    found = writer.write(index.atom_table(), index.document, advance)
    _, column = encoded([found.to_json()])
    return column, replace(changes, notes=changes.notes + writer.notes())


def into_memory(
    reading: Reading, requested: IndexOptions, before: LocalIndex | None = None
) -> BuiltIndex[LocalIndex]:
    """An index that goes with the program."""
    resolved = resolve_settings(requested, before.settings if before else None, reading.advance)
    assembly = LocalUpdate(
        before,
        lambda: _collector(MemorySink(), resolved.settings),
        keep_others=reading.keep_others,
    )
    changes = update_documents(assembly, reading, resolved)
    collected = assembly.finish()
    if collected is None:
        assert before is not None
        return BuiltIndex(before, resolved, changes)
    made = LocalIndex(collected.finish(), resolved.settings, sorted(collected.languages))
    column, changes = _communities(made, resolved, changes, reading.advance)
    if column is not None:
        made = LocalIndex({**made.arrays, COMMUNITIES: column}, made.settings, made.languages)
    return BuiltIndex(made, resolved, changes)


def into_folder(
    folder: Path,
    reading: Reading,
    requested: IndexOptions,
    *,
    rebuild: bool = False,
    wait: float = folder_module.LOCK_WAIT,
) -> BuiltIndex[LocalIndex]:
    """An index in a folder: a new one, or the one that is there brought up to date."""
    check_folder(folder)
    with folder_module.locked(folder, wait, reading.advance), ExitStack() as stack:
        before = None
        is_there = check_folder(folder)
        if is_there and rebuild:
            resolved = resolve_for_rebuild(
                requested, manifest_module.former_settings(folder), reading.advance
            )
        else:
            if is_there:
                before = open_local_index(folder)
                clear(folder)
            resolved = resolve_settings(
                requested, before.settings if before else None, reading.advance
            )
        made: list[Generation] = []

        def start() -> Collector:
            if before is not None:
                verify_folder(
                    folder
                )  # what is carried over is sealed anew: damage would become truth
            made.append(stack.enter_context(Generation(folder)))
            return _collector(made[0].sink, resolved.settings)

        with reporting_damage(before):
            assembly = LocalUpdate(before, start, keep_others=reading.keep_others)
            changes = update_documents(assembly, reading, resolved)
            collected = assembly.finish()
        if collected is None:
            assert before is not None
            return BuiltIndex(before, resolved, changes)
        arrays = collected.finish()
        languages = tuple(sorted(collected.languages))
        column, changes = _communities(
            LocalIndex(arrays, resolved.settings, languages), resolved, changes, reading.advance
        )
        if column is not None:
            arrays = {**arrays, **made[0].sink.finish_more(COMMUNITIES, column)}
        made[0].publish(resolved.settings, languages)
        return BuiltIndex(LocalIndex(arrays, resolved.settings, languages), resolved, changes)


def _collector(sink: ColumnSink, settings: Settings) -> Collector:
    return Collector(sink, settings)
