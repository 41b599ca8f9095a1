"""`chunkwise compare`."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from chunkwise.base.atomic_files import replacing, says_what_it_writes
from chunkwise.base.errors import NotComparable
from chunkwise.base.schema import Name, Names, Option, argument
from chunkwise.base.wording import counted
from chunkwise.cli.dataclass_options import dataclass_command, is_typed
from chunkwise.cli.exit_status import NOT_COMPARABLE, leave
from chunkwise.cli.keep_run import KeepOptions, RunKeeper
from chunkwise.cli.options import Output, parted
from chunkwise.cli.report_options import ReportOptions, write_or_say
from chunkwise.cli.streams import readers_may_leave, say, utf8_stdout
from chunkwise.options import GateOptions
from chunkwise.records.json import json_text
from chunkwise.report.sanitize import one_line

if TYPE_CHECKING:
    from chunkwise.evaluation.gate import Gate
    from chunkwise.evaluation.results import Results

_ZEROS_SAID = 10
"""Questions that are told on stderr; the files have more."""


class CompareOptions(GateOptions, KeepOptions, ReportOptions, group="Gate"):
    """The options of `chunkwise compare`."""

    files: Annotated[tuple[str, ...], argument("A.json B.json...")]
    metrics: Annotated[Name | None, Option(
        "Metrics or groups to compare: recall@5,mrr", flag="-m", metavar="NAMES", default_text="all shared metrics",
        group="Metrics", common=True,
    )] = None  # fmt: skip
    fail_if_worse: Annotated[Names, Option(
        "Exit with status 4 if a run is worse on these, or `any`", metavar="NAMES", common=True
    )] = ()  # fmt: skip
    junit: Annotated[Path | None, Option(
        "Write JUnit XML", metavar="FILE", group="Output", writes="any"
    )] = None  # fmt: skip
    comment: Annotated[Path | None, Option(
        "Write a Markdown comment for a pull request", metavar="FILE", group="Output", writes="any"
    )] = None  # fmt: skip
    summary: Annotated[Path | None, Option(
        "Append the Markdown to this file", metavar="FILE", variable="GITHUB_STEP_SUMMARY", group="Output"
    )] = None  # fmt: skip
    annotations: Annotated[bool, Option(
        "Print GitHub annotations", default_text="on GitHub Actions", group="Output"
    )] = False  # fmt: skip
    output: Output = None


@dataclass_command("compare", CompareOptions)
def command(options: CompareOptions) -> None:
    """Test whether one run is better than another.

    Runs are files written by `chunkwise evaluate --output`. They are compared on the same questions with paired
    tests, confidence intervals and corrected p-values.

    Examples:
      chunkwise compare a.json b.json
      chunkwise compare a.json b.json c.json d.json
      chunkwise compare main.json branch.json --fail-if-worse recall@1000t
      chunkwise compare a.json b.json --html comparison.html
    """
    files = options.files
    gates = parted(",".join(options.fail_if_worse))
    from chunkwise.evaluation.compare import compare
    from chunkwise.evaluation.results import read_results
    from chunkwise.report.ci_report import no_workflow_commands
    from chunkwise.report.comparison_report import comparison_report
    from chunkwise.tracking.record_run import run_of_comparison

    keeper = RunKeeper(options, quiet=options.quiet)

    runs = [read_results(name) for name in files]
    # An unknown name is told before anything is written.
    checked = _checked(runs, gates, options)
    try:
        comparison = compare(runs, metrics=parted(options.metrics) or None, sources=files)
    except NotComparable:
        if checked is None:
            raise
        _tell_gate(checked, options)
        sys.exit(NOT_COMPARABLE)
    keeper.keep(lambda: run_of_comparison(comparison))
    result = comparison.to_dict()
    result = result if checked is None else {**result, "gate": checked.to_dict()}
    text = json_text(result, 2)
    is_saved = write_or_say(options.output, lambda path: _save(text, path))
    page = f"chunkwise compare {shlex.join(options.files)} --html comparison.html"
    with no_workflow_commands(sys.stdout, active=_on_github() and not options.as_json):
        is_written = is_saved & options.print_and_write(
            lambda: comparison_report(comparison, next_command="" if options.page else page),
            lambda: result,
            lambda: comparison_report(comparison),
        )
    outcome = checked.outcome if checked else "passed"
    is_written = (checked is None or _tell_gate(checked, options)) and is_written
    leave(
        failed=not is_written,
        not_comparable=outcome == "not comparable",
        not_reached=outcome not in ("passed", "not comparable"),
    )


def _checked(runs: list[Results], gates: list[str], options: CompareOptions) -> Gate | None:
    """What the gate says; None: none was asked for."""
    wanted = (
        options.fail_if_worse, options.no_new_zero, options.junit, options.comment, options.annotations,
        options.min_effect, options.accept, is_typed("summary"),
    )  # fmt: skip
    if not any(wanted):
        return None
    from chunkwise.evaluation.gate import gate

    return gate(
        runs, metrics=gates or [runs[0].objective], options=options.part(GateOptions),
        fails_by_tests=bool(options.fail_if_worse),
    )  # fmt: skip


def _tell_gate(checked: Gate, options: CompareOptions) -> bool:
    """On stderr, in every file that was asked for, and to GitHub; whether all could be written."""
    from chunkwise.evaluation.gate import NO_SCORES, check_words
    from chunkwise.metrics.registry import format_score
    from chunkwise.report.ci_report import github_annotations, junit_xml
    from chunkwise.report.gate_report import gate_report
    from chunkwise.report.to_markdown import to_markdown

    is_written = True
    comment = to_markdown(gate_report(checked))
    is_written &= write_or_say(options.junit, lambda at: _save(junit_xml(checked).rstrip("\n"), at))
    is_written &= write_or_say(options.comment, lambda at: _save(comment.rstrip("\n"), at))
    is_written &= write_or_say(options.summary, lambda at: _add(comment, at), quiet=True)
    for reason in checked.not_comparable:
        say(f"not comparable: {_for_log(one_line(reason))}")
    for name in checked.left_out:
        say(f"{name}: skipped, {NO_SCORES}")
    for check in checked.checks:
        if check.is_worse or not checked.not_comparable:
            say(f"{check.metric}: {check_words(check)}")
    if checked.no_new_zero:
        for zero in checked.new_zeros[:_ZEROS_SAID]:
            before, after = (
                format_score(zero.metric, value) for value in (zero.before, zero.after)
            )
            what = f"{zero.metric}: {_for_log(one_line(zero.id, 60))} fell from {before} to {after}"
            # GitHub looks for orders in every line of a log.
            say(what if _on_github() else f"{what}: {one_line(zero.text, 120)}")
        if (more := len(checked.new_zeros) - _ZEROS_SAID) > 0:
            say(f"and {counted(more, 'more question')} that fell to 0")
    if options.annotations or _on_github():
        # GitHub reads both; stdout is for the JSON alone.
        stream = sys.stderr if options.as_json else utf8_stdout()
        with readers_may_leave():
            for line in github_annotations(checked):
                click.echo(line, file=stream)
    return is_written


def _on_github() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


def _for_log(text: str) -> str:
    """GitHub obeys what begins so wherever it stands in a line."""
    return text.replace("##[", "## [") if _on_github() else text


def _add(text: str, path: Path) -> None:
    """GitHub's file may hold what other steps said."""
    with says_what_it_writes(path), path.open("a", encoding="utf-8", newline="\n") as out:
        out.write(f"{text}\n")


def _save(text: str, path: Path) -> None:
    with replacing(path) as temporary, says_what_it_writes(path):
        temporary.write_text(text + "\n", encoding="utf-8")
