"""Nodes of Ray that say they have no room: whom their work is given to, and where it ends.

Run by `make test-scale`, in an environment of its own.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed: make test-scale")

from ray.cluster_utils import Cluster  # noqa: E402

from chunkwise.base.errors import ChunkwiseError  # noqa: E402
from chunkwise.base.ray_workers import RayCluster, RayWorkers  # noqa: E402
from chunkwise.base.spill_and_full_disk import NoRoomHere, has_others  # noqa: E402


@pytest.fixture(scope="module")
def ray_cluster() -> Iterator[Any]:
    """Its second node alone has an accelerator."""
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.add_node(num_cpus=1, num_gpus=1)
    ray.init(address=made.address, log_to_driver=False, logging_level="error")
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def told() -> Iterator[list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as recorded:
        warnings.simplefilter("always")
        yield recorded


def _lines(told: list[warnings.WarningMessage]) -> list[str]:
    return [str(each.message) for each in told if each.category is UserWarning]


def _work() -> Callable[[int], str]:
    """Without what there is no room for, where nobody has any; sent as it is: no node has this file."""

    def work(given: int) -> str:
        if has_others():
            raise NoRoomHere("no room")
        return f"{given} done"

    return work


def test_the_one_node_with_an_accelerator_does_its_work_without_room(
    ray_cluster: Any, told: list[warnings.WarningMessage]
) -> None:
    workers = RayCluster().workers(_work(), "embed", accelerated=True)
    try:
        assert workers.submit(1).result(60) == "1 done"
        assert workers.submit(2).result(60) == "2 done"
    finally:
        workers.stop()
    assert _lines(told) == []  # no other machine could do it


def test_where_all_are_full_each_machine_is_told_of_once(
    ray_cluster: Any, told: list[warnings.WarningMessage]
) -> None:
    workers = RayCluster().workers(_work(), "cut")
    try:
        for number in range(4):
            assert workers.submit(number).result(60) == f"{number} done"
    finally:
        workers.stop()
    assert _lines(told) == ["no room; other machines do its work"]


def test_a_full_machine_that_nobody_can_name_ends_the_task(
    ray_cluster: Any, told: list[warnings.WarningMessage]
) -> None:
    def work(given: int) -> None:
        raise ray.exceptions.OutOfDiskError("full")

    # Ray's words hold the name of the task before the address of its machine.
    workers = RayCluster().workers(work, "ip=203.0.113.9")
    try:
        with pytest.raises(ChunkwiseError, match=r"^Ray has no room on 203\.0\.113\.9 for .*\)$"):
            workers.submit(1).result(60)
    finally:
        workers.stop()
    assert _lines(told) == []


def test_what_waits_for_a_machine_that_leaves_is_done_where_there_is_no_room(
    ray_cluster: Any, told: list[warnings.WarningMessage]
) -> None:
    (full,) = (each["NodeID"] for each in ray.nodes() if each["Resources"].get("GPU"))
    leaves = ray_cluster.add_node(num_cpus=1, num_gpus=1)

    def work(seconds: float) -> str:
        here = ray.get_runtime_context().get_node_id()
        if here == full and has_others():
            raise NoRoomHere("no room")
        time.sleep(seconds)
        return str(here)

    workers: RayWorkers[float, str] = RayCluster().workers(work, "embed", accelerated=True)
    try:
        first: list[Future[str]] = [workers.submit(0.5) for _ in range(4)]
        assert {each.result(60) for each in first} == {leaves.node_id}
        waiting = [workers.submit(5.0) for _ in range(2)]
        ray_cluster.remove_node(leaves)
        assert {each.result(90) for each in waiting} <= {full, leaves.node_id}
        assert workers.submit(0).result(60) == full
    finally:
        workers.stop()
    assert _lines(told) == ["no room; other machines do its work"]
