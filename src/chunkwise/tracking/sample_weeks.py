"""Forty weeks of runs on the sample corpus, each a real evaluation: one change that hurts, one that does not."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import chunkwise
from chunkwise.core import Document, OnProgress, Query
from chunkwise.documents import read
from chunkwise.evaluation.evaluate import evaluate
from chunkwise.testsets.reading import read_testset
from chunkwise.tracking.kept_run import KeptRun, RunOrigin
from chunkwise.tracking.origin import time_text
from chunkwise.tracking.record import run_of_results
from chunkwise.tracking.store import History

WEEKS = 40
FIRST = datetime(2026, 1, 5, 6, tzinfo=UTC)
"""A Monday."""
METRICS = ("recall@1000t", "completeness.facts", "boundary_issues")
_BUDGET = 1000
_ALWAYS_ASKED = 0.85
"""Share of the questions that are asked every week; of the others half are, drawn anew each week."""


@dataclass(frozen=True, slots=True)
class SampleChange:
    """What a team changed, and since which week."""

    week: int
    strategy: str
    words: str


CHANGES = (
    SampleChange(1, "structure(max_tokens=400)", "sections and paragraphs, up to 400 tokens"),
    SampleChange(14, "structure(max_tokens=380)", "smaller chunks: does not hurt"),
    SampleChange(
        28, "sentences(max_tokens=400)", "whole sentences, whatever section they are in: hurts"
    ),
)


def change_of(week: int) -> SampleChange:
    """The one in force."""
    return next(each for each in reversed(CHANGES) if each.week <= week)


def sample_weeks(weeks: int = WEEKS, advance: OnProgress | None = None) -> Iterator[KeptRun]:
    """One run a week, by words alone; every week a document is written on, and some other questions are asked."""
    package = Path(chunkwise.__file__).parent
    documents = list(read(str(package / "corpus")))
    queries = read_testset(str(package / "corpus_questions.json"), documents, print).queries
    for week in range(1, weeks + 1):
        changed = change_of(week)
        rng = random.Random(week)
        documents = _written_on(documents, week, rng)
        asked = _asked(queries, rng)
        results = evaluate(
            documents, asked, strategy=changed.strategy, retriever="bm25", budget=_BUDGET, metrics=METRICS
        )  # fmt: skip
        run = run_of_results(results, documents=documents, queries=asked)
        if advance is not None:
            advance(1, f"week {week} of {weeks}")
        when = time_text(FIRST + timedelta(weeks=week - 1))
        # Who runs the demo is no part of it.
        yield replace(run, when=when, origin=RunOrigin(git_branch="main"), key="")


def _written_on(documents: Sequence[Document], week: int, rng: random.Random) -> list[Document]:
    """A sentence at the end of one of them: places of passages stay, and layout that a format declared."""
    at = rng.choice([at for at, each in enumerate(documents) if each.blocks is None])
    found = list(documents)
    text = (
        f"{found[at].text.rstrip()}\n\nLooked through in week {week}; nothing had to be changed.\n"
    )
    found[at] = replace(found[at], text=text)
    return found


def _asked(queries: Sequence[Query], rng: random.Random) -> list[Query]:
    kept = round(len(queries) * _ALWAYS_ASKED)
    drawn = {each.id for each in rng.sample(queries[kept:], (len(queries) - kept) // 2)}
    return [each for at, each in enumerate(queries) if at < kept or each.id in drawn]


def keep_sample_weeks(
    history: History, weeks: int = WEEKS, advance: OnProgress | None = None
) -> int:
    """Keeps them, the first as the baseline; how many there are."""
    for week, run in enumerate(sample_weeks(weeks, advance), 1):
        number = history.add(run).number
        if week == 1:
            history.set_baseline(number)
    return weeks
