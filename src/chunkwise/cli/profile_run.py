"""The documents of `chunkwise profile`, one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chunkwise.base.errors import UnreadableDocument
from chunkwise.cli.messages import say_skipped
from chunkwise.cli.progress import bytes_of, progress
from chunkwise.documents import LoadOptions, read
from chunkwise.profiling import Profile, Profiler


def run_profile(
    paths: list[str], outputs: list[Path], options: dict[str, Any], load: LoadOptions
) -> tuple[Profile, int]:
    """The profile, and how many documents could not be read."""
    skipped = 0

    def on_skip(problem: UnreadableDocument) -> None:
        nonlocal skipped
        if options["strict"]:
            raise problem
        skipped += 1
        say_skipped(problem)

    profiler = Profiler(options["tokenizer"])
    done = 0
    with progress("profiling", bytes_of(paths), options["quiet"]) as advance:
        for document in read(paths, load, on_skip, leave_out=outputs):
            profiler.add(document)
            done += 1
            advance(len(document.text), f"{done:,} documents")
    return profiler.result(), skipped
