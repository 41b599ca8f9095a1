"""A Ray cluster whose workers have the face of `Workers`: the same work, on as many machines as there are."""

from __future__ import annotations

import os
import re
import socket
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Generic, TypeVar

from chunkwise.base.disk_room import NoRoomHere, expect_others
from chunkwise.base.errors import ChunkwiseError, MissingExtra, warn_user
from chunkwise.base.user_code import modules_run
from chunkwise.base.workers import WorkerDied, use_cores

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

Given = TypeVar("Given")
Found = TypeVar("Found")


class RayCluster:
    """A cluster that runs (`address`: `auto`, `host:6379`), or one begun on this machine: `jobs=` of every verb."""

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
        """Of all machines together, now."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    @property
    def accelerators(self) -> float:
        """Of all machines together, now."""
        return float(self._ray.cluster_resources().get("GPU", 0))

    def workers(
        self, work: Callable[[Given], Found], stage: str, *, accelerated: bool = False
    ) -> RayWorkers[Given, Found]:
        """Tasks that are called `chunkwise: stage` in Ray's dashboard."""
        share = 0.0
        if accelerated:
            if not self.accelerators:
                raise ChunkwiseError(
                    "the embedder runs on an accelerator here, and the Ray cluster has none: start its nodes with "
                    "ray start --num-gpus N, or hide the one of this machine (CUDA_VISIBLE_DEVICES= in the environment)"
                )
            # What cuts beside them keeps an accelerator busy, until copies of the model fill its memory.
            share = max(1 / _BESIDE, min(1.0, self.accelerators / self.cores))
        return RayWorkers(self, work, f"chunkwise: {stage}", share)

    def stop(self) -> None:
        """End the cluster if it was begun here, and leave it otherwise."""
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


class RayWorkers(Generic[Given, Found]):
    """Tasks of one name; a process is sent `work` once, and whatever it has loaded stays with it."""

    def __init__(
        self, cluster: RayCluster, work: Callable[[Given], Found], name: str, share: float = 0.0
    ) -> None:
        self._cluster = cluster
        self._ray = cluster._ray
        for module in modules_run():  # their files may be on this machine alone
            self._ray.cloudpickle.register_pickle_by_value(module)
        # In a list it is not fetched anew for every task.
        self._work = [self._ray.put(work)]
        self._remote = self._ray.remote(_done)
        self._how: dict[str, Any] = {
            "name": name,
            "max_retries": _RETRIES,
            "num_cpus": 1,
            "num_gpus": share,
        }
        self._task = self._remote.options(**self._how)
        self._running: set[Any] = set()
        self._choosy: dict[Any, bool] = {}
        """Of those: what waits for a machine that has room, and whether it has been called back."""
        self._full: frozenset[str] = frozenset()
        """Machines whose disk for temporary files has no room: as long as others have, they get no more of this."""
        self._waiting = ThreadPoolExecutor(1)
        """Asks the cluster anew: who is told of a result may ask nothing."""
        self._watching = threading.Thread(target=self._call_back, daemon=True)
        self._over = threading.Event()

    @property
    def at_once(self) -> int:
        """How much is worth having under way; a cluster may grow."""
        return max(2, self._cluster.cores * _AHEAD)

    def submit(self, given: Given) -> Future[Found]:
        """What `work` makes of it, once it is there; a process that is lost for good is a `WorkerDied`."""
        found: Future[Found] = Future()
        self._begin(given, found)
        return found

    def _begin(self, given: Given, found: Future[Found], tries: int = 1) -> None:
        task, full = self._task, self._full
        has_others = not full or self._has_room_beside(full)
        if full and has_others:
            others = f"!in({','.join(sorted(full))})"
            task = self._remote.options(**self._how, label_selector={"ray.io/node-id": others})
        try:
            reference = task.remote(self._work, given, has_others)
        except self._ray.exceptions.RayError as error:  # what is given has no room here
            raise _in_our_words(error) from error
        self._running.add(reference)
        if full and has_others:
            self._choosy[reference] = False

        def hand_over(done: Future[Found]) -> None:
            self._running.discard(reference)
            is_called_back = self._choosy.pop(reference, False)
            error = done.exception()
            if error is None:
                found.set_result(done.result())
                return
            is_called_back &= isinstance(error, self._ray.exceptions.TaskCancelledError)
            error = _in_our_words(error)
            if not is_called_back and not (isinstance(error, NoRoomHere) and has_others):
                found.set_exception(error)
                return
            try:
                if isinstance(error, NoRoomHere):
                    again = self._waiting.submit(
                        self._begin_elsewhere, given, found, error, full, tries
                    )
                else:
                    again = self._waiting.submit(self._begin, given, found, tries)
            except RuntimeError:  # it is over
                found.set_exception(error)
            else:
                again.add_done_callback(lambda tried: _hand_on(tried, found))

        reference.future().add_done_callback(hand_over)

    def _begin_elsewhere(
        self,
        given: Given,
        found: Future[Found],
        error: NoRoomHere,
        avoided: frozenset[str],
        tries: int,
    ) -> None:
        """On a machine that has room; where none has, what there is no room for is left out, or ends the run."""
        full = {error.node}
        if isinstance(error, _NoRoomForResult):
            nodes = self._ray.nodes()
            full = {each["NodeID"] for each in nodes if each["NodeManagerAddress"] == error.address}
        if full <= avoided and tries > _RETRIES:  # which one it is cannot be told, nor avoided
            raise error
        if not full <= self._full:
            if not self._full:
                self._watching.start()
            self._full |= full
            if self._has_room_beside(self._full):
                warn_user(f"{error}; other machines do its work")
        self._begin(given, found, tries + 1)

    def _has_room_beside(self, full: frozenset[str]) -> bool:
        """Whether a machine that is there now, and has what a task needs, is none of these."""
        needs = {"CPU": self._how["num_cpus"], "GPU": self._how["num_gpus"]}
        return any(
            each["Alive"]
            and each["NodeID"] not in full
            and all(each["Resources"].get(name, 0) >= needed for name, needed in needs.items())
            for each in self._ray.nodes()
        )

    def _call_back(self) -> None:
        """What waits for machines that have left, as it would for ever: it is begun anew where there are some."""
        while not self._over.wait(_SECONDS):
            if self._choosy and not self._has_room_beside(self._full):
                for reference in list(self._choosy):
                    self._choosy[reference] = True
                    self._ray.cancel(reference)

    def stop(self) -> None:
        """End what is under way."""
        self._over.set()
        self._waiting.shutdown(cancel_futures=True)
        if self._watching.is_alive():
            self._watching.join()
        for reference in list(self._running):
            self._ray.cancel(reference, force=True)


def _hand_on(tried: Future[None], found: Future[Any]) -> None:
    """Who waits hears of it where a task could not be begun again."""
    if tried.cancelled():
        found.cancel()
    elif (error := tried.exception()) is not None:
        found.set_exception(error)


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
            f"{where} cannot be reached: {words}; start one with: ray start --head"
        ) from error


_works: OrderedDict[str, Callable[[Any], Any]] = OrderedDict()
"""What this process does, by the name the cluster has for it."""


def _done(work: list[Any], given: Any, has_others: bool) -> Any:
    import ray

    (reference,) = work
    name = reference.hex()
    if name not in _works:
        use_cores(1)  # a task has one: others are at work on the rest
        _works[name] = ray.get(reference)
        while len(_works) > _KEPT:
            _works.popitem(last=False)
    _works.move_to_end(name)
    expect_others(has_others)
    try:
        return _works[name](given)
    except NoRoomHere as error:
        error.node = ray.get_runtime_context().get_node_id()
        raise


def _in_our_words(error: BaseException) -> BaseException:
    from ray import exceptions

    if isinstance(error, exceptions.RayTaskError):
        cause = getattr(error, "cause", None)
        if isinstance(cause, exceptions.OutOfDiskError):
            # Of what it has found, behind its last line.
            said = _ADDRESS.search(str(error))
            address = said[1] if said else ""
            return _NoRoomForResult(_NO_ROOM.format(address or "a machine"), address)
        if isinstance(cause, Exception) and not isinstance(cause, exceptions.RayError):
            return cause
        error = cause or error
    lost = (exceptions.WorkerCrashedError, exceptions.NodeDiedError, exceptions.OutOfMemoryError)
    if isinstance(error, lost):
        return WorkerDied(f"a worker process died {_RETRIES + 1} times")
    if isinstance(error, exceptions.OutOfDiskError):
        return ChunkwiseError(_NO_ROOM.format(socket.gethostname()))
    return ChunkwiseError(f"Ray: {' '.join(str(error).split())[:300]}")


_ADDRESS = re.compile(r"\bip=([0-9a-fA-F.:]+)")
"""In the words of Ray, which says it nowhere else."""
_NO_ROOM = (
    "Ray has no room on {} for what is sent from task to task: its memory for objects and the disk behind it are full "
    "(ray start --object-store-memory, --object-spilling-directory)"
)


class _NoRoomForResult(NoRoomHere):
    """Nobody but Ray knows of it, and Ray no more than the address of the machine."""

    def __init__(self, words: str, address: str) -> None:
        super().__init__(words)
        self.address = address
