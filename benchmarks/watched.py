"""What a command takes of memory and work, with all processes that it begins."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


def processes_of(pid: int) -> dict[int, list[str]]:
    """A process and all that it began, with what `/proc` says of each in one line."""
    lines = {}
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            lines[int(each.parent.name)] = each.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
    found, more = {pid}, {pid}
    while more:
        more = {each for each, line in lines.items() if int(line[1]) in more} - found
        found |= more
    return {each: lines[each] for each in found if each in lines}


class Memory(NamedTuple):
    """Megabytes; of pages that several processes share each has its part."""

    together: float = 0.0
    largest: float = 0.0
    own: float = 0.0
    """Of all processes together, without pages of files, which the system takes back when others want them."""

    def highest(self, other: Memory) -> Memory:
        return Memory(*map(max, self, other))


def memory_of(pid: int) -> Memory:
    """Of a process and all that it began."""
    whole, own = [], 0.0
    for each in processes_of(pid):
        try:
            told = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        sizes = {line.split()[0]: int(line.split()[1]) / 1000 for line in told[1:]}
        whole.append(sizes.get("Pss:", 0.0))
        own += sizes.get("Pss:", 0.0) - sizes.get("Pss_File:", 0.0)
    return Memory(sum(whole), max(whole, default=0.0), own)


class Watched(NamedTuple):
    """What a command took."""

    memory: Memory
    """The peaks, each by itself."""
    processor: float
    clock: float
    """Seconds."""

    def __str__(self) -> str:
        together, largest, own = self.memory
        return (
            f"peak of all processes {together:,.0f} MB, without pages of files {own:,.0f} MB, of the largest "
            f"{largest:,.0f} MB; {self.processor:,.1f} s of CPU time, {self.clock:,.1f} s"
        )


def watched(
    command: list[str], every: float = 1.0, environment: Mapping[str, str] | None = None
) -> Watched:
    """Runs it to its end; memory is looked at `every` so many seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with tempfile.TemporaryFile("w+") as told:
        process = subprocess.Popen(command, stdout=told, stderr=told, env=environment)
        memory = Memory()
        while process.poll() is None:
            memory = memory.highest(memory_of(process.pid))
            time.sleep(every)
        if process.returncode:
            told.seek(0)
            sys.exit(f"{' '.join(command)} failed: {told.read()[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Watched(memory, used, time.monotonic() - began)
