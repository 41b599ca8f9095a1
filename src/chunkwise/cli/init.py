"""`chunkwise init`: files that have quality watched weekly and on changes: GitHub Actions, GitLab CI, cron, systemd."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click

from chunkwise.base.atomic_files import check_writable
from chunkwise.base.schema import Name, Option
from chunkwise.base.secrets import mask
from chunkwise.base.version import __version__
from chunkwise.base.wording import one_or_many
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.options import (
    Baseline,
    Force,
    JsonOption,
    Queries,
    Sources,
    Tolerance,
)

if TYPE_CHECKING:
    from jinja2 import Environment

Service = Literal["github", "gitlab", "cron", "systemd"]
_MOST_FOLDERS = 100
"""Folders that a unit of systemd looks at: it sees no changes in folders inside."""
_NAME = "chunkwise-watch"
_SPECIAL = re.compile(r"[*?+!\[\]{}\\]")
"""Characters with a meaning in a pattern of files."""


@dataclass(frozen=True)
class ScheduledWatch:
    """The command to run, and the changes that make it run: the values of the templates in `schedules/`."""

    arguments: tuple[str, ...]
    paths: tuple[str, ...]
    """Local files and folders that the command reads."""
    on_server: bool
    """Whether the source is an index on a server."""
    variables: tuple[str, ...]
    """Environment variables with addresses that alerts go to."""

    @property
    def command(self) -> str:
        return shlex.join(("chunkwise", *self.arguments))

    @property
    def program(self) -> list[str]:
        """The command with its full path: cron and systemd do not search where a shell does."""
        path = shutil.which("chunkwise")
        return [*((path,) if path else (sys.executable, "-m", "chunkwise")), *self.arguments]

    @property
    def requirement(self) -> str:
        return f"chunkwise[postgres{',alerts' if self.variables else ''}]=={__version__}"

    @property
    def folder(self) -> str:
        return str(Path.cwd())

    @property
    def patterns(self) -> list[str]:
        """Patterns of the files whose changes count, from the root of the repository; none for a server."""
        return [] if self.on_server else [_pattern(name) for name in self.paths]

    @property
    def watched_folders(self) -> list[str]:
        """Every path, and the folders inside."""
        paths: list[str] = []
        for name in self.paths:
            root = str(Path(name).resolve())
            paths.append(root)
            for folder, inside, _ in os.walk(root):
                inside[:] = sorted(name for name in inside if not name.startswith("."))
                paths += [os.path.join(folder, name) for name in inside]
        return paths[:_MOST_FOLDERS]


def _pattern(name: str) -> str:
    relative = Path(name).resolve().relative_to(Path.cwd().resolve()).as_posix()
    relative = _SPECIAL.sub(r"\\\g<0>", relative)
    if not os.path.isdir(name):
        return relative
    return "**/*" if relative == "." else f"{relative}/**/*"


def _templates() -> Environment:
    import json

    from jinja2 import Environment, PackageLoader, StrictUndefined

    # CI files use {{ }} themselves. Nothing here is HTML, so nothing is escaped as HTML is.
    environment = Environment(
        loader=PackageLoader("chunkwise.cli", "schedules"),
        variable_start_string="[[",
        variable_end_string="]]",
        trim_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    environment.filters["yaml"] = lambda text: json.dumps(text, ensure_ascii=False)
    environment.filters["shell"] = lambda text: shlex.quote(text)
    environment.filters["shell_path"] = lambda path: shlex.quote(re.sub("^-", "./-", path))
    # A percent sign would end the command.
    environment.filters["cron"] = lambda text: text.replace("%", r"\%")
    environment.filters["unit"] = lambda text: text.replace("%", "%%")
    environment.filters["unit_word"] = _unit_word
    return environment


def _unit_word(word: str) -> str:
    """A word of a command line, as units quote it."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'


def _files(options: InitOptions, watch: ScheduledWatch) -> dict[Path, str]:
    """The text of each file to write."""
    templates = _templates()

    def text(template: str) -> str:
        return templates.get_template(f"{template}.j2").render(watch=watch)

    if options.ci != "systemd":
        return {options.output or _PATHS[options.ci]: text(options.ci)}
    folder = options.output or _PATHS["systemd"]
    units = ("service", "timer") if watch.on_server else ("service", "timer", "path")
    return {folder / f"{_NAME}.{unit}": text(f"systemd.{unit}") for unit in units}


_PATHS: dict[Service, Path] = {
    "github": Path(".github") / "workflows" / f"{_NAME}.yml",
    "gitlab": Path(".gitlab") / f"{_NAME}.yml",
    "cron": Path(f"{_NAME}.cron"),
    "systemd": Path("systemd"),
}


def _next_steps(service: Service, files: dict[Path, str]) -> list[str]:
    written = shlex.join(map(str, files))
    if service == "github":
        return [
            "commit it; the first run becomes the baseline, and the job's page shows the summary"
        ]
    if service == "gitlab":
        return [
            f"add to .gitlab-ci.yml: include: [{{local: {next(iter(files)).as_posix()}}}]",
            "and add a weekly schedule: Build > Pipeline schedules > New schedule, 17 5 * * 1",
        ]
    if service == "cron":
        return [f"add it to your crontab: (crontab -l; cat {written}) | crontab -"]
    units = " ".join(file.name for file in files if file.suffix != ".service")
    return [
        f"enable it: cp {written} ~/.config/systemd/user/ && systemctl --user daemon-reload && "
        f"systemctl --user enable --now {units}",
        f"show its log: journalctl --user -u {_NAME}",
    ]


_FOLDERS = ("handbook", "docs", "documents", "corpus")
_QUESTIONS = ("queries.json", "q.json", "questions.json", "test-queries.json")
_CONFIG = "recommendation.toml"


class InitOptions(JsonOption):
    """The options of `chunkwise init`."""

    source: Sources = ()
    ci: Annotated[Service, Option("Service that runs the job", common=True)]
    test_queries: Queries = None
    config: Annotated[Path | None, Option(
        "Configuration to monitor", flag="-c", metavar="FILE", default_text="recommendation.toml, if it exists",
        common=True,
    )] = None  # fmt: skip
    alert: Annotated[Name, Option(
        "Channels: exit, file:FILE, webhook:env:NAME, env:NAME", metavar="CHANNELS"
    )] = "exit"  # fmt: skip
    baseline: Baseline = None
    tolerance: Tolerance = None
    output: Annotated[Path | None, Option(
        "Output file; for systemd a folder", flag="-o", metavar="PATH", default_text="by service", group="Output",
        common=True,
    )] = None  # fmt: skip
    force: Force = False


@dataclass_command("init", InitOptions)
def command(options: InitOptions) -> None:
    """Create a CI workflow or a schedule that monitors quality.

    SOURCE is the documents (files, folders) or the index that `chunkwise monitor` evaluates.

    Examples:
      chunkwise init --ci github
      chunkwise init docs/ -Q q.json --ci github --config recommendation.toml
      chunkwise init docs/ -Q q.json --ci gitlab
      chunkwise init docs/ -Q q.json --ci cron --output watch.cron

    The workflow runs `chunkwise monitor` every Monday and whenever documents, questions or the configuration change,
    and adds a summary to the job's page. Edit the file as you like: it is overwritten only with --force.
    """
    from chunkwise.records.write import text_file

    watch = _watch(options)
    files = _files(options, watch)
    there = [path for path in files if os.path.lexists(path)]
    if there and not options.force:
        named = " and ".join(map(str, there))
        raise click.UsageError(
            f"{named} already {one_or_many(len(there), 'exists', 'exist')}; overwrite with "
            f"--force, or write elsewhere with --output PATH"
        )
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        check_writable(path)
    for path, text in files.items():
        with text_file(path) as out:
            out.write(text)
    steps = _next_steps(options.ci, files)
    written = (f"written: {path}" for path in files)
    options.answer({"written": [str(path) for path in files], "next": steps}, *written, *steps)


def _watch(options: InitOptions) -> ScheduledWatch:
    source = options.source or _found("SOURCE", _FOLDERS, os.path.isdir, "give the documents")
    queries = (
        (options.test_queries,)
        if options.test_queries
        else _found("--queries", _QUESTIONS, os.path.isfile, "give the test questions")
    )
    config = options.config
    if config is None and os.path.isfile(_CONFIG):
        config = Path(_CONFIG)
    files = [item for item in (*source, *queries) if "://" not in item]
    files += [str(config)] if config else []
    for name in files:
        if not os.path.exists(name):
            raise click.UsageError(f"{name} doesn't exist here, so every run would fail")
        if options.ci in ("github", "gitlab") and not _is_below(name):
            raise click.UsageError(
                f"{name} is outside of this folder, but the job only has the files of the "
                f"repository; run this in the repository, on files in it"
            )
    variables = _alert_variables(options.alert)
    given = {
        "--config": config, "--baseline": options.baseline, "--tolerance": options.tolerance,
        "--alert": options.alert,
    }  # fmt: skip
    named = [word for name, value in given.items() if value is not None for word in (name, str(value))]  # fmt: skip
    words = ("monitor", *source, "--queries", *queries, *named)
    for word in words:
        if not word.isprintable() or "${{" in word:
            raise click.UsageError(
                f"{word!r} can't be written to a file for {options.ci}: control characters and "
                f"${{{{ aren't allowed"
            )
        if mask(word) != word:
            raise click.UsageError(
                f"{mask(word)} contains a password or key, which would be public in the file; "
                f"set it in the job's environment instead (PGPASSWORD for a server)"
            )
    return ScheduledWatch(words, tuple(files), any("://" in item for item in source), variables)


def _alert_variables(alert: str) -> tuple[str, ...]:
    """The variables that hold URLs; every URL of a receiver can be a key, and the file is for everybody to read."""
    from chunkwise.tracking.notify import parse_channels

    channels = parse_channels([alert])
    for channel in channels:
        if channel.kind in ("webhook", "service") and channel.variable is None:
            prefix = "webhook:" if channel.kind == "webhook" else ""
            raise click.UsageError(
                f"{channel.label} has a key in its URL, which would be public in the file; write "
                f"{prefix}env:CHUNKWISE_ALERTS, and set that variable as a secret of the project"
            )
    return tuple(dict.fromkeys(channel.variable for channel in channels if channel.variable))


def _found(
    what: str, names: Iterable[str], is_one: Callable[[str], bool], hint: str
) -> tuple[str, ...]:
    texts = [name for name in names if is_one(name)]
    if len(texts) != 1:
        which = f"there are {', '.join(texts)}" if texts else f"there is no {', '.join(names)} here"
        raise click.UsageError(f"{which}: {hint}, {what}")
    return (texts[0],)


def _is_below(name: str) -> bool:
    return Path(name).resolve().is_relative_to(Path.cwd().resolve())
