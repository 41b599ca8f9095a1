"""`chunkwise init --ci`: each file is what its service reads, and its commands do what they say."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.in_process import Run, here
from tables import cases
from untimed import HANG

__all__ = ["here"]

HOSTILE = 'hand book\'s 100% $HOME "x" `id` \\n'
QUESTIONS = "q: [a] #1 & 50%.json"


@pytest.fixture(autouse=True)
def corpus(tmp_path: Path) -> None:
    for name in ("handbook/inside", f"{HOSTILE}/inside"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "handbook" / "a.md").write_text("text")
    for name in ("q.json", QUESTIONS):
        (tmp_path / name).write_text("[]")


@pytest.fixture
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `chunkwise` that notes its words, prints a line and exits with 4."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "chunkwise"
    program.write_text(
        '#!/bin/sh\nfor word; do printf "%s\\n" "$word"; done >> "$NOTES"\necho recall fell\nexit 4\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("NOTES", str(tmp_path / "notes.txt"))
    return tmp_path / "notes.txt"


def sh(
    script: str, folder: Path, program: str = "bash", **more: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [program, "-c", script],
        cwd=folder,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        timeout=HANG,
    )


PATTERNS = [HOSTILE.replace("\\", "\\\\") + "/**/*", QUESTIONS.replace("[a]", r"\[a\]")]
WORDS = ["monitor", HOSTILE, "--queries", QUESTIONS, "--tolerance", "0.02", "--alert", "exit"]


def init(here: Run, service: str, *more: str) -> None:
    done = here(
        "init", HOSTILE, "--queries", QUESTIONS, "--tolerance", "0.02", "--ci", service, *more
    )
    assert done.returncode == 0, done.stderr
    assert "written: " in done.stderr


@pytest.mark.usefixtures("processes")
def test_github_runs_it_and_shows_it_in_the_page(here: Run, tmp_path: Path, stub: Path) -> None:
    init(here, "github")
    text = (tmp_path / ".github" / "workflows" / "chunkwise-watch.yml").read_text()
    found: dict[Any, Any] = yaml.safe_load(text)
    triggers = found[True]  # YAML 1.1 takes `on` for it
    assert [each["cron"] for each in triggers["schedule"]] == ["17 5 * * 1", "17 5 * * 4"]
    assert triggers["push"]["paths"] == PATTERNS
    assert found["permissions"] == {"contents": "read"}
    steps = {each.get("name", each.get("uses")): each for each in found["jobs"]["watch"]["steps"]}
    done = sh(steps["Watch"]["run"], tmp_path, RUNNER_TEMP=str(tmp_path))
    assert done.returncode == 4
    assert stub.read_text().splitlines() == WORDS
    page = tmp_path / "page.md"
    assert (
        sh(
            steps["Summary"]["run"],
            tmp_path,
            RUNNER_TEMP=str(tmp_path),
            GITHUB_STEP_SUMMARY=str(page),
        ).returncode
        == 0
    )
    assert page.read_text() == "## chunkwise monitor\n\n    recall fell\n"
    assert steps["actions/cache/save@v4"]["if"] == "always()"
    assert (
        steps["actions/cache/save@v4"]["with"]["path"]
        == steps["actions/cache/restore@v4"]["with"]["path"]
    )


@pytest.mark.usefixtures("processes")
def test_gitlab_runs_it_and_keeps_what_it_said(here: Run, tmp_path: Path, stub: Path) -> None:
    init(here, "gitlab")
    found = yaml.safe_load((tmp_path / ".gitlab" / "chunkwise-watch.yml").read_text())
    job = found["chunkwise-watch"]
    assert job["rules"][1]["changes"] == PATTERNS
    done = sh(job["script"][-1], tmp_path)
    assert (done.returncode, done.stdout) == (4, "recall fell\n")
    assert stub.read_text().splitlines() == WORDS
    assert (tmp_path / job["artifacts"]["paths"][0]).read_text() == "recall fell\n"
    assert job["cache"]["when"] == job["artifacts"]["when"] == "always"


ENTRY = re.compile(r"(?P<when>(?:[\d*]+ ){5})(?P<command>.+)")


@pytest.mark.usefixtures("processes")
def test_cron_runs_it_weekly_and_when_something_changed(
    here: Run, tmp_path: Path, stub: Path
) -> None:
    init(here, "cron")
    lines = (tmp_path / "chunkwise-watch.cron").read_text().splitlines()
    entries = [match for line in lines if (match := ENTRY.fullmatch(line))]
    others = [line for line in lines if not ENTRY.fullmatch(line)]
    assert all(line.startswith("#") or re.fullmatch(r"[A-Z]+=\S+", line) for line in others)
    weekly, hourly = (each["command"] for each in entries)
    assert [each["when"] for each in entries] == ["17 5 * * 1 ", "37 * * * * "]
    # Cron ends a command at a per cent sign, unless a backslash is before it.
    assert not re.search(r"(?<!\\)%", weekly + hourly)
    as_run = [each.replace(r"\%", "%") for each in (weekly, hourly)]
    assert sh(as_run[0], tmp_path / "bin", "sh").returncode == 4
    assert stub.read_text().splitlines() == WORDS
    assert sh(as_run[1], tmp_path / "bin", "sh").returncode == 1
    assert stub.read_text().splitlines() == WORDS
    stamp = (tmp_path / ".chunkwise" / "watched").stat().st_mtime
    (tmp_path / HOSTILE / "inside" / "new.md").write_text("x")
    os.utime(tmp_path / HOSTILE / "inside" / "new.md", (stamp + 10, stamp + 10))
    assert sh(as_run[1], tmp_path / "bin", "sh").returncode == 4
    assert stub.read_text().splitlines() == WORDS * 2


@pytest.mark.usefixtures("processes")
def test_systemd_takes_the_units(here: Run, tmp_path: Path, stub: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    init(here, "systemd")
    names = [f"chunkwise-watch.{kind}" for kind in ("path", "service", "timer")]
    assert sorted(each.name for each in (tmp_path / "systemd").iterdir()) == names
    done = sh("systemd-analyze verify --man=no " + " ".join(names), tmp_path / "systemd")
    assert "chunkwise-watch" not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr
    units = {name: (tmp_path / "systemd" / name).read_text() for name in names}
    assert f"PathChanged={tmp_path}/{HOSTILE.replace('%', '%%')}/inside\n" in units[names[0]]
    assert "Persistent=true" in units[names[2]]
    start = re.search("^ExecStart=(.*)$", units[names[1]], re.M)
    assert start is not None
    words = [each.replace("%%", "%").replace("$$", "$") for each in shlex.split(start[1])]
    assert words[1:] == WORDS


@pytest.mark.usefixtures("processes")
def test_systemd_notices_a_unit_that_is_wrong(here: Run, tmp_path: Path, stub: Path) -> None:
    """What the test above rests on."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    init(here, "systemd")
    unit = tmp_path / "systemd" / "chunkwise-watch.timer"
    unit.write_text(unit.read_text().replace("Mon 05:17", "Mon 99:17"))
    done = sh("systemd-analyze verify --man=no chunkwise-watch.timer", tmp_path / "systemd")
    assert "chunkwise-watch.timer" in done.stderr


@pytest.mark.parametrize("service", ["github", "gitlab", "cron", "systemd"])
def test_nothing_is_written_over_without_force(here: Run, tmp_path: Path, service: str) -> None:
    words = ("init", "handbook", "--queries", "q.json", "--ci", service, "--output", "made")
    assert here(*words).returncode == 0
    (file,) = (
        [tmp_path / "made"]
        if service != "systemd"
        else [tmp_path / "made" / "chunkwise-watch.timer"]
    )
    fresh = file.read_text()
    file.write_text("mine")
    again = here(*words)
    assert again.returncode == 2
    assert "overwrite with --force, or write elsewhere with --output PATH" in again.stderr
    assert file.read_text() == "mine"
    assert here(*words, "--force").returncode == 0
    assert file.read_text() == fresh


def test_what_is_usual_need_not_be_named(here: Run, tmp_path: Path) -> None:
    (tmp_path / "recommendation.toml").write_text("")
    done = here("init", "--ci", "github")
    assert done.returncode == 0
    text = (tmp_path / ".github" / "workflows" / "chunkwise-watch.yml").read_text()
    assert (
        "chunkwise monitor handbook --queries q.json --config recommendation.toml --alert exit"
        in text
    )
    (tmp_path / "docs").mkdir()
    unclear = here("init", "--ci", "gitlab")
    assert unclear.returncode == 2
    assert "there are handbook, docs: give the documents, SOURCE" in unclear.stderr


def test_an_index_on_a_server_is_watched_weekly(here: Run, tmp_path: Path) -> None:
    for service in ("github", "gitlab", "cron", "systemd"):
        done = here("init", "postgresql://me@db/kb", "--queries", "q.json", "--ci", service)
        assert done.returncode == 0
    assert not list(tmp_path.glob("systemd/*.path"))
    found = yaml.safe_load((tmp_path / ".github/workflows/chunkwise-watch.yml").read_text())
    assert found[True]["push"] is None
    assert yaml.safe_load((tmp_path / ".gitlab/chunkwise-watch.yml").read_text())


@cases(
    "words, said",
    [
        (("nowhere",), "nowhere doesn't exist here"),
        (("handbook", "--queries", "no.json"), "no.json doesn't exist here"),
        (("..",), "is outside of this folder"),
        (("handbook", "--alert", "file:a\nrm"), "control characters"),
        (("handbook", "--baseline", "${{ github.token }}"), "t be written"),
        (("postgresql://me:geheim@db/kb",), "postgresql://me:***@db/kb contains a password"),
        (
            ("handbook", "--alert", "webhook:https://h/?token=abc"),
            "webhook:https://h/… has a key in its URL",
        ),
        (("handbook", "--tolerance", "2"), "tolerance is 2"),
        (("handbook", "--alert", "pager:me"), "unknown channel 'pager'"),
    ],
)
def test_what_cannot_work_is_told_and_nothing_is_written(
    here: Run, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = here("init", "--queries", "q.json", *words, "--ci", "github")
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / ".github").exists()


def test_a_url_that_is_a_key_is_a_secret_of_the_project(here: Run, tmp_path: Path) -> None:
    done = here(
        "init",
        "handbook",
        "--queries",
        "q.json",
        "--ci",
        "github",
        "--alert",
        "exit,env:TEAM_CHAT",
    )
    assert done.returncode == 0, done.stderr
    text = (tmp_path / ".github" / "workflows" / "chunkwise-watch.yml").read_text("utf-8")
    assert "      TEAM_CHAT: ${{ secrets.TEAM_CHAT }}\n" in text
    assert "--alert exit,env:TEAM_CHAT" in text
    assert "chunkwise[postgres,alerts]==" in text
