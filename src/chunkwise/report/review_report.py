"""The leaders of a sweep while its questions are reviewed."""

from __future__ import annotations

from chunkwise.base.wording import counted, one_or_many, thousands
from chunkwise.metrics.registry import kind_of
from chunkwise.report.report import Column, Note, Report, ValueTable
from chunkwise.report.tuning_figures import short_names
from chunkwise.testsets.testset import GRADES, REVIEWED
from chunkwise.tuning.choose.review_order import ReviewOutlook


def review_report(outlook: ReviewOutlook, objective: str) -> Report:
    """The choice so far and those that may replace it; where the review may end, why."""
    rows = tuple(
        (*short_names(leader.configuration), leader.expected, leader.chance)
        for leader in outlook.leaders
    )
    columns = (
        Column("chunking", "code"), Column("retriever", "code"), Column(objective, kind_of(objective)),
        Column("chance", "share"),
    )  # fmt: skip
    table = ValueTable(columns, rows, "Current choice and alternatives")
    ending = (Note(_ending(outlook)),) if outlook.is_settled else ()
    return Report(_progress(outlook.deciding), (table, *ending))


def _progress(deciding: int) -> str:
    """How many questions decide, and how many more a better grade takes."""
    text = f"{counted(deciding, 'question')} {one_or_many(deciding, 'decides', 'decide')}"
    if deciding >= REVIEWED:
        return f"{text}: {GRADES['reviewed']}"
    return f"{text}; accept {thousands(REVIEWED - deciding)} more for {GRADES['reviewed']}"


def _ending(outlook: ReviewOutlook) -> str:
    left = len(outlook.order)
    if not left:
        return "Every generated question is reviewed."
    return (
        f"More answers won't change the choice: whatever you decide about the other "
        f"{thousands(left)}, it stays within a point of the best."
    )
