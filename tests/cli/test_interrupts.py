"""Ctrl-C while several processes are at work: it reaches all of them, and one line says so."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from untimed import HANG

pytestmark = pytest.mark.skipif(os.name == "nt", reason="process groups are POSIX")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More than can be done before the last of the interrupts."""
    folder = tmp_path_factory.mktemp("many")
    text = "The lamp is lit at dusk. It burns until the last ferry has gone.\n\n" * 2_000
    for number in range(200):
        (folder / f"{number}.txt").write_text(text)
    return folder


def _answering_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores them


@pytest.mark.parametrize(("seconds", "written"), [(0.0, 0), (0.1, 0), (0.0, 1)])
def test_ctrl_c_is_one_line(many: Path, tmp_path: Path, seconds: float, written: int) -> None:
    """As soon as it has begun, a moment later, and when all are at work: some of it is written."""
    running = subprocess.Popen(
        [sys.executable, "-m", "chunkwise", "chunk", many, "-j", "2", "-o", "x.jsonl"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_answering_interrupts,
    )
    give_up = time.monotonic() + HANG
    while running.poll() is None and not any(  # what it writes into
        file.stat().st_size >= written for file in tmp_path.iterdir()
    ):
        assert time.monotonic() < give_up
        time.sleep(0.005)
    time.sleep(seconds)
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=HANG)  # which ends when the last process has ended
    assert err.strip() == "chunkwise: stopped"
    assert out == ""
    # Both are 130 to a shell; Python ends itself by the signal where that came in the midst of an `exec`.
    assert running.returncode in (130, -signal.SIGINT)
    assert list(tmp_path.iterdir()) == []
