"""`chunkwise init`: files that have quality watched weekly and on changes: GitHub Actions, GitLab CI, cron, systemd."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from chunkwise.base.version import __version__
from chunkwise.base.wording import counted, one_or_many
from chunkwise.cli.dataclass_options import argument, dataclass_command, option
from chunkwise.cli.options import Share, json_flag, queries_file
from chunkwise.cli.streams import print_json, say

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
            f"there are {counted(len(found), 'folder')}: changes in the first {_MOST_FOLDERS} start a run at once, "
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


_EXAMPLES = """
\b
Examples:
  chunkwise init --ci github                                              # docs/ and queries.json, if they are there
  chunkwise init handbook/ --test-queries q.json --ci github --config recommendation.toml
  chunkwise init handbook/ --test-queries q.json --ci gitlab
  chunkwise init handbook/ --test-queries q.json --ci cron --output watch.cron
  chunkwise init handbook/ --test-queries q.json --ci systemd --alert exit,file:alerts.jsonl
\b
The file calls `chunkwise watch` on Mondays and whenever documents, questions or the configuration change. It is yours
to change afterwards, and never overwritten without --force.
"""
_FOLDERS = ("handbook", "docs", "documents", "corpus")
_QUESTIONS = ("queries.json", "q.json", "questions.json", "test-queries.json")
_CONFIG = "recommendation.toml"


@dataclass(frozen=True, kw_only=True)
class InitOptions:
    """The options of `chunkwise init`."""

    source: tuple[str, ...] = argument("[SOURCE]...", nargs=-1)
    ci: Service = option(
        "--ci", type=click.Choice(["github", "gitlab", "cron", "systemd"]), required=True,
        help="Who runs it: GitHub Actions, GitLab CI, cron or systemd.",
    )  # fmt: skip
    test_queries: str | None = queries_file(
        "Questions with references (the passages that answer them).", show_default="queries.json, q.json …"
    )  # fmt: skip
    config: Path | None = option(
        "--config", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
        show_default="recommendation.toml, where it is there",
        help="The configuration that is watched, as `chunkwise tune` wrote it.",
    )  # fmt: skip
    alert: str = option(
        "--alert", default="exit", show_default=True, metavar="WAYS",
        help="How an alert is raised, with commas: exit (the job fails), file:alerts.jsonl, email:TO; webhook:env:NAME "
        "and slack:env:NAME take their address, which is a key, from a variable.",
    )  # fmt: skip
    baseline: str | None = option(
        "--baseline", metavar="NAME", show_default="that of the branch, else default",
        help="The baseline that runs are compared with.",
    )  # fmt: skip
    tolerance: float | None = option(
        "--tolerance", type=Share(), metavar="SHARE",
        show_default="the least difference the questions can show",
        help="A smaller fall raises no alert: 0.02 or 2%.",
    )  # fmt: skip
    output: Path | None = option(
        "-o", "--output", type=click.Path(path_type=Path), metavar="PATH",
        show_default="where the service looks for it", help="File to write; for systemd a folder.",
    )  # fmt: skip
    force: bool = option("--force", is_flag=True, help="Write over a file that is there already.")
    as_json: bool = json_flag("Print what was written, and what to do next, as JSON on stdout.")


@dataclass_command("init", InitOptions, examples=_EXAMPLES)
def command(options: InitOptions) -> None:
    """Write a file that checks quality every week and on every change, with the summary on the job's page.

    SOURCE is what `chunkwise watch` evaluates: documents (files, folders) or an index.
    """
    from chunkwise.base.atomic_files import check_writable
    from chunkwise.records.write import text_file

    watch = _watch(options)
    made = SCHEDULES[options.ci]
    files = made.files(watch, options.output or made.usual)
    there = [path for path in files if os.path.lexists(path)]
    if there and not options.force:
        named = " and ".join(map(str, there))
        raise click.UsageError(
            f"{named} {one_or_many(len(there), 'is', 'are')} there already; "
            f"--force writes over {one_or_many(len(there), 'it', 'them')}, "
            "--output PATH writes elsewhere"
        )
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        check_writable(path)
    for path, text in files.items():
        with text_file(path) as out:
            out.write(text)
    steps = made.next_steps(files)
    if options.as_json:
        print_json({"written": [str(path) for path in files], "next": steps})
        return
    for path in files:
        click.echo(f"written: {path}", err=True)
    for line in steps:
        say(line)


def _watch(options: InitOptions) -> ScheduledWatch:
    from chunkwise.base.errors import without_passwords

    source = options.source or _found("SOURCE", _FOLDERS, os.path.isdir, "name the documents")
    queries = (
        (options.test_queries,)
        if options.test_queries
        else _found("--test-queries", _QUESTIONS, os.path.isfile, "name the file of questions")
    )
    config = options.config
    if config is None and os.path.isfile(_CONFIG):
        config = Path(_CONFIG)
    files = [each for each in (*source, *queries) if "://" not in each]
    files += [str(config)] if config else []
    for name in files:
        if not os.path.exists(name):
            raise click.UsageError(f"there is no {name} here; the job would fail every week")
        if options.ci in ("github", "gitlab") and not _is_below(name):
            raise click.UsageError(
                f"{name} lies outside of this folder, and the job has only what the repository has; "
                "go to the folder of the repository, and name files in it"
            )
    variables = _checked_ways(options.alert)
    given = {
        "--config": config, "--baseline": options.baseline, "--tolerance": options.tolerance,
        "--alert": options.alert,
    }  # fmt: skip
    named = [word for name, value in given.items() if value is not None for word in (name, str(value))]  # fmt: skip
    words = ("watch", *source, "--test-queries", *queries, *named)
    for word in words:
        if not word.isprintable() or "${{" in word:
            raise click.UsageError(
                f"{word!r} cannot stand in a file for {options.ci}: control characters and ${{{{ are not allowed"
            )
        if without_passwords(word) != word:
            raise click.UsageError(
                f"{without_passwords(word)} has a password or a key in it, which everybody would read in the "
                "file; leave it out, and set it in the job's environment (PGPASSWORD for a server)"
            )
    return ScheduledWatch(words, tuple(files), any("://" in each for each in source), variables)


def _checked_ways(alert: str) -> tuple[str, ...]:
    """The variables that hold addresses; a way that is none is told now, not by a job that fails every week."""
    from chunkwise.tracking.notify import Channel, channels_of

    names = tuple(dict.fromkeys(re.findall(r"(?:webhook|slack):env:(\w+)", alert)))
    held = [Channel(*each) for each in re.findall(r"(webhook|slack):(?!env:)(\S+)", alert)]
    if held:
        raise click.UsageError(
            f"{held[0].shown} has its key in the address, which everybody would read in the file; write "
            f"{held[0].kind}:env:CHUNKWISE_ALERTS, and set that variable where the job runs (a secret of the project)"
        )
    channels_of([re.sub(r"(webhook|slack):env:\w+", r"\1:https://host/path", alert)])
    return names


def _found(
    what: str, names: Iterable[str], is_one: Callable[[str], bool], hint: str
) -> tuple[str, ...]:
    found = [name for name in names if is_one(name)]
    if len(found) != 1:
        which = f"there are {', '.join(found)}" if found else f"there is no {', '.join(names)} here"
        raise click.UsageError(f"{which}: {hint}, {what}")
    return (found[0],)


def _is_below(name: str) -> bool:
    return Path(name).resolve().is_relative_to(Path.cwd().resolve())
