"""`chunkwise.lint`: the cuts that hurt, in documents, in an index or in chunks that are there; no questions needed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.allow_hosts_and_code_from_files import trust_caller
from chunkwise.base.errors import InvalidParameter, UnreadableDocument
from chunkwise.base.parameters import named_list
from chunkwise.base.repr_html import drawn
from chunkwise.base.runner import Jobs
from chunkwise.base.wording import counted, percent
from chunkwise.chunkers import Strategy, get_strategy
from chunkwise.chunkers.chunk import (
    DEFAULT_STRATEGY,
    Chunked,
    ChunkOutcome,
    StrategyLike,
    chunk_each,
)
from chunkwise.chunkers.read_chunks import (
    ChunksSource,
    KnownStrategy,
    chunks_name,
    read_chunks,
)
from chunkwise.core import AS_WRITTEN, Document
from chunkwise.documents import Inputs, LoadOptions, Unreadables, leaving_out, read
from chunkwise.metrics.cuts.boundary_issue_counts import CutTally
from chunkwise.metrics.cuts.boundary_issues import KINDS, Issue
from chunkwise.metrics.metric import CutCounts
from chunkwise.options import LintOptions
from chunkwise.records.tables import Table
from chunkwise.retrieval.export import chunked_documents
from chunkwise.retrieval.indexes import Index, named_index
from chunkwise.text.analyzed import Analyzed

VERSION = 2
"""Of what `LintResult.to_dict` gives: goes up when a key changes its meaning or disappears."""


@dataclass(frozen=True, slots=True, repr=False)
class LintResult(Table):
    """Boundary issues of chunks, each with its span."""

    label: str
    """What cut the documents: a strategy, or the file the chunks came from."""
    documents: int
    cuts: CutCounts
    """How many chunks there are, how many have an issue, how often each kind occurs, examples."""
    issues: tuple[LocatedIssue, ...]
    """By document and place; one for each chunk that is cut there."""

    @property
    def share(self) -> float | None:
        """Of the chunks with an issue; None without chunks."""
        return self.cuts.with_issues / self.cuts.chunks if self.cuts.chunks else None

    def rows(self) -> Iterator[dict[str, Any]]:
        """List the boundary issues."""
        return map(asdict, self.issues)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; `issues` as `chunkwise lint --json` prints them, a line each."""
        return {
            "kind": "chunkwise lint",
            "version": VERSION,
            "label": self.label,
            "documents": self.documents,
            "cuts": {**asdict(self.cuts), "examples": [*map(asdict, self.cuts.examples)]},
            "share": self.share,
            "issues": [*self.rows()],
        }

    def __repr__(self) -> str:
        message = "no chunks" if self.share is None else f"{percent(self.share)} with an issue"
        size = f"{counted(self.documents, 'document')}, {counted(self.cuts.chunks, 'chunk')}"
        return f"<LintResult {self.label}: {size}, {message}>"

    def _repr_html_(self) -> str:
        return drawn(self)


class LintSubject(NamedTuple):
    """Documents with their chunks, and what made them."""

    strategy: Strategy | KnownStrategy
    outcomes: Iterator[ChunkOutcome]


class Linter:
    """Takes documents with their chunks as they come; texts are not kept."""

    def __init__(self, kinds: str | Iterable[str] | None = None) -> None:
        self.tally = CutTally(_kinds(kinds))

    def add(self, chunked: Chunked) -> list[LocatedIssue]:
        """The issues of one document."""
        return located(chunked.analyzed, self.tally.add(chunked.analyzed, chunked.chunks))


def lint(
    source: Inputs | Index,
    strategy: StrategyLike | None = None,
    *,
    chunks: ChunksSource | None = None,
    kinds: str | Iterable[str] | None = None,
    options: LoadOptions = LoadOptions(),
    jobs: Jobs = 1,
) -> LintResult:
    """Find chunk boundaries that split words, sentences, lists, tables, code or headings.

    Args:
        source: Documents, or an index with chunks.
        strategy: Chunking strategy [default: structure].
        chunks: Chunks of another tool, or their file.
        kinds: Kinds of issues [default: all].
        options: How to read files.
        jobs: Number of processes, or a `RayCluster`.

    Returns:
        The issues with their spans.

    Raises:
        InvalidParameter: An unknown strategy or kind of issue.
        ChunkwiseError: No readable documents.

    Example:
        >>> result = chunkwise.lint("handbook/", "recursive(max_tokens=200)")
        >>> result.to_pandas()
    """
    trust_caller(strategy, options)
    asked = LintOptions(strategy=strategy, chunks=chunks, kinds=kinds)
    linter = Linter(asked.kinds)
    system = lint_subject(source, asked, options=options, jobs=jobs)
    issues: list[LocatedIssue] = []
    documents = 0
    for chunked in Unreadables(options.on_unreadable).of(system.outcomes):
        documents += 1
        issues += linter.add(chunked)
    return LintResult(system.strategy.label, documents, linter.tally.cuts(), tuple(issues))


def lint_subject(
    source: Inputs | Index,
    asked: LintOptions = LintOptions(),
    *,
    options: LoadOptions = LoadOptions(),
    jobs: Jobs = 1,
) -> LintSubject:
    """What is examined: the documents cut by a strategy, the chunks of an index, or those that are given."""
    strategy, chunks = asked.strategy, asked.chunks
    index = named_index(source)
    if index is not None:
        for name, value in (("strategy", strategy), ("chunks", chunks)):
            if value is not None:
                raise InvalidParameter(
                    f"an index stores its chunks: leave out {name}, or pass the documents"
                )
        return LintSubject(KnownStrategy(index.settings.strategy), chunked_documents(index.source))
    assert not isinstance(source, Index)
    if chunks is not None:
        if strategy is not None:
            raise InvalidParameter(
                f"a strategy ({strategy}) and chunks ({chunks_name(chunks)}) conflict; leave one "
                "out"
            )
        given = _given_chunks(source, chunks, options)
        return LintSubject(KnownStrategy(chunks_name(chunks)), given)
    named = get_strategy(strategy or DEFAULT_STRATEGY)
    # Summaries have no cuts: nobody is asked to write them.
    plain = getattr(named.chunker, "without_summaries", None)
    cutting = plain() if plain else strategy or DEFAULT_STRATEGY
    outcomes = chunk_each(source, cutting, options=options, jobs=jobs)
    return LintSubject(named, outcomes)


def _given_chunks(
    source: Inputs,
    chunks: ChunksSource,
    options: LoadOptions,
) -> Iterator[ChunkOutcome]:
    """Rows that say nothing usable are told as documents are that cannot be read."""
    skipped: list[UnreadableDocument] = []
    file = [Path(chunks).resolve()] if isinstance(chunks, str | os.PathLike) else []
    reading = replace(leaving_out(options, file), on_unreadable=skipped.append)
    documents = list(read(source, reading))

    def bad(problem: str) -> None:
        where, _, why = problem.partition(": ")
        skipped.append(UnreadableDocument(where, why))

    given = read_chunks(chunks, documents, bad)
    if documents:
        given.check_usable()
    strategy = get_strategy(given.strategy())
    yield from skipped
    for document in documents:
        analyzed = Analyzed(document)
        yield Chunked(document, list(strategy.chunks(analyzed)), analyzed)


def _kinds(names: str | Iterable[str] | None) -> tuple[str, ...]:
    """As they are counted: `mid-word` and "mid word", as people read it, are `mid_word`."""
    if names is None:
        return tuple(KINDS)
    given = names.split(",") if isinstance(names, str) else named_list("kinds", names)
    kinds = tuple(
        re.sub(r"[\s-]+", "_", kind.strip()) if isinstance(kind, str) else kind for kind in given
    )
    for kind in kinds:
        if kind not in KINDS:
            raise InvalidParameter(f"kinds has {kind!r}; allowed: {', '.join(KINDS)}")
    return kinds


@dataclass(frozen=True, slots=True)
class LocatedIssue:
    """One thing that is wrong at one edge of one chunk."""

    kind: str
    doc_id: str
    source: str
    """The file, as the user called it."""
    chunk: int
    """Number of the chunk in its document, from 0."""
    offset: int
    """The chunk's edge in the document's text."""
    line: int | None
    """In the file, from 1; None where the text is not the file's own (HTML, PDF, a record of a corpus)."""
    column: int | None
    page: int | None
    before: str
    after: str
    cut: int = -1
    """Which cut of its document it is; see `Issue`."""


def located(analyzed: Analyzed, issues: Sequence[Issue]) -> list[LocatedIssue]:
    """The issues of one document, in their order."""
    document = analyzed.document
    lines: list[int | None] = [None] * len(issues)
    columns = lines
    if issues and document.format in AS_WRITTEN and is_file(document):
        offsets = np.array([issue.offset for issue in issues], np.int64)
        starts = _line_starts(analyzed)
        index = starts.searchsorted(offsets, "right")
        lines, columns = index.tolist(), (offsets - starts[index - 1] + 1).tolist()
    return [
        LocatedIssue(
            issue.kind, document.id, document.source, issue.chunk, issue.offset, line, column,
            document.page(issue.offset), issue.before, issue.after, issue.cut,
        )
        for issue, line, column in zip(issues, lines, columns, strict=True)
    ]  # fmt: skip


def is_file(document: Document) -> bool:
    """A file that is one document is named after itself; a record of a corpus has a name of its own."""
    return PurePath(document.source).as_posix().endswith(document.id)


def _line_starts(analyzed: Analyzed) -> NDArray[np.int64]:
    """As editors count lines: after LF, CR LF and CR, and nothing else."""
    points = analyzed.characters.points
    feed, back = points == ord("\n"), points == ord("\r")
    back[:-1] &= ~feed[1:]
    return np.concatenate(([0], np.flatnonzero(feed | back) + 1))
