"""A Ray cluster as workers: the same work, on as many machines as there are."""

from __future__ import annotations

import os
import socket
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, Generic

from chunkwise.base.cores import use_cores
from chunkwise.base.errors import ChunkwiseError, MissingExtra
from chunkwise.base.runner import Found, Function, Part, Pieces, WorkerDied
from chunkwise.base.user_code import modules_run

_RETRIES = 3
"""Of a task whose process or node was lost: most come back on another."""
_SECONDS = 10.0
"""After which nobody answers at an address."""
_AHEAD = 2
"""Tasks a core has waiting."""
_BESIDE = 8
"""Tasks that share an accelerator at most."""
_KEPT = 2
"""Kinds of work that a process keeps, with the models they have loaded."""


class RayCluster:
    """A Ray cluster for `jobs=`: a running one (`address`: `auto` or `host:6379`), or a local one."""

    def __init__(self, address: str | None = None) -> None:
        try:
            import ray
        except ImportError:
            raise MissingExtra("--engine ray", "ray") from None
        self._ray = ray
        self._has_begun = not ray.is_initialized()
        if self._has_begun:
            _connect(ray, address)

    @property
    def cores(self) -> int:
        """Total of all machines."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    @property
    def accelerators(self) -> float:
        """Total of all machines."""
        return float(self._ray.cluster_resources().get("GPU", 0))

    def workers(
        self, function: Function[Part, Found], stage: str, *, accelerated: bool = False
    ) -> RayWorkers[Part, Found]:
        """Tasks that are called `chunkwise: stage` in Ray's dashboard."""
        share = 0.0
        if accelerated:
            if not self.accelerators:
                raise ChunkwiseError(
                    "the embedder uses a GPU here, but the Ray cluster has none; start its "
                    "nodes with ray start --num-gpus N, or hide this machine's GPU "
                    "(CUDA_VISIBLE_DEVICES= in the environment)"
                )
            # What cuts beside them keeps an accelerator busy, until copies of the model fill its memory.
            share = max(1 / _BESIDE, min(1.0, self.accelerators / self.cores))
        return RayWorkers(self, function, f"chunkwise: {stage}", share)

    def stop(self) -> None:
        """Stop a local cluster."""
        if self._has_begun:
            self._ray.shutdown()

    def __enter__(self) -> RayCluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


class RayWorkers(Generic[Part, Found]):
    """Tasks of one name; a process is sent `function` once, and whatever it has loaded stays with it.

    What they find lies in the cluster's own store, which spills to disk, until it is read here.
    """

    def __init__(
        self, cluster: RayCluster, function: Function[Part, Found], name: str, share: float = 0.0
    ) -> None:
        self._cluster = cluster
        self._ray = cluster._ray
        for module in modules_run():  # their files may be on this machine alone
            self._ray.cloudpickle.register_pickle_by_value(module)
        # In a list it is not fetched anew for every task.
        self._function = [self._ray.put(function)]
        self._task = self._ray.remote(_pieces).options(
            name=name, num_cpus=1, num_gpus=share, num_returns="streaming", max_retries=_RETRIES
        )
        self._running: set[Any] = set()

    @property
    def at_once(self) -> int:
        """Parts worth having under way; a cluster may grow."""
        return max(2, self._cluster.cores * _AHEAD)

    def submit(self, part: Part) -> Pieces[Found]:
        """What comes of a part; a process that is lost for good is a `WorkerDied`."""
        try:
            task = self._task.remote(self._function, part)
        except self._ray.exceptions.RayError as error:  # what is given has no room here
            raise _in_our_words(error) from error
        self._running.add(task)

        def pieces() -> Iterator[Found]:
            try:
                self._ray.get(task.completed())
            except self._ray.exceptions.RayError as error:
                raise _in_our_words(error) from error
            finally:
                self._running.discard(task)
            return map(self._ray.get, task)

        return pieces

    def stop(self) -> None:
        """End what is under way."""
        for task in self._running:
            self._ray.cancel(task, force=True)


def _connect(ray: Any, address: str | None) -> None:
    # Its own variable may name a cluster; else one is begun here, though another runs on this machine already, with
    # no page that nobody asked for.
    named = address or os.environ.get("RAY_ADDRESS")
    own: dict[str, Any] = {} if named else {"include_dashboard": False}
    where = f"the Ray cluster at {address}" if address else "a Ray cluster of this machine"
    host, _, port = (address or "").rpartition(":")
    try:
        if host and port.isdigit():  # Ray itself asks for minutes
            socket.create_connection((host, int(port)), _SECONDS).close()
        ray.init(
            address=address if named else "local", log_to_driver=False, logging_level="error", **own
        )
    except Exception as error:  # a wrong address, a cluster of another version: in Ray's own words
        words = " ".join(str(error).split())[:300]
        raise ChunkwiseError(
            f"cannot reach {where}: {words}; start one with: ray start --head"
        ) from error


_functions: OrderedDict[str, Function[Any, Any]] = OrderedDict()
"""What this process does, by the name the cluster has for it."""


def _pieces(function: list[Any], part: Any) -> Iterable[Any]:
    import ray

    (reference,) = function
    name = reference.hex()
    if name not in _functions:
        use_cores(1)  # a task has one: others are at work on the rest
        _functions[name] = ray.get(reference)
        while len(_functions) > _KEPT:
            _functions.popitem(last=False)
    _functions.move_to_end(name)
    yield from _functions[name](part)


def _in_our_words(error: BaseException) -> BaseException:
    from ray import exceptions

    if isinstance(error, exceptions.RayTaskError):
        cause = getattr(error, "cause", None)
        if isinstance(cause, Exception) and not isinstance(cause, exceptions.RayError):
            return cause
        error = cause or error
    lost = (
        exceptions.WorkerCrashedError,
        exceptions.NodeDiedError,
        exceptions.OutOfMemoryError,
        exceptions.ObjectLostError,
    )
    if isinstance(error, lost):
        return WorkerDied(f"a worker process died {_RETRIES + 1} times")
    return ChunkwiseError(f"Ray: {' '.join(str(error).split())[:300]}")
