"""`chunkwise init`: the file that has quality watched every week and on every change, by what a team has for that."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import click

from chunkwise.cli.dataclass_options import argument, dataclass_command, option
from chunkwise.cli.options import Share, json_flag, queries_file
from chunkwise.cli.streams import print_json, say
from chunkwise.cli.watch_schedule import SCHEDULES, ScheduledWatch, Service

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
            f"{named} {'is' if len(there) == 1 else 'are'} there already; --force writes over it, "
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
