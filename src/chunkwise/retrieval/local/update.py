"""Documents into an index in memory or in a folder; what has not changed is reused as it lies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from chunkwise.core import Document
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
from chunkwise.retrieval.indexing.update import (
    BuiltIndex,
    IndexUpdate,
    Reading,
    is_made_again,
    update_documents,
)
from chunkwise.retrieval.local import folder as folder_module
from chunkwise.retrieval.local import manifest as manifest_module
from chunkwise.retrieval.local.columns import (
    COMMUNITIES,
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


class ArrayRows:
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
        self._start = start
        self._collector: Collector | None = None
        self._rows: Arrays | None = None
        self._run = (0, 0)

    def add(self, built: BuiltDocument) -> None:
        self._flush()
        self._into().add(encode(built.part, built.language))

    def add_segments(self, segments: Iterator[BuiltDocument]) -> None:
        self._flush()
        self._into().add_segments(encode(built.part, built.language) for built in segments)

    def keep(self, number: int) -> None:
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

    def copy(self, number: int, document: Document) -> None:
        self._flush()
        portion = portion_of(self._old(), number, number + 1)
        for name, text in (("id", document.id), ("record", record_of(document))):
            portion.size[name], portion.column[f"{name}.bytes"] = encoded([text])
        self._into().add(portion)

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


def into_memory(
    reading: Reading, requested: IndexOptions, before: LocalIndex | None = None
) -> BuiltIndex[LocalIndex]:
    """An index that goes with the program."""
    resolved = resolve_settings(requested, before.settings if before else None)
    return _updated(before, resolved, reading, MemorySink)


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
            resolved = resolve_for_rebuild(requested, manifest_module.former_settings(folder))
        else:
            if is_there:
                before = open_local_index(folder)
                clear(folder)
            resolved = resolve_settings(requested, before.settings if before else None)
            if before and is_made_again(before.settings, resolved, reading):
                before = None
        made: list[Generation] = []

        def start() -> ColumnSink:
            if before is not None:
                # What is carried over is sealed anew: damage would become truth.
                verify_folder(folder)
            made.append(stack.enter_context(Generation(folder)))
            return made[0].sink

        built = _updated(before, resolved, reading, start)
        if before is not None and not made and resolved.settings != before.settings:
            known = manifest_module.read_manifest(folder)
            replace(known, settings=resolved.settings).write(folder)
            built = built._replace(source=open_local_index(folder))
        for generation in made:
            generation.publish(resolved.settings, built.source.languages)
        return built


def _updated(
    before: LocalIndex | None,
    resolved: ResolvedSettings,
    reading: Reading,
    start: Callable[[], ColumnSink],
) -> BuiltIndex[LocalIndex]:
    settings = resolved.settings
    rows = ArrayRows(before, lambda: Collector(start(), settings), keep_others=reading.keep_others)
    with reporting_damage(before):
        changes = update_documents(IndexUpdate(before, rows), reading, resolved)
        collected = rows.finish()
    if collected is None:
        assert before is not None
        return BuiltIndex(before, resolved, changes)
    made = LocalIndex(collected.finish(), settings, sorted(collected.languages))
    if writer := community_writer(resolved):
        said = writer.write(made.atom_table(), made.document, reading.advance)
        _, column = encoded([said.to_json()])
        arrays = {**made.arrays, **collected.sink.finish_more(COMMUNITIES, column)}
        made = LocalIndex(arrays, settings, made.languages)
        changes = replace(changes, notes=changes.notes + writer.notes())
    return BuiltIndex(made, resolved, changes)
