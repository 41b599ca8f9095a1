"""`chunkwise tune`, killed without a word: the same command ends as if nothing had happened."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.in_process import Run, here
from cli.small_corpus import PLAN, write_corpus, write_questions
from untimed import HANG

__all__ = ["here"]  # a fixture

TUNE = ("tune", "sweep.toml", "-q", "-j", "1", "-o")


@pytest.mark.unwatched
def test_a_sweep_killed_at_several_moments_has_the_same_results(here: Run, tmp_path: Path) -> None:
    write_corpus(tmp_path / "docs", passages=5)
    write_questions(tmp_path / "queries.json", count=20, passages=5)
    (tmp_path / "sweep.toml").write_text(PLAN)
    whole = _finished(here, tmp_path / "whole")
    last = _done(tmp_path / "whole") - 1
    assert last > 1
    killed = tmp_path / "killed"
    ends = [_killed(killed, outcomes) for outcomes in (1, last)]
    # On a busy machine the last one may be through before it is killed.
    assert ends[0] == -signal.SIGKILL
    assert _done(killed) >= last
    assert _finished(here, killed) == whole


def _killed(folder: Path, outcomes: int) -> int:
    """As soon as so many outcomes are on disk; how it ended."""
    running = subprocess.Popen(
        [sys.executable, "-m", "chunkwise", *TUNE, folder.name], cwd=folder.parent
    )
    give_up = time.monotonic() + HANG
    while not (folder / "sweep.toml").exists() or _done(folder) < outcomes:
        assert running.poll() is None, "it ended without its outcomes"
        assert time.monotonic() < give_up
        time.sleep(0.002)
    running.kill()
    return running.wait()


def _finished(here: Run, folder: Path) -> str:
    """`results.json` without the time it took."""
    done = here(*TUNE, folder.name)
    assert done.returncode == 0, done.stderr
    text = (folder / "results.json").read_text(encoding="utf-8")
    return text[: text.index('"timing": ')]


def _done(folder: Path) -> int:
    return len(list((folder / ".chunkwise-sweep" / "outcomes").glob("[!.]*.json")))
