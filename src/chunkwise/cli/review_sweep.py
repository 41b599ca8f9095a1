"""The generated questions of a sweep reviewed in a terminal: after every answer the leaders as they are then."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from chunkwise.cli.review_questions import ReviewCard, review_in_terminal
from chunkwise.cli.streams import stdout_console

if TYPE_CHECKING:
    from chunkwise.testsets.review import Review
    from chunkwise.tuning.tune import CompletedSweep


def review_sweep(completed: CompletedSweep, drafts: Path) -> bool:
    """Whether anything was decided; `drafts` is where questions are that were generated for want of others."""
    from chunkwise.testsets.review import Review

    prepared = completed.prepared
    file = Path(prepared.sweep.test_queries or drafts)
    review = Review(file, "unreviewed")
    before = review.counts()
    card = ReviewCard(str(file), prepared.inputs.documents)
    click.echo("\nAccept what people might ask and the passage answers; edit or drop the rest.")
    review_in_terminal(review, card, file, Standings(completed, review, file))
    return review.counts() != before


class Standings:
    """Prints the leaders before every question, brings the question whose answer matters most, and ends in time."""

    def __init__(self, completed: CompletedSweep, review: Review, file: Path) -> None:
        from chunkwise.testsets.testset import hash_of
        from chunkwise.tuning.choose.review_order import ReviewOrder

        inputs, sweep = completed.prepared.inputs, completed.prepared.sweep
        asked = [hash_of([query]) for query in inputs.questions.queries]
        self._order = ReviewOrder(completed.result, sweep, asked)
        self._documents, self._objective = inputs.documents, sweep.objective
        self._review, self._file = review, file
        self._furthest = -1
        """Where no question was brought yet: behind it somebody went back, or has edited."""

    def __call__(self) -> bool:
        from chunkwise.report.review_report import review_report
        from chunkwise.report.to_terminal import print_report
        from chunkwise.testsets.reading import read_testset

        testset = read_testset(str(self._file), self._documents, lambda problem: None)
        outlook = self._order.after(testset)
        console = stdout_console()
        console.print()
        print_report(review_report(outlook, self._objective), console)
        if self._review.at <= self._furthest:
            return True
        self._furthest = self._review.at
        return not outlook.is_settled and self._review.bring(outlook.order)
