"""What a loader is, what a user may say about how documents are read, and which loader reads a file."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import Literal, Protocol

from chunkwise.base.errors import InvalidParameter, UnreadableDocument
from chunkwise.base.limits import limits_of
from chunkwise.base.registry import Registry
from chunkwise.core import Document
from chunkwise.documents.glob_patterns import matches
from chunkwise.documents.ocr import check_ocr
from chunkwise.documents.source import Source
from chunkwise.options import ReadOptions
from chunkwise.records.encoding import decode

OnUnreadable = Callable[[UnreadableDocument], None]
WhenUnreadable = OnUnreadable | Literal["warn", "raise", "ignore"]
"""What is done about each thing that cannot be read: a function that takes it, a warning, an error, nothing."""


class LoadOptions(ReadOptions):
    """How to read documents.

    Example:
        >>> chunkwise.read("handbook/", chunkwise.options.LoadOptions(include=("*.md",)))
    """

    max_bytes: int = 1 << 30
    """Of one file, or of one line of a file that is read line by line."""
    leave_out: Collection[str | os.PathLike[str]] = ()
    """Files in a folder that are not documents: those you write."""
    on_unreadable: WhenUnreadable = "warn"
    """What is done about unreadable files and rows: "warn", "raise", "ignore", or a function that takes the problem."""
    on_passed_over: Callable[[str], None] | None = None
    """Called with one line about pictures, lock files and the like that are skipped; a warning by default."""
    on_renamed: Callable[[str], None] | None = None
    """Called with one line where two documents have one id, and one of them gets another."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.leave_out, str | bytes | os.PathLike):
            raise InvalidParameter(
                f"leave_out is {self.leave_out!r}; expected a list of paths: [{self.leave_out!r}]"
            )
        object.__setattr__(self, "leave_out", tuple(self.leave_out))
        for name in ("include", "exclude"):
            for pattern in getattr(self, name):
                _check_pattern(name, pattern)
        if self.ocr is not None:
            check_ocr(self.ocr)
        limits_of(self.limits)
        if self.max_bytes < 1:
            raise InvalidParameter(f"max_bytes ({self.max_bytes}) must be at least 1")
        if self.encoding is not None:
            try:
                io.TextIOWrapper(io.BytesIO(), encoding=self.encoding)  # refuses what is no text
            except LookupError:
                raise InvalidParameter(
                    f"encoding {self.encoding!r} is unknown; try utf-8, utf-16, latin-1 or cp1252"
                ) from None


def leaving_out(options: LoadOptions, files: Collection[str | os.PathLike[str]]) -> LoadOptions:
    """The same options, with these files left out, too."""
    return replace(options, leave_out=(*options.leave_out, *files)) if files else options


def options_given(options: LoadOptions) -> dict[str, OptionValue]:
    """What a user said about which documents are read and how, as plain values; not who is told, nor what is written.

    None: an object or a function, which has no written form.
    """
    given = options.part(ReadOptions).changed()
    given.pop("limits", None)
    plain = {
        name: list(value) if isinstance(value, tuple) else value for name, value in given.items()
    }
    return {
        name: value if isinstance(value, str | int | list) else None
        for name, value in plain.items()
    }


OptionValue = str | int | list[str] | None


def _check_pattern(name: str, pattern: str) -> None:
    if not pattern.strip("/ ."):
        raise InvalidParameter(f"{name} has an empty pattern, {pattern!r}")
    try:
        matches(pattern, "")
    except re.error as error:
        raise InvalidParameter(f"{name} has an invalid pattern, {pattern!r}: {error}") from error


class Loader(Protocol):
    """One format."""

    suffixes: tuple[str, ...]
    """For people to read; `accepts` decides."""
    stream: bool
    """Whether one file holds many records, each a document; left out, it is no."""
    guarded: bool
    """Whether a small file can take much memory or time, so that it is read in a process with limits; left out, it is
    yes."""

    def accepts(self, name: str, head: bytes) -> bool:
        """Whether a file of this name that begins with these bytes is of the format."""

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        """The documents of one source; a bad record goes to `on_unreadable`, a bad file is raised."""


def suffix_of(name: str) -> str:
    """`.md` of `Notes.MD`; a dot file has none."""
    name = name[name.rfind("/") + 1 :]
    dot = name.rfind(".")
    return name[dot:].lower() if 0 < dot < len(name) - 1 else ""


class SuffixLoader:
    """What loaders share that know their files by the name alone."""

    suffixes: tuple[str, ...] = ()
    stream = False

    def accepts(self, name: str, head: bytes) -> bool:
        return suffix_of(name) in self.suffixes


def text_in(source: Source, options: LoadOptions) -> str:
    """The text of a whole file, decoded."""
    return decode(source.read(options.max_bytes), source.origin, options.encoding)


_INK = re.compile(r"\S")


def with_blank_head(text: str, end: int) -> str:
    """The text with white space up to here, every position and every line as before."""
    return _INK.sub(" ", text[:end]) + text[end:]


_HERE = "chunkwise.documents.formats"

# In the order they are asked: sure signs first, plain text last.
loaders = Registry(
    "loader",
    "chunkwise.loaders",
    {
        "pdf": f"{_HERE}.pdf.loader:PdfLoader",
        "epub": f"{_HERE}.epub:EpubLoader",
        "docx": f"{_HERE}.docx:DocxLoader",
        "pptx": f"{_HERE}.pptx:PptxLoader",
        "xlsx": f"{_HERE}.xlsx:XlsxLoader",
        "odt": f"{_HERE}.odt:OdtLoader",
        "rtf": f"{_HERE}.rtf:RtfLoader",
        "picture": f"{_HERE}.picture:PictureLoader",
        "parquet": f"{_HERE}.parquet_and_dataframes:ParquetLoader",
        "arrow": f"{_HERE}.parquet_and_dataframes:ArrowLoader",
        "eml": f"{_HERE}.eml:EmlLoader",
        "html": f"{_HERE}.html.loader:HtmlLoader",
        "xml": f"{_HERE}.xml:XmlLoader",
        "notebook": f"{_HERE}.notebook:NotebookLoader",
        "subtitles": f"{_HERE}.subtitles:SubtitleLoader",
        "man": f"{_HERE}.man:ManLoader",
        "rst": f"{_HERE}.text:RstLoader",
        "tex": f"{_HERE}.tex:TexLoader",
        "asciidoc": f"{_HERE}.text:AsciidocLoader",
        "org": f"{_HERE}.text:OrgLoader",
        "csv": f"{_HERE}.csv:CsvLoader",
        "jsonl": f"{_HERE}.json:JsonLinesLoader",
        "json": f"{_HERE}.json:JsonLoader",
        "code": f"{_HERE}.code:CodeLoader",
        "markdown": f"{_HERE}.markdown:MarkdownLoader",
        "text": f"{_HERE}.text:TextLoader",
    },
    needs=("load(source, options, skip)", "accepts(name, head)"),
    example="mine(parameter=1)",
)


def loaders_in_order() -> tuple[tuple[str, Loader], ...]:
    """One of each, those of third parties first: who installs one wants it used."""
    return _loaders_on(tuple(sys.path))


@lru_cache(maxsize=4)
def _loaders_on(path: tuple[str, ...]) -> tuple[tuple[str, Loader], ...]:
    """Of the packages on this path."""
    made: dict[str, Loader] = loaders.made()
    names = [name for name in made if name not in loaders.builtin] + list(loaders.builtin)
    return tuple((name, made[name]) for name in names)


def get_loader(loader: str | Loader) -> Loader:
    """A loader from `name(parameter=value)`, `./file.py:Class`, or an object with `accepts` and `load`."""
    made: Loader = loaders.make(loader)
    return made


def choose_loader(source: Source, options: LoadOptions) -> tuple[str, Loader]:
    """The loader's name and the loader; an unknown name in the options is the user's error."""
    head = source.head()
    if not head:
        raise UnreadableDocument(source.origin, "empty")
    if options.loader is not None:
        name = options.loader if isinstance(options.loader, str) else type(options.loader).__name__
        return name, get_loader(options.loader)
    file_name = source.name
    for name, loader in loaders_in_order():
        with crash_is_unreadable(source, name):
            if loader.accepts(file_name, head):
                return name, loader
    raise UnreadableDocument(source.origin, "unknown format")


@contextmanager
def crash_is_unreadable(source: Source, loader: str) -> Iterator[None]:
    """A parser's crash on one file becomes one line about that file."""
    try:
        yield
    except (UnreadableDocument, MemoryError):
        raise
    except RecursionError as error:
        raise UnreadableDocument(
            source.origin, f"nested too deeply for the {loader} loader"
        ) from error
    except Exception as error:
        # Parsers of foreign formats fail on hostile files in ways nobody lists; the run goes on.
        what = f"the {loader} loader failed: {type(error).__name__}: {str(error)[:200]}"
        raise UnreadableDocument(source.origin, f"{' '.join(what.split())}; {_REPORT}") from error


_REPORT = "report this message to its authors, with the output of `chunkwise doctor` and, if possible, the file"
