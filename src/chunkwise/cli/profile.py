"""`chunkwise profile`."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Annotated

from chunkwise.base.schema import Name, Option
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.exit_status import FAILED, leave
from chunkwise.cli.keep_run import KeepOptions, RunKeeper
from chunkwise.cli.options import (
    JobsOption,
    SourceOptions,
)
from chunkwise.cli.progress import bytes_of, progress
from chunkwise.cli.report_options import ReportOptions
from chunkwise.cli.streams import SkippedInputs, say

if TYPE_CHECKING:
    from chunkwise.profiling import Profile


class ProfileOptions(KeepOptions, JobsOption, SourceOptions, ReportOptions):
    """The options of `chunkwise profile`."""

    tokenizer: Annotated[Name, Option(
        "Tokenizer for sizes", metavar="NAME", group="Documents"
    )] = "o200k_base"  # fmt: skip


@dataclass_command("profile", ProfileOptions)
def command(options: ProfileOptions) -> None:
    """Summarize a corpus: sizes, structure, languages, duplicates.

    SOURCE is files, folders, globs, archives, or '-' for standard input.

    Examples:
      chunkwise profile docs/
      chunkwise profile docs/ --html profile.html
      chunkwise profile corpus.jsonl --json > profile.json
      chunkwise profile docs/ --save
    """
    from chunkwise.profiling import profile as profile_documents
    from chunkwise.report.profile_report import profile_report
    from chunkwise.tracking.record_run import run_of_profile

    paths = options.sources()
    keeper = RunKeeper(options, quiet=options.quiet)
    skip, total = SkippedInputs(options.strict), bytes_of(paths)
    with progress("profiling", total, options.quiet) as advance:
        profile = profile_documents(
            paths, options.tokenizer, options=options.loading(on_unreadable=skip),
            jobs=options.workers(total), advance=advance, on_document=keeper.see,
        )  # fmt: skip
    if not profile.total.documents:  # leaving so, an older page stays
        say("no readable documents; nothing to profile")
        sys.exit(FAILED)
    keeper.keep(lambda: run_of_profile(profile, keeper.fingerprints))
    title = ", ".join(paths)
    is_written = options.print_and_write(
        lambda: profile_report(profile, title, _next_command(profile, options)), profile.to_dict,
        lambda: profile_report(profile, title),
    )  # fmt: skip
    leave(failed=not is_written, skipped=bool(skip.count))


def _next_command(profile: Profile, options: ProfileOptions) -> str:
    """What measures strategies on it."""
    if not profile.total.tokens or not options.source or "-" in options.source:
        return ""
    return f"chunkwise tune {shlex.join(options.source)}"
