"""The usual sweep over public question sets; what a folder keeps of it is not run again."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from benchmarks.corpora import SHARED
from benchmarks.question_sets import SETS, QuestionSet
from chunkwise.core import Document
from chunkwise.documents import read
from chunkwise.evaluation.sources import Skipped
from chunkwise.testsets.reading import read_testset
from chunkwise.testsets.testset import TestSet
from chunkwise.tuning.plan.grid import SIZES, default_sweep
from chunkwise.tuning.plan.prepare import PreparedSweep, SweepSource, prepare_sweep
from chunkwise.tuning.run.sweep_folder import SweepRecord
from chunkwise.tuning.run.sweep_workers import run_plan
from chunkwise.tuning.sweep import Grid
from chunkwise.tuning.sweep_result import Outcome

NAMES = ("chroma_eval", "cuad", "squad2 + distractors")
TUNED = tuple(each for each in SETS if each.name in NAMES)
MOST = 1000
"""Questions of a set; of more, a sample."""
LARGE = 6_000_000
"""Characters; with more, less is tried: neither overlap nor headings, and one set of weights for several sizes."""
_FEWER = (
    Grid(
        ("sentences", "recursive", "sections", "structure"),
        (("max_tokens", SIZES), ("overlap", (0,))),
    ),
    Grid(
        ("parent_child",),
        (("max_tokens", SIZES[:-1]), ("overlap", (0,)), ("tokenizer", ("o200k_base",))),
    ),
)
_LIGHTER = (Grid(("bm25", "dense", "hybrid", "multiscale(dense=0.5)")),)
OnOutcome = Callable[[Outcome], None]


class Swept(NamedTuple):
    """Every configuration of the usual sweep with late vectors, question by question."""

    name: str
    prepared: PreparedSweep
    outcomes: list[Outcome]


def swept(each: QuestionSet, keep: Path, on_outcome: OnOutcome | None = None) -> Swept:
    """The usual sweep, without a prior."""
    documents = list(read(each.paths))
    sweep = default_sweep((), None, has_headings=True, test_share=0.5)
    # The prior of the package comes from these sets.
    sweep = replace(sweep, prior=False)
    if sum(len(document.text) for document in documents) > LARGE:
        sweep = replace(sweep, chunkers=_FEWER, retrieval=_LIGHTER)
    source = SweepSource(sweep, documents=tuple(documents), queries=_questions(each, documents))
    prepared = prepare_sweep(source, Skipped(lambda line: None))
    found = run_plan(
        prepared.plan, documents, prepared.inputs.questions.queries, prepared.sweep,
        SweepRecord(keep / each.folder), on_outcome=on_outcome,
    )  # fmt: skip
    failed = [one.error for one in found if one.error]
    if failed:
        raise RuntimeError(f"{each.name}: {failed[0]}")
    return Swept(each.name, prepared, found)


def _questions(each: QuestionSet, documents: list[Document]) -> TestSet:
    """In the order of the file; of many a seeded sample."""
    whole = read_testset(str(SHARED / each.questions), documents, lambda problem: None)
    drawn = random.Random(11).sample(range(len(whole)), min(MOST, len(whole)))
    return TestSet(tuple(whole.queries[at] for at in sorted(drawn)), name=whole.name)


def all_swept(keep: Path) -> list[Swept]:
    """Of the sets that are there."""
    return [swept(each, keep) for each in TUNED if each.available]
