"""Forty weeks of runs on the sample corpus, each a real evaluation: one change that hurts, one that does not."""

from __future__ import annotations

import random
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from chunkwise.core import Document, OnProgress, Query
from chunkwise.documents import read
from chunkwise.evaluation.evaluate import evaluate
from chunkwise.testsets.reading import read_testset
from chunkwise.tracking.history import History
from chunkwise.tracking.record_run import run_of_results
from chunkwise.tracking.run import KeptRun, RunOrigin, time_text
from chunkwise.tracking.watch import WatchOutcome, watch_run

WEEKS = 40
FIRST = datetime(2026, 1, 5, 6, tzinfo=UTC)
"""A Monday."""
METRICS = ("recall@1000t", "completeness.facts")
_BUDGET = 1000
_ALWAYS_ASKED = 0.85
"""Share of the questions that are asked every week; of the others half are, drawn anew each week."""

_COPIED = 4
_LONG = 200
"""Passages of a notice, and how many characters each has at least."""


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


def _package() -> Path:
    return Path(__file__).parents[1]


def sample_documents() -> list[Document]:
    """As they are before anybody writes on them."""
    return list(read(str(_package() / "corpus")))


def demo_runs(weeks: int = WEEKS, advance: OnProgress | None = None) -> Iterator[KeptRun]:
    """One run a week, by words alone: every week another notice stands in a document, and some questions are others."""
    documents = sample_documents()
    questions = str(_package() / "corpus_questions.json")
    queries = read_testset(questions, documents, print).queries
    for week in range(1, weeks + 1):
        changed = change_of(week)
        rng = random.Random(week)
        written_on = _written_on(documents, week, rng)
        asked = _asked(queries, rng)
        results = evaluate(
            written_on, asked, strategy=changed.strategy, retriever="bm25", budget=_BUDGET, metrics=METRICS
        )  # fmt: skip
        run = run_of_results(results, documents=written_on, queries=asked)
        if advance is not None:
            advance(1, f"week {week} of {weeks}")
        when = time_text(FIRST + timedelta(weeks=week - 1))
        # Who runs the demo is no part of it.
        yield replace(run, when=when, origin=RunOrigin(git_branch="main"), key="")


def _written_on(documents: Sequence[Document], week: int, rng: random.Random) -> list[Document]:
    """The notice of the week at the end of one of them, with words of others: it is retrieved now and then.

    At the end, so that places of passages stay, and layout that a format declared.
    """
    at = rng.choice([at for at, each in enumerate(documents) if each.blocks is None])
    passages = [part for each in documents for part in each.text.split("\n\n") if len(part) > _LONG]
    words = "\n\n".join(rng.sample(passages, _COPIED))
    found = list(documents)
    text = f"{found[at].text.rstrip()}\n\nNotice of week {week}:\n\n{words}\n"
    found[at] = replace(found[at], text=text)
    return found


def _asked(queries: Sequence[Query], rng: random.Random) -> list[Query]:
    kept = round(len(queries) * _ALWAYS_ASKED)
    drawn = {each.id for each in rng.sample(queries[kept:], (len(queries) - kept) // 2)}
    return [each for at, each in enumerate(queries) if at < kept or each.id in drawn]


def keep_demo_history(
    history: History, weeks: int = WEEKS, advance: OnProgress | None = None
) -> list[WatchOutcome]:
    """Keeps them, the first as the baseline, each watched as `chunkwise watch` does; what was found, week by week."""
    package = _package()
    again = shlex.join([
        "chunkwise", "evaluate", str(package / "corpus"), "--test-queries", str(package / "corpus_questions.json"),
        "--retriever", "bm25", "--budget", str(_BUDGET), "--metrics", ",".join(METRICS),
    ])  # fmt: skip
    found = []
    for week, run in enumerate(demo_runs(weeks, advance), 1):
        number = history.add(run).number
        if week == 1:
            history.set_baseline(number)
        found.append(watch_run(history, history.run(number), command=again))
    return found
