"""Documents into an index: those it knows pass by, the others are cut, read and turned into parts."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple, Protocol

from chunkwise.core import Advance, Document
from chunkwise.errors import ChunkwiseError
from chunkwise.pipeline import Chunked
from chunkwise.retrieval.making.build import Built, build
from chunkwise.retrieval.making.changes import Changes, Tally
from chunkwise.retrieval.making.choice import Choice
from chunkwise.retrieval.making.fingerprint import OnlyNew, fingerprint, heads, unfinished
from chunkwise.retrieval.making.gather import Reading, outcomes, renamed
from chunkwise.retrieval.making.long_texts import LongTexts
from chunkwise.retrieval.making.lost_summaries import LostSummaries
from chunkwise.retrieval.making.naming import Naming
from chunkwise.retrieval.making.own_vectors import texts_at_once
from chunkwise.retrieval.making.unread import Unread

_DOCUMENTS = 64
_CHARACTERS = 100_000
"""Of documents that are read by the model together: enough for many cores, little to wait for."""


class Target(Protocol):
    """What documents go into, wherever it lives; what it is not told of goes."""

    def fingerprints(self) -> dict[str, str]:
        """Of the documents it has, by id."""

    def sources(self) -> dict[str, str]:
        """Where they came from, by id."""

    def knows(self, id: str, fingerprint: str) -> bool:
        """Whether it can do with what it has."""

    def add(self, built: Built) -> None:
        """A new document, or what takes the place of the one with its id."""

    def keep(self, document: Document, fingerprint: str) -> None:
        """A document whose text it knows; what is said about it may have changed."""

    def leave(self, id: str) -> None:
        """A document that stays as it was."""


def fill(target: Target, reading: Reading, choice: Choice) -> Changes:
    """Makes the index one of exactly the inputs; a source that cannot be read keeps the documents it had.

    Where the others are to be kept, no document goes.
    """
    before = target.fingerprints()
    tally = Tally(before)
    sources = cache(target.sources)
    unread = Unread(sources)
    naming = Naming(sources, before.__contains__ if reading.keep_others else unread.has)
    strategy = OnlyNew(choice.strategy, heads(before.values())) if before else choice.strategy
    group = _Group(target, choice, tally, reading.advance)
    lost = LostSummaries(choice.strategy)
    for outcome in outcomes(reading, strategy):
        if isinstance(outcome, Chunked):
            if before and (reading.keep_others or unread):
                outcome = renamed(outcome, naming.id_of(outcome.document, tally.has))
            group.add(outcome, is_passed_over=bool(before) and not outcome.chunks)
            continue
        if reading.on_skip is None:
            raise outcome
        tally.skipped += 1
        unread.add(outcome)
        reading.on_skip(outcome)
    group.flush()
    if not tally.documents and (before or tally.skipped):
        raise _nothing(tally.skipped, len(before))
    left = [id for id in unread.documents() if not tally.has(id)]
    told = choice.contexts.notes() if choice.contexts else ()
    for id in before if reading.keep_others else left:
        if not tally.has(id):
            target.leave(id)
            tally.add(id, before[id])
    plain = choice.contexts.missing if choice.contexts else 0
    notes = choice.notes + unread.notes(left) + told + lost.notes() + group.long.notes()
    return tally.changes(notes, plain)


def _nothing(skipped: int, documents: int) -> ChunkwiseError:
    why = f"no document could be read ({skipped:,} skipped)" if skipped else "there is no document"
    if not documents:
        return ChunkwiseError(f"{why}: no index is made; look at the inputs")
    noun = "document" if documents == 1 else "documents"
    stays = f"{why}: the index stays as it was, with {documents:,} {noun}; look at the inputs"
    if not skipped:  # what cannot be read is never taken for nothing
        stays += ", or empty it with rebuild=True (chunkwise index --rebuild)"
    return ChunkwiseError(stays)


class _Waiting(NamedTuple):
    chunked: Chunked
    fingerprint: str
    is_known: bool


class _Group:
    """Documents that go into the index together, in their order."""

    def __init__(
        self, target: Target, choice: Choice, tally: Tally, advance: Advance | None
    ) -> None:
        self._target = target
        self._choice = choice
        self._tally = tally
        self._advance = advance
        self._waiting: list[_Waiting] = []
        self._characters = 0
        self._chunks = 0
        self.long = LongTexts(choice)
        self._times_as_many = 1
        """As many documents and characters in a group as keep the model busy: an endpoint wants more."""

    def add(self, chunked: Chunked, is_passed_over: bool) -> None:
        document = chunked.document
        found = fingerprint(document)
        known = self._target.knows(document.id, found)
        if is_passed_over and not known:  # for the sake of another id
            chunked = Chunked(document, list(self._choice.strategy.chunks(chunked.analyzed)))
        self._tally.add(document.id, found)
        self._waiting.append(_Waiting(chunked, found, known))
        self._characters += len(document.text)
        if (
            len(self._waiting) >= _DOCUMENTS * self._times_as_many
            or self._characters >= _CHARACTERS * self._times_as_many
        ):
            self.flush()

    def flush(self) -> None:
        new = [each.chunked for each in self._waiting if not each.is_known]
        done = 0

        def told(characters: int) -> None:
            nonlocal done
            done += characters
            if self._advance:
                note = f"{self._tally.documents:,} documents, {self._chunks:,} chunks"
                self._advance(characters, note)

        def written(amount: int, note: str) -> None:
            nonlocal done
            done += amount
            if self._advance:
                self._advance(amount, note)

        model, contexts = self._choice.model, self._choice.contexts
        is_whole = iter(contexts.write(new, written) if new and contexts else [True] * len(new))
        embedder = model.embedder if new and model else None
        if embedder is not None:  # known only now: many a run needs none
            self._times_as_many = texts_at_once(embedder) // _DOCUMENTS
        on_done = None if done else told  # what a language model wrote took the time
        built = iter(build(new, self._choice.settings, embedder, on_done) if new else ())
        for chunked, found, is_known in self._waiting:
            if is_known:
                self._target.keep(chunked.document, found)
            else:
                made = next(built)
                if not next(is_whole):
                    part = replace(made.part, fingerprint=unfinished(found))
                    made = made._replace(part=part)
                self._chunks += len(made.part.chunks)
                self.long.add(made.part, embedder)
                self._target.add(made)
        told(max(0, self._characters - done))
        self._waiting.clear()
        self._characters = 0
