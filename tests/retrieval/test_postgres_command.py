"""`chunkwise index` and `search` with a server for a place."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from postgres_server import new_url

from chunkwise.cli.main import group


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    (tmp_path / "leave.md").write_text("# Leave\n\nAsk in writing. It is paid.\n")
    return tmp_path


def _run(*words: object) -> Result:
    return CliRunner().invoke(group, list(map(str, words)))


def test_a_server_is_asked_before_weights_are_fetched(
    handbook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chunkwise.cli import weights

    fetched: list[str] = []
    monkeypatch.setattr(weights, "fetch_weights", lambda model, quiet: fetched.append(model))
    url = new_url()
    assert _run("index", handbook, "--into", url, "--vectors", "none").exit_code == 0
    assert _run("index", handbook, "--into", url).exit_code == 0
    assert fetched == ["", ""]


def test_the_next_command_has_no_password_and_works_without(handbook: Path) -> None:
    url = new_url()
    done = _run("index", handbook, "--into", f"{url}&pass%77ord=s3cret", "--vectors", "none")
    assert done.exit_code == 0
    assert "s3cret" not in done.output
    last = done.stderr.splitlines()[-1]
    plain = url.replace(":@", "@")  # its password is empty
    assert last == f'try: chunkwise search {shlex.quote(plain)} "your question"'
    assert "Ask in writing." in _run("search", url, "writing").output
