"""The token of a studio outlives a restart, and only its owner may read it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from chunkwise.studio.access_control import TOKEN_FILE, kept_token
from tables import cases


def test_it_is_the_same_until_a_new_one_is_asked_for(tmp_path: Path) -> None:
    token = kept_token(tmp_path / "own")
    assert kept_token(tmp_path / "own") == token
    assert stat.S_IMODE((tmp_path / "own" / TOKEN_FILE).stat().st_mode) == 0o600
    renewed = kept_token(tmp_path / "own", renew=True)
    assert renewed != token
    assert kept_token(tmp_path / "own") == renewed
    assert (tmp_path / "own" / ".gitignore").read_text("utf-8").split() == [TOKEN_FILE]


@cases("text", ["", "short", "x" * 31, "x" * 33, "é" * 32, "x" * 31 + "/"])
def test_a_file_that_holds_no_token_is_replaced(tmp_path: Path, text: str) -> None:
    (tmp_path / TOKEN_FILE).write_text(text, "utf-8")
    os.chmod(tmp_path / TOKEN_FILE, 0o600)
    assert kept_token(tmp_path) != text
    assert kept_token(tmp_path) == kept_token(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_one_that_others_could_read_or_that_a_link_names_is_replaced(tmp_path: Path) -> None:
    (tmp_path / TOKEN_FILE).write_text("x" * 32, "ascii")
    os.chmod(tmp_path / TOKEN_FILE, 0o644)
    assert kept_token(tmp_path) != "x" * 32
    (tmp_path / "other").write_text("y" * 32, "ascii")
    os.chmod(tmp_path / "other", 0o600)
    (tmp_path / TOKEN_FILE).unlink()
    (tmp_path / TOKEN_FILE).symlink_to(tmp_path / "other")
    assert kept_token(tmp_path) != "y" * 32
    assert (tmp_path / "other").read_text("ascii") == "y" * 32


def test_a_folder_that_cannot_be_written_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    assert len(kept_token(tmp_path / "file" / "own")) == 32
