"""Limits of one request: it ends, and threads and other requests go on."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.limits import Limits
from chunkwise.studio.limited_requests import limited
from untimed import lines_run

MEGABYTE = 1 << 20


def turn() -> None:
    while True:
        try:
            sum(range(1000))
        except Exception:  # one bad document costs no other
            continue


def fill() -> None:
    held = []
    while True:
        held.append(bytearray(MEGABYTE))


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize("work", [turn, fill])
def test_a_request_that_takes_too_much_is_ended_alone(work) -> None:  # type: ignore[no-untyped-def]
    limits, others = Limits(50 * MEGABYTE, 0.3), Limits(10**12, 1e6)
    begun, done = threading.Event(), threading.Event()
    with ThreadPoolExecutor(1) as greedy, ThreadPoolExecutor(1) as modest:

        def wait() -> str:
            begun.set()
            done.wait()
            return "answer"

        other = modest.submit(limited, wait, others)
        begun.wait()
        for _ in range(2):
            with pytest.raises(InvalidParameter, match="takes more than"):
                greedy.submit(limited, work, limits).result()
            assert greedy.submit(limited, lambda: "next", limits).result() == "next"
        done.set()
        assert other.result() == "answer"


def test_an_error_of_a_request_stays_what_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        limited(lambda: 1 // 0)


def test_a_thread_that_answered_a_request_can_be_traced() -> None:
    assert limited(lambda: "answer") == "answer"
    assert lines_run(lambda: sum(number for number in range(10))) < 100
