"""Options that several commands have, each in one place; and what is checked about them before any work begins."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from chunkwise.base.allow_hosts_and_code_from_files import ALLOW
from chunkwise.base.cores import cores
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.schema import Name, Names, Option, Options, Share, argument
from chunkwise.cli.streams import print_json, say
from chunkwise.cli.written_files import written_files
from chunkwise.core import Query
from chunkwise.options import ReadOptions, WorkerOptions

if TYPE_CHECKING:
    from chunkwise.base.ray_workers import RayCluster
    from chunkwise.base.runner import Jobs
    from chunkwise.chunkers.work_estimate import WorkEstimate
    from chunkwise.documents.loader import LoadOptions, WhenUnreadable

Json = Annotated[bool, Option(
    "Print JSON to stdout", long_flag="--json", group="Output", common=True
)]  # fmt: skip
Output = Annotated[Path | None, Option(
    "Write results to this file", flag="-o", metavar="FILE", group="Output", common=True, writes="new"
)]  # fmt: skip
Page = Annotated[Path | None, Option(
    "Write a report: .html, .json or .md", long_flag="--html", metavar="FILE", group="Output", common=True, writes="new"
)]  # fmt: skip
Queries = Annotated[Name | None, Option(
    "Test questions: JSON, BEIR, SQuAD, Ragas …", flag="-Q --test-queries", long_flag="--queries",
    metavar="FILE", group="Input", common=True,
)]  # fmt: skip
NeededQueries = Annotated[Name, Option(
    "Test questions: JSON, BEIR, SQuAD, Ragas …", flag="-Q --test-queries", long_flag="--queries",
    metavar="FILE", group="Input", common=True,
)]  # fmt: skip
Baseline = Annotated[Name | None, Option(
    "Baseline that runs are compared with", metavar="NAME", default_text="that of the branch", common=True
)]  # fmt: skip


def parse_share(text: str) -> float:
    """Read 0.02 or 2%."""
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*(%?)\s*", text)
    if match is None:
        raise ValueError("expected a share such as 0.02 or 2%")
    return float(match[1]) / (100 if match[2] else 1)


Tolerance = Annotated[Share | None, Option(
    "Alert only below this difference: 0.02 or 2%", metavar="SHARE", default_text="what the questions can show",
    parse=parse_share, common=True,
)]  # fmt: skip
Labels = Annotated[Name | None, Option(
    "Label database", metavar="FILE", variable="CHUNKWISE_LABELS", default_text=".chunkwise/labels.db",
    group="Input", common=True,
)]  # fmt: skip
Force = Annotated[bool, Option("Overwrite existing files", group="Output", common=True)]
Sources = Annotated[tuple[str, ...], argument("[SOURCE]...")]


def _nothing(_: str) -> None:
    """Says nothing; a function by name, since options are sent to other processes."""


class QuietOption(Options, group="Output"):
    """Nothing on stderr but what went wrong."""

    quiet: Annotated[bool, Option("Suppress progress, notes and summary", flag="-q")] = False


class JsonOption(Options, group="Output"):
    """What a command did as JSON instead of in sentences."""

    as_json: Json = False

    def answer(self, data: object, *sentences: str) -> None:
        """Print the data, or say the sentences."""
        if self.as_json:
            print_json(data)
        for sentence in () if self.as_json else sentences:
            say(sentence)


class VerboseOption(Options, group="Output"):
    """All of a report in the terminal."""

    verbose: Annotated[bool, Option("Print every table and note", flag="-v", common=True)] = False


class LoadingOptions(ReadOptions, QuietOption):
    """How files are read, and whether anything is said about it that did not go wrong."""

    def loading(self, *leave_out: Path, on_unreadable: WhenUnreadable = "warn") -> LoadOptions:
        """The same for `chunkwise.documents`, without these files and those that the command writes."""
        from chunkwise.documents.loader import LoadOptions

        note = _nothing if self.quiet else say
        written = (*written_files(self), *leave_out)
        return LoadOptions(
            **vars(self.part(ReadOptions)), leave_out=written, on_unreadable=on_unreadable,
            on_passed_over=note, on_renamed=note,
        )  # fmt: skip


class SourceOptions(LoadingOptions):
    """Which documents are read, and how."""

    source: Sources = ()
    strict: Annotated[bool, Option(
        "Fail on the first unreadable document", group="Documents"
    )] = False  # fmt: skip

    def sources(self) -> list[str]:
        """What was named; standard input when nothing was and something is piped in."""
        if self.source:
            return list(self.source)
        if sys.stdin is not None and not sys.stdin.isatty():
            return ["-"]
        raise click.UsageError(
            "no documents given; expected files, folders, globs, or '-' for standard input"
        )


class JobsOption(WorkerOptions):
    """How many processes share the work of a command."""

    def workers(self, total_bytes: int) -> Jobs:
        """A cluster, or up to eight processes, one where starting others would take longer than the work."""
        if self.engine == "ray":
            if self.jobs:
                raise click.UsageError("-j sets local processes: leave it out with --engine ray")
            return _cluster(self.address)
        if self.address:
            raise click.UsageError("--address needs --engine ray")
        if self.jobs:
            return self.jobs
        return min(cores(), 8) if total_bytes > 4_000_000 else 1


def _cluster(address: str | None) -> RayCluster:
    """One for as long as the command runs."""
    from chunkwise.base.ray_workers import RayCluster

    context = click.get_current_context()
    if _CLUSTER not in context.meta:
        made = context.meta[_CLUSTER] = RayCluster(address)
        context.call_on_close(made.stop)
    cluster: RayCluster = context.meta[_CLUSTER]
    return cluster


_CLUSTER = "chunkwise.cluster"


class EstimateOptions(JobsOption, SourceOptions):
    """Which documents are worked on, and how long it will take."""

    estimate: Annotated[bool, Option(
        "Estimate the time on a sample, then exit", group="Workers"
    )] = False  # fmt: skip

    def say_time(self, found: WorkEstimate) -> None:
        """Print how long the work takes with these processes, or with fewer and more of this machine."""
        from chunkwise.base.runner import count_of

        jobs = self.workers(found.size)
        is_default = isinstance(jobs, int) and not self.jobs
        say(found.words(cores() if is_default else count_of(jobs)))


class QuestionsOption(Options):
    """The questions of a command that answers some: words of the command line, or a file."""

    words: Annotated[tuple[str, ...], argument("[QUESTION]...")] = ()
    test_queries: Annotated[Name | None, Option(
        "Questions: a test set, or one per line; - for stdin", flag="-Q --test-queries", long_flag="--queries",
        metavar="FILE", group="Input", common=True,
    )] = None  # fmt: skip

    def queries(self, skip: Callable[[object], None]) -> list[Query]:
        """At least one; `skip` gets what the file has that is not a question."""
        file = self.test_queries
        if self.words and file:
            raise click.UsageError("give a question or --queries, not both")
        if file:
            from chunkwise.records.skipped import in_one_line
            from chunkwise.testsets.reading import read_questions

            lines: list[str] = []
            queries = read_questions(file, lines.append)
            if lines:
                skip(in_one_line(lines))
            if not queries:
                raise ChunkwiseError(f"no questions in {'standard input' if file == '-' else file}")
            return queries
        if not self.words:
            raise click.UsageError(
                'no question given: add it after the index, or use --queries FILE ("-" for stdin)'
            )
        question = " ".join(self.words)
        if not question.strip():
            raise InvalidParameter("the question is empty")
        return [Query("1", question)]


def _allow(context: click.Context, names: tuple[str, ...]) -> None:
    """For as long as the command runs, and for processes it starts."""
    if names:
        before = os.environ.get(ALLOW)
        os.environ[ALLOW] = ",".join(filter(None, [before, *names]))
        context.call_on_close(lambda: _set_variable(ALLOW, before))


def _set_variable(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


class AllowOption(Options):
    """What names in an index, a recommendation or the folder of a sweep may name."""

    allow: Annotated[Names, Option(
        "Trust a server, code or model named in a file", metavar="NAME", at_once=_allow, group="Input"
    )] = ()  # fmt: skip


def _take_config(context: click.Context, file: Path | None) -> None:
    """Values of the file stand for options that are not given."""
    if file is None:
        return
    from chunkwise.tuning.recommendation_file_and_code import read_recommendation

    given = read_recommendation(file).changed()
    known = {param.name for param in context.command.params}
    mine = {name: value for name, value in given.items() if name in known}
    context.default_map = {**(context.default_map or {}), **mine}


class ConfigOption(AllowOption):
    """Options from what `chunkwise tune` recommends."""

    config: Annotated[Path | None, Option(
        "Read options from a file", flag="-c", metavar="FILE", at_once=_take_config,
        group="Input", common=True,
    )] = None  # fmt: skip


def parted(names: str | None) -> list[str]:
    """Names that stand with commas between them."""
    return [name.strip() for name in (names or "").split(",") if name.strip()]


def check_questions_flag(options: SourceOptions, queries: str | None) -> None:
    """Refuse `-q FILE`: who types it means `-Q`."""
    if options.quiet and queries is None and options.source[1:]:
        *_, file = options.source
        if file.endswith((".json", ".jsonl")):
            raise click.UsageError(f"-q means --quiet; for questions use -Q {file}")
