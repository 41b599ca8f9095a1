"""Files that have `chunkwise watch` run every week and on every change: GitHub Actions, GitLab CI, cron, systemd."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from chunkwise.base.version import __version__
from chunkwise.cli.streams import say

Service = Literal["github", "gitlab", "cron", "systemd"]
_MOST_FOLDERS = 100
"""Folders that a unit of systemd looks at: it sees no changes in folders inside."""
_NAME = "chunkwise-watch"
_SPECIAL = re.compile(r"[*?+!\[\]{}\\]")
"""Signs that mean something in a pattern of files."""
_HOLD = "17 5 * * 4"
_WEEKLY = "17 5 * * 1"


@dataclass(frozen=True)
class ScheduledWatch:
    """What is to be run, and what a change of makes it run."""

    words: tuple[str, ...]
    """Of the command line, behind `chunkwise`."""
    looked_at: tuple[str, ...]
    """Files and folders here."""
    on_server: bool
    """Whether the source is an index on a server."""
    variables: tuple[str, ...]
    """Of the environment, with addresses that alerts go to."""

    @property
    def shell(self) -> str:
        return shlex.join(("chunkwise", *self.words))


def _relative(name: str) -> str:
    """From the root of the repository, as services write it."""
    return Path(name).resolve().relative_to(Path.cwd().resolve()).as_posix()


def _patterns(watch: ScheduledWatch) -> list[str]:
    """Of the files whose changes count."""
    found = []
    for name in watch.looked_at:
        relative = _SPECIAL.sub(r"\\\g<0>", _relative(name))
        inside = "**/*" if relative == "." else f"{relative}/**/*"
        found.append(inside if os.path.isdir(name) else relative)
    return found


def _quoted(text: str) -> str:
    """A text in YAML."""
    return json.dumps(text, ensure_ascii=False)


def _github(watch: ScheduledWatch, path: Path) -> dict[Path, str]:
    changes = "" if watch.on_server else "\n    paths:" + "".join(
        f"\n      - {_quoted(each)}" for each in _patterns(watch)
    )  # fmt: skip
    variables = "".join(f"\n      {name}: ${{{{ secrets.{name} }}}}" for name in watch.variables)
    return {
        path: f"""\
# Made by `chunkwise init --ci github`; yours to change.
name: chunkwise watch

on:
  schedule:
    - cron: "{_WEEKLY}" # Mondays, in UTC
    - cron: "{_HOLD}" # only keeps the history: what was not used for seven days is dropped from the cache
  push:{changes}
  workflow_dispatch:

permissions:
  contents: read

concurrency:
  group: {_NAME}-${{{{ github.ref }}}}

jobs:
  watch:
    runs-on: ubuntu-latest
    timeout-minutes: 60
    env:
      # A history on a server, postgresql://user:password@host/database; without the secret it is a file in the cache.
      CHUNKWISE_HISTORY: ${{{{ secrets.CHUNKWISE_HISTORY }}}}{variables}
      COLUMNS: "100"
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - uses: actions/cache/restore@v4
        with:
          path: |
            .chunkwise
            ~/.cache/chunkwise
          key: {_NAME}-${{{{ github.ref_name }}}}-${{{{ github.run_id }}}}
          restore-keys: |
            {_NAME}-${{{{ github.ref_name }}}}-
            {_NAME}-
      - name: Install
        run: pip install --quiet 'chunkwise[postgres]=={__version__}'
      - name: Watch
        if: github.event.schedule != '{_HOLD}'
        shell: bash
        run: |
          set -o pipefail
          {watch.shell} 2>&1 | tee "$RUNNER_TEMP/{_NAME}.txt"
      - name: Summary
        if: always() && github.event.schedule != '{_HOLD}'
        shell: bash
        run: |
          {{
            echo '## chunkwise watch'
            echo
            sed 's/^/    /' "$RUNNER_TEMP/{_NAME}.txt"
          }} >> "$GITHUB_STEP_SUMMARY"
      - uses: actions/cache/save@v4
        if: always() # the run of an alert is remembered, too
        with:
          path: |
            .chunkwise
            ~/.cache/chunkwise
          key: {_NAME}-${{{{ github.ref_name }}}}-${{{{ github.run_id }}}}
"""
    }


def _gitlab(watch: ScheduledWatch, path: Path) -> dict[Path, str]:
    changes = "" if watch.on_server else "\n    - changes:" + "".join(
        f"\n        - {_quoted(each)}" for each in _patterns(watch)
    )  # fmt: skip
    return {
        path: f"""\
# Made by `chunkwise init --ci gitlab`; yours to change.
# A history on a server: set the CI variable CHUNKWISE_HISTORY. Else it is a file in the cache.
{_NAME}:
  image: python:3.12
  rules:
    - if: $CI_PIPELINE_SOURCE == "schedule"{changes}
  resource_group: {_NAME}
  timeout: 1 hour
  variables:
    CHUNKWISE_HOME: $CI_PROJECT_DIR/.chunkwise/home
    COLUMNS: "100"
  cache:
    key: {_NAME}
    when: always # the run of an alert is remembered, too
    paths:
      - .chunkwise/
  script:
    - pip install --quiet 'chunkwise[postgres]=={__version__}'
    - |
      set -o pipefail
      {watch.shell} 2>&1 | tee {_NAME}.txt
  artifacts:
    when: always
    expose_as: chunkwise watch # in the merge request's page
    paths:
      - {_NAME}.txt
"""
    }


def _cron(watch: ScheduledWatch, path: Path) -> dict[Path, str]:
    here = shlex.quote(str(Path.cwd()))
    stamp = ".chunkwise/watched"
    run = f"mkdir -p .chunkwise && touch {stamp} && {shlex.join((*_program(), *watch.words))}"
    weekly = f"{_WEEKLY} {_in_crontab(f'cd {here} && {run}')}"
    looked_at = shlex.join(each if not each.startswith("-") else f"./{each}" for each in watch.looked_at)  # fmt: skip
    changed = f'{{ [ ! -e {stamp} ] || [ -n "$(find {looked_at} -newer {stamp} -print -quit)" ]; }}'
    hourly = f"37 * * * * {_in_crontab(f'cd {here} && {changed} && {run}')}"
    return {
        path: f"""\
# Made by `chunkwise init --ci cron`; yours to change. What a job prints is mailed to MAILTO.
SHELL=/bin/sh
# Mondays
{weekly}
# Every hour, if something has changed since the last run
{"# (an index on a server: changes are not seen here)" if watch.on_server else hourly}
"""
    }


def _program() -> tuple[str, ...]:
    """What this command is; cron and systemd do not look where a shell does."""
    found = shutil.which("chunkwise")
    return (found,) if found else (sys.executable, "-m", "chunkwise")


def _in_crontab(text: str) -> str:
    """A per cent sign would end the command."""
    return text.replace("%", r"\%")


def _systemd(watch: ScheduledWatch, folder: Path) -> dict[Path, str]:
    head = "# Made by `chunkwise init --ci systemd`; yours to change.\n[Unit]\nDescription=chunkwise watch\n"
    start = " ".join(_in_unit(word) for word in (*_program(), *watch.words))
    files = {
        folder / f"{_NAME}.service": f"""{head}
[Service]
Type=oneshot
WorkingDirectory={str(Path.cwd()).replace("%", "%%")}
ExecStart={start}
""",
        folder / f"{_NAME}.timer": f"""{head}
[Timer]
OnCalendar=Mon 05:17
Persistent=true

[Install]
WantedBy=timers.target
""",
    }
    if not watch.on_server:
        paths = "".join(f"PathChanged={each.replace('%', '%%')}\n" for each in _folders(watch))
        files[folder / f"{_NAME}.path"] = f"""{head}
# A folder's own files are looked at, not those of folders inside: a new one needs a line of its own.
[Path]
{paths}
[Install]
WantedBy=default.target
"""
    return files


def _in_unit(word: str) -> str:
    """A word of a command line, as units quote it."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'


def _folders(watch: ScheduledWatch) -> list[str]:
    """All that is looked at, folders with those inside."""
    found: list[str] = []
    for name in watch.looked_at:
        place = str(Path(name).resolve())
        found.append(place)
        if os.path.isdir(name):
            for folder, below, _ in os.walk(place):
                below[:] = sorted(each for each in below if not each.startswith("."))
                found += [os.path.join(folder, each) for each in below]
    if len(found) > _MOST_FOLDERS:
        say(
            f"there are {len(found):,} folders: changes in the first {_MOST_FOLDERS} start a run at once, "
            "others wait for Monday"
        )
    return found[:_MOST_FOLDERS]


@dataclass(frozen=True)
class ScheduleFiles:
    """How the files of a service are made, and what is to be done with them."""

    usual: Path
    files: Callable[[ScheduledWatch, Path], dict[Path, str]]
    next_steps: Callable[[dict[Path, str]], list[str]]


def _shown(files: dict[Path, str]) -> str:
    return shlex.join(map(str, files))


SCHEDULES: dict[Service, ScheduleFiles] = {
    "github": ScheduleFiles(
        Path(".github") / "workflows" / f"{_NAME}.yml", _github,
        lambda files: ["commit it; the first run becomes the baseline, and its page has the summary"],
    ),
    "gitlab": ScheduleFiles(
        Path(".gitlab") / f"{_NAME}.yml", _gitlab,
        lambda files: [
            f"add to .gitlab-ci.yml: include: [{{local: {next(iter(files)).as_posix()}}}]",
            "and make a weekly schedule: Build, Pipeline schedules, New schedule, 17 5 * * 1",
        ],
    ),
    "cron": ScheduleFiles(
        Path(f"{_NAME}.cron"), _cron,
        lambda files: [f"add it to your table: (crontab -l; cat {_shown(files)}) | crontab -"],
    ),
    "systemd": ScheduleFiles(
        Path("systemd"), _systemd,
        lambda files: [
            f"switch it on: cp {_shown(files)} ~/.config/systemd/user/ && systemctl --user daemon-reload && "
            f"systemctl --user enable --now {' '.join(each.name for each in files if each.suffix != '.service')}",
            f"what a run said: journalctl --user -u {_NAME}",
        ],
    ),
}  # fmt: skip
