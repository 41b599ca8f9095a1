"""From what the user names to what can be asked (documents, questions, an index, chunks or hits); what was left out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from chunkwise.base.errors import (
    ChunkwiseError,
    InvalidOption,
    InvalidParameter,
    UnreadableDocument,
    warn_user,
)
from chunkwise.base.progress import Stages
from chunkwise.base.runner import Jobs
from chunkwise.base.wording import counted, from_to, shown
from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.chunk_offsets import Position, summary
from chunkwise.chunkers.read_chunks import ChunksSource, chunks_name, read_chunks
from chunkwise.core import Document, Passage, Query
from chunkwise.documents import Input, Inputs, LoadOptions, Unreadables, WhenUnreadable, each_input
from chunkwise.documents.formats.code import LANGUAGES
from chunkwise.evaluation.citation_locations import ChunkNames
from chunkwise.evaluation.results import Json
from chunkwise.evaluation.system_under_test import EvaluatedSystem, index_system
from chunkwise.metrics.span_tables import Chunking
from chunkwise.options import IndexOptions, SearchOptions, Vectors
from chunkwise.records.read import OnBadRow
from chunkwise.records.skipped import in_one_line
from chunkwise.retrieval.indexes import Index, documents_in, index
from chunkwise.retrieval.retrievers import graph_for
from chunkwise.testsets.check import Problem
from chunkwise.testsets.reading import carries_documents, placed_drafts, read_testset
from chunkwise.testsets.references import KnownChunks
from chunkwise.testsets.testset import TestSet, hash_of

_SHOWN_NEAREST = 160
"""Characters of the nearest match."""
_ROWS_TOLD = 10
"""Lines about one file of rows: what ails one of them ails thousands, as a rule."""


class Skipped:
    """Remembers every line and passes them on; what was mended is used, and nobody must hear of it."""

    def __init__(
        self,
        on_bad: OnBadRow | None,
        on_note: OnBadRow | None = None,
        on_unreadable: WhenUnreadable = "warn",
    ) -> None:
        self._on_bad = on_bad or warn_user
        if on_unreadable == "warn" and on_bad is not None:
            on_unreadable = lambda problem: on_bad(str(problem))  # noqa: E731
        self._unreadables = Unreadables(on_unreadable)
        self._unreadables.read()  # told at once: that nothing is left is an error of its own
        self._on_note = on_note
        self.documents: list[str] = []
        self.questions: list[str] = []
        self._dropped: set[str] = set()
        self.rows: list[str] = []
        self.mended: list[str] = []
        self.unread_fields: list[str] = []

    def reading(self, options: LoadOptions) -> LoadOptions:
        """The same options, with what cannot be read remembered here."""
        return replace(options, on_unreadable=self._document)

    def _document(self, problem: UnreadableDocument) -> None:
        self.documents.append(str(problem))
        self._unreadables.add(problem)

    def question_problems(
        self, problems: Sequence[Problem], documents: Sequence[Document] = ()
    ) -> None:
        """With the nearest match of a passage that is not there, so that a person can correct it.

        Each kind is passed on as one line: what ails one question ails hundreds, as a rule.
        """
        dropped = {problem.where for problem in problems if problem.dropped}
        mended: list[str] = []
        skipped: list[str] = []
        kept: list[str] = []
        for problem in problems:
            line = f"{problem.where}: {problem.text}"
            if problem.repaired:
                # That another passage of a question could be mended is of no use when the question is dropped.
                mended += [] if problem.where in dropped else [line]
                continue
            if (near := problem.nearest) is not None:
                text = next(
                    (document.text for document in documents if document.id == near.doc_id), ""
                )
                shown = " ".join(text[near.start : near.end].split())[:_SHOWN_NEAREST]
                line += f"; nearest is {near.doc_id} {from_to(near.start, near.end)}: {shown!r}"
            # What is skipped may be an alternative or a label alone.
            (skipped if problem.dropped else kept).append(
                line if problem.dropped else f"{line} (question kept)"
            )
        self._dropped |= dropped
        self.mended += mended
        if mended and self._on_note is not None:
            self._on_note(f"repaired {in_one_line(mended, 'passage')}")
        self._add(kept, "passage")
        self._add(skipped)

    def remark(self, problem: Problem) -> None:
        """What a file says beside its questions and nobody reads; other remarks are for those who check it."""
        if problem.kind != "unread_fields":
            return
        line = f"{problem.where}: {problem.text}"
        self.unread_fields.append(line)
        if self._on_note is not None:
            self._on_note(line)

    def question_lines(self, lines: Sequence[str]) -> None:
        """About questions that did not come from a file."""
        self._dropped.update(lines)
        self._add(lines)

    @contextmanager
    def rows_of(self, path: str) -> Iterator[OnBadRow]:
        """What takes the lines about a file of hits, chunks or answers: all are kept, and the first few passed on."""
        before = len(self.rows)

        def row(line: str) -> None:
            self.rows.append(line)
            if len(self.rows) - before <= _ROWS_TOLD:
                self._on_bad(line)

        yield row
        more = len(self.rows) - before - _ROWS_TOLD
        if more > 0:
            self._on_bad(
                f"{path}: and {counted(more, 'more row')}, listed in the results (left_out_rows)"
            )

    @property
    def dropped_questions(self) -> int:
        """How many are not asked; of one there may be several lines, and lines about questions that are kept."""
        return len(self._dropped)

    @property
    def any(self) -> bool:
        """Whether something is not used."""
        return bool(self.documents or self.questions or self.rows)

    def to_json(self) -> dict[str, Json]:
        """For the file of results."""
        return {
            "skipped_documents": list(self.documents),
            "left_out_questions": list(self.questions),
            "mended_questions": list(self.mended),
            "unread_fields": list(self.unread_fields),
            "left_out_rows": list(self.rows),
        }

    def _add(self, lines: Sequence[str], what: str = "question") -> None:
        self.questions += lines
        if lines:
            self._on_bad(in_one_line(lines, what))


def questions_read(
    path: str,
    documents: Sequence[Document],
    left_out: Skipped,
    chunks: KnownChunks | None = None,
) -> TestSet:
    """Those that can be used; the others are told to `left_out`."""
    problems: list[Problem] = []
    testset = read_testset(
        path, documents, problems.append, on_remark=left_out.remark, chunks=chunks
    )
    left_out.question_problems(problems, documents)
    return testset


def with_places(
    testset: TestSet,
    documents: Sequence[Document],
    left_out: Skipped,
    chunks: KnownChunks | None = None,
) -> TestSet:
    """The same, with what was given as records found in the documents as if a file had them."""
    drafts = testset.unplaced
    if not drafts:
        return testset
    problems: list[Problem] = []
    read = placed_drafts(
        drafts.values(), documents, problems.append, file="questions", on_remark=left_out.remark,
        chunks=chunks,
    )  # fmt: skip
    left_out.question_problems(problems, documents)
    placed = {query.id: query for query in read.queries}
    result = (placed.get(item.id) if item.id in drafts else item for item in testset.queries)
    queries = tuple(item for item in result if item is not None)
    return TestSet(queries, testset.name, hash_of(queries), origins=read.origins)


def refuse_bare(queries: Sequence[Query], file: str, or_else: str = "") -> None:
    """Questions of which nothing is known measure nothing: what is left says that of chunks, which look fine."""
    known = (query.references or query.answer or query.facts or query.labels for query in queries)
    if queries and not any(known):
        raise InvalidParameter(
            f"no question of {file or 'the test set'} has a reference, answer, facts or "
            "labels, so retrieval can't be scored; add "
            ' {"relevant_text": "…"}, or a BEIR folder\'s qrels/test.tsv' + or_else
        )


def no_questions_file(name: str) -> ChunkwiseError:
    """For a missing file, with a hint for strings passed as paths."""
    if " " not in name.strip() and "\n" not in name:
        return ChunkwiseError(f"{name} does not exist")
    return ChunkwiseError(
        f"{shown(' '.join(name.split()))} doesn't exist; expected the path of a question file, "
        f"or a list of chunkwise.Query"
    )


def carried_questions(source: Inputs | Index) -> str:
    """The path of a source that is a test set with its documents: its questions are taken where none are named."""
    if isinstance(source, str | os.PathLike):
        given: list[Input] = [source]
    else:
        given = [] if isinstance(source, Index) else list(each_input(source))
    if len(given) == 1 and not isinstance(given[0], Document):
        path = os.fspath(given[0])
        if os.path.exists(path) and carries_documents(path):
            return path
    raise InvalidParameter(
        "no questions given: pass a file (queries=…, or --queries FILE on the command line), or "
        "a test set with documents as the source (BEIR, SQuAD, AutoRAG)"
    )


def no_documents(source: Inputs | Index, questions: str | os.PathLike[str]) -> list[Path]:
    """What is left out of the documents: the file of questions, unless it is named as a source and brings its own."""
    file = Path(questions).resolve()
    inputs = [] if isinstance(source, Index) else each_input(source)
    named = (item for item in inputs if not isinstance(item, Document))
    is_source = any(os.path.realpath(item) == os.fspath(file) for item in named)
    return [] if is_source and carries_documents(file) else [file]


NOTHING = "no documents to evaluate; give files, folders or an index"


def known_index(
    found: Index,
    made_with: IndexOptions,
    searching: SearchOptions,
    chunks: ChunksSource | None = None,
) -> EvaluatedSystem:
    """An index that is there: it has its settings and its chunks already."""
    if chunks is not None:
        raise InvalidParameter(
            f"chunks ({chunks_name(chunks)}) conflict with an index, which stores its own; "
            f"leave them out, or pass the documents"
        )
    for name, value in made_with.changed().items():
        known = getattr(found.settings, name)
        reason = f"the index was built with {known!r}; leave it out, or pass the documents"
        raise InvalidOption(name, value, reason)
    if not len(found):
        raise ChunkwiseError(NOTHING)
    return index_system(found, searching)


def new_index(
    source: Inputs | Index,
    made_with: IndexOptions,
    options: LoadOptions,
    jobs: Jobs,
    searching: SearchOptions,
    left_out: Skipped,
    stages: Stages,
    chunks: ChunksSource | None = None,
) -> EvaluatedSystem:
    """An index in memory, made of documents; `chunks` is a file of the chunks another tool made of them."""
    assert not isinstance(source, Index)
    source = in_reading_order(source)
    strategy, position = made_with.strategy, None
    ids: list[tuple[str, Passage]] = []
    if chunks is not None:
        if strategy is not None:
            raise InvalidParameter(
                f"a strategy ({strategy}) and chunks ({chunks_name(chunks)}) conflict; leave one "
                "out"
            )
        source = documents_of(source, options, left_out)
        with left_out.rows_of(chunks_name(chunks)) as bad:
            given = read_chunks(chunks, source, bad)
        given.check_usable()
        strategy, position, ids = given.strategy(), summary(given.position), given.ids
    with stages("indexing", 0) as advance:
        made = index(
            source, strategy, vectors=_vectors(made_with.vectors, searching), options=left_out.reading(options),
            settings=made_with.override(
                tokenizer=searching.tokenizer if isinstance(searching.tokenizer, str) else None,
                graph=made_with.graph or graph_for(searching.retriever),
            ),
            jobs=jobs, advance=advance,
        )  # fmt: skip
    if not len(made):
        raise ChunkwiseError(NOTHING)
    return replace(index_system(made, searching, position), chunk_ids=ids)


def documents_of(source: Inputs | Index, options: LoadOptions, left_out: Skipped) -> list[Document]:
    """The documents themselves."""
    ordered = source if isinstance(source, Index) else in_reading_order(source)
    documents = list(documents_in(ordered, left_out.reading(options)))
    if not documents:
        raise ChunkwiseError(NOTHING)
    return documents


def in_reading_order(source: Inputs) -> Inputs:
    """By name, so that it does not matter how files are listed: of equal scores the earlier document comes first."""
    if isinstance(source, str | os.PathLike):
        return source
    return sorted(each_input(source), key=_name_of)


def _name_of(given: Input) -> str:
    return given.id if isinstance(given, Document) else os.fspath(given)


@dataclass(frozen=True, slots=True)
class NamedChunks:
    """Chunks by their names; of a file, with what is known of it."""

    names: ChunkNames
    file: str | None = None
    chunking: Chunking | None = None
    position: Position | None = None


def chunks_of_file(
    documents: Sequence[Document], chunks: ChunksSource | None, left_out: Skipped
) -> NamedChunks:
    """The chunks another system made, where they are given."""
    if chunks is None:
        return NamedChunks(ChunkNames(documents))
    name = chunks_name(chunks)
    with left_out.rows_of(name) as bad:
        given = read_chunks(chunks, documents, bad)
    strategy = get_strategy(given.strategy())
    rows = [
        (number, chunk.start, chunk.end, chunk.token_count)
        for number, document in enumerate(documents)
        for chunk in strategy.chunks(document)
    ]
    chunking = Chunking(*np.array(rows, np.int64).reshape(-1, 4).T)
    names = ChunkNames(documents, chunking, given.ids)
    return NamedChunks(names, name, chunking, summary(given.position))


def _vectors(given: Vectors | None, searching: SearchOptions) -> Vectors | None:
    """Words alone are searched without a model: none is loaded for it."""
    name = searching.retriever
    is_words = isinstance(name, str) and name.partition("(")[0].strip() == "bm25"
    return "none" if given is None and is_words else given


SCRIPTS = tuple(f"*{suffix}" for suffix in LANGUAGES)
"""Patterns of files that hold source code."""


def documents_beside(test_queries: str, tell: Callable[[str], None]) -> str:
    """The documents where none are named: those of the test set itself, else those in its folder.

    Read the folder without `SCRIPTS`: what asks the questions lies there, too.
    """
    if carries_documents(test_queries):
        tell(f"no documents given: using those of {test_queries}")
        return test_queries
    beside = str(Path(test_queries).parent)
    tell(f"no documents given: using those in {beside}/, except code")
    return beside
