"""Signals: a command ends with the status that says so, without a traceback, and loses nothing."""

import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from interrupting import Command, begun, check_cache, check_sweep, index_size, left_behind
from untimed import HANG

pytestmark = pytest.mark.usefixtures("processes")


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
@pytest.mark.parametrize(
    ("asked", "number", "status"),
    [
        ("embedder", signal.SIGINT, 130),
        ("llm", signal.SIGINT, 130),
        ("reranker", signal.SIGINT, 130),
        ("embedder", signal.SIGTERM, 143),
    ],
)
def test_a_silent_endpoint_does_not_hold_the_command(
    asked: str, number: int, status: int, server: SilentServer, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    for lamp in range(80):
        (tmp_path / "docs" / f"{lamp}.txt").write_text(f"Lamp {lamp} was lit. " * 30)
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
    command = Command(tmp_path, *words)
    # Far less than the time-out of a request, which Python would wait for.
    ended = command.signalled(number, lambda _: server.asked.wait(HANG), patience=20)
    assert ended.status == status, ended.err
    assert "Traceback" not in ended.err
    assert "chunkwise: stopped" in ended.err


def big_corpus(folder: Path, documents: int = 150) -> None:
    (folder / "docs").mkdir()
    for number in range(documents):
        (folder / "docs" / f"{number}.txt").write_text(f"Lamp {number} was lit at dusk. " * 60)


@pytest.mark.unwatched
@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, 137)],
    ids=["interrupt", "terminate", "hang up", "kill"],
)
def test_a_signal_leaves_the_index_that_was(number: int, status: int, tmp_path: Path) -> None:
    big_corpus(tmp_path)
    words = ("--into", "kb", "--vectors", "none", "-q")
    assert Command(tmp_path, "index", "docs/0.txt", *words).run().status == 0
    before = {path.name for path in (tmp_path / "kb").iterdir()}
    began = begun(lambda: bool(list((tmp_path / "kb").glob(".generation-000002/*"))))
    ended = Command(tmp_path, "index", "docs", *words).signalled(number, began)
    assert (ended.status, ended.came_too_late) == (status, False)
    assert "Traceback" not in ended.err
    assert index_size(tmp_path / "kb") == 1
    if number != signal.SIGKILL:
        assert ended.err.strip() == "chunkwise: stopped"
        assert {path.name for path in (tmp_path / "kb").iterdir()} == before
    assert Command(tmp_path, "index", "docs/1.txt", *words).run().status == 0
    assert left_behind(tmp_path) == []


def test_an_interrupt_while_the_command_is_imported_is_no_traceback() -> None:
    code = (
        "import sys, runpy\nclass Interrupts:\n    def find_spec(self, name, *_):\n        if "
        "name == 'click': raise KeyboardInterrupt\nsys.meta_path.insert(0, "
        "Interrupts())\nrunpy.run_module('chunkwise', run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG
    )
    assert (done.returncode, done.stderr) == (130, "")


@pytest.mark.unwatched
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=["terminate", "kill"])
def test_a_signal_leaves_the_outcomes_of_a_sweep(number: int, tmp_path: Path) -> None:
    big_corpus(tmp_path, 30)
    rows = [
        {"query": f"When was lamp {n} lit?", "relevant_text": f"Lamp {n} was lit at dusk."}
        for n in range(12)
    ]
    (tmp_path / "queries.json").write_text(json.dumps(rows))
    words = ("tune", "docs", "--test-queries", "queries.json", "--embedder", "none", "-o", "out")
    outcomes = tmp_path / "out"
    began = begun(lambda: bool(list(outcomes.rglob("outcomes/*.json"))))
    ended = Command(tmp_path, *words).signalled(number, began)
    assert ended.status == 128 + number
    assert "Traceback" not in ended.err
    done = check_sweep(outcomes)
    assert done
    if number == signal.SIGTERM:
        assert "progress is saved in out: run the same command to resume" in ended.err
        assert left_behind(tmp_path) == []
    check_cache(tmp_path / "home" / "vectors.sqlite")
