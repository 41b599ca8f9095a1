"""Documents into an index: known ones pass by, the others are chunked, embedded, added; changes are counted."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, UnreadableDocument
from chunkwise.base.runner import Jobs, all_or_none
from chunkwise.base.wording import counted, thousands
from chunkwise.chunkers.chunk import Chunked, chunk_changed, under_id
from chunkwise.core import Document, OnProgress
from chunkwise.documents import (
    Inputs,
    LoadOptions,
    Source,
    UnchangedSource,
    Unreadables,
    revision_of,
)
from chunkwise.retrieval.indexed_document import StatedRelations, record_of
from chunkwise.retrieval.indexing.build import (
    BuiltDocument,
    Models,
    build_documents,
    texts_at_once,
)
from chunkwise.retrieval.indexing.fingerprint import (
    OnlyNew,
    document_fingerprint,
    fingerprint_heads,
    unfinished_fingerprint,
)
from chunkwise.retrieval.indexing.index_warnings import ForeignDocuments, LongTexts, LostSummaries
from chunkwise.retrieval.indexing.lazy_models import loaded
from chunkwise.retrieval.indexing.long_documents import LongDocument, ReadLater, long_document
from chunkwise.retrieval.indexing.resolve_settings import ResolvedSettings
from chunkwise.retrieval.indexing.row_builder import BuiltChunked, row_builder
from chunkwise.retrieval.indexing.unreadable import UnreadableSources, whole
from chunkwise.retrieval.settings import Settings
from chunkwise.text.names_by_rules import own_file_key

if TYPE_CHECKING:
    from chunkwise.retrieval.local.index import LocalIndex


@dataclass(frozen=True, slots=True)
class Changes:
    """Counts of documents in an update."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: int = 0
    """Unreadable sources."""
    plain: int = 0
    """Chunks without an LLM context; they use headings until the next update."""
    notes: tuple[str, ...] = ()
    """Notes on automatic choices."""

    def __str__(self) -> str:
        counts = ("added", "changed", "removed", "unchanged", "skipped")
        messages = [
            f"{thousands(getattr(self, name))} {name}" for name in counts if getattr(self, name)
        ]
        return ", ".join(messages) or "no documents"


class ChangeCounter:
    """Counts documents by comparing them with those an index had."""

    def __init__(self, before: dict[str, str]) -> None:
        self._before = before
        self._seen: set[str] = set()
        self.added = self.changed = self.unchanged = self.skipped = 0

    @property
    def documents(self) -> int:
        """Seen so far."""
        return self.added + self.changed + self.unchanged

    def add(self, id: str, fingerprint: str) -> None:
        self._seen.add(id)
        known = self._before.get(id)
        if known is None:
            self.added += 1
        elif known == fingerprint:
            self.unchanged += 1
        else:
            self.changed += 1

    def has(self, id: str) -> bool:
        return id in self._seen

    def changes(self, notes: tuple[str, ...] = (), plain: int = 0) -> Changes:
        removed = len(self._before) - self.changed - self.unchanged
        return Changes(
            self.added, self.changed, removed, self.unchanged, self.skipped, plain, notes
        )


S = TypeVar("S")


class BuiltIndex(NamedTuple, Generic[S]):
    """An index, what it was made with, and what was done."""

    source: S
    resolved: ResolvedSettings
    changes: Changes


class DocumentNaming:
    """`sources` has those of the index by id, `stays` says which of its documents stay if they are not read."""

    def __init__(
        self, sources: Callable[[], Mapping[str, str]], stays: Callable[[str], bool]
    ) -> None:
        self._read_sources = sources
        self._stays = stays

    @cached_property
    def _paths(self) -> dict[str, str]:
        """Where the documents came from, by id; those handed over from Python may be of nowhere."""
        spelt: dict[str, str] = {"": ""}
        sources = self._read_sources()
        for source in sources.values():
            if source not in spelt:
                spelt[source] = whole(source)
        return {id: spelt[source] for id, source in sources.items()}

    @cached_property
    def _namesakes(self) -> dict[tuple[str, str], list[str]]:
        """Ids by the path they came from and their last part."""
        namesakes: dict[tuple[str, str], list[str]] = defaultdict(list)
        for id, path in self._paths.items():
            namesakes[path, _last(id)].append(id)
        return namesakes

    def id_of(self, document: Document, is_taken: Callable[[str], bool]) -> str:
        """The id the index knows the document by, or its own; of equal names the first has the plain one."""
        id = self._known(document)
        result, number = id, 1
        while is_taken(result):
            number += 1
            result = f"{id}~{number}"
        return result

    def _known(self, document: Document) -> str:
        id, path = document.id, whole(document.source) if document.source else ""
        if not path or self._paths.get(id) in (path, ""):
            return id
        is_anothers = id in self._paths and self._stays(id)
        for known in self._namesakes.get((path, _last(id)), ()):
            # A file has a longer id where the folder above it was named: deep/hours.txt, hours.txt.
            if (is_anothers or self._stays(known)) and _is_tail(id, known):
                return known
        if not is_anothers:
            return id
        # A file's source is a name already, and the one it has where both are read at once.
        return document.source if _is_tail(document.source, id) else f"{document.source}/{id}"


def _last(id: str) -> str:
    return id.rpartition("/")[2]


def _is_tail(one: str, other: str) -> bool:
    return one.endswith(f"/{other}") or other.endswith(f"/{one}")


class KnownFiles:
    """Files of stores whose one document an index has, by where they are and in which state."""

    def __init__(self, target: IndexUpdate, options: LoadOptions) -> None:
        self._target = target
        self._options = options

    @cached_property
    def _known(self) -> dict[str, tuple[str, str]]:
        """Id and revision by source; of those that made several documents none: some may be missing."""
        revisions = self._target.revisions()
        if not revisions:
            return {}
        sources = self._target.sources()
        single = Counter(sources.values())
        return {
            sources[id]: (id, revision)
            for id, revision in revisions.items()
            if single[sources[id]] == 1
        }

    def has(self, source: Source) -> bool:
        """Whether what the index has of it would be read again word for word."""
        revision = revision_of(source, self._options)
        return bool(revision) and self._known.get(source.origin) == (source.id, revision)


class DocumentRows(Protocol):
    """Where the rows of documents go; what is not kept of the index there was, goes."""

    def add(self, built: BuiltDocument) -> None:
        """A new document, or what takes the place of the one with its id."""

    def add_segments(self, segments: Iterator[BuiltDocument]) -> None:
        """The same, some rows at a time."""

    def keep(self, number: int) -> None:
        """The document of this number stays as it is."""

    def copy(self, number: int, document: Document) -> None:
        """The rows of this number, for a document of the same text with another id or other metadata."""


class IndexUpdate:
    """Documents into an index, wherever it lives: what it has already is kept or copied."""

    def __init__(
        self,
        before: LocalIndex | None,
        rows: DocumentRows,
        record: Callable[[Document], str] = record_of,
    ) -> None:
        self._before = before
        self.rows = rows
        self._record = record
        """What the index before says of a document."""
        known = [] if before is None else before.fingerprints()
        self._fingerprints = dict(zip(before.ids(), known, strict=True)) if before else {}
        self._has_names = before is not None and bool(before.settings.graph)
        self._number = {id: number for number, id in enumerate(self._fingerprints)}
        # The first of several equal ones serves for all.
        self._equal = {
            (fingerprint, self._name(id)): self._number[id]
            for id, fingerprint in reversed(self._fingerprints.items())
        }

    def fingerprints(self) -> dict[str, str]:
        """Of the documents it has, by id."""
        return self._fingerprints

    def sources(self) -> dict[str, str]:
        """Where they came from, by id."""
        return {id: json.loads(record)["source"] for id, record in self._records()}

    def revisions(self) -> dict[str, str]:
        """Of which states of their sources they were read, by id; those alone whose sources tell."""
        # Most have none, and what looks like one may stand in a text: parsed is what may have one.
        marked = (row for row in self._records() if '"revision": "' in row[1])
        parsed = ((id, json.loads(record).get("revision")) for id, record in marked)
        return {id: revision for id, revision in parsed if revision}

    def _records(self) -> Iterator[tuple[str, str]]:
        for id, number in self._number.items():
            assert self._before is not None
            yield id, self._before.text_of("record", number)

    def _find(self, id: str, fingerprint: str) -> int | None:
        """The document that can serve: the one of this id rather than another of the same text."""
        if self._fingerprints.get(id) == fingerprint:
            return self._number[id]
        return self._equal.get((fingerprint, self._name(id)))

    def _name(self, id: str) -> str:
        """What the id adds to the names of a document: one of the same text may have another."""
        return own_file_key(id) if self._has_names else ""

    def knows(self, id: str, fingerprint: str) -> bool:
        """Whether it can do with what it has."""
        return self._find(id, fingerprint) is not None

    def keep(self, document: Document, fingerprint: str) -> None:
        """A document whose text it knows, perhaps under another id or with other metadata."""
        number = self._find(document.id, fingerprint)
        assert self._before is not None
        assert number is not None
        known = (self._before.text_of(name, number) for name in ("id", "record"))
        if (document.id, self._record(document)) == (*known,):
            self.rows.keep(number)
        else:
            self.rows.copy(number, document)

    def leave(self, id: str) -> None:
        """A document that stays as it was."""
        self.rows.keep(self._number[id])


@dataclass(frozen=True, slots=True)
class Reading:
    """The documents an index is made of, and how they are read."""

    source: Inputs
    options: LoadOptions = LoadOptions()
    jobs: Jobs = 1
    advance: OnProgress | None = None
    keep_others: bool = False
    """Whether documents of the index that are not among the inputs stay."""


def is_made_again(before: Settings | None, resolved: ResolvedSettings, reading: Reading) -> bool:
    """Whether documents of an index lack what its new settings ask for, so that all have to be read again."""
    if before is None:
        return True
    after = resolved.settings
    if (before.maxsim, before.graph) == (after.maxsim, after.graph):
        return False
    if reading.keep_others:
        raise InvalidParameter(
            "adding a graph or token vectors needs all documents; leave out keep_others (--add)"
        )
    return True


def update_documents(target: IndexUpdate, reading: Reading, resolved: ResolvedSettings) -> Changes:
    """Makes the index one of exactly the inputs; a source that cannot be read keeps the documents it had.

    Where the others are to be kept, no document goes.
    """
    before = target.fingerprints()
    tally = ChangeCounter(before)
    sources = cache(target.sources)
    unread = UnreadableSources(sources)
    naming = DocumentNaming(sources, before.__contains__ if reading.keep_others else unread.has)
    strategy = (
        OnlyNew(resolved.strategy, fingerprint_heads(before.values()))
        if before
        else resolved.strategy
    )
    group = _Group(target, resolved, tally, reading.advance)
    lost = LostSummaries(resolved.strategy)
    unreadables = Unreadables(reading.options.on_unreadable)
    options = reading.options
    known = KnownFiles(target, options) if before else None
    outcomes = chunk_changed(
        reading.source,
        strategy,
        known.has if known else lambda source: False,
        options,
        reading.jobs,
        None if isinstance(reading.jobs, int) else row_builder(resolved),
        cut_long=long_document if _in_segments(resolved) else None,
    )
    for outcome in outcomes:
        if isinstance(outcome, UnchangedSource):
            unreadables.read()
            group.leave(outcome.source.id, before[outcome.source.id])
            continue
        if isinstance(outcome, Chunked):
            if before and (reading.keep_others or unread):
                outcome = under_id(outcome, naming.id_of(outcome.document, tally.has))
            problem = group.add(outcome)
        else:
            problem = outcome
        if problem is None:
            unreadables.read()
        else:
            unreadables.add(problem)
            tally.skipped += 1
            unread.add(problem)
    group.flush()
    unreadables.end()
    if not tally.documents and (before or tally.skipped):
        raise _nothing(tally.skipped, len(before))
    left = [id for id in unread.documents() if not tally.has(id)]
    messages = resolved.contexts.notes() if resolved.contexts else ()
    messages += resolved.relations.notes() if resolved.relations else ()
    for id in before if reading.keep_others else left:
        if not tally.has(id):
            target.leave(id)
            tally.add(id, before[id])
    plain = resolved.contexts.missing if resolved.contexts else 0
    counted_ones = lost.notes() + group.long.notes() + group.foreign.notes()
    notes = resolved.notes + unread.notes(left) + messages + counted_ones
    return tally.changes(notes, plain)


def _in_segments(resolved: ResolvedSettings) -> bool:
    """Whether a long text may be read in parts: what a language model writes, and names, are of the whole."""
    return not (resolved.contexts or resolved.relations or resolved.settings.graph)


def _nothing(skipped: int, documents: int) -> ChunkwiseError:
    why = f"no readable documents ({thousands(skipped)} skipped)" if skipped else "no documents"
    if not documents:
        return ChunkwiseError(f"{why}; no index was built")
    stays = f"{why}; the index is unchanged, with {counted(documents, 'document')}"
    if not skipped:  # what cannot be read is never taken for nothing
        stays += "; to empty it, use rebuild=True (chunkwise index --rebuild)"
    return ChunkwiseError(stays)


_DOCUMENTS = 64
_CHARACTERS = 100_000
"""Of documents that are read by the model together: enough for many cores, little to wait for."""


class _Waiting(NamedTuple):
    chunked: Chunked
    fingerprint: str
    is_known: bool


class _Left(NamedTuple):
    id: str


class _Group:
    """Documents that go into the index together, in their order."""

    def __init__(
        self,
        target: IndexUpdate,
        resolved: ResolvedSettings,
        tally: ChangeCounter,
        advance: OnProgress | None,
    ) -> None:
        self._target = target
        self._resolved = resolved
        self._tally = tally
        self._advance = advance
        self._waiting: list[_Waiting | _Left] = []
        self._characters = 0
        self._chunks = 0
        self._told = 0
        """Characters of the group that the listener knows of."""
        self.long = LongTexts(resolved)
        self.foreign = ForeignDocuments(resolved)
        self._times_as_many = 1
        """As many documents and characters in a group as keep the model busy: an endpoint wants more."""

    def add(self, chunked: Chunked) -> UnreadableDocument | None:
        """What is wrong with it, where that is found out only now."""
        if isinstance(chunked, ReadLater):
            self.flush()
            try:
                self._add_long(chunked)
            except UnreadableDocument as problem:
                return problem
        else:
            self._add(chunked)
        return None

    def _add(self, chunked: Chunked) -> None:
        document = chunked.document
        text = document_fingerprint(document)
        known = self._target.knows(document.id, text)
        is_cut = bool(chunked.chunks) or isinstance(chunked, BuiltChunked)
        if not is_cut and not known:  # for the sake of another id, or cut under another one
            chunked = Chunked(document, list(self._resolved.strategy.chunks(chunked.analyzed)))
        self._tally.add(document.id, text)
        self._waiting.append(_Waiting(chunked, text, known))
        self._characters += len(document.text)
        if (
            len(self._waiting) >= _DOCUMENTS * self._times_as_many
            or self._characters >= _CHARACTERS * self._times_as_many
        ):
            self.flush()

    def _add_long(self, long: ReadLater) -> None:
        id, fingerprint = long.document.id, long.fingerprint
        if self._target.knows(id, fingerprint):
            self._target.keep(long.document, fingerprint)
            self._tell(long.length)
        else:
            self._target.rows.add_segments(all_or_none(self._segments(long)))
        self._tally.add(id, fingerprint)

    def _segments(self, long: ReadLater) -> Iterator[BuiltDocument]:
        resolved = self._resolved
        embedder = loaded(resolved.model)
        # Rows that a worker has made hold their tokens' vectors already.
        encoder = resolved.token_encoder if isinstance(long, LongDocument) else None
        models = Models(embedder, loaded(encoder))
        read = self._told = 0
        for built in long.segments(resolved.settings, models, self._tell):
            if not read:
                self.foreign.add(built.language, embedder)
            self._chunks += len(built.part.chunks)
            self.long.add(built.part, embedder, read)
            read += len(built.part.document.text)
            yield built
            self._tell(max(0, read - self._told))

    def _tell(self, amount: int, note: str = "") -> None:
        self._told += amount
        if self._advance:
            counts = (
                f"{counted(self._tally.documents, 'document')}, {counted(self._chunks, 'chunk')}"
            )
            self._advance(amount, note or counts)

    def leave(self, id: str, fingerprint: str) -> None:
        """A document that was not read again, in its place among the others."""
        self._tally.add(id, fingerprint)
        self._waiting.append(_Left(id))

    def flush(self) -> None:
        read = [row for row in self._waiting if isinstance(row, _Waiting)]
        new = [
            row.chunked
            for row in read
            if not row.is_known and not isinstance(row.chunked, BuiltChunked)
        ]
        self._told = 0
        model, contexts = self._resolved.model, self._resolved.contexts
        is_whole = contexts.write(new, self._tell) if new and contexts else [True] * len(new)
        stated: list[StatedRelations] = []
        if new and self._resolved.relations:
            # With contexts, too, their writing tells the work: a text is counted once.
            result = self._resolved.relations.read(new, None if contexts else self._tell)
            stated = [relations for relations, _ in result]
            is_whole = [one and other for one, (_, other) in zip(is_whole, result, strict=True)]
        embedder = model.embedder if model and not all(row.is_known for row in read) else None
        if embedder is not None:  # known only now: many a run needs none
            self._times_as_many = texts_at_once(embedder) // _DOCUMENTS
        on_done = None if self._told else self._tell  # what a language model wrote took the time
        built: Iterator[BuiltDocument] = iter(())
        if new:
            encoder, finder = self._resolved.token_encoder, self._resolved.name_finder
            models = Models(embedder, loaded(encoder), loaded(finder))
            built = iter(build_documents(new, self._resolved.settings, models, on_done, stated))
        wholes = iter(is_whole)
        for row in self._waiting:
            if isinstance(row, _Left):
                self._target.leave(row.id)
                continue
            chunked, fingerprint, is_known = row
            if is_known:
                self._target.keep(chunked.document, fingerprint)
            else:
                if isinstance(chunked, BuiltChunked):
                    made, is_whole_one = chunked.built, True
                else:
                    made, is_whole_one = next(built), next(wholes)
                if not is_whole_one:
                    # Without a revision, too: it is to be read again.
                    document = replace(made.part.document, revision="")
                    part = replace(
                        made.part,
                        document=document,
                        fingerprint=unfinished_fingerprint(fingerprint),
                    )
                    made = made._replace(part=part)
                self._chunks += len(made.part.chunks)
                self.long.add(made.part, embedder)
                self.foreign.add(made.language, embedder)
                self._target.rows.add(made)
        self._tell(max(0, self._characters - self._told))
        self._waiting.clear()
        self._characters = 0
