"""`chunkwise profile`."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Annotated

import click

from chunkwise.base.atomic_files import shown_path
from chunkwise.base.schema import Name, Option
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.exit_status import FAILED, SKIPPED
from chunkwise.cli.keep_run import KeepOptions, RunKeeper
from chunkwise.cli.options import (
    JobsOption,
    Json,
    Page,
    SourceOptions,
    VerboseOption,
)
from chunkwise.cli.progress import bytes_of, progress
from chunkwise.cli.streams import print_json, say, say_skipped, stdout_console

if TYPE_CHECKING:
    from chunkwise.base.errors import UnreadableDocument
    from chunkwise.profiling import Profile
    from chunkwise.tracking.run import KeptRun

_EXAMPLES = """
  chunkwise profile docs/
  chunkwise profile docs/ --html profile.html
  chunkwise profile corpus.jsonl --json > profile.json
  chunkwise profile docs/ --save
"""


class ProfileOptions(KeepOptions, JobsOption, SourceOptions, VerboseOption):
    """The options of `chunkwise profile`."""

    page: Page = None
    tokenizer: Annotated[Name, Option(
        "Tokenizer that sizes are counted with", metavar="NAME", group="Documents"
    )] = "o200k_base"  # fmt: skip
    as_json: Json = False


@dataclass_command("profile", ProfileOptions, examples=_EXAMPLES)
def command(options: ProfileOptions) -> None:
    """Describe a corpus before anything is chosen: sizes, sections, languages, and which chunking to try first.

    SOURCE is any number of files, folders, globs or archives, or '-', as for `chunkwise chunk`.
    """
    paths = options.sources()
    keeper = RunKeeper(options, quiet=options.quiet)
    profile, skipped = _profile(paths, options, keeper)
    if not profile.total.documents:  # leaving so, an older page stays
        say("no document was read; there is nothing to profile")
        sys.exit(FAILED)
    try:
        _show(profile, paths, options)
    finally:  # who reads the output may leave early
        keeper.keep(lambda: _kept(profile, keeper))
    if skipped:
        sys.exit(SKIPPED)


def _kept(profile: Profile, keeper: RunKeeper) -> KeptRun:
    from chunkwise.tracking.record_run import run_of_profile

    return run_of_profile(profile, keeper.fingerprints)


def _show(profile: Profile, paths: list[str], options: ProfileOptions) -> None:
    if options.as_json:
        print_json(profile.to_dict())
    if options.page:
        from chunkwise.report.profile_report import profile_report
        from chunkwise.report.write_report import write_report

        write_report(profile_report(profile, ", ".join(paths)), options.page)
        if not options.quiet:
            click.echo(f"written: {shown_path(options.page)}", err=True)
    if not (options.as_json or options.page):
        from chunkwise.report.profile_report import profile_report
        from chunkwise.report.to_terminal import print_report

        report = profile_report(profile, ", ".join(paths), _next_command(profile, options))
        print_report(report, stdout_console(), verbose=options.verbose)


def _next_command(profile: Profile, options: ProfileOptions) -> str:
    """Whether the strategy to start with cuts well."""
    strategy = next((each.strategy_spec for each in profile.advice if each.kind == "start"), "")
    if not strategy or not options.source or "-" in options.source:
        return ""
    return f"chunkwise lint {shlex.join(options.source)} -s {shlex.quote(strategy)}"


def _profile(paths: list[str], options: ProfileOptions, keeper: RunKeeper) -> tuple[Profile, int]:
    """The profile, and how many documents could not be read."""
    from chunkwise.profiling import profile

    skipped = 0

    def on_unreadable(problem: UnreadableDocument) -> None:
        nonlocal skipped
        if options.strict:
            raise problem
        skipped += 1
        say_skipped(problem)

    total = bytes_of(paths)
    with progress("profiling", total, options.quiet) as advance:
        found = profile(
            paths, options.tokenizer, options=options.loading(), on_unreadable=on_unreadable,
            jobs=options.workers(total), advance=advance, on_document=keeper.see,
        )  # fmt: skip
    return found, skipped
