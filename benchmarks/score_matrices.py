"""Scores of every configuration of the usual sweep, question by question, on all public question sets; kept on disk.

The questions are people's, and those that `tune` generates where it is given none.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.corpora import SHARED
from benchmarks.question_sets import SETS, QuestionSet
from chunkwise.core import Document, Query
from chunkwise.documents import read
from chunkwise.testsets.generate.generate import GenerationRun
from chunkwise.testsets.reading import read_testset
from chunkwise.text.analyzed import Analyzed
from chunkwise.tuning.plan.grid import default_sweep
from chunkwise.tuning.plan.plan import plan_sweep
from chunkwise.tuning.plan.prepare import GENERATED
from chunkwise.tuning.run.sweep_folder import SweepRecord
from chunkwise.tuning.run.sweep_workers import run_plan
from chunkwise.tuning.sweep_result import Outcome

MORE_SETS = (
    QuestionSet("xquad_en", ("xquad_en",), "xquad_en/queries.jsonl"),
    QuestionSet("musique", ("musique",), "musique/queries.jsonl"),
)
ALL_SETS = (*SETS, *MORE_SETS)
MOST_QUESTIONS = 1000
MOST_CHARACTERS = {"chroma_eval": 1_600_000}
ELSE = 800_000
"""Of the documents of a set; of more, a seeded sample: those that questions are about first."""


SHORT_FIRST = ("cuad",)
"""Contracts with ten questions each, however long: of the short ones there are more."""


class ScoredSet(NamedTuple):
    """What every configuration reached on the questions of one set."""

    name: str
    documents: int
    queries: tuple[Query, ...]
    """People's first, then the generated ones."""
    people: int
    """How many of them people asked."""
    outcomes: list[Outcome]


def inputs_of(each: QuestionSet) -> tuple[list[Document], list[Query]]:
    """Documents and questions; the questions are those that the documents kept can answer."""
    documents = list(read(each.paths))
    queries = read_testset(str(SHARED / each.questions), documents, lambda problem: None).queries
    queries = tuple(query for query in queries if query.references)
    order = list(range(len(documents)))
    random.Random(11).shuffle(order)
    asked = {reference.doc_id for query in queries for reference in query.references}
    if each.folder in SHORT_FIRST:
        order.sort(key=lambda at: len(documents[at].text))
    order.sort(key=lambda at: documents[at].id not in asked)
    kept, characters = set[int](), 0
    most = MOST_CHARACTERS.get(each.folder, ELSE)
    for at in order:
        if characters + len(documents[at].text) <= most:
            kept.add(at)
            characters += len(documents[at].text)
    documents = [document for at, document in enumerate(documents) if at in kept]
    names = {document.id for document in documents}
    own = [query for query in queries if {one.doc_id for one in query.references} <= names]
    drawn = random.Random(11).sample(range(len(own)), min(MOST_QUESTIONS, len(own)))
    return documents, [own[at] for at in sorted(drawn)]


def scored_set(each: QuestionSet, keep: Path, jobs: int = 2) -> ScoredSet:
    """What `keep` holds of it is not run again."""
    documents, asked = inputs_of(each)
    queries = (*asked, *GenerationRun(documents, GENERATED).by_rules().queries)
    headings = any(Analyzed(document).has_headings for document in documents)
    sweep = default_sweep((), None, has_headings=headings)
    plan = plan_sweep(sweep)
    done = itertools.count(1)

    def show(outcome: Outcome) -> None:
        if outcome.error:
            raise RuntimeError(f"{each.name}, {outcome.configuration.label}: {outcome.error}")
        if (number := next(done)) % 20 == 0:
            print(
                f"{each.name}: {number} of {len(plan.configurations)}", file=sys.stderr, flush=True
            )

    record = SweepRecord(keep / each.folder)
    outcomes = run_plan(plan, documents, queries, sweep, record, on_outcome=show, jobs=jobs)
    return ScoredSet(each.name, len(documents), queries, len(asked), outcomes)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--save", type=Path, required=True)
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("names", nargs="*")
    given = options.parse_args()
    for each in ALL_SETS:
        if each.available and (not given.names or each.folder in given.names):
            scored_set(each, given.save, given.jobs)
