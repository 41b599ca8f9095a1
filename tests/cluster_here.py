"""A cluster without machines: what it is given, and what it gives back, is sent as it would be to others."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from chunkwise.base.workers import WorkerDied


class WorkersHere:
    at_once = 3

    def __init__(self, work: Callable[[Any], Any], dies_at: str) -> None:
        self._work = pickle.loads(pickle.dumps(work))
        self._dies_at = dies_at
        self.is_stopped = False
        self.answers: list[int] = []
        """Bytes that were sent back, of each task."""

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

    def stop(self) -> None:
        self.is_stopped = True


class ClusterHere:
    """`stages` notes what was begun; work that holds `dies_at` ends its process."""

    cores = 2

    accelerators = 0.0

    def __init__(self, dies_at: str = "") -> None:
        self.stages: list[str] = []
        self.groups: list[WorkersHere] = []
        self._dies_at = dies_at

    def workers(self, work: Callable[[Any], Any], stage: str, *, accelerated: bool = False) -> Any:
        self.stages.append(stage)
        self.groups.append(WorkersHere(work, self._dies_at))
        return self.groups[-1]
