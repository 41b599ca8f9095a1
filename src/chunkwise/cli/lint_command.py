"""`chunkwise lint`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from chunkwise.base.errors import InvalidParameter
from chunkwise.cli.inputs import (
    SKIPPED,
    check_outputs,
    chosen_inputs,
    document_options,
    jobs_option,
)
from chunkwise.cli.page_option import page_option

if TYPE_CHECKING:
    from chunkwise.chunkers.chunk import Chunked
    from chunkwise.cli.chunk_summary import ChunkSummary, Cutter
    from chunkwise.evaluation.scores.cuts import CutTally
    from chunkwise.evaluation.scores.located_issues import LocatedIssue
    from chunkwise.report.cuts.lint_sample import LintSample

Sink = Callable[["Chunked", "Sequence[LocatedIssue]"], None]

TOO_MANY = 4
"""Exit status when more chunks have an issue than `--at-most` allows."""

_EXAMPLES = """
\b
Examples:
  chunkwise lint handbook/ -s recursive                    # every kind of issue, with the text around the cuts
  chunkwise lint handbook/ -s recursive --view cuts.html   # the documents with their cuts drawn on them
  chunkwise lint kb                                        # the chunks of an index
  chunkwise lint handbook/ --chunks theirs.jsonl           # those another tool made
  chunkwise lint handbook/ --at-most 0.1 -n 0              # for continuous integration
  chunkwise lint handbook/ --kinds mid_word,split_table --json > issues.jsonl
\b
Kinds: mid_word, mid_sentence_end, mid_sentence_start, split_list, split_table, split_code, orphan_heading,
dangling_start, broken_grapheme.
\b
Exit status: 0 examined, 4 more chunks with an issue than --at-most, 3 something was skipped (each with a line on
stderr), 1 an error, 2 wrong usage or value.
"""


@click.command("lint", epilog=_EXAMPLES)
@click.option("-s", "--strategy", metavar="SPEC", show_default="structure",
              help='How documents are cut: "name(parameter=value, …)"; see `chunkwise strategies`.')  # fmt: skip
@click.option("--chunks", metavar="FILE",
              help="Examine these chunks of the documents instead: JSON lines of any tool.")  # fmt: skip
@click.option("--kinds", metavar="KIND,…", help="Look for these kinds of issues alone.")
@click.option("-n", "--show", type=click.IntRange(0), default=20, show_default=True,
              help="Cuts to show in the terminal, some of every document.")  # fmt: skip
@click.option("--at-most", type=click.FloatRange(0, 1), metavar="SHARE",
              help="Fail with status 4 when a larger share of the chunks has an issue: 0.1 is 10 %.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="JSON lines on stdout, nothing else: one an issue.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.jsonl",
              help="Write all issues, one a line.")  # fmt: skip
@page_option(
    "--view", "FILE.html", "Write one self-contained page that shows the documents with their cuts."
)
@jobs_option
@document_options
def command(inputs: tuple[str, ...], **options: Any) -> None:
    """Find the places where cuts hurt: words, sentences, lists, tables and code cut in two, headings left behind.

    INPUTS are files, folders, globs, archives or '-', as for `chunkwise chunk`; or an index, whose own chunks are
    examined. No questions are needed.
    """
    from chunkwise.cli.chunk_summary import ChunkSummary
    from chunkwise.cli.lint_subject import subject
    from chunkwise.cli.messages import say
    from chunkwise.cli.progress import progress
    from chunkwise.cli.readable import readable
    from chunkwise.evaluation.scores.cuts import CutTally
    from chunkwise.evaluation.scores.located_issues import located
    from chunkwise.report.cuts.lint_sample import LintSample

    tally, sample = CutTally(_kinds(options["kinds"])), LintSample(options["show"])
    paths = chosen_inputs(inputs)
    given = [options["chunks"]] if options["chunks"] else []
    outputs = check_outputs([*paths, *given], _checked(options["output"]), page=options["view"])
    cutter, outcomes, total = subject(paths, outputs, options)
    summary = ChunkSummary(cutter)
    with ExitStack() as stack:
        sinks = _open_sinks(stack, options, cutter)
        advance = stack.enter_context(progress("examining", total, options["quiet"]))
        for chunked in readable(outcomes, options["strict"], summary, advance):
            issues = located(chunked.analyzed, tally.add(chunked.analyzed, chunked.chunks))
            for sink in sinks:
                sink(chunked, issues)
            sample.add(chunked.document, len(chunked.chunks), issues)
        if not summary.documents:  # leaving so, an older file of that name stays
            say("no document was read; there is nothing to examine")
            sys.exit(SKIPPED)
    if not sinks:
        _show(sample, tally, cutter)
    elif not options["quiet"]:
        click.echo(_line(summary, tally), err=True)
        for written in (options["output"], options["view"]):
            if written:
                click.echo(f"written: {written}", err=True)
    _exit(tally, options["at_most"], summary.skipped)


def _kinds(given: str | None) -> tuple[str, ...]:
    from chunkwise.metrics.cuts.boundary_issues import KINDS

    if given is None:
        return tuple(KINDS)
    kinds = tuple(kind.strip().replace("-", "_") for kind in given.split(","))
    for kind in kinds:
        if kind not in KINDS:
            raise InvalidParameter(f"kinds has {kind!r}; allowed: {', '.join(KINDS)}")
    return kinds


def _checked(output: Path | None) -> Path | None:
    if output is not None and output.suffix.lower() != ".jsonl":
        raise InvalidParameter(f"output is {str(output)!r}; its name must end in .jsonl")
    return output


def _open_sinks(stack: ExitStack, options: dict[str, Any], cutter: Cutter) -> list[Sink]:
    """Where the issues of each document go; nowhere: they are looked at in the terminal."""
    from chunkwise.cli.chunk_view import ChunkView
    from chunkwise.cli.stdout import JsonLines

    sinks: list[Sink] = []
    if options["as_json"]:
        lines = JsonLines(_write_issues, alone=not (options["output"] or options["view"]))
        sinks.append(lambda _, issues: lines.write(issues))
    if options["output"]:
        sinks.append(_file(stack, options["output"]))
    if options["view"]:
        view = stack.enter_context(ChunkView(options["view"], cutter))
        sinks.append(lambda chunked, _: view.add(chunked))
    return sinks


def _file(stack: ExitStack, path: Path) -> Sink:
    from chunkwise.base.atomic import replacing, says_what_it_writes

    temporary = stack.enter_context(replacing(path))
    # Half a surrogate pair has no UTF-8 form; JSON can still spell it.
    out = stack.enter_context(
        temporary.open("w", encoding="utf-8", newline="\n", errors="backslashreplace")
    )

    def write(_: Chunked, issues: Sequence[LocatedIssue]) -> None:
        with says_what_it_writes(path):
            _write_issues(out, issues)

    return write


def _write_issues(out: IO[str], issues: Iterable[LocatedIssue]) -> None:
    import json
    from dataclasses import asdict

    for issue in issues:
        out.write(json.dumps(asdict(issue), ensure_ascii=False) + "\n")


def _show(sample: LintSample, tally: CutTally, cutter: Cutter) -> None:
    from rich.console import Console

    from chunkwise.evaluation.advice import advice
    from chunkwise.evaluation.results import Figure
    from chunkwise.report.cuts.lint_terminal import render_lint

    figures = {"boundary_issues": Figure(tally.share)} if tally.is_complete else {}
    render_lint(sample, tally.cuts(), cutter.label, advice(figures), Console())


def _line(summary: ChunkSummary, tally: CutTally) -> str:
    """Everything in one line."""
    from chunkwise.base.wording import percent

    parts = [summary.note]
    if tally.share is not None:
        found = [
            f"{count:,} {kind.replace('_', ' ')}" for kind, count in tally.counts.items() if count
        ]
        told = f": {', '.join(found)}" if found else ""
        parts.append(f"{percent(tally.share)} of the chunks have a boundary issue{told}")
    return summary.told(parts)


def _exit(tally: CutTally, at_most: float | None, skipped: int) -> None:
    from chunkwise.cli.messages import say

    if at_most is not None and tally.share is not None and tally.share > at_most:
        from chunkwise.base.wording import counted

        have = "has" if tally.chunks == 1 else "have"
        say(
            f"{tally.with_issues:,} of {counted(tally.chunks, 'chunk')} {have} a boundary issue, "
            f"a share of {tally.share:.4f}; at most {at_most:g} is allowed"
        )
        sys.exit(TOO_MANY)
    if skipped:
        sys.exit(SKIPPED)
