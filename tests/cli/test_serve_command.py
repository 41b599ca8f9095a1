"""`chunkwise serve` and `chunkwise serve users`: refusals, a key, the end by Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from chunkwise.studio.accounts import read_accounts
from cli.in_process import Run, here
from untimed import HANG

__all__ = ["here"]  # a fixture


def test_what_cannot_be_served_is_told_before_anything_is_read(here: Run) -> None:
    assert here("serve").returncode == 2
    ended = here("serve", "no-such-folder")
    assert ended.returncode == 1
    assert "no-such-folder" in ended.stderr
    refused = here("serve", "no-such-folder", "--host", "0.0.0.0")
    assert refused.returncode == 2
    assert "--users FILE" in refused.stderr


def test_users_are_kept_as_hashes_listed_and_removed(here: Run) -> None:
    made = here("serve", "users", "key", "users.json", "wiki", "--role", "labeler")
    assert made.returncode == 0
    key = made.stdout.strip()
    assert key.startswith("cw_")
    listed = here("serve", "users", "list", "users.json")
    assert listed.stdout.split() == ["wiki", "labeler", "1", "key"]
    assert key not in listed.stdout
    assert here("serve", "users", "role", "users.json", "wiki", "owner").returncode == 0
    assert here("serve", "users", "role", "users.json", "wikki", "owner").returncode == 2
    assert here("serve", "users", "remove", "users.json", "wiki").returncode == 0
    assert here("serve", "users", "list", "users.json").stdout == ""


@pytest.mark.usefixtures("processes")
@pytest.mark.unwatched
def test_it_prints_its_address_and_a_key_answers_and_ends_at_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A lamp at the end of the mole.", "utf-8")
    command = [sys.executable, "-m", "chunkwise", "serve", "a.txt", "--quiet"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            address, key = (process.stdout.readline().strip() for _ in range(2))
            body = json.dumps({"text": "One lamp."}).encode()
            asked = urllib.request.Request(
                f"{address}/chunk", body, {"authorization": f"Bearer {key}"}
            )
            found = json.loads(urllib.request.urlopen(asked, timeout=HANG).read())
            assert [each["text"] for each in found["chunks"]] == ["One lamp."]
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f"{address}/state", timeout=HANG)
            assert refused.value.code == 401
            refused.value.close()
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=HANG)
        finally:
            process.kill()
        assert process.returncode == 0
        assert errors == ""


@pytest.mark.usefixtures("processes")
def test_a_password_comes_from_stdin(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "chunkwise",
        "serve",
        "users",
        "add",
        "users.json",
        "ana",
        "--role",
        "owner",
    ]
    subprocess.run(
        command, cwd=tmp_path, input="correct horse battery\n", text=True, check=True, timeout=HANG
    )
    (account,) = read_accounts(tmp_path / "users.json")
    assert (account.name, account.role) == ("ana", "owner")
    assert account.password.startswith("scrypt:")
