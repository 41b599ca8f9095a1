"""Revision and branch are what git says; what is not there is left out."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from chunkwise.tracking.record_run import git_state, run_origin

needs_git = pytest.mark.skipif(not shutil.which("git"), reason="needs git")


def git(folder: Path, *words: str) -> str:
    environment = {
        **os.environ, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
    }  # fmt: skip
    done = subprocess.run(
        ["git", *words], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.mark.usefixtures("processes")
@needs_git
def test_it_is_what_git_says_wherever_the_ref_is_kept(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    assert git_state(tmp_path, {}) == ("", "main"), "nothing is committed yet"
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "one")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    head = git(tmp_path, "rev-parse", "HEAD")
    assert git_state(inner, {}) == (head, "main")
    git(tmp_path, "pack-refs", "--all")
    assert git_state(inner, {}) == (head, "main")
    git(tmp_path, "worktree", "add", "-q", "-b", "feature/x", str(tmp_path / "linked"))
    assert git_state(tmp_path / "linked", {}) == (head, "feature/x")
    git(tmp_path, "checkout", "-q", "--detach")
    assert git_state(tmp_path, {}) == (head, "")
    assert git_state(tmp_path, {"CI_COMMIT_REF_NAME": "release"}) == (head, "release")


def test_a_git_file_that_leads_nowhere_is_left_out(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: nowhere")
    assert git_state(tmp_path, {}) == ("", "")


def test_user_and_host_can_be_left_out(tmp_path: Path) -> None:
    assert run_origin(tmp_path, {}).host
    for word in ("no", "0", "OFF", "false"):
        found = run_origin(tmp_path, {"CHUNKWISE_HISTORY_WHO": word})
        assert (found.user, found.host) == ("", "")
