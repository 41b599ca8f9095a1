"""The generated questions of a sweep reviewed in a terminal: after every answer the leaders as they are then."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chunkwise.cli.review_questions import ReviewCard, review_in_terminal
from chunkwise.cli.streams import stdout_console
from chunkwise.core import Document

if TYPE_CHECKING:
    from chunkwise.testsets.review import Review
    from chunkwise.tuning.choose.review_order import ReviewOrder
    from chunkwise.tuning.tune import CompletedSweep


def review_sweep(completed: CompletedSweep, drafts: Path) -> bool:
    """Whether anything was decided; `drafts` is where questions are that were generated for want of others."""
    from chunkwise.testsets.review import Review
    from chunkwise.testsets.testset import hash_of
    from chunkwise.tuning.choose.review_order import ReviewOrder

    inputs, sweep = completed.prepared.inputs, completed.prepared.sweep
    asked = [hash_of([query]) for query in inputs.questions.queries]
    order = ReviewOrder(completed.result, sweep, asked)
    file = Path(sweep.test_queries or drafts)
    review = Review(file, "unreviewed")
    before = review.counts()
    click.echo(
        "\nAccept questions that a user might ask and the passage answers; edit or drop the rest."
    )
    guide = ReviewGuide(order, review, file, inputs.documents, sweep.objective)
    review_in_terminal(review, ReviewCard(str(file), inputs.documents), file, guide)
    return review.counts() != before


class ReviewGuide:
    """Prints the leaders before every question, brings the one whose answer matters most, and ends in time."""

    def __init__(
        self,
        order: ReviewOrder,
        review: Review,
        file: Path,
        documents: Sequence[Document],
        objective: str,
    ) -> None:
        self._order, self._review, self._file = order, review, file
        self._documents, self._objective = documents, objective
        self._furthest = -1
        """Of the questions brought: at an earlier one somebody went back, at this one edited."""

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
