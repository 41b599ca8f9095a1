"""Work in parts, by this process, several or a cluster: what comes of the parts is handed out in their order.

A part is a list of things to do. What a process of this machine makes of one is a file, so that neither a pipe nor
memory ever holds it as a whole; a cluster keeps it in its own store.
"""

from __future__ import annotations

import pickle
import sys
import tempfile
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import count
from multiprocessing import spawn
from pathlib import Path
from typing import Any, BinaryIO, Generic, Protocol, TypeVar

from chunkwise.base.atomic_files import says_what_it_writes, scratch_folder
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.limited_processes import (
    Ask,
    NotStarted,
    ProcessDied,
    Processes,
)
from chunkwise.base.limits import LimitExceeded, Limits
from chunkwise.base.user_code import UserFile, expect_files, files_run


class WorkerDied(ChunkwiseError):
    """A process ended at a part; another stands in for it."""


class Divisible(Protocol):
    """Things to do: a list, or what can be divided as one."""

    def __len__(self) -> int: ...
    def __getitem__(self, some: slice, /) -> Any: ...


Part = TypeVar("Part", bound=Divisible)
Found = TypeVar("Found")
_Part = TypeVar("_Part", bound=Divisible, contravariant=True)
_Found = TypeVar("_Found", covariant=True)

Function = Callable[[Part], Iterable[Found]]
Pieces = Callable[[], Iterator[Found]]
"""Waits until a part is done, then gives what came of it piece by piece; `WorkerDied` before the first."""
Lost = Callable[[Part, WorkerDied], Found]
"""What stands for a part of one thing at which each process dies."""


class Workers(Protocol[_Part, _Found]):
    """Who does one kind of work: this process, others of this machine, or a cluster."""

    @property
    def at_once(self) -> int:
        """Parts worth having under way: what bounds memory and disk."""

    def submit(self, part: _Part) -> Pieces[_Found]: ...

    def stop(self) -> None:
        """End what is under way."""


class Cluster(Protocol):
    """Machines that work for this one."""

    @property
    def cores(self) -> int:
        """How many can work at the same time."""

    def workers(
        self, function: Function[Part, Found], stage: str, *, accelerated: bool = False
    ) -> Workers[Part, Found]:
        """Workers that each get `function` once; `stage` is its name where the cluster shows what it does.

        `accelerated`: each needs a share of an accelerator.
        """


Jobs = int | Cluster
"""Who shares the work: so many processes of this machine, or a cluster."""


def check_jobs(jobs: Jobs) -> None:
    if isinstance(jobs, bool) or not (isinstance(jobs, int) or hasattr(jobs, "workers")):
        raise InvalidParameter(
            f"jobs is {jobs!r}; expected a number of processes, or chunkwise.options.RayCluster()"
        )
    if isinstance(jobs, int) and jobs < 1:
        raise InvalidParameter(f"jobs is {jobs}; the minimum is 1")


def count_of(jobs: Jobs) -> int:
    """How many work at the same time."""
    return jobs if isinstance(jobs, int) else jobs.cores


@contextmanager
def begin_workers(
    jobs: Jobs,
    function: Function[Part, Found],
    stage: str,
    *,
    accelerated: bool = False,
    apart: bool = False,
) -> Iterator[Workers[Part, Found]]:
    """Those that `jobs` says, as long as the context lasts; `apart`: never this process, which the work may end."""
    check_jobs(jobs)
    workers: Workers[Part, Found]
    if not isinstance(jobs, int):
        workers = jobs.workers(function, stage, accelerated=accelerated)
    elif jobs == 1 and not apart:
        workers = _ThisProcess(function)
    else:
        with scratch_folder() as folder:
            workers = _OtherProcesses(jobs, function, folder)
            try:
                yield workers
            finally:
                workers.stop()
        return
    try:
        yield workers
    finally:
        workers.stop()


def map_parts(
    function: Function[Part, Found],
    parts: Iterable[Part],
    jobs: Jobs,
    stage: str,
    lost: Lost[Part, Found],
    *,
    accelerated: bool = False,
    apart: bool = False,
) -> Generator[Found, None, None]:
    """What the function yields for every part, in their order."""
    with begin_workers(jobs, function, stage, accelerated=accelerated, apart=apart) as workers:
        begun = (begin(workers, part, lost) for part in parts)
        for _, piece in in_order(begun, workers.at_once):
            yield piece
            del piece  # before the next one is read


def in_order(begun: Iterable[Pieces[Found]], at_once: int) -> Iterator[Found]:
    """All pieces, a few parts being under way."""
    waiting: deque[Pieces[Found]] = deque()
    for function in begun:
        waiting.append(function)
        if len(waiting) >= at_once:
            yield from waiting.popleft()()
    while waiting:
        yield from waiting.popleft()()


def begin(
    workers: Workers[Part, Found], part: Part, lost: Lost[Part, Found]
) -> Pieces[tuple[Part, Found]]:
    """Each piece with its part. One at which a process dies is tried again, then in halves, down to what kills it."""
    return partial(_surviving, workers, part, workers.submit(part), lost, is_first=True)


def _surviving(
    workers: Workers[Part, Found],
    part: Part,
    pieces: Pieces[Found],
    lost: Lost[Part, Found],
    is_first: bool = False,
) -> Iterator[tuple[Part, Found]]:
    try:
        result = pieces()
    except WorkerDied as error:
        middle = len(part) // 2
        if not middle and not is_first:
            yield part, lost(part, error)
            return
        again: list[Part] = [part] if is_first else [part[:middle], part[middle:]]
        begun = [(item, workers.submit(item)) for item in again]
        for each, its_pieces in begun:
            yield from _surviving(workers, each, its_pieces, lost)
        return
    for piece in result:
        yield part, piece
        del piece


class _ThisProcess(Generic[Part, Found]):
    at_once = 1

    def __init__(self, function: Function[Part, Found]) -> None:
        self._function = function

    def submit(self, part: Part) -> Pieces[Found]:
        return lambda: iter(self._function(part))

    def stop(self) -> None:
        pass


_AHEAD = 3
"""Parts a process may be ahead of the reader."""
_NO_LIMITS = Limits(None, None)


class _OtherProcesses(Generic[Part, Found]):
    def __init__(self, jobs: int, function: Function[Part, Found], folder: Path) -> None:
        if _is_importing_script:
            raise ChunkwiseError(
                "a script with custom classes and several jobs needs its code under "
                '`if __name__ == "__main__":`'
            )
        self.at_once = jobs * _AHEAD
        self._folder, self._numbers = folder, count()
        self._function = folder / "function"
        try:
            sent = pickle.dumps(function)
        except Exception as error:  # a third party's object may raise anything
            raise InvalidParameter(
                f"the strategy can't be pickled for another process ({error}); give it by name, "
                "or use jobs=1"
            ) from error
        self._function.write_bytes(
            pickle.dumps((files_run(), _script() if _MAIN in sent else {}, sent))
        )
        self._threads = ThreadPoolExecutor(jobs)
        self._processes = Processes()

    def submit(self, part: Part) -> Pieces[Found]:
        path = self._folder / str(next(self._numbers))
        done = self._threads.submit(self._work_on, part, path)

        def pieces() -> Iterator[Found]:
            done.result()
            return _read_pieces(path)

        return pieces

    def _work_on(self, part: Part, path: Path) -> None:
        try:
            sent = pickle.dumps(part)
        except Exception as cause:  # a third party's object may raise anything
            raise ChunkwiseError(
                f"the documents can't be pickled for another process ({cause}), perhaps "
                f"because of their metadata; use plain values there, or jobs=1"
            ) from cause
        try:
            (error,) = self._processes.outcomes(
                _WORK_ON, (self._function, sent, path), _NO_LIMITS, {}
            )
        except NotStarted as cause:
            raise ChunkwiseError(f"cannot start worker processes ({cause}); use one job") from cause
        except (ProcessDied, LimitExceeded) as cause:
            raise WorkerDied(f"a worker process died ({cause})") from cause
        if error is not None:
            raise error

    def stop(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._processes.stop()
        self._threads.shutdown()


def _read_pieces(path: Path) -> Iterator[Any]:
    with path.open("rb") as file:
        path.unlink()
        yield from _pieces_in(file)


def _pieces_in(file: BinaryIO) -> Iterator[Any]:
    while True:
        try:
            piece = pickle.load(file)  # what a process of ours wrote
        except EOFError:
            return
        yield piece
        del piece


def all_or_none(pieces: Iterable[Found]) -> Iterator[Found]:
    """The pieces, once all of them are there: kept in a file until then, so an error comes before the first."""
    with tempfile.TemporaryFile() as file:
        _write_pieces(pieces, file, Path(tempfile.gettempdir()))
        file.seek(0)
        yield from _pieces_in(file)


def _write_pieces(pieces: Iterable[Any], file: BinaryIO, path: Path) -> None:
    for piece in pieces:
        with says_what_it_writes(path):
            pickle.dump(piece, file, pickle.HIGHEST_PROTOCOL)
        del piece  # before the next one is made


# ---- in the process that does it

_WORK_ON = f"{__name__}:work_on"
_MAIN = b"__main__"
_is_importing_script = False


def _script() -> dict[str, str]:
    """How the script that was started is imported, for the classes and functions it defines."""
    main = sys.modules["__main__"]
    if main.__spec__ is not None:
        return {"init_main_from_name": main.__spec__.name}
    path = getattr(main, "__file__", None)
    return {"init_main_from_path": str(Path(path).absolute())} if path else {}


def work_on(function: Path, part: bytes, path: Path, ask: Ask) -> Iterator[Exception | None]:
    """Writes what comes of a part; yields None, or the error that it ended with."""
    try:
        made = _function(function)
        with path.open("wb") as file:
            _write_pieces(made(pickle.loads(part)), file, path)
    except MemoryError:
        raise
    except Exception as error:  # a third party's strategy may raise anything
        yield _sendable(error)
    else:
        yield None


@lru_cache(maxsize=1)
def _function(path: Path) -> Callable[[Any], Iterable[Any]]:
    """Whatever it loads stays with it."""
    global _is_importing_script
    files: list[UserFile]
    files, script, sent = pickle.loads(path.read_bytes())
    expect_files(files)
    if script:
        _is_importing_script = True
        spawn.prepare(script)
        _is_importing_script = False
    made: Callable[[Any], Iterable[Any]] = pickle.loads(sent)
    return made


def _sendable(error: Exception) -> Exception:
    if not isinstance(error, ChunkwiseError):
        error.add_note("".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # what was raised may be unfit to travel
        return ChunkwiseError(f"{type(error).__name__} in a worker process: {error}")
    return error
