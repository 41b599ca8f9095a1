"""Ctrl-C while an endpoint does not answer: the command ends, without a traceback and without waiting for it."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from untimed import HANG


class SilentServer:
    """Takes requests and never answers."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self._held: list[socket.socket] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                self._held.append(self._socket.accept()[0])
                self._held[-1].recv(1)
            except OSError:
                return
            self.asked.set()

    def close(self) -> None:
        for each in (self._socket, *self._held):
            each.close()


@pytest.fixture
def server() -> Iterator[SilentServer]:
    made = SilentServer()
    yield made
    made.close()


@pytest.mark.unwatched
@pytest.mark.parametrize("asked", ["embedder", "llm", "reranker"])
def test_a_silent_endpoint_does_not_hold_the_command(
    asked: str, server: SilentServer, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    for number in range(80):
        text = f"Lamp {number} was lit. " * 30
        (tmp_path / "docs" / f"{number}.txt").write_text(text)
    rows = ",".join(
        f'{{"query": "Lamp {n}?", "relevant_text": "Lamp {n} was lit."}}' for n in range(9)
    )
    (tmp_path / "queries.json").write_text(f"[{rows}]")
    chunkwise = [sys.executable, "-m", "chunkwise"]
    if asked == "reranker":
        made = [*chunkwise, "index", "docs", "--into", "kb", "--vectors", "none", "-q"]
        subprocess.run(made, cwd=tmp_path, check=True, timeout=HANG)
    words = {
        "embedder": ["index", "docs", "--into", "new", "--embedder", f"{server.address}/v1#x"],
        "llm": ["evaluate", "docs", "--test-queries", "queries.json", "--vectors", "none",
                "--judge", "llm", "--llm", f"{server.address}/v1#x"],
        "reranker": ["search", "kb", "lamp", "--reranker", f"{server.address}/rerank#x"],
    }[asked]  # fmt: skip
    running = subprocess.Popen(
        [*chunkwise, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    try:
        assert server.asked.wait(HANG)
        os.killpg(running.pid, signal.SIGINT)
        # Far less than the time-out of a request, which Python would wait for.
        _, err = running.communicate(timeout=20)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
    assert running.returncode == 130, err
    assert "Traceback" not in err
    assert "chunkwise: stopped" in err
