"""Workers of a Ray cluster, with the face of `Workers`: the same work, on as many machines as there are."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from chunkwise.base.errors import ChunkwiseError, MissingExtra
from chunkwise.base.workers import WorkerDied

_RETRIES = 3
"""Of a task whose process or node was lost: most come back on another."""
_SECONDS = 10.0
"""After which nobody answers at an address."""
_AHEAD = 2
"""Tasks a core has waiting."""

Given = TypeVar("Given")
Found = TypeVar("Found")


class RayWorkers(Generic[Given, Found]):
    """Tasks of one name, in a cluster that runs (`address`: `auto`, `host:6379`) or one begun on this machine."""

    def __init__(self, address: str | None, work: Callable[[Given], Found], name: str) -> None:
        try:
            import ray
        except ImportError:
            raise MissingExtra("--engine ray", "ray") from None
        self._ray = ray
        self._has_begun = not ray.is_initialized()
        if self._has_begun:
            _connect(ray, address)
        self._work = ray.put(work)
        self._task = ray.remote(_done).options(name=name, max_retries=_RETRIES, num_cpus=1)
        self._running: set[Any] = set()

    @property
    def at_once(self) -> int:
        """How many are worth having under way."""
        cores = self._ray.cluster_resources().get("CPU", 1)
        return max(2, int(cores) * _AHEAD)

    def submit(self, given: Given) -> Future[Found]:
        """What `work` makes of it, once it is there; a process that is lost for good is a `WorkerDied`."""
        reference = self._task.remote(self._work, given)
        self._running.add(reference)
        found: Future[Found] = Future()
        reference.future().add_done_callback(lambda done: self._hand_over(reference, done, found))
        return found

    def _hand_over(self, reference: Any, done: Future[Found], found: Future[Found]) -> None:
        self._running.discard(reference)
        error = done.exception()
        if error is None:
            found.set_result(done.result())
        else:
            found.set_exception(_in_our_words(error))

    def stop(self) -> None:
        """End what is under way, and the cluster if it was begun here."""
        for reference in list(self._running):
            self._ray.cancel(reference, force=True)
        if self._has_begun:
            self._ray.shutdown()


def _connect(ray: Any, address: str | None) -> None:
    # Its own variable may name a cluster; else one is begun here, with no page that nobody asked for.
    own = {} if address or os.environ.get("RAY_ADDRESS") else {"include_dashboard": False}
    where = f"the Ray cluster at {address}" if address else "a Ray cluster of this machine"
    host, _, port = (address or "").rpartition(":")
    try:
        if host and port.isdigit():  # Ray itself asks for minutes
            socket.create_connection((host, int(port)), _SECONDS).close()
        ray.init(address=address, log_to_driver=False, logging_level="error", **own)
    except Exception as error:  # a wrong address, a cluster of another version: in Ray's own words
        words = " ".join(str(error).split())[:300]
        raise ChunkwiseError(
            f"{where} cannot be reached: {words}; start one with: ray start --head"
        ) from error


def _done(work: Callable[[Any], Any], given: Any) -> Any:
    return work(given)


def _in_our_words(error: BaseException) -> BaseException:
    from ray import exceptions

    if isinstance(error, exceptions.RayTaskError):
        cause = getattr(error, "cause", None)
        return cause if isinstance(cause, Exception) else ChunkwiseError(str(error))
    lost = (exceptions.WorkerCrashedError, exceptions.NodeDiedError, exceptions.OutOfMemoryError)
    if isinstance(error, lost):
        return WorkerDied(f"a worker process died {_RETRIES + 1} times")
    return ChunkwiseError(f"Ray: {' '.join(str(error).split())[:300]}")
