"""How a command shows what it found: JSON, a page, or a report in the terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from chunkwise.base.atomic_files import shown_path
from chunkwise.base.errors import ChunkwiseError
from chunkwise.cli.options import JsonOption, Page, QuietOption, VerboseOption
from chunkwise.cli.streams import print_json, readers_may_leave, say_error, stdout_console
from chunkwise.report.report import Report


class JsonOrReport(VerboseOption, JsonOption):
    """JSON or a report in the terminal."""

    def print_result(self, report: Callable[[], Report], data: Callable[[], object]) -> None:
        """Print either; who reads it may leave early."""
        with readers_may_leave():
            if not self.as_json:
                from chunkwise.report.to_terminal import print_report

                print_report(report(), stdout_console(), verbose=self.verbose)
            elif isinstance(shown := data(), str):
                click.echo(shown, nl=False)
            else:
                print_json(shown)


class ReportOptions(JsonOrReport, QuietOption):
    """The same, and the report as a page."""

    page: Page = None

    def print_and_write(
        self,
        report: Callable[[], Report],
        data: Callable[[], object],
        page: Callable[[], Report] | None = None,
        *,
        is_kept: bool = False,
    ) -> bool:
        """Write the page and show the rest, quietly only what is nowhere else.

        Args:
            report: Makes the report of the terminal.
            data: Makes what JSON has.
            page: Makes another report for the page.
            is_kept: Whether the results are in another file.

        Returns:
            Whether the page could be written; why not is told.
        """
        if self.page is None:
            is_written = True
        else:
            from chunkwise.report.write_report import write_report

            made = (page or report)()
            is_written = write_or_say(self.page, lambda path: write_report(made, path), self.quiet)
            is_kept |= is_written
        if self.as_json or not (self.quiet and is_kept):
            self.print_result(report, data)
        return is_written


def write_or_say(path: Path | None, write: Callable[[Path], object], quiet: bool = False) -> bool:
    """Write a file; where that fails it is said, since the results are wanted all the same."""
    if path is None:
        return True
    try:
        write(path)
    except ChunkwiseError as error:
        say_error(error)
        return False
    say_written(path, quiet=quiet)
    return True


def say_written(*paths: Path | None, quiet: bool = False) -> None:
    for path in paths:
        if path is not None and not quiet:
            click.echo(f"written: {shown_path(path)}", err=True)
