"""What a sweep is about: documents, questions, and which of these choose and which judge."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.core import Document, Query
from chunkwise.documents import Input, LoadOptions, leaving_out
from chunkwise.evaluation.sources import (
    ReadingOptions,
    Skipped,
    documents_of,
    no_documents,
    no_questions_file,
    questions_read,
    with_places,
)
from chunkwise.testsets.testset import TestSet
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, get_tokenizer
from chunkwise.tuning.sweep import Sweep

VALIDATION, TEST = "validation", "test"
FEWEST = 4
"""Questions; fewer are not split, and all of them choose."""
_ROUNDING = 1e-9


def split(queries: Sequence[Query], share: float, seed: int) -> tuple[str, ...]:
    """The file's own split where every question has one and both sides occur; else about `share` go to test.

    Question by question, in the order of the file, each goes to the side that its document, its type, both together
    and the whole set have too few of; where that does not decide, a hash of its id does. So every document and type
    is on both sides, and questions added at the end move none of those before them.
    """
    if not 0 <= share < 1:
        raise InvalidParameter(
            f"the share of test questions is {share}; from 0 (all choose) to less than 1, such as 0.5"
        )
    own = tuple(TEST if query.split.lower() == TEST else VALIDATION for query in queries)
    if all(query.split for query in queries) and len(set(own)) == 2:
        return own
    if len(queries) < FEWEST or not share:
        return (VALIDATION,) * len(queries)
    asked: Counter[Hashable] = Counter()
    tested: Counter[Hashable] = Counter()
    found: list[str] = []
    for query in queries:
        groups = _groups(query)
        asked.update(groups.keys())
        # Half a question either way is nothing that a group lacks or has too much of.
        lacking = sum(
            weight * (share * asked[group] - tested[group] - 0.5)
            for group, weight in groups.items()
        )
        to_test = lacking > 0
        if abs(lacking) < _ROUNDING:
            to_test = _drawn(query.id, seed) < share
        if len(found) == FEWEST - 1 and len(set(found)) == 1:
            to_test = found[0] == VALIDATION
        found.append(TEST if to_test else VALIDATION)
        if to_test:
            tested.update(groups.keys())
    return tuple(found)


def _groups(query: Query) -> dict[Hashable, float]:
    """What a question is counted in, and how much that weighs: the smallest group most."""
    document = query.references[0].doc_id if query.references else None
    types = query.types
    return {
        ("both", document, types): 4.0,
        ("document", document): 2.0,
        ("types", types): 1.0,
        ("all",): 1.0,
    }


def _drawn(id: str, seed: int) -> float:
    """From 0 to 1, the same for an id wherever it stands."""
    digest = blake2b(f"{seed}\0{id}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


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
