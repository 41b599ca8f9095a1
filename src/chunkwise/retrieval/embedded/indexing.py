"""Documents into an index, in memory or in a folder; what has not changed is carried over."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path

from chunkwise.retrieval.damage import told_if_damaged
from chunkwise.retrieval.embedded.carry import Assembly
from chunkwise.retrieval.embedded.index import EmbeddedIndex
from chunkwise.retrieval.embedded.layout import left_out
from chunkwise.retrieval.embedded.memory import MemorySink
from chunkwise.retrieval.embedded.sink import Collector, Sink
from chunkwise.retrieval.embedded.store import lock, manifest
from chunkwise.retrieval.embedded.store.reader import check, open_folder, verify
from chunkwise.retrieval.embedded.store.writer import Generation, check_folder, clear
from chunkwise.retrieval.making.choice import Given, choose, choose_anew
from chunkwise.retrieval.making.fill import fill
from chunkwise.retrieval.making.gather import Reading
from chunkwise.retrieval.making.made import Made
from chunkwise.retrieval.settings import Settings


def into_memory(
    reading: Reading, given: Given, before: EmbeddedIndex | None = None
) -> Made[EmbeddedIndex]:
    """An index that goes with the program."""
    choice = choose(given, before.settings if before else None, reading.advance)
    assembly = Assembly(
        before,
        lambda: _collector(MemorySink(), choice.settings),
        keep_others=reading.keep_others,
    )
    changes = fill(assembly, reading, choice)
    collected = assembly.finish()
    if collected is None:
        assert before is not None
        return Made(before, choice, changes)
    languages = sorted(collected.languages)
    return Made(EmbeddedIndex(collected.finish(), choice.settings, languages), choice, changes)


def into_folder(
    folder: Path, reading: Reading, given: Given, *, rebuild: bool = False, wait: float = lock.WAIT
) -> Made[EmbeddedIndex]:
    """An index in a folder: a new one, or the one that is there brought up to date."""
    check_folder(folder)
    with lock.locked(folder, wait, reading.advance), ExitStack() as stack:
        before = None
        is_there = check_folder(folder)
        if is_there and rebuild:
            choice = choose_anew(given, manifest.former_settings(folder), reading.advance)
        else:
            if is_there:
                before = open_embedded(folder)
                clear(folder, manifest.current_generation(folder))
            choice = choose(given, before.settings if before else None, reading.advance)
        made: list[Generation] = []

        def start() -> Collector:
            if before is not None:
                verify(folder)  # what is carried over is sealed anew: damage would become truth
            current = manifest.current_generation(folder)
            made.append(stack.enter_context(Generation(folder, current)))
            return _collector(made[0].sink, choice.settings)

        with told_if_damaged(before):
            assembly = Assembly(before, start, keep_others=reading.keep_others)
            changes = fill(assembly, reading, choice)
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
    return EmbeddedIndex(
        arrays, found.settings, found.languages, partial(check, folder, found, arrays)
    )


def folder_settings(folder: Path, *, of_any_version: bool = False) -> Settings | None:
    """What the index of a folder was made with; None: there is none yet (or, of any version, it cannot be read)."""
    if not (folder / manifest.NAME).is_file():
        return None
    if of_any_version:
        return manifest.former_settings(folder)
    return manifest.read_manifest(folder).settings


def _collector(sink: Sink, settings: Settings) -> Collector:
    return Collector(sink, settings.dimensions, left_out(settings.vectors))
