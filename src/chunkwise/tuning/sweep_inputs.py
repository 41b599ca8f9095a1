"""What a sweep is about: documents, questions, and which of these choose."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document
from chunkwise.documents import Input, LoadOptions, leaving_out
from chunkwise.evaluation.skipped import Skipped
from chunkwise.evaluation.sources import (
    ReadingOptions,
    documents_of,
    no_documents,
    no_questions_file,
    questions_read,
    with_places,
)
from chunkwise.testsets.testset import TestSet
from chunkwise.text.analysis import Analyzed
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, get_tokenizer
from chunkwise.tuning.splits import split
from chunkwise.tuning.sweep import Sweep

_COUNTED = 1_000_000
"""Characters whose tokens are counted; those of the rest are reckoned from them."""


@dataclass(frozen=True, slots=True)
class SweepInputs:
    """Read once."""

    documents: Sequence[Document]
    questions: TestSet
    splits: tuple[str, ...]
    """validation or test, of each question."""

    @property
    def characters(self) -> int:
        return sum(len(document.text) for document in self.documents)

    @property
    def has_headings(self) -> bool:
        """Whether any document has a section to go by."""
        return any(Analyzed(document).has_headings for document in self.documents)

    def tokens(self, tokenizer: str = DEFAULT_TOKENIZER) -> int:
        """Of all documents, about; of a small corpus exactly."""
        count = get_tokenizer(tokenizer).count
        counted = tokens = 0
        for document in self.documents:
            text = document.text[: _COUNTED - counted]
            counted, tokens = counted + len(text), tokens + count(text)
            if counted >= _COUNTED:
                break
        return round(tokens * self.characters / counted) if counted else 0


def read_sweep_inputs(
    sweep: Sweep,
    left_out: Skipped,
    *,
    documents: Sequence[Document] = (),
    questions: TestSet | None = None,
    options: LoadOptions | None = None,
) -> SweepInputs:
    """What the sweep names, and what is there already."""
    given: list[Input] = [*documents, *sweep.documents]
    _check_there(sweep.test_queries)
    file = no_documents(given, sweep.test_queries) if sweep.test_queries else []
    if not given:
        raise ChunkwiseError("there is no document to tune for; name files or folders")
    found = documents_of(given, ReadingOptions(leaving_out(options, file)), left_out)
    questions = TestSet(()) if questions is None else with_places(questions, found, left_out)
    if sweep.test_queries:
        questions = _read_questions(sweep.test_queries, found, left_out)
    return SweepInputs(found, questions, split(questions.queries, sweep.test_share, sweep.seed))


def _check_there(test_queries: str | None) -> None:
    """What is missing is told before anything is read."""
    if test_queries and not os.path.exists(test_queries):
        raise no_questions_file(test_queries)


def _read_questions(path: str, documents: Sequence[Document], left_out: Skipped) -> TestSet:
    found = questions_read(path, documents, left_out)
    if not found.queries:
        raise ChunkwiseError(
            f"no question is left in {path}: correct it, or leave it out to compare cuts and costs alone"
        )
    return found
