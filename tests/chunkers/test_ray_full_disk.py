"""One of two nodes of Ray has no room for temporary files or results: told in one line, and the other does its work.

Run by `make test-scale`, in an environment of its own; needs the right to mount a small disk in memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="Ray is not installed: make test-scale")
pytest.importorskip("moto", reason="moto is not installed: make test-scale")
pytest.importorskip("s3fs", reason="s3fs is not installed: make test-scale")

import boto3
import ray
from moto.server import ThreadedMotoServer
from ray.cluster_utils import Cluster

import chunkwise
from chunkwise.base.ray_workers import RayCluster
from chunkwise.base.spill_and_full_disk import NoRoomHere
from chunkwise.chunkers import chunk_dataset
from chunkwise.chunkers.chunk_dataset import ChunkDataset, PartRecipe, write_dataset
from chunkwise.documents import LoadOptions

NOTES = [f"{number:03}.md" for number in range(192)]
PAGES = [f"page{number}.html" for number in range(3)]


class Place:
    """A bucket, and two nodes that find it; the disk of the second holds 400 kB."""

    def __init__(self, client: Any, disk: Path) -> None:
        self.client, self.disk = client, disk

    def keys(self, prefix: str) -> list[str]:
        found = self.client.list_objects_v2(Bucket="room", Prefix=prefix)
        return [each["Key"] for each in found.get("Contents", [])]


@pytest.fixture(scope="module")
def place(processes: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    disk = tmp_path_factory.mktemp("disk")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("a disk cannot be mounted here: that takes the rights of root")
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patched:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patched.setenv(name, "testing")
        patched.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patched.setenv("AWS_ENDPOINT_URL_S3", f"http://{host}:{port}")
        client = boto3.client("s3", endpoint_url=f"http://{host}:{port}")
        # Of its own: what one server of this process holds, the next one holds, too.
        client.create_bucket(Bucket="room")
        for name in NOTES:
            noise = os.urandom(12_000).hex()
            client.put_object(Bucket="room", Key=f"docs/{name}", Body=f"# Note\n\n{noise}\n")
        page = "<p>Some words of a long page.</p>\n" * 500_000  # 17 MB: copied before it is read
        for name in PAGES:
            client.put_object(Bucket="room", Key=f"long/{name}", Body=page)
        client.put_object(Bucket="room", Key="long/short.md", Body="# Short\n\nSome words.\n")
        made = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
        )
        made.add_node(num_cpus=1, env_vars={"TMPDIR": str(disk)})
        ray.init(address=made.address, log_to_driver=False, logging_level="error")
        patched.setattr(chunk_dataset, "_BATCHES", 1)
        yield Place(client, disk)
        ray.shutdown()
        made.shutdown()
    server.stop()
    subprocess.run(["umount", "-l", str(disk)], check=True)


def _written(source: str, output: str) -> tuple[ChunkDataset, list[str], list[str]]:
    recipe = PartRecipe("words", LoadOptions(), "none", Path(output))
    workers = RayCluster().workers(recipe, "cut")
    problems: list[str] = []
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            made = write_dataset(
                source, recipe, workers, workers.at_once, lambda each: problems.append(str(each))
            )
        finally:
            workers.stop()
    return made, problems, [str(each.message) for each in told if each.category is UserWarning]


def test_parts_for_a_store_are_made_where_there_is_room(place: Place) -> None:
    made, problems, told = _written("s3://room/docs/", "s3://room/chunks")
    assert (made.documents, problems) == (len(NOTES), [])
    (line,) = told
    assert line.startswith("cannot write s3://room/chunks/_staged/part-")
    assert f"in {place.disk} of " in line
    assert line.endswith("(TMPDIR): No space left on device; other machines do its work")
    assert not place.keys("chunks/_staged/")
    assert list(place.disk.iterdir()) == []
    again, _, told = _written("s3://room/docs/", "s3://room/chunks")
    assert (again.reused, told) == (again.parts, [])


def test_long_files_are_copied_where_there_is_room(place: Place) -> None:
    with pytest.warns(UserWarning, match="other machines do its work") as told:
        made = chunkwise.index(
            "s3://room/long/", vectors="none", jobs=RayCluster(), on_unreadable="raise"
        )
    assert {each.document.id for each in made.chunks()} == {*PAGES, "short.md"}
    (line,) = (str(each.message) for each in told if each.category is UserWarning)
    assert line.startswith("s3://room/long/")
    assert f": no room for a copy in {place.disk} of " in line


def test_where_nobody_has_room_the_document_is_set_aside_by_name(
    place: Place, tmp_path: Path
) -> None:
    """The one node of a second cluster has the full disk."""
    script = tmp_path / "run.py"
    script.write_text(
        "import chunkwise\n"
        "problems = []\n"
        "made = chunkwise.index(\n"
        "    ['s3://room/long/page0.html', 's3://room/long/short.md'],\n"
        "    vectors='none', jobs=chunkwise.options.RayCluster(),\n"
        "    on_unreadable=lambda each: problems.append(str(each)),\n"
        ")\n"
        "print(*problems, sep='\\n')\n"
        "print(*{each.document.id for each in made.chunks()})\n"
    )
    env = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    # What Ray itself lays down is elsewhere.
    env |= {"TMPDIR": str(place.disk), "RAY_TMPDIR": "/tmp"}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr[-2000:]
    problem, ids = done.stdout.strip().splitlines()
    assert problem.startswith("s3://room/long/page0.html: no room for a copy in ")
    assert problem.endswith("(TMPDIR): no space left on device")
    assert ids == "short.md"


def test_where_nobody_has_room_for_a_result_one_line_says_so(place: Place) -> None:
    def work(given: int) -> None:
        raise NoRoomHere(f"no room for {given}")

    workers = RayCluster().workers(work, "full")
    try:
        with (
            pytest.raises(NoRoomHere, match="no room for 7"),
            pytest.warns(UserWarning, match="other machines do its work"),
        ):
            workers.submit(7).result(60)
    finally:
        workers.stop()


SPILLING = """
import sys, warnings
import ray
from ray.cluster_utils import Cluster
from chunkwise.base.ray_workers import RayCluster

head = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 400 << 20}
made = Cluster(initialize_head=True, head_node_args=head)
small = {"object_store_memory": 80 << 20, "object_spilling_directory": sys.argv[1]}
made.add_node(num_cpus=1, node_ip_address="127.0.0.2", **small)
ray.init(address=made.address, log_to_driver=False, logging_level="error")
kept = []


def work(given):
    import time
    import numpy

    time.sleep(0.5)
    if not kept:
        kept.append(ray.put(numpy.zeros(60 << 20, numpy.uint8)))
    return numpy.full(40 << 20, given, numpy.uint8)


warnings.showwarning = lambda message, *more: print(message)
workers = RayCluster().workers(work, "results")
for found in [workers.submit(number) for number in range(6)]:
    print(found.result(120)[0])
workers.stop()
ray.shutdown()
made.shutdown()
"""


def test_a_result_that_ray_cannot_spill_is_found_elsewhere(place: Place) -> None:
    env = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    command = [sys.executable, "-c", SPILLING, str(place.disk)]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.isdigit()] == list("012345")
    (told,) = (line for line in lines if "no room" in line)
    assert told.startswith("Ray has no room on 127.0.0.2 for what is sent from task to task: ")
    assert told.endswith("; other machines do its work")
