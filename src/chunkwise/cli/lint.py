"""`chunkwise lint`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import click

from chunkwise.base.atomic_files import replacing, says_what_it_writes
from chunkwise.base.errors import InvalidParameter
from chunkwise.base.schema import Amount, Option, Share
from chunkwise.base.wording import counted, one_or_many, percent, points, thousands
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.exit_status import FAILED, leave
from chunkwise.cli.keep_run import KeepOptions, RunKeeper
from chunkwise.cli.options import (
    JobsOption,
    Output,
    Page,
    SourceOptions,
)
from chunkwise.cli.progress import bytes_of, progress
from chunkwise.cli.report_options import JsonOrReport, say_written
from chunkwise.cli.streams import JsonLines, say
from chunkwise.options import LintOptions

if TYPE_CHECKING:
    from chunkwise.chunkers.chunk import Chunked
    from chunkwise.cli.cut_documents import Cutter
    from chunkwise.evaluation.lint import LocatedIssue
    from chunkwise.metrics.cuts.boundary_issue_counts import CutTally

Sink = Callable[["Chunked", "Sequence[LocatedIssue]"], None]


class LintCommandOptions(LintOptions, KeepOptions, JobsOption, SourceOptions, JsonOrReport):
    """The options of `chunkwise lint`."""

    show: Annotated[Amount | None, Option(
        "Issues to print", metavar="N", default_text="3, with -v 20", group="Output"
    )] = None  # fmt: skip
    at_most: Annotated[Share | None, Option(
        "Exit with status 4 above this share of issues: 0.1", long_flag="--fail-over", metavar="SHARE", group="Output",
        common=True,
    )] = None  # fmt: skip
    output: Output = None
    page: Page = None


@dataclass_command("lint", LintCommandOptions)
def command(options: LintCommandOptions) -> None:
    """Find bad chunk boundaries: split words, sentences, lists, tables, code.

    SOURCE is files, folders, globs, archives, '-' for standard input, or an index, whose stored chunks are checked.
    No test questions are needed.

    Examples:
      chunkwise lint docs/ -s recursive --html lint.html
      chunkwise lint kb
      chunkwise lint docs/ --chunks theirs.jsonl
      chunkwise lint docs/ --fail-over 0.1 --show 0

    Kinds: mid_word, mid_sentence_end, mid_sentence_start, split_list, split_table, split_code, orphan_heading,
    orphan_lead_in, orphan_number, only_marks, dangling_start, broken_grapheme.
    """
    from chunkwise.cli.cut_documents import ChunkSummary, readable
    from chunkwise.evaluation.lint import Linter, lint_subject
    from chunkwise.report.lint_report import LintSample, lint_report
    from chunkwise.retrieval.indexes import is_index
    from chunkwise.tracking.record_run import run_of_lint

    linter, sample = Linter(options.kinds), LintSample(_most_shown(options))
    keeper = RunKeeper(options, quiet=options.quiet)
    tally = linter.tally
    paths = options.sources()
    if options.output is not None and options.output.suffix.lower() != ".jsonl":
        raise InvalidParameter(
            f"output is {str(options.output)!r}; expected a name ending in .jsonl"
        )
    if options.chunks == "-" and "-" in paths:
        raise click.UsageError("documents and chunks can't both be read from standard input")
    total = 0 if options.chunks or any(map(is_index, paths)) else bytes_of(paths)
    cutter, outcomes = lint_subject(
        paths, options.part(LintOptions), options=options.loading(),
        jobs=options.workers(total),
    )  # fmt: skip
    summary = ChunkSummary(cutter, options.strict)
    with ExitStack() as stack:
        sinks = _open_sinks(stack, options, cutter)
        advance = stack.enter_context(progress("examining", total, options.quiet))
        for chunked in readable(outcomes, summary, advance):
            issues = linter.add(chunked)
            keeper.see(chunked.document)
            for sink in sinks:
                sink(chunked, issues)
            sample.add(chunked.document, issues)
        if not summary.documents:  # leaving so, an older file of that name stays
            say("no readable documents; nothing to check")
            sys.exit(FAILED)
    keeper.keep(
        lambda: run_of_lint(
            cutter.label, tally.cuts(), keeper.fingerprints, str(options.kinds or "") or None
        )
    )
    if not options.as_json and not (options.quiet and sinks):
        following = _next_command(tally, options)
        options.print_result(
            lambda: lint_report(tally.cuts(), cutter.label, sample.chosen(), following), dict
        )
    say_written(options.output, options.page, quiet=options.quiet)
    _exit(tally, options.at_most, summary.skip.count)


def _open_sinks(stack: ExitStack, options: LintCommandOptions, cutter: Cutter) -> list[Sink]:
    """Where the issues of each document go; nowhere: they are looked at in the terminal."""
    from chunkwise.cli.cut_documents import CutsPage

    sinks: list[Sink] = []
    if options.as_json:
        is_alone = not (options.output or options.page) and options.at_most is None
        lines = JsonLines(_write_issues, alone=is_alone)
        sinks.append(lambda _, issues: lines.write(issues))
    if options.output:
        sinks.append(_file(stack, options.output))
    if options.page:
        view = stack.enter_context(
            CutsPage(options.page, cutter, shows_worst=True, quiet=options.quiet)
        )
        sinks.append(lambda chunked, _: view.add(chunked))
    return sinks


def _file(stack: ExitStack, path: Path) -> Sink:
    temporary = stack.enter_context(replacing(path))
    # Half a surrogate pair has not UTF-8 form; JSON can still spell it.
    out = stack.enter_context(
        temporary.open("w", encoding="utf-8", newline="\n", errors="backslashreplace")
    )

    def write(_: Chunked, issues: Sequence[LocatedIssue]) -> None:
        with says_what_it_writes(path):
            _write_issues(out, issues)

    return write


def _write_issues(out: IO[str], issues: Iterable[LocatedIssue]) -> None:
    from chunkwise.records.write import json_line

    out.writelines(json_line(asdict(issue)) for issue in issues)


def _most_shown(options: LintCommandOptions) -> int:
    if options.show is not None:
        return options.show
    return 20 if options.verbose else 3


def _next_command(tally: CutTally, options: LintCommandOptions) -> str:
    """A strategy that cuts by structure, where another cuts badly; else all cuts in their documents."""
    if not tally.with_issues or not options.source or "-" in options.source:
        return ""
    strategy, chunks = str(options.strategy or ""), str(options.chunks or "")
    if strategy and not strategy.startswith("structure"):
        return f"chunkwise lint {shlex.join(options.source)} -s structure"
    words = ["chunkwise lint", shlex.join(options.source)]
    words += ["-s", shlex.quote(strategy)] if strategy else []
    words += ["--chunks", shlex.quote(chunks)] if chunks else []
    return f"{' '.join(words)} --html cuts.html"


def _exit(tally: CutTally, at_most: float | None, skipped: int) -> None:
    is_over = False
    if at_most is not None and tally.share is not None and tally.share > at_most:
        is_over = True
        have = one_or_many(tally.with_issues, "has", "have")
        gap = points(tally.share - at_most)
        say(
            f"{thousands(tally.with_issues)} of {counted(tally.chunks, 'chunk')} {have} a "
            "boundary issue, "
            f"{percent(tally.share)} of them, {gap} over the {percent(at_most)} allowed"
        )
    leave(not_reached=is_over, skipped=bool(skipped))
