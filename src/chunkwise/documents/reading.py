"""Inputs read into documents: one reader for every verb, one loader a file."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from chunkwise.base.errors import UnreadableDocument
from chunkwise.base.parameters import takes
from chunkwise.base.renamed import grouped, renamed
from chunkwise.core import Document
from chunkwise.documents.fields import is_blank
from chunkwise.documents.formats.corpus import NoText
from chunkwise.documents.ids import Ids
from chunkwise.documents.inputs import Inputs, Unreadables, WhenUnreadable, sources
from chunkwise.documents.loader import LoadOptions, OnUnreadable, choose_loader, crash_is_unreadable
from chunkwise.documents.source import Source
from chunkwise.documents.testset_files import NO_DOCUMENT, is_no_document

InputItem = Source | Document | UnreadableDocument
"""What there is to do: a file to be opened, a document to be taken as it is, a line about what cannot be read."""

_DEFAULTS = LoadOptions()


def load(source: Source, options: LoadOptions, on_unreadable: OnUnreadable) -> Iterator[Document]:
    """The documents of one source; bad data goes to `on_unreadable` and is never raised."""
    try:
        if options.text_field is None and options.loader is None and is_no_document(source):
            raise UnreadableDocument(source.origin, NO_DOCUMENT)
        name, loader = choose_loader(source, options)
    except UnreadableDocument as error:
        on_unreadable(error)
        return
    # Collected first: what the caller's function raises must not look like a parser's crash.
    skipped: list[UnreadableDocument] = []
    documents: Iterator[Document] = iter(())
    started = False
    while True:
        document = None
        ended = False
        try:
            with crash_is_unreadable(source, name):
                if not started:
                    documents, started = loader.load(source, options, skipped.append), True
                document = next(documents, None)
        except UnreadableDocument as error:
            skipped.append(error)
            ended = True
        for problem in skipped:
            on_unreadable(problem)
        skipped.clear()
        if document is None or ended:
            return
        if is_blank(document.text):
            on_unreadable(NoText(source.origin, "empty: no text in it"))
        else:
            yield document


def loaded(source: Source, options: LoadOptions) -> Iterator[Document | UnreadableDocument]:
    """The same with the problems in their places."""
    problems: deque[UnreadableDocument] = deque()
    for document in load(source, options, problems.append):
        yield from _drained(problems)
        yield document
    yield from _drained(problems)


def is_stream(source: Source, options: LoadOptions = _DEFAULTS) -> bool:
    """Whether one file holds many records, so that it is better read where they are used."""
    try:
        # A third party's class may leave it out.
        return bool(getattr(choose_loader(source, options)[1], "stream", False))
    except UnreadableDocument:
        return False


class InputReader:
    """The inputs of a verb, one after the other, and the ids of the documents in them."""

    def __init__(self, source: Inputs, options: LoadOptions | None = None) -> None:
        self._options = options or _DEFAULTS
        self._problems: deque[UnreadableDocument] = deque()
        self._sources = sources(source, self._problems.append, self._options)
        self._files: dict[str, str] = {}
        """Ids of files by their origins."""
        self._ids = Ids()

    def units(self) -> Iterator[InputItem]:
        """Files that another process may open by itself; files of many records are read here."""
        for found in self._sources:
            yield from _drained(self._problems)
            if isinstance(found, Document):
                yield found
                continue
            self._files[found.origin] = found.id
            if is_stream(found, self._options):
                yield from loaded(found, self._options)
            else:
                yield found
            yield from _drained(self._problems)
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
        # After the id of the file: its path may be spelled in many ways.
        return self._ids.distinct(document.id, self._files.get(document.source, document.source))


def _drained(problems: deque[UnreadableDocument]) -> Iterator[UnreadableDocument]:
    while problems:
        yield problems.popleft()


@takes(options=LoadOptions)
@renamed(inputs="source", on_skip="on_unreadable")
@grouped(options=(LoadOptions, ("leave_out",)))
def read(
    source: Inputs,
    options: LoadOptions | None = None,
    on_unreadable: WhenUnreadable = "warn",
) -> Iterator[Document]:
    """Every document of files, folders, patterns and archives; `Document`s among them come as they are.

    What cannot be read is a warning, or what `on_unreadable` makes of it; where nothing at all can be read and nobody
    was told ("warn"), the first problem is raised.
    """
    return Unreadables(on_unreadable).of(InputReader(source, options).documents())
