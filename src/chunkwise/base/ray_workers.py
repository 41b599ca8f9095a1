"""A Ray cluster whose workers have the face of `Workers`: the same work, on as many machines as there are."""

from __future__ import annotations

import os
import re
import socket
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, TypeVar

from chunkwise.base.cores import use_cores
from chunkwise.base.errors import ChunkwiseError, MissingExtra, warn_user
from chunkwise.base.spill_and_full_disk import NoRoomHere, expect_others, spill
from chunkwise.base.user_code import modules_run
from chunkwise.base.workers import OneByOne, WorkerDied

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

_LOOK = 1.0
"""Seconds after which whoever waits for a piece sees whether it is over."""
_STREAMED: dict[str, Any] = {"num_returns": "streaming", "_generator_backpressure_num_objects": 2}
"""A task is at most so many pieces ahead of who takes them."""

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


@dataclass(frozen=True, slots=True)
class _Asked:
    """A piece of work that is under way, and what has become of it so far."""

    given: Any
    found: Future[Any]
    one_by_one: OneByOne | None = None
    path: Path | None = None
    """Where its pieces are spilled; None: what is found comes as a whole."""
    tries: int = 1
    losses: int = 0
    """Of its process or node, where we see to that ourselves."""


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
        self._done = self._ray.remote(_done)
        self._one_by_one = self._ray.remote(_done_one_by_one)
        self._how: dict[str, Any] = {"name": name, "num_cpus": 1, "num_gpus": share}
        self._task = self._done.options(**self._how, max_retries=_RETRIES)
        self._running: set[Any] = set()
        self._choosy: dict[Any, bool] = {}
        """Of those: what waits for a machine that has room, and whether it has been called back."""
        self._full: frozenset[str] = frozenset()
        """Machines whose disk for temporary files has no room: as long as others have, they get no more of this."""
        self._waiting = ThreadPoolExecutor(1)
        """Asks the cluster anew: who is told of a result may ask nothing."""
        self._watching = threading.Thread(target=self._call_back, daemon=True)
        self._over = threading.Event()
        self._taking: set[threading.Thread] = set()
        """Each spills what one task makes."""

    @property
    def at_once(self) -> int:
        """How much is worth having under way; a cluster may grow."""
        return max(2, self._cluster.cores * _AHEAD)

    def submit(self, given: Given) -> Future[Found]:
        """What `work` makes of it, once it is there; a process that is lost for good is a `WorkerDied`."""
        found: Future[Found] = Future()
        self._begin(_Asked(given, found))
        return found

    def spill(self, one_by_one: OneByOne, given: Any, path: Path) -> Future[None]:
        """The same, one piece after the other into a file here: no machine holds more than some of them.

        They are taken as they come, whoever waits for what: a task that waited for its turn would keep a core from
        work that comes before it.
        """
        found: Future[None] = Future()
        self._begin(_Asked(given, found, one_by_one, path))
        return found

    def _begin(self, asked: _Asked) -> None:
        full = self._full
        has_others = not full or self._has_room_beside(full)
        how, task = self._how, self._task
        if full and has_others:
            others = f"!in({','.join(sorted(full))})"
            how = {**how, "label_selector": {"ray.io/node-id": others}}
            task = self._done.options(**how, max_retries=_RETRIES)
        try:
            if asked.path is None:
                reference = task.remote(self._work, asked.given, has_others)
            else:
                # Begun anew by Ray itself, it would go on where another text may be by now.
                task = self._one_by_one.options(**how, **_STREAMED, max_retries=0)
                reference = task.remote(self._work, asked.one_by_one, asked.given, has_others)
        except self._ray.exceptions.RayError as error:  # what is given has no room here
            raise _in_our_words(error) from error
        self._running.add(reference)
        if full and has_others:
            self._choosy[reference] = False

        def hand_over(done: Future[Any]) -> None:
            self._running.discard(reference)
            is_called_back = self._choosy.pop(reference, False)
            error = done.exception()
            if error is None:
                asked.found.set_result(done.result())
                return
            is_called_back &= isinstance(error, self._ray.exceptions.TaskCancelledError)
            error = _in_our_words(error)
            again: Callable[[], None] | None = None
            if isinstance(error, NoRoomHere) and has_others:
                again = partial(self._begin_elsewhere, asked, error, full)
            elif is_called_back:
                again = partial(self._begin, asked)
            elif isinstance(error, WorkerDied) and asked.path and asked.losses < _RETRIES:
                again = partial(self._begin, replace(asked, losses=asked.losses + 1))
            if again is None:
                asked.found.set_exception(error)
                return
            try:
                begun = self._waiting.submit(again)
            except RuntimeError:  # it is over
                asked.found.set_exception(error)
            else:
                begun.add_done_callback(lambda tried: _hand_on(tried, asked.found))

        taken = reference.future() if asked.path is None else self._taken(reference, asked.path)
        taken.add_done_callback(hand_over)

    def _taken(self, pieces: Any, path: Path) -> Future[None]:
        """Has its own thread: one that waited for another's pieces would keep a task, and its core, waiting."""
        taken: Future[None] = Future()

        def take() -> None:
            try:
                spill(self._pieces(pieces), path)
            except BaseException as error:  # whoever waits is told
                taken.set_exception(error)
            else:
                taken.set_result(None)
            self._taking.discard(threading.current_thread())

        thread = threading.Thread(target=take, daemon=True)
        self._taking.add(thread)
        thread.start()
        return taken

    def _pieces(self, pieces: Any) -> Iterator[bytes]:
        while True:
            while not self._ray.wait([pieces], timeout=_LOOK, fetch_local=False)[0]:
                if self._over.is_set():
                    raise ChunkwiseError("the work was stopped")
            reference = next(pieces, None)
            if reference is None:
                return
            yield self._ray.get(reference)
            del reference  # the cluster lets go of it

    def _begin_elsewhere(self, asked: _Asked, error: NoRoomHere, avoided: frozenset[str]) -> None:
        """On a machine that has room; where none has, what there is no room for is left out, or ends the run."""
        full = {error.node}
        if isinstance(error, _NoRoomForResult):
            nodes = self._ray.nodes()
            full = {each["NodeID"] for each in nodes if each["NodeManagerAddress"] == error.address}
        # Which one it is cannot be told, nor avoided.
        if full <= avoided and asked.tries > _RETRIES:
            raise error
        if not full <= self._full:
            if not self._full:
                self._watching.start()
            self._full |= full
            if self._has_room_beside(self._full):
                warn_user(f"{error}; other machines do its work")
        self._begin(replace(asked, tries=asked.tries + 1))

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
        for each in list(self._taking):  # the folder they write into may go now
            each.join()


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
    with _told_where_there_is_no_room():
        return _sent(work, has_others)(given)


def _done_one_by_one(
    work: list[Any], one_by_one: OneByOne, given: Any, has_others: bool
) -> Iterator[bytes]:
    from ray import cloudpickle  # knows classes of a file that is on another machine

    with _told_where_there_is_no_room():
        for piece in one_by_one(_sent(work, has_others), given):
            yield cloudpickle.dumps(piece)
            del piece  # before the next one is made


def _sent(work: list[Any], has_others: bool) -> Callable[[Any], Any]:
    """What this process is to do, fetched once."""
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
    return _works[name]


@contextmanager
def _told_where_there_is_no_room() -> Iterator[None]:
    import ray

    try:
        yield
    except NoRoomHere as error:
        error.node = ray.get_runtime_context().get_node_id()
        raise


def _in_our_words(error: BaseException) -> BaseException:
    from ray import exceptions

    # Of this machine, which takes what tasks hand over; what Ray brings from another is of both kinds.
    if isinstance(error, ChunkwiseError | MemoryError) and not isinstance(
        error, exceptions.RayError
    ):
        return error
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
    lost = (
        exceptions.WorkerCrashedError,
        exceptions.NodeDiedError,
        exceptions.OutOfMemoryError,
        exceptions.ObjectLostError,
    )
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
