"""Chunkings shared out among several processes; what comes out is the same."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from chunkwise.errors import ChunkwiseError
from chunkwise.experiments.outcome import Outcome
from chunkwise.experiments.running.bench import Bench
from chunkwise.experiments.running.one_chunking import Group
from chunkwise.workers import interrupts_held

_DIED = "the process that ran it died, perhaps for lack of memory; run it again with one job"
_ALL_DIED = (
    "all worker processes died, perhaps for lack of memory: run again with one job; a script that uses several needs "
    'its code under `if __name__ == "__main__":`'
)


def together(
    bench: Bench, groups: Sequence[Group], jobs: int, over: Callable[[], bool]
) -> Iterator[Outcome]:
    """Outcomes as they are known; once it is `over`, no further chunking is begun."""
    waiting = list(reversed(groups))
    # Not forked: a fork copies locks that another thread of the caller may hold.
    workers = [_Worker(bench) for _ in range(min(jobs, len(groups)))]
    try:
        for worker in workers:
            worker.take(waiting)
        while busy := [worker for worker in workers if worker.group]:
            ready = wait([worker.pipe for worker in busy])
            for worker in busy:
                if worker.pipe in ready:
                    yield from worker.heard()
                    if not worker.group and not over():
                        worker.take(waiting)
            if waiting and all(worker.is_dead for worker in workers):
                raise ChunkwiseError(_ALL_DIED)
    finally:
        # Stopped, or nobody wants the rest: a long document must not keep the caller waiting.
        for worker in workers:
            worker.stop()


class _Worker:
    """A process and the chunking it is at; each of its outcomes is told at once."""

    def __init__(self, bench: Bench) -> None:
        context = get_context("spawn")
        self.pipe, there = context.Pipe()
        self._process: BaseProcess = context.Process(target=_work, args=(bench, there), daemon=True)
        with interrupts_held():
            self._process.start()
        there.close()
        self.group: Group = ()
        """What of its chunking is still to come; empty: it has nothing to do."""
        self.is_dead = False

    def take(self, waiting: list[Group]) -> None:
        """The next chunking, where there is one."""
        if waiting and not self.is_dead:
            self.group = waiting.pop()
            with suppress(OSError):  # it died: that is heard, too
                self.pipe.send(self.group)

    def heard(self) -> Iterator[Outcome]:
        """One outcome; those of a process that died say so."""
        try:
            found: list[Outcome] = [self.pipe.recv()]
        except (EOFError, OSError):
            self.is_dead = True
            found = [Outcome(each, error=_DIED) for each in self.group]
        self.group = self.group[len(found) :]
        yield from found

    def stop(self) -> None:
        self.pipe.close()
        self._process.terminate()
        self._process.join()


def _work(bench: Bench, pipe: Connection) -> None:
    # Ctrl-C reaches every process; the one that reads the results answers for all.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    workshop = bench.workshop()
    # The other end closes when its process goes, however it goes.
    with suppress(EOFError, OSError):
        while True:
            for outcome in bench.outcomes(workshop, pipe.recv()):
                pipe.send(outcome)
