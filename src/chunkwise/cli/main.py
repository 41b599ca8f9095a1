"""The `chunkwise` command: names and summaries here, the rest in the file of each command."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
import warnings
from typing import NoReturn

import click

from chunkwise.base.version import __version__
from chunkwise.cli.exit_status import DONE, FAILED, of_error, of_signal
from chunkwise.cli.groups import LazyGroup
from chunkwise.cli.streams import watch_readers

_SECTIONS = {
    "Start here": {
        "tune": "Recommend chunking and retrieval for your documents",
        "demo": "Run `tune` on the bundled sample corpus (about a minute)",
        "studio": "Explore documents, chunks, searches and runs in the browser",
    },
    "Explore": {
        "profile": "Summarize a corpus: sizes, structure, languages, duplicates",
        "chunk": "Split documents into chunks",
        "lint": "Find bad chunk boundaries (split tables, orphaned headings …)",
    },
    "Retrieve": {
        "index": "Build or update a search index",
        "search": "Search an index",
        "ask": "Answer a question with cited passages",
        "push": "Upload chunks and vectors to a vector database",
    },
    "Measure": {
        "testset": "Generate, review, import and convert test questions",
        "evaluate": "Score one configuration, with confidence intervals",
        "compare": "Test whether one run is better than another",
    },
    "Track": {
        "runs": "List, diff and chart saved runs; set the baseline",
        "monitor": "Re-evaluate on a schedule and alert on regressions",
    },
    "Serve": {
        "serve": "Serve an index over HTTP",
        "mcp": "Serve an index to AI assistants (Model Context Protocol)",
    },
    "Set up": {
        "init": "Create a CI workflow or a schedule (--ci github)",
        "models": "Download and manage models and their cache",
        "list": "List strategies, metrics, prompts, plugins and names",
        "doctor": "Check the installation",
        "docs": "Open this version's documentation, offline",
    },
}


class _MainGroup(LazyGroup):
    """Lists its commands in sections."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in _SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<11}", summary) for name, summary in commands.items()])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text("-h, --help  Help (add a command for details)    --version  Version")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        formatter.write_text("Try:  chunkwise tune docs/")


group = click.version_option(__version__, prog_name="chunkwise")(
    _MainGroup(
        "chunkwise",
        package="chunkwise.cli",
        summaries={name: text for section in _SECTIONS.values() for name, text in section.items()},
        help="Find the chunking and retrieval that work best on your documents.",
    )
)
group.context_settings["help_option_names"] = ["-h", "--help"]


def _tell(message: Warning | str, *_: object, **__: object) -> None:
    """A warning is one line, as an error is; the place in our code it came from helps nobody."""
    from chunkwise.cli.streams import say

    say(message)


_NO_MEMORY = "not enough memory"
_LESS = "use fewer or smaller documents, run one job (--jobs 1), or close other programs"
_came: list[int] = []
"""The signals other than Ctrl-C that ended this run."""


def _end_like_an_interrupt(number: int, frame: object) -> None:
    """Whatever clears up and speaks at Ctrl-C does so for a terminated run, too."""
    _came.append(number)
    raise KeyboardInterrupt


def _listen() -> None:
    _came.clear()
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # Ignored from outside: `nohup`.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end_like_an_interrupt)


def _come_again(lost: sys.UnraisableHookArgs) -> None:
    """A signal amid a destructor, whose interrupt Python prints and forgets, comes once more."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    again = threading.Timer(0.01, os.kill, (os.getpid(), _came[0] if _came else signal.SIGINT))
    again.daemon = True
    again.start()


def _stopped() -> NoReturn:
    """The end of a run that was interrupted or terminated; all it had begun to write is cleared away by now."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if number := getattr(signal, name, None):
            signal.signal(number, signal.SIG_DFL)  # whoever is impatient need not wait for the rest
    click.echo("chunkwise: stopped", err=True)
    status = of_signal(_came[0] if _came else signal.SIGINT)
    _leave_threads(status)
    sys.exit(status)


def _leave_threads(status: int) -> None:
    """Ends the process where threads are at work that cannot be stopped.

    Python would wait for servers that may never answer, and take a model apart that is still computing.
    """
    from chunkwise.models.http_client import ENDPOINT_THREADS

    if any(item.name.startswith(ENDPOINT_THREADS) for item in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)


def _message(error: click.ClickException) -> str:
    if isinstance(error, click.NoSuchOption):
        return f"no such option: {error.option_name}"
    text = error.format_message()
    return text[:1].lower() + text[1:].removesuffix(".") if text[1:2].islower() else text


def _hint(error: click.ClickException) -> str:
    """Name the nearest flags, or the command whose help says more."""
    if isinstance(error, click.NoSuchOption) and error.possibilities:
        return f"did you mean {' or '.join(error.possibilities)}?"
    context = getattr(error, "ctx", None)
    return f"{context.command_path} --help" if context else ""


def main() -> NoReturn:
    """Run a command; an error that was foreseen is one line on stderr, without a traceback."""
    from chunkwise.base.errors import ChunkwiseError

    _listen()
    sys.unraisablehook = _come_again
    watch_readers()
    for stream in (sys.stdout, sys.stderr):
        # A pipe or an old console may know less than Unicode; a character is then spelled out.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = _tell
    try:
        status = group(standalone_mode=False)
        sys.stdout.flush()
    except ChunkwiseError as error:
        from chunkwise.cli.streams import say_error

        say_error(error)
        sys.exit(of_error(error))
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.ClickException as error:
        from chunkwise.cli.streams import say_error

        say_error(_message(error), _hint(error))
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _stopped()
    except MemoryError as error:
        from chunkwise.cli.streams import say

        say(f"{_NO_MEMORY}{f' ({error})' if str(error) else ''}: {_LESS}")
        sys.exit(FAILED)
    if _came:
        _stopped()  # some commands end well at Ctrl-C
    # What a command returns is not for the shell; what it passed to `ctx.exit` is.
    sys.exit(status if isinstance(status, int) else DONE)
