"""What a command takes of memory and work, with all processes that it begins."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


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


def memory_of(pid: int) -> tuple[float, float]:
    """Megabytes of all processes together, and of the largest."""
    own = []
    for each in processes_of(pid):
        try:
            told = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        own += [int(line.split()[1]) / 1000 for line in told if line.startswith("Pss:")]
    return sum(own), max(own, default=0.0)


def watched(command: list[str], every: float = 1.0) -> tuple[float, float, float, float]:
    """The peak of all its processes, of the largest, seconds of the processor, and of the clock.

    Memory is looked at `every` so many seconds.
    """
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with tempfile.TemporaryFile("w+") as told:
        process = subprocess.Popen(command, stdout=told, stderr=told)
        together = largest = 0.0
        while process.poll() is None:
            now = memory_of(process.pid)
            together, largest = max(together, now[0]), max(largest, now[1])
            time.sleep(every)
        if process.returncode:
            told.seek(0)
            sys.exit(f"{' '.join(command)} failed: {told.read()[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return together, largest, used, time.monotonic() - began
