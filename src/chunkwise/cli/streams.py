"""Standard output and standard error, whose readers may go away (`head` has soon seen enough); JSON on stdout."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Generic, TextIO, TypeVar, cast

import click

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.secrets import mask
from chunkwise.report.sanitize import harmless_json, one_line

if TYPE_CHECKING:
    from rich.console import Console


def say(message: object) -> None:
    """One line: names of files and members are anyone's, and a terminal obeys some characters."""
    click.echo(f"chunkwise: {one_line(mask(str(message)))}", err=True)


def say_error(message: object, hint: str = "") -> None:
    """What went wrong, and a command or a flag that mends it."""
    click.echo(f"error: {one_line(mask(str(message)))}", err=True)
    if hint:
        click.echo(f"hint: {hint}", err=True)


def shown_place(place: str) -> str:
    """Where an index is, on one line, without the password that the address of a server can hold."""
    if "://" in place:
        from chunkwise.base.secrets import mask_address

        place = mask_address(place)
    return one_line(place)


def usable_place(place: str) -> str:
    """The same, to be typed again: a password comes from the environment then."""
    if "://" in place:
        from chunkwise.base.secrets import without_password

        place = without_password(place)
    return one_line(place)


def say_skipped(problem: object) -> None:
    say(f"skipped {problem}")


class SkippedInputs:
    """Counts what cannot be used and prints a line about each; with `strict` the first is an error."""

    def __init__(self, strict: bool = False) -> None:
        self.strict, self.count = strict, 0

    def __call__(self, problem: object) -> None:
        if self.strict:
            raise problem if isinstance(problem, ChunkwiseError) else ChunkwiseError(str(problem))
        self.count += 1
        say_skipped(problem)


T = TypeVar("T")


class ReaderLeft(SystemExit):
    """Nobody reads the standard output any more: the run is over, and nothing went wrong."""


@contextmanager
def readers_may_leave() -> Iterator[None]:
    """Shows what nobody need read to its end: what follows, and the exit status, are the same then."""
    try:
        yield
        sys.stdout.flush()
    except ReaderLeft:
        pass


class _Output(io.FileIO):
    """Raised here, where it is sure whose pipe broke; libraries on the way have statuses of their own for it."""

    def write(self, data: Any) -> int:
        if not data:  # libraries try a stream with nothing, and drop what it says of itself then
            return 0
        try:
            return super().write(data)
        except OSError as error:
            _discard(self.fileno())
            if isinstance(error, BrokenPipeError):
                raise ReaderLeft(0) from None
            # A full disk, for one.
            raise ChunkwiseError(
                f"cannot write to standard output: {error.strerror or error}"
            ) from error


class _Messages(io.FileIO):
    """What is said into the void must not stop the work."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            _discard(self.fileno())
            return len(data)


def watch_readers() -> None:
    """From here on a broken pipe ends the command quietly, or silences its messages; what is closed leads nowhere."""
    _fill_closed()
    sys.stdout = _watched(sys.stdout, _Output)
    sys.stderr = _watched(sys.stderr, _Messages)


def _fill_closed() -> None:
    """Their numbers must not go to the next file that is opened: what a library prints would stand in an index."""
    for name, how in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, how, encoding="utf-8"))  # noqa: SIM115


def _watched(stream: Any, kind: type[io.FileIO]) -> Any:
    buffer = getattr(stream, "buffer", None)
    if (
        type(getattr(buffer, "raw", buffer)) is not io.FileIO
    ):  # a test's, a Windows console, or none at all
        return stream
    raw: Any = kind(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(
        raw if isinstance(buffer, io.FileIO) else io.BufferedWriter(raw),  # raw: `python -u`
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _discard(number: int) -> None:
    """What is still to be flushed goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


class _JsonOutput:
    """What is written is JSON: characters that a terminal obeys are spelled out, which changes no value."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)

    def write(self, text: str) -> int:
        return self._out.write(harmless_json(text))

    def writelines(self, lines: Iterable[str]) -> None:
        self._out.writelines(map(harmless_json, lines))


def json_stdout() -> TextIO:
    """Standard output for JSON; half a character is spelled out, and so is what a terminal obeys."""
    return cast(TextIO, _JsonOutput(utf8_stdout()))


def utf8_stdout() -> TextIO:
    """Standard output in UTF-8, whatever the console is."""
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper):
        out.reconfigure(encoding="utf-8", errors="backslashreplace")
    return out


def print_json(value: object, indent: int | None = 2) -> None:
    """One value on stdout."""
    from chunkwise.records.json import json_text

    json_stdout().write(json_text(value, indent) + "\n")


class _WithoutBlanksAtEnds:
    """Lines as a file or a program gets them: tables fill their last column with blanks, which nobody sees."""

    _AT_ENDS = re.compile(r" +(?=\n)")

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)

    def write(self, text: str) -> int:
        return self._out.write(self._AT_ENDS.sub("", text))


def stdout_console() -> Console:
    """What tables and lines for people are printed with."""
    from rich.console import Console

    out = sys.stdout
    file = out if out.isatty() else cast(TextIO, _WithoutBlanksAtEnds(out))
    return Console(file=file, highlight=False)


class JsonLines(Generic[T]):
    """Writes by `write_lines`; when nobody reads any more and nothing else is written, the run is done."""

    def __init__(self, write_lines: Callable[[IO[str], Iterable[T]], None], *, alone: bool) -> None:
        self._write_lines = write_lines
        self._alone = alone
        utf8_stdout()

    def write(self, values: Iterable[T]) -> None:
        try:
            self._write_lines(cast(IO[str], _JsonOutput(sys.stdout)), values)
            sys.stdout.flush()
        except ReaderLeft:
            if self._alone:
                raise
