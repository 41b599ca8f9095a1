"""Documents into an index, in memory or in a folder; what has not changed is carried over."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from chunkwise.errors import ChunkwiseError
from chunkwise.retrieval.embedded.index import EmbeddedIndex
from chunkwise.retrieval.embedded.layout import left_out
from chunkwise.retrieval.embedded.memory import MemorySink
from chunkwise.retrieval.embedded.sink import Collector, Sink
from chunkwise.retrieval.embedded.store import lock, manifest
from chunkwise.retrieval.embedded.store.reader import open_folder
from chunkwise.retrieval.embedded.store.writer import Generation, check_folder, clear
from chunkwise.retrieval.making.carry import Assembly, Before
from chunkwise.retrieval.making.changes import Changes, Tally
from chunkwise.retrieval.making.choice import Choice, Given, choose
from chunkwise.retrieval.making.gather import Reading, gather
from chunkwise.retrieval.settings import Settings


class Made(NamedTuple):
    """An index, what it was made with, and what was done."""

    source: EmbeddedIndex
    choice: Choice
    changes: Changes


def into_memory(reading: Reading, given: Given, before: EmbeddedIndex | None = None) -> Made:
    """An index that goes with the program."""
    choice = choose(given, before.settings if before else None, reading.advance)
    assembly = Assembly(before, lambda: _collector(MemorySink(), choice.settings))
    changes = _assemble(reading, choice, before, assembly)
    collected = assembly.finish()
    if collected is None:
        assert before is not None
        return Made(before, choice, changes)
    languages = sorted(collected.languages)
    return Made(EmbeddedIndex(collected.finish(), choice.settings, languages), choice, changes)


def into_folder(
    folder: Path, reading: Reading, given: Given, *, rebuild: bool = False, wait: float = lock.WAIT
) -> Made:
    """An index in a folder: a new one, or the one that is there brought up to date."""
    check_folder(folder)
    with lock.locked(folder, wait, reading.advance), ExitStack() as stack:
        before = None
        if check_folder(folder) and not rebuild:
            before = open_embedded(folder)
            clear(folder, manifest.current_generation(folder))
        choice = choose(given, before.settings if before else None, reading.advance)
        made: list[Generation] = []

        def start() -> Collector:
            current = manifest.current_generation(folder)
            made.append(stack.enter_context(Generation(folder, current)))
            return _collector(made[0].sink, choice.settings)

        reading = replace(reading, leave_out=[*reading.leave_out, folder / manifest.NAME])
        assembly = Assembly(before, start)
        changes = _assemble(reading, choice, before, assembly)
        collected = assembly.finish()
        if collected is None:
            assert before is not None
            return Made(before, choice, changes)
        arrays = collected.finish()
        languages = tuple(sorted(collected.languages))
        made[0].publish(choice.settings, languages)
        return Made(EmbeddedIndex(arrays, choice.settings, languages), choice, changes)


def open_embedded(folder: Path) -> EmbeddedIndex:
    """The index of a folder."""
    found, arrays = open_folder(folder)
    return EmbeddedIndex(arrays, found.settings, found.languages)


def _collector(sink: Sink, settings: Settings) -> Collector:
    return Collector(sink, settings.dimensions, left_out(settings.vectors))


def _assemble(
    reading: Reading, choice: Choice, index: EmbeddedIndex | None, assembly: Assembly
) -> Changes:
    before = Before(index)
    tally = Tally(before.fingerprints)

    def is_known(id: str, fingerprint: str) -> bool:
        return before.number(id, fingerprint) is not None

    for gathered in gather(reading, choice, before.fingerprints, tally, is_known):
        if gathered.built:
            assembly.add(gathered.built)
        else:
            number = before.number(gathered.document.id, gathered.fingerprint)
            assert number is not None
            assembly.carry(number, gathered.document)
    if len(before) and tally.skipped and not tally.documents:
        raise ChunkwiseError(
            f"no document could be read ({tally.skipped:,} skipped): the index stays as it was, with "
            f"{len(before):,} documents; look at the inputs"
        )
    return tally.changes(choice.notes)
