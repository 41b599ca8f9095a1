"""A cluster without machines: what it is given, and what it gives back, is sent as it would be to others."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from chunkwise.base.spill_and_full_disk import spill
from chunkwise.base.workers import WorkerDied


class WorkersHere:
    at_once = 3

    def __init__(self, work: Callable[[Any], Any], dies_at: str) -> None:
        self._work = pickle.loads(pickle.dumps(work))
        self._dies_at = dies_at
        self.is_stopped = False
        self.answers: list[int] = []
        """Bytes that were sent back, of each task or piece."""

    def submit(self, given: Any) -> Future[Any]:
        found: Future[Any] = Future()
        sent = pickle.dumps(given)
        try:
            if self._dies_at and self._dies_at.encode() in sent:
                raise WorkerDied("a worker process died")
            answer = pickle.dumps(self._work(pickle.loads(sent)))
            self.answers.append(len(answer))
            found.set_result(pickle.loads(answer))
        except Exception as error:
            found.set_exception(error)
        return found

    def spill(self, one_by_one: Any, given: Any, path: Path) -> Future[Any]:
        found: Future[Any] = Future()
        asked, unit = pickle.loads(pickle.dumps((one_by_one, given)))
        try:
            if self._dies_at and self._dies_at in unit.origin:
                raise WorkerDied("a worker process died")
            spill(map(self._sent, asked(self._work, unit)), path)
            found.set_result(None)
        except Exception as error:
            found.set_exception(error)
        return found

    def _sent(self, piece: object) -> bytes:
        self.answers.append(len(sent := pickle.dumps(piece)))
        return sent

    def stop(self) -> None:
        self.is_stopped = True


class ClusterHere:
    """`stages` notes what was begun; work that holds `dies_at` ends its process."""

    cores = 2

    def __init__(self, dies_at: str = "") -> None:
        self.stages: list[str] = []
        self.groups: list[WorkersHere] = []
        self._dies_at = dies_at

    def workers(self, work: Callable[[Any], Any], stage: str, *, accelerated: bool = False) -> Any:
        self.stages.append(stage)
        self.groups.append(WorkersHere(work, self._dies_at))
        return self.groups[-1]
