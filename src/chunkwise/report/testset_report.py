"""The report of a test set: what is wrong with it, by kind and one by one, with the nearest passage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from chunkwise.base.wording import counted
from chunkwise.core import Passage
from chunkwise.report.report import (
    Badge,
    Column,
    Excerpt,
    Headline,
    Level,
    Report,
    ReportPart,
    TextRun,
    ValueTable,
)
from chunkwise.testsets.check import REMARKS, Problem, ProblemKind


def testset_report(
    problems: Sequence[Problem],
    questions: int,
    text_of: Callable[[Passage], str],
    *,
    most: int,
    is_written: bool,
) -> Report:
    """Build the report of a test set.

    Args:
        problems: In the order of the file.
        questions: How many the file has.
        text_of: Gives the text of a passage.
        most: Problems of a kind that are listed.
        is_written: Whether what was repaired is in a file.
    """
    counts = Counter(problem.kind for problem in problems)
    usable = questions - counts["no_references"]
    if not problems:
        verdict = Headline(f"{counted(questions, 'question')}, no problems", "good")
        return Report("Test set", (verdict,), "testset")
    level: Level = (
        "tie" if all(problem.kind in REMARKS or problem.repaired for problem in problems) else "bad"
    )
    text = f"{counted(len(problems), 'problem')}; {counted(usable, 'question')} can be scored"
    parts: tuple[ReportPart, ...] = (
        Headline(text, level),
        _by_kind(problems, counts),
        *_one_by_one(problems, text_of, most, is_written=is_written),
    )
    return Report("Test set", parts, "testset")


def _by_kind(problems: Sequence[Problem], counts: Counter[ProblemKind]) -> ValueTable:
    rows = tuple(
        (
            _name(kind),
            count,
            sum(problem.repaired for problem in problems if problem.kind == kind),
            sum(problem.dropped for problem in problems if problem.kind == kind),
            Badge("remark", "tie") if kind in REMARKS else "",
        )
        for kind, count in counts.most_common()
    )
    columns = (
        Column("kind"), Column("problems", "count"), Column("repaired", "count"), Column("left out", "count"),
        Column(""),
    )  # fmt: skip
    return ValueTable(columns, rows, brief_rows=len(rows))


def _one_by_one(
    problems: Sequence[Problem],
    text_of: Callable[[Passage], str],
    most: int,
    *,
    is_written: bool,
) -> list[ReportPart]:
    """Each with the nearest passage, whole: it is there to be pasted."""
    listed: Counter[ProblemKind] = Counter()
    parts: list[ReportPart] = []
    for problem in problems:
        listed[problem.kind] += 1
        if listed[problem.kind] > most:
            continue
        about = (
            f"{problem.query_id}: {_name(problem.kind)}"
            if problem.query_id
            else _name(problem.kind)
        )
        runs = [TextRun(f"{problem.text}{_outcome(problem, is_written=is_written)}")]
        if problem.nearest is not None and not problem.repaired:
            place = problem.nearest
            runs.append(TextRun(f"\nnearest, {place.doc_id} {place.start:,}–{place.end:,}: "))
            runs.append(TextRun(text_of(place).strip(), "match"))
        parts.append(
            Excerpt(tuple(runs), about, problem.where, "" if problem.kind in REMARKS else "bad")
        )
    return parts


def _outcome(problem: Problem, *, is_written: bool) -> str:
    if problem.repaired:
        return " (repaired)" if is_written else " (repairable: -o FILE)"
    return " (left out)" if problem.dropped else ""


def _name(kind: ProblemKind) -> str:
    return kind.replace("_", " ")
