"""Inputs read into documents: one reader for every verb, one loader a file."""

from __future__ import annotations

import shutil
import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache, partial
from hashlib import blake2b
from itertools import islice
from typing import cast

from chunkwise.base.allow_hosts_and_code_from_files import trust_caller
from chunkwise.base.atomic_files import FULL
from chunkwise.base.errors import ChunkwiseError, UnreadableDocument, warn_user
from chunkwise.base.limited_processes import (
    SUPPORTED,
    Ask,
    CannotBeSent,
    NotStarted,
    ProcessDied,
    readers,
)
from chunkwise.base.limits import LimitExceeded, Limits, limits_of
from chunkwise.base.version import __version__
from chunkwise.base.wording import counted
from chunkwise.core import Document
from chunkwise.documents.document_ids import Ids
from chunkwise.documents.formats.parquet_and_dataframes import TableInput
from chunkwise.documents.formats.records_as_documents import NoText
from chunkwise.documents.inputs import (
    Inputs,
    IsKnown,
    UnchangedSource,
    Unreadables,
    changed_sources,
    refuse_text,
)
from chunkwise.documents.loader import (
    Loader,
    LoadOptions,
    OnUnreadable,
    choose_loader,
    crash_is_unreadable,
    get_loader,
    options_given,
)
from chunkwise.documents.ocr import Ocr
from chunkwise.documents.source import Source, os_reason
from chunkwise.records.fields import is_blank

InputItem = Source | Document | UnreadableDocument
"""What there is to do: a file to be opened, a document to be taken as it is, a line about what cannot be read."""


SMALL = 16 << 20
"""Bytes of a file that a loader without surprises reads in this process: they come to twenty times as much at most."""
_COPIED = 1 << 20
EMPTY = "empty"
_HERE = "chunkwise.documents.reading:outcomes_for_another"
_stay_here: set[type] = set()
"""Third parties' loaders that were found not to be fit for another process."""

_has_told = False
"""Whether the user knows that there are no limits now: once is enough."""


def load(source: Source, options: LoadOptions, on_unreadable: OnUnreadable) -> Iterator[Document]:
    """The documents of one source; bad data goes to `on_unreadable` and is never raised."""
    for outcome in loaded(source, options):
        if isinstance(outcome, UnreadableDocument):
            on_unreadable(outcome)
        else:
            yield outcome


def loaded(source: Source, options: LoadOptions) -> Iterator[Document | UnreadableDocument]:
    """The same with the problems in their places."""
    if source.stored is None:
        yield from _loaded(source, options)
        return
    revision = revision_of(source, options)
    try:
        with fetched(source, options) as here:
            for outcome in _loaded(here, options):
                if isinstance(outcome, Document):
                    outcome = replace(outcome, revision=revision)
                yield outcome
    except UnreadableDocument as error:
        yield error


def revision_of(source: Source, options: LoadOptions) -> str:
    """The state of a file of a store, and how it is read; empty where the store does not tell one from the next."""
    version = source.stored.version if source.stored else ""
    if not version:
        return ""
    made_by = __version__  # another may read the same file otherwise
    how = repr((made_by, sorted(options_given(options).items())))
    return f"{version} {blake2b(how.encode(), digest_size=8).hexdigest()}"


@contextmanager
def fetched(source: Source, options: LoadOptions) -> Iterator[Source]:
    """The file here, unless it is one that is read in ranges: parsers seek, and work in processes with limits."""
    if source.data is not None:
        yield source
        return
    loader = choose_loader(source, options)[1]
    if getattr(loader, "stream", False) and not getattr(loader, "guarded", True):
        yield source
    elif source.size <= SMALL:
        yield replace(source, data=source.read(options.max_bytes))
    elif source.size > options.max_bytes:
        raise UnreadableDocument(source.origin, f"larger than {counted(options.max_bytes, 'byte')}")
    else:
        with _copied(source) as path:
            yield replace(source, path=path, stored=None, opening=None)


@contextmanager
def _copied(source: Source) -> Iterator[str]:
    """A copy in the folder for temporary files, for as long as it is read."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(tempfile.NamedTemporaryFile(prefix="chunkwise-"))
            with source.open() as handle:
                shutil.copyfileobj(handle, file, _COPIED)
            file.flush()
        except OSError as error:
            if error.errno in FULL:
                raise ChunkwiseError(
                    f"no room for a copy of {source.origin} in {tempfile.gettempdir()} (TMPDIR)"
                ) from error
            raise UnreadableDocument(source.origin, os_reason(error)) from error
        yield file.name


def _loaded(source: Source, options: LoadOptions) -> Iterator[Document | UnreadableDocument]:
    try:
        name, loader = choose_loader(source, options)
    except UnreadableDocument as error:
        yield error
        return
    limits = limits_of(options.limits)
    done = 0
    if SUPPORTED and not limits.is_none and _is_guarded(source, loader):
        try:
            yield from _guarded(source, name, options, limits)
            return
        except CannotBeSent as error:
            done = error.done
            if _is_ours(loader):
                warn_user(
                    f"{source.origin} is read without memory and time limits: its options or "
                    f"contents can't be pickled for another process"
                )
            else:
                _stay_here.add(type(loader))
        except NotStarted as error:
            _tell_not_started(error)
    try:
        yield from islice(_outcomes(source, name, loader, options), done, None)
    except MemoryError:
        yield UnreadableDocument(source.origin, "needs more memory than available")


def _is_ours(loader: Loader) -> bool:
    return type(loader).__module__.startswith("chunkwise.")


def _tell_not_started(error: NotStarted) -> None:
    global _has_told
    if not _has_told:
        _has_told = True
        warn_user(
            f"documents are read without memory and time limits: cannot start a process "
            f"({error}); will retry"
        )


def _is_guarded(source: Source, loader: Loader) -> bool:
    if type(loader) in _stay_here:
        return False
    # A third party's class may leave it out.
    if getattr(loader, "guarded", True):
        return True
    return source.size > SMALL


def _guarded(
    source: Source, name: str, options: LoadOptions, limits: Limits
) -> Iterator[Document | UnreadableDocument]:
    """Read in a process with limits; what takes more is one line about this file."""
    function = options.ocr if callable(options.ocr) else None
    sent = replace(
        options,
        leave_out=(),
        on_unreadable="warn",
        on_passed_over=None,
        on_renamed=None,
        ocr=None if function else options.ocr,
    )
    answers = {} if function is None else {"ocr": function}
    try:
        yield from readers.outcomes(_HERE, (source, name, sent, bool(answers)), limits, answers)
    except LimitExceeded as error:
        yield UnreadableDocument(source.origin, str(error))
    except ProcessDied as error:
        yield UnreadableDocument(source.origin, _ended(name, error))


def _ended(name: str, error: ProcessDied) -> str:
    if error.was_killed:
        return (
            f"its reader process was killed ({error}), most likely for lack of memory; free "
            f"memory, use one job (-j 1), or read this file separately"
        )
    return f"damaged or malicious: the {name} parser crashed ({error})"


def outcomes_for_another(
    source: Source, name: str, options: LoadOptions, has_ocr: bool, ask: Ask
) -> Iterator[Document | UnreadableDocument]:
    """What a file holds, read in the process with limits."""
    if has_ocr:
        options = replace(options, ocr=cast(Ocr, partial(ask, "ocr")))
    loader = _named(name) if options.loader is None else get_loader(options.loader)
    return _outcomes(source, name, loader, options)


@cache
def _named(name: str) -> Loader:
    return get_loader(name)


def _outcomes(
    source: Source, name: str, loader: Loader, options: LoadOptions
) -> Iterator[Document | UnreadableDocument]:
    """What a loader makes of a file; its crash is one line about this file."""
    problems: list[UnreadableDocument] = []
    documents: Iterator[Document] | None = None
    document: Document | None = None
    while True:
        ended = False
        try:
            with crash_is_unreadable(source, name):
                if documents is None:
                    documents = loader.load(source, options, problems.append)
                document = next(documents, None)
        except UnreadableDocument as error:
            problems.append(error)
            ended = True
        yield from problems
        problems.clear()
        if document is None or ended:
            return
        if is_blank(document.text):
            yield NoText(source.origin, EMPTY)
        else:
            yield document


def is_stream(source: Source, options: LoadOptions = LoadOptions()) -> bool:
    """Whether one file holds many records, so that it is better read where they are used."""
    try:
        # A third party's class may leave it out.
        return bool(getattr(choose_loader(source, options)[1], "stream", False))
    except UnreadableDocument:
        return False


class InputReader:
    """The inputs of a verb, one after the other, and the ids of the documents in them."""

    def __init__(
        self,
        source: Inputs,
        options: LoadOptions = LoadOptions(),
        is_known: IsKnown = lambda source: False,
    ) -> None:
        self._options = options
        self._problems: deque[UnreadableDocument] = deque()
        self._sources = changed_sources(source, self._problems.append, self._options, is_known)
        self._files: dict[str, str] = {}
        """Ids of files by their origins."""
        self._ids = Ids(self._options.on_renamed)

    def units(self) -> Iterator[InputItem]:
        """Files that another process may open by itself; files of many records are read here.

        One that is known has not been looked into: it is what it was when it came to be known.
        """
        for source in self._sources:
            yield from _drained(self._problems)
            if isinstance(source, UnchangedSource):
                self._files[source.source.origin] = source.source.id
                yield source.source
            else:
                yield from self._units_of(source)
        yield from _drained(self._problems)

    def changed_units(self) -> Iterator[InputItem | UnchangedSource]:
        """The same; files of stores that are known come by their names, and keep the ids of their documents."""
        for result in self._sources:
            yield from _drained(self._problems)
            if isinstance(result, UnchangedSource):
                if result.source.id not in self._ids:
                    self._ids.distinct(result.source.id, "")
                    yield result
                    continue
                result = result.source  # a record of another file has its id now
            yield from self._units_of(result)
        yield from _drained(self._problems)

    def _units_of(self, source: Source | Document | TableInput) -> Iterator[InputItem]:
        if isinstance(source, Document):
            yield source
            return
        if isinstance(source, TableInput):
            yield from source.documents(self._options, self._problems.append)
            return
        self._files[source.origin] = source.id
        if is_stream(source, self._options):
            yield from loaded(source, self._options)
        else:
            yield source
        yield from _drained(self._problems)

    def documents(self) -> Iterator[Document | UnreadableDocument]:
        """Every document with an id of its own, and every problem, in the order of the inputs."""
        for unit in self.units():
            outcomes = loaded(unit, self._options) if isinstance(unit, Source) else (unit,)
            for outcome in outcomes:
                if isinstance(outcome, Document):
                    id = self.own_id(outcome)
                    outcome = outcome if id == outcome.id else replace(outcome, id=id)
                yield outcome

    def own_id(self, document: Document) -> str:
        """An id no other document has, since chunk ids build on it; a taken one is named after its file, too."""
        return self.distinct_id(document.id, document.source)

    def distinct_id(self, id: str, source: str) -> str:
        """The same by id and source alone."""
        # After the id of the file: its path may be spelled in many ways.
        return self._ids.distinct(id, self._files.get(source, source))


def _drained(problems: deque[UnreadableDocument]) -> Iterator[UnreadableDocument]:
    while problems:
        yield problems.popleft()


def read(
    source: Inputs,
    options: LoadOptions = LoadOptions(),
) -> Iterator[Document]:
    """Read documents.

    Args:
        source: Files, folders, globs, archives, URLs, tables or `Document`s.
        options: How to read files.

    Returns:
        An iterator of documents.

    Raises:
        ChunkwiseError: No readable documents.

    Example:
        >>> texts = [document.text for document in chunkwise.read("handbook/")]
    """
    trust_caller(options)
    unreadables = Unreadables(options.on_unreadable)
    refuse_text(source, options)
    return unreadables.of(InputReader(source, options).documents())
