"""Documents on their way into an index: those it knows pass by, the others are cut, read and turned into parts."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from chunkwise.chunkers import Strategy
from chunkwise.core import Advance, Document
from chunkwise.documents import Inputs, LoadOptions, OnSkip, distinct_documents
from chunkwise.pipeline import Chunked, Outcome, chunk_each
from chunkwise.retrieval.making.build import Built, build
from chunkwise.retrieval.making.changes import Tally
from chunkwise.retrieval.making.choice import Choice
from chunkwise.retrieval.making.fingerprint import OnlyNew, fingerprint, heads
from chunkwise.text.analysis import Analyzed

Material = Inputs | Iterable[Document]
"""Files, folders, patterns, archives; or documents that are there already."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How the inputs are read."""

    inputs: Material
    options: LoadOptions | None = None
    on_skip: OnSkip | None = None
    jobs: int = 1
    leave_out: Collection[Path] = ()
    advance: Advance | None = None


class Gathered(NamedTuple):
    """One document; without a part it is known already."""

    document: Document
    fingerprint: str
    built: Built | None


def gather(
    reading: Reading,
    choice: Choice,
    before: dict[str, str],
    tally: Tally,
    is_known: Callable[[str, str], bool],
) -> Iterator[Gathered]:
    """Every document of the inputs in order; `before` has the fingerprints an index knows, by id.

    `is_known` says of an id and a fingerprint whether the index can do with what it has.
    """
    strategy = choice.strategy
    if before:
        strategy = OnlyNew(strategy, heads(before.values()))
    chunks = 0
    for outcome in _outcomes(reading, strategy):
        if not isinstance(outcome, Chunked):
            if reading.on_skip is None:
                raise outcome
            tally.skipped += 1
            reading.on_skip(outcome)
            continue
        document = outcome.document
        found = fingerprint(document)
        told = _Told(reading.advance, f"{tally.documents:,} documents, {chunks:,} chunks")
        built = None
        if not is_known(document.id, found):
            if before and not outcome.chunks:  # passed over for the sake of another id
                outcome = Chunked(document, list(choice.strategy.chunks(outcome.analyzed)))
            embedder = choice.model.embedder if choice.model else None
            built = build(outcome, choice.settings, embedder, told)
            chunks += len(built.part.chunks)
        tally.add(document.id, found)
        yield Gathered(document, found, built)
        told(len(document.text) - told.done)


class _Told:
    """Says how many characters of a document are done."""

    def __init__(self, advance: Advance | None, note: str) -> None:
        self._advance = advance
        self._note = note
        self.done = 0

    def __call__(self, characters: int) -> None:
        self.done += characters
        if self._advance:
            self._advance(characters, self._note)


def _outcomes(reading: Reading, strategy: Strategy) -> Iterator[Outcome]:
    inputs = reading.inputs
    if not isinstance(inputs, str | os.PathLike):
        every = iter(inputs)
        first = next(every, None)
        if isinstance(first, Document):
            rest = (each for each in every if isinstance(each, Document))
            return _chunked(distinct_documents(itertools.chain([first], rest)), strategy)
        paths = (each for each in every if not isinstance(each, Document))
        inputs = [] if first is None else [first, *paths]
    return chunk_each(
        inputs, strategy, options=reading.options, jobs=reading.jobs, leave_out=reading.leave_out
    )


def _chunked(documents: Iterator[Document], strategy: Strategy) -> Iterator[Outcome]:
    for document in documents:
        analyzed = Analyzed(document)
        yield Chunked(document, list(strategy.chunks(analyzed)), analyzed)
