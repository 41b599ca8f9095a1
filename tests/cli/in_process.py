"""The command in the tests' own process: what it imports is imported once, not once a run."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryFile
from threading import Thread
from typing import Any

import pytest

from chunkwise.cli.main import main
from untimed import HANG

Run = Callable[..., "CompletedProcess[str]"]


def run_without_reader(folder: Path, *words: str) -> "CompletedProcess[bytes]":
    """In a process of its own, whose output nobody reads any more."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        return subprocess.run(
            [sys.executable, "-m", "chunkwise", *words],
            cwd=folder, stdout=nobody, stderr=subprocess.PIPE, timeout=HANG,
        )  # fmt: skip


@contextmanager
def signals_kept() -> Iterator[None]:
    """A command answers signals in its own way, for the rest of its process."""
    before = {
        number: signal.getsignal(number)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, answer in before.items():
            signal.signal(number, answer)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Like `run` of conftest.py, and by another `start` where one is given."""
    return running_in(tmp_path, monkeypatch)


def running_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """For what lives longer than one test."""
    monkeypatch.chdir(folder)

    def run(
        *words: object, stdin: str | None = None, start: Callable[[], object] = main
    ) -> "CompletedProcess[str]":
        given = io.BytesIO((stdin or "").encode())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(given, encoding="utf-8"))
        monkeypatch.setattr(sys, "argv", ["chunkwise", *map(str, words)])
        out, err = io.StringIO(), io.StringIO()
        with (
            signals_kept(),
            redirect_stdout(out),
            redirect_stderr(err),
            pytest.raises(SystemExit) as left,
        ):
            start()
        assert Path(os.getcwd()) == folder
        return CompletedProcess(sys.argv, int(str(left.value.code)), out.getvalue(), err.getvalue())

    return run


def with_streams(folder: Path, *words: object, out: int, err: int) -> int:
    """The exit status of a command whose output and messages go where these numbers lead."""
    # Of a number of their own: what nobody reads any more is led elsewhere.
    numbers = os.dup(out), os.dup(err)
    with pytest.MonkeyPatch.context() as patch, signals_kept():
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["chunkwise", *map(str, words)])
        patch.setattr(sys, "stdout", _standard_stream(numbers[0]))
        patch.setattr(sys, "stderr", _standard_stream(numbers[1]))
        try:
            with pytest.raises(SystemExit) as left:
                main()
            sys.stdout.flush()  # as when a process ends
            sys.stderr.flush()
        finally:
            for number in numbers:
                os.close(number)
    return int(str(left.value.code))


def _standard_stream(number: int) -> io.TextIOWrapper:
    """Such as Python has when it starts."""
    raw: Any = io.FileIO(number, "w", closefd=False)
    encoding = os.environ.get("PYTHONIOENCODING", "utf-8")
    if os.environ.get("PYTHONUNBUFFERED"):
        return io.TextIOWrapper(raw, encoding=encoding, write_through=True)
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding=encoding)


def in_a_terminal(folder: Path, *words: object) -> "CompletedProcess[bytes]":
    """A command whose messages a terminal shows, while its output goes into a file."""
    pty = pytest.importorskip("pty")
    leader, follower = pty.openpty()
    drawn: list[bytes] = []
    reading = Thread(target=lambda: drawn.extend(_all(leader)))
    reading.start()
    with TemporaryFile() as file:
        try:
            status = with_streams(folder, *words, out=file.fileno(), err=follower)
        finally:
            os.close(follower)
            reading.join(HANG)
            os.close(leader)
        file.seek(0)
        return CompletedProcess([*map(str, words)], status, file.read(), b"".join(drawn))


def _all(terminal: int) -> Iterator[bytes]:
    try:
        while read := os.read(terminal, 65536):
            yield read
    except OSError:  # nobody writes any more
        return
