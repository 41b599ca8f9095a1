"""The models that are here: found, fetched, checked, removed."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from chunkwise.base.atomic_files import bytes_in, replacing, says_what_it_writes, scratch_folder
from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.progress import model_stage
from chunkwise.base.wording import counted, shortened
from chunkwise.models.home_folder import fetched_models, given_models
from chunkwise.models.weights.catalog import ALL, WeightFile, Weights, digest

_SETTLED = 2.0
"""Seconds without a change after which the next one shows in a file's times."""

ModelState = Literal["here", "partly here", "not here", "damaged"]


class ModelStatus(NamedTuple):
    """A model and how much of it is here."""

    weights: Weights
    state: ModelState
    files: dict[str, Path]
    """Those that are here."""

    @property
    def bytes(self) -> int:
        return sum(path.stat().st_size for path in self.files.values())


def fetched_path(weights: Weights, file: WeightFile) -> Path:
    """Where a fetched file is put."""
    return fetched_models() / weights.name / file.name


def _candidates(weights: Weights, file: WeightFile) -> list[Path]:
    """Files of the right size."""
    places = _places(weights, file)
    return [path for path in places if path.is_file() and path.stat().st_size == file.size]


def _places(weights: Weights, file: WeightFile) -> list[Path]:
    """Where it may be: brought along, in a folder of the model's name or loose, or fetched earlier."""
    given = given_models()
    brought = [given / weights.name / file.name, given / file.name] if given else []
    return [*brought, fetched_path(weights, file)]


def find(weights: Weights, file: WeightFile, *, read: bool = False) -> Path | None:
    """Where the file is and its hash is right; `read`: hashed again even if it did not change since."""
    right = (path for path in _candidates(weights, file) if _is_right(path, weights, file, read))
    return next(right, None)


def _is_right(path: Path, weights: Weights, file: WeightFile, read: bool) -> bool:
    if path != fetched_path(weights, file):
        return digest(path) == file.sha256
    # Every write changes the time of the last change, which nobody can set, but not by less than a clock tick.
    now = path.stat()
    is_settled = time.time() - now.st_ctime > _SETTLED
    seen = f"{file.sha256} {now.st_size} {now.st_mtime_ns} {now.st_ctime_ns} {now.st_ino}"
    record = path.with_name(f".{path.name}.hashed")
    with suppress(OSError, UnicodeError):
        if not read and record.read_text("utf-8") == seen:
            return True
    if digest(path) != file.sha256:
        return False
    if is_settled:
        with suppress(ChunkwiseError), replacing(record) as temporary:
            temporary.write_text(seen, "utf-8")
    return True


def ensure(weights: Weights, source: str | None = None) -> dict[str, Path]:
    """Find a model's files, fetch those that are not here, and return their paths by name; their hashes are right."""
    places = {file.name: find(weights, file) for file in weights.files}
    here = {name: path for name, path in places.items() if path is not None}
    missing = [file for file in weights.files if file.name not in here]
    if not missing:
        return here
    from chunkwise.models.weights.fetch import UNFINISHED, fetch

    unfinished: WeightFile = missing[0]
    try:
        with (
            scratch_folder(fetched_models() / weights.name, UNFINISHED) as downloads,
            model_stage(
                f"downloading {weights.name}", sum(file.size for file in missing)
            ) as advance,
        ):
            for unfinished in missing:
                here[unfinished.name] = fetched_path(weights, unfinished)
                fetch(unfinished, here[unfinished.name], source, advance, downloads)
    except ChunkwiseError as error:
        raise _with_hint(weights, unfinished, error) from error
    return here


_WITHOUT = {
    "embedder": "; without a model: --retriever bm25, or --embedder none",
    "token encoder": '; without token vectors: --retriever "multiscale(maxsim=0)"',
    "reranker": "; without it: leave out --reranker, or generate answers with --llm NAME",
}


def _with_hint(weights: Weights, file: WeightFile, error: ChunkwiseError) -> ChunkwiseError:
    """If the file is here with other bytes, that is the fault, and fetching it only the remedy."""
    for path in _places(weights, file):
        # Loose in the user's folder, such a name may be another model's.
        if path.is_file() and path.parent.name == weights.name:
            return ChunkwiseError(
                f"{path} is damaged: it has {counted(path.stat().st_size, 'byte')}, not those of "
                f"{weights.name} ({counted(file.size, 'byte')}, SHA-256 "
                f"{shortened(file.sha256, 13)}); repair it: chunkwise models get {weights.name}, "
                f"which just failed: {error}"
            )
    return ChunkwiseError(f"{error}{_WITHOUT.get(weights.kind, '')}")


def model_status(weights: Weights, *, read: bool = False) -> ModelStatus:
    """What is here of a model; with `read` every byte is checked, without it only sizes."""
    here: dict[str, Path] = {}
    damaged = False
    for file in weights.files:
        candidates = _candidates(weights, file)
        right = find(weights, file, read=True) if read else next(iter(candidates), None)
        damaged |= bool(candidates) and right is None
        if candidates:
            here[file.name] = right or candidates[0]
    state: ModelState = "partly here" if here else "not here"
    if damaged:
        state = "damaged"
    elif len(here) == len(weights.files):
        state = "here"
    return ModelStatus(weights, state, here)


def all_model_statuses() -> list[ModelStatus]:
    return [model_status(weights) for weights in ALL]


def remove(weights: Weights) -> int:
    """Deletes what was fetched, never what was brought along; how many bytes that were."""
    folder = fetched_models() / weights.name
    freed = bytes_in(folder)
    if not freed:
        raise ChunkwiseError(f"{weights.name} isn't in {fetched_models()}; nothing to remove")
    with says_what_it_writes(folder):
        shutil.rmtree(folder)
    return freed
