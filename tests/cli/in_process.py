"""The command in the tests' own process: what it imports is imported once, not once a run."""

import io
import os
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from chunkwise.cli.main import main

Run = Callable[..., "CompletedProcess[str]"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Like `run` of conftest.py."""
    return running_in(tmp_path, monkeypatch)


def running_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """For what lives longer than one test."""
    monkeypatch.chdir(folder)

    def run(*words: object, stdin: str | None = None) -> "CompletedProcess[str]":
        given = io.BytesIO((stdin or "").encode())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(given, encoding="utf-8"))
        monkeypatch.setattr(sys, "argv", ["chunkwise", *map(str, words)])
        before = signal.getsignal(signal.SIGTERM)
        out, err = io.StringIO(), io.StringIO()
        try:
            with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as left:
                main()
        finally:
            signal.signal(signal.SIGTERM, before)
        assert Path(os.getcwd()) == folder
        return CompletedProcess(sys.argv, int(str(left.value.code)), out.getvalue(), err.getvalue())

    return run
