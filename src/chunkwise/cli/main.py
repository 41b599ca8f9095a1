"""The `chunkwise` command: names and one-line helps here, the rest in each command's file."""

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
from chunkwise.cli.dataclass_options import LazyGroup
from chunkwise.cli.exit_status import DONE, FAILED, of_error, of_signal
from chunkwise.cli.streams import watch_readers

_COMMANDS = {
    "chunk": "Cut documents into chunks; show them or write them to a file.",
    "profile": "Describe a corpus, before anything is chosen.",
    "strategies": "List every strategy, its parameters, and when to use it.",
    "index": "Make an index that can be searched, or bring it up to date.",
    "search": "Search an index: the best chunks, or the best sentences within a budget of tokens.",
    "push": "Write chunks, vectors and metadata into a vector database: Chroma, Milvus, Qdrant …",
    "graph": "Look at the names of an index: which link most, where each stands, what stands beside it.",
    "ask": "Answer a question from your documents, every claim with its source.",
    "lint": "Find the places where cuts hurt; no questions needed.",
    "evaluate": "Measure a chunking and a search with questions, and say how sure the figures are.",
    "metrics": "List every metric: what it measures, whether high or low is better, which values are good.",
    "compare": "Say whether one run is better than another, question by question.",
    "tune": "Find the chunking and the search that work for your documents, and prove it.",
    "history": "List the runs that were kept, what changed between them, and how metrics developed.",
    "baseline": "Choose the run that later runs are compared with.",
    "init": "Write a file for CI, cron or systemd that checks quality every week and on every change.",
    "studio": "Look at documents, cuts, searches and runs in the browser, on this machine alone.",
    "serve": "Answer programs over HTTP: chunk, search, ask, evaluate, with keys, limits and metrics.",
    "mcp": "Give assistants tools for an index, by the Model Context Protocol: search, read, measure.",
    "users": "Manage who may use a studio or a server that others can reach.",
    "watch": "Evaluate again and again, and alert when a metric has become worse.",
    "demo": "Tune for the corpus inside the package, in under a minute.",
    "testset": "Make, review, check and convert test sets: questions with references.",
    "labels": "Export and import people's labels, and say how far they agree.",
    "queries": "Take in what people really asked, as questions for a test set.",
    "judge": "Measure a judge against people's labels, before you trust it.",
    "prompts": "Show the prompts for language models, and copy them to change them.",
    "models": "List models; download, check and remove their weights.",
    "cache": "Show how much of models' answers is cached, and clear it.",
    "extensions": "List what packages can add to chunkwise, what is installed, and what cannot be loaded.",
    "doctor": "Check what works on this machine, and how to repair what does not.",
}

_EXAMPLES = """
\b
Examples:
  chunkwise profile handbook/
  chunkwise chunk handbook/ -o chunks.parquet
  chunkwise chunk paper.pdf --strategy recursive --page cuts.html
  chunkwise strategies
  chunkwise index handbook/ --into kb
  chunkwise search kb "who approves leave?" --budget 1000
  chunkwise ask kb "how is leave approved?"
  chunkwise evaluate kb --test-queries queries.json
  chunkwise tune handbook/ --test-queries queries.json
  chunkwise history
  chunkwise studio handbook/
  chunkwise doctor
"""


class _MainGroup(LazyGroup):
    """Says which command was probably meant."""

    helps = _COMMANDS
    package = "chunkwise.cli"

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name and name not in _COMMANDS and not name.startswith("-"):
            from chunkwise.base.wording import did_you_mean

            hint = did_you_mean(name, _COMMANDS, f"commands: {', '.join(_COMMANDS)}")
            ctx.fail(f"no command is named {name!r}; {hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_MainGroup, epilog=_EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="chunkwise")
def group() -> None:
    """Find the chunking that works for your documents, and prove it."""


def _tell(message: Warning | str, *_: object, **__: object) -> None:
    """A warning is one line, as an error is; the place in our code it came from helps nobody."""
    from chunkwise.cli.streams import say

    say(message)


_NO_MEMORY = "there is not enough memory"
_LESS = "give it fewer or smaller documents at once, run it with one job (--jobs 1), or end other programs"
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

    if any(each.name.startswith(ENDPOINT_THREADS) for each in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)


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
    too_large = None
    try:
        status = group(standalone_mode=False)
        sys.stdout.flush()
    except ChunkwiseError as error:
        from chunkwise.cli.streams import say

        say(error)
        sys.exit(of_error(error))
    except click.ClickException as error:
        from chunkwise.base.secrets import mask

        vars(error).update(message=mask(error.message))
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _stopped()
    except SystemError as error:
        if isinstance(
            error.__cause__, KeyboardInterrupt
        ):  # it came amid C code that looks for no errors
            _stopped()
        raise
    except MemoryError as error:
        too_large = str(error)
    if too_large is not None:  # told here, where what filled the memory is let go
        from chunkwise.cli.streams import say

        say(f"{_NO_MEMORY}{f' ({too_large})' if too_large else ''}: {_LESS}")
        sys.exit(FAILED)
    if _came:
        _stopped()  # some commands end well at Ctrl-C
    # What a command returns is not for the shell; what it passed to `ctx.exit` is.
    sys.exit(status if isinstance(status, int) else DONE)
