"""How many cores are ours."""

import os

import pytest

from chunkwise.base.cores import cores


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system binds no process")
def test_only_the_cores_we_are_allowed_are_counted() -> None:
    allowed = os.sched_getaffinity(0)
    assert cores() == len(allowed)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert cores() == 1
    finally:
        os.sched_setaffinity(0, allowed)


def test_without_such_a_call_all_cores_are_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert cores() == 1
    monkeypatch.setattr("os.cpu_count", lambda: 6)
    assert cores() == 6
