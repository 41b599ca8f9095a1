"""Files of results that become runs of a history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from glob import glob, has_magic
from hashlib import sha256
from pathlib import Path

from chunkwise.base.errors import ChunkwiseError
from chunkwise.evaluation.results import read_results
from chunkwise.records.read import read_saved
from chunkwise.tracking.history import History
from chunkwise.tracking.record_run import run_of_results, run_of_sweep
from chunkwise.tracking.run import KeptRun, RunOrigin, time_text
from chunkwise.tuning.sweep_result import FORMAT as SWEEP_FORMAT
from chunkwise.tuning.sweep_result import VERSION as SWEEP_VERSION
from chunkwise.tuning.sweep_result import SweepResult


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A file and the run it is."""

    file: str
    number: int
    is_new: bool
    """False: the run was in the history already."""


def import_results(
    history: History, paths: Iterable[str | Path], on_bad: Callable[[ChunkwiseError], None]
) -> list[ImportedFile]:
    """The oldest file first; what is no file of results is told to `on_bad`, and the others are taken."""
    runs: list[tuple[str, KeptRun]] = []
    for path in _files(paths):
        try:
            runs.append((str(path), run_of_file(path)))
        except ChunkwiseError as error:
            on_bad(error)
    result = []
    for name, run in sorted(runs, key=lambda pair: (pair[1].when, pair[0])):
        added = history.add(run, again=False)
        result.append(ImportedFile(name, added.number, added.is_new))
    return result


def _files(paths: Iterable[str | Path]) -> Iterator[Path]:
    """Each once; a pattern is one where no shell has looked at it, a folder the results in it."""
    seen: set[Path] = set()
    for given in paths:
        name = str(given)
        if has_magic(name) and not Path(name).exists():
            named = [Path(item) for item in sorted(glob(name, recursive=True))] or [Path(name)]
        else:
            named = sorted(Path(name).glob("*.json")) if Path(name).is_dir() else [Path(name)]
            named = named or [Path(name)]
        for path in named:
            if path.resolve() not in seen:
                seen.add(path.resolve())
                yield path


def run_of_file(path: Path) -> KeptRun:
    """What an evaluation or a sweep wrote; its time is that of the file, who made it is not known."""
    if is_sweep_file(path):
        run = run_of_sweep(read_sweep(path))
    else:
        run = run_of_results(read_results(path))
    try:
        content, written = path.read_bytes(), path.stat().st_mtime
    except OSError as error:
        raise ChunkwiseError(f"cannot read {path}: {error.strerror or error}") from error
    when = time_text(datetime.fromtimestamp(written, UTC))
    key = sha256(content).hexdigest()
    return replace(run, key=key, when=when, source=path.name, origin=RunOrigin())


def is_sweep_file(path: Path) -> bool:
    """Whether a file says at its beginning that it holds the results of a sweep."""
    try:
        with path.open("rb") as file:
            return f'"{SWEEP_FORMAT}"' in file.read(200).decode("utf-8", "replace")
    except OSError:  # reading it whole will say why
        return False


def read_sweep(path: Path) -> SweepResult:
    """What a sweep wrote; an error says which file, what is wrong and where."""
    return read_saved(path, SweepResult, SWEEP_FORMAT, SWEEP_VERSION, "chunkwise tune")
