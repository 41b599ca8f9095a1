"""`chunkwise studio`: what it refuses before anything is served, and that it is served and ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from cli.in_process import Run, here
from untimed import HANG

__all__ = ["here"]  # a fixture


def test_nothing_to_show_is_wrong_usage(here: Run) -> None:
    ended = here("studio")
    assert ended.returncode == 2
    assert "chunkwise studio --demo" in ended.stderr


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    here: Run, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    ended = here("studio", "--demo")
    assert ended.returncode == 1
    assert ended.stderr.strip().endswith("pip install 'chunkwise[studio]'")


def test_a_host_that_others_reach_is_refused_before_anything_is_read(here: Run) -> None:
    ended = here("studio", "nothing-here", "--host", "0.0.0.0")
    assert ended.returncode == 2
    assert "without --users FILE" in ended.stderr
    assert ended.stdout == ""


def test_the_demonstration_has_documents_of_its_own(here: Run) -> None:
    ended = here("studio", "--demo", "handbook")
    assert ended.returncode == 2
    assert "leave out handbook" in ended.stderr


def test_a_source_that_is_not_there_is_told_before_anything_is_served(here: Run) -> None:
    ended = here("studio", "no-such-folder", "--no-browser")
    assert ended.returncode == 1
    assert "no-such-folder" in ended.stderr
    assert ended.stdout == ""


def test_without_the_libraries_the_command_that_installs_them_is_told(
    here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    ended = here("studio", "--demo")
    assert ended.returncode == 1
    assert "pip install 'chunkwise[studio]'" in ended.stderr


@pytest.mark.usefixtures("processes")
@pytest.mark.unwatched
def test_it_prints_its_address_answers_and_ends_at_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A lamp at the end of the mole.", "utf-8")
    command = [sys.executable, "-m", "chunkwise", "studio", "a.txt", "--no-browser", "--quiet"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/documents\?token=[\w-]{32,}", address)
            opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            page = opener.open(address, timeout=HANG).read().decode()
            assert "<h1>Documents</h1>" in page
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(address.partition("?")[0], timeout=HANG)
            refused.value.close()
            assert refused.value.code == 403
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=HANG)
        finally:
            process.kill()
        assert process.returncode == 0
        assert errors == ""
