"""Long texts in the hands of a Ray cluster: handed over in segments, and done again where one is lost halfway.

Run by `make test-scale`, in an environment of its own.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed: make test-scale")

from ray.cluster_utils import Cluster  # noqa: E402

import chunkwise  # noqa: E402
from chunkwise.base.errors import ChunkwiseError, UnreadableDocument  # noqa: E402
from chunkwise.base.ray_workers import RayCluster  # noqa: E402
from chunkwise.chunkers.chunk_long_texts import chunk_segments  # noqa: E402
from chunkwise.chunkers.write_chunks import chunk_lines  # noqa: E402
from chunkwise.documents import LoadOptions  # noqa: E402


@pytest.fixture(scope="module")
def ray_cluster() -> Iterator[Any]:
    """A head that does no work, and nodes that can be spared."""
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    ray.init(address=made.address, log_to_driver=False, logging_level="error")
    made.add_node(num_cpus=1)  # behind it: what was started belongs to the head, and is not killed
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More long texts than there are cores, with short ones before and behind."""
    folder = tmp_path_factory.mktemp("docs")
    for name in ("a", "c", "e"):
        (folder / f"{name}.md").write_text(f"# {name}\n\nA short one, {name}.\n")
    for name in ("b", "d"):
        text = "The keeper of the lamp writes down the hour, the wind and the height of the water."
        (folder / f"{name}.md").write_text(f"# Part {name}\n\n{text}\n\n" * 190_000)  # 18 MB
    return folder


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "scratch"
    made.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(made))
    return made


def _index(docs: Path, into: Path, jobs: Any, told: Any = "warn") -> dict[str, bytes]:
    chunkwise.index(docs, "words", vectors="none", into=into, jobs=jobs, on_unreadable=told)
    return {each.name: each.read_bytes() for each in into.rglob("*") if each.is_file()}


def _lines(docs: Path | list[Path], jobs: Any) -> list[str]:
    found: list[str] = []
    for each in chunk_segments(docs, "words", options=LoadOptions(), jobs=jobs, context="headings"):
        if isinstance(each, UnreadableDocument):
            found.append(str(each))
        else:
            found += chunk_lines(each.chunked.chunks, each.place)
    return found


@pytest.fixture(scope="module")
def index_here(docs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return _index(docs, tmp_path_factory.mktemp("here") / "kb", 1)


@pytest.fixture(scope="module")
def lines_here(docs: Path) -> list[str]:
    return _lines(docs, 1)


def _workers_of(raylets: list[int]) -> dict[int, int]:
    """Processes of these nodes that are at one of our tasks, each with its raylet: others may have clusters here."""
    found = {}
    for each in Path("/proc").iterdir():
        if not each.name.isdigit():
            continue
        try:
            name = (each / "cmdline").read_bytes()
            parent = int((each / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):  # it has ended
            continue
        if name.startswith(b"ray::chunkwise: ") and parent in raylets:
            found[int(each.name)] = parent
    return found


@contextmanager
def _killing(scratch: Path, kill: Callable[[], bool], times: int) -> Iterator[list[float]]:
    """Whenever a first segment of a text lies there, as often as is wanted."""
    killed: list[float] = []
    over = threading.Event()

    def watch() -> None:
        while len(killed) < times and not over.wait(0.02):
            laid = [each for each in scratch.glob("chunkwise-*/*") if _size(each)]
            if laid and kill():
                killed.append(time.monotonic())
                while any(map(_size, laid)) and not over.wait(0.02):
                    pass  # until it is begun again

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield killed
    finally:
        over.set()
        watcher.join()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _kill_worker(ray_cluster: Any) -> bool:
    raylets = [each.all_processes["raylet"][0].process.pid for each in ray_cluster.list_all_nodes()]
    for worker in _workers_of(raylets):
        os.kill(worker, signal.SIGKILL)
        return True
    return False


def _kill_node(ray_cluster: Any) -> bool:
    """One that works, as long as another is there."""
    nodes = {
        each.all_processes["raylet"][0].process.pid: each
        for each in ray_cluster.list_all_nodes()
        if not each.head
    }
    for raylet in _workers_of(list(nodes)).values():
        ray_cluster.remove_node(nodes[raylet], allow_graceful=False)
        return True
    return False


@pytest.mark.parametrize("kill", [_kill_worker, _kill_node])
def test_an_index_is_the_one_that_one_process_makes_whatever_is_killed(
    ray_cluster: Any,
    docs: Path,
    tmp_path: Path,
    scratch: Path,
    index_here: dict[str, bytes],
    kill: Callable[[Any], bool],
) -> None:
    if kill is _kill_node:
        ray_cluster.add_node(num_cpus=1)
    with _killing(scratch, lambda: kill(ray_cluster), 1) as killed:
        made = _index(docs, tmp_path / "kb", RayCluster())
    assert len(killed) == 1
    assert made == index_here
    assert list(scratch.iterdir()) == []


def test_chunks_are_those_of_one_process_whoever_is_killed(
    ray_cluster: Any, docs: Path, scratch: Path, lines_here: list[str]
) -> None:
    with _killing(scratch, lambda: _kill_worker(ray_cluster), 1) as killed:
        made = _lines(docs, RayCluster())
    assert len(killed) == 1
    assert made == lines_here
    assert list(scratch.iterdir()) == []


def test_a_text_at_which_every_process_ends_is_told_by_its_name(
    ray_cluster: Any, docs: Path, scratch: Path, lines_here: list[str]
) -> None:
    one_long = [docs / f"{name}.md" for name in "abc"]
    with _killing(scratch, lambda: _kill_worker(ray_cluster), 4) as killed:
        made = _lines(one_long, RayCluster())
    assert len(killed) == 4
    reason = "a worker process died 4 times while it was cut, perhaps for lack of memory"
    (first, last) = (line for line in lines_here if json.loads(line)["doc_id"] in ("a.md", "c.md"))
    assert made == [first, f"{docs}/b.md: {reason}", last]


def test_who_takes_no_more_leaves_nothing_behind(
    ray_cluster: Any, docs: Path, scratch: Path
) -> None:
    found = chunk_segments(docs, "words", options=LoadOptions(), jobs=RayCluster())
    next(found)
    found.close()
    assert list(scratch.iterdir()) == []


def test_no_room_on_the_machine_that_was_started_is_not_laid_at_the_door_of_ray(
    ray_cluster: Any, docs: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chunkwise.base.spill_and_full_disk.own_disk", lambda: "the little disk")
    monkeypatch.setattr(Path, "open", _full(Path.open))
    with RayCluster() as jobs, pytest.raises(ChunkwiseError) as caught:
        _lines(docs, jobs)
    assert str(caught.value) == (
        "cannot write what is made of a long document, which waits in the little disk: No space left on device"
    )


def _full(usual: Any) -> Any:
    def opened(path: Path, mode: str = "r", *given: Any, **more: Any) -> Any:
        if mode == "wb" and more.get("buffering") == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return usual(path, mode, *given, **more)

    return opened
