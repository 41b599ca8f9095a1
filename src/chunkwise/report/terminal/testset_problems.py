"""What is wrong with a test set, in the terminal: a line a problem, then how many there are of each kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from chunkwise.base.wording import counted, from_to, one_or_many, thousands
from chunkwise.core import Passage
from chunkwise.report.sanitize import one_line
from chunkwise.testsets.check import REMARKS, Problem, ProblemKind

if TYPE_CHECKING:
    from rich.console import Console

_LONGEST = 600
_LONGEST_NEAREST = 2000
"""It is there to be pasted: cut, it would not be found either."""

KIND_NAMES: dict[ProblemKind, str] = {
    "unreadable": "cannot be read",
    "empty_question": "empty question",
    "duplicate_id": "id used twice",
    "duplicate_question": "question asked twice",
    "unknown_document": "unknown document",
    "outside": "outside the text",
    "different_text": "other text there",
    "not_found": "not found",
    "ambiguous": "ambiguous",
    "no_references": "nothing to find",
    "overlapping": "references overlap",
    "same_text_elsewhere": "same text elsewhere",
    "long_reference": "very long reference",
    "short_reference": "very short reference",
    "similar_question": "similar question",
    "several_places": "in several places",
    "misspelled_field": "misspelled field",
    "unread_fields": "unknown fields",
}


def render_problems(
    problems: Sequence[Problem],
    questions: int,
    text_of: Callable[[Passage], str],
    console: Console,
    *,
    most: int,
    written: bool,
) -> None:
    """At most `most` problems a kind, in the order of the file; `written`: what was repaired is in a file."""
    from rich.text import Text

    shown: Counter[ProblemKind] = Counter()
    for problem in problems:
        shown[problem.kind] += 1
        if shown[problem.kind] > most:
            continue
        line = Text(one_line(problem.where, 300), "bold")
        if problem.query_id:
            line.append(f" · {one_line(problem.query_id, 60)}", "cyan")
        line.append(f" · {KIND_NAMES[problem.kind]}: ", "yellow" if _is_mild(problem) else "red")
        line.append(one_line(problem.text, _LONGEST), "not bold")
        if note := _note(problem, written):
            line.append(f" ({note})", "not bold green" if problem.repaired else "not bold")
        console.print(line, soft_wrap=True)
        if problem.nearest is not None and not problem.repaired:
            place = problem.nearest
            where = f"{one_line(place.doc_id, 200)} {from_to(place.start, place.end)}"
            text = one_line(text_of(place), _LONGEST_NEAREST).strip()
            console.print(Text(f"    nearest: {where}: {text}", "dim"), soft_wrap=True)
    _summary(problems, questions, console, most)


def _summary(problems: Sequence[Problem], questions: int, console: Console, most: int) -> None:
    from rich.text import Text

    counts = Counter(problem.kind for problem in problems)
    if not counts:
        console.print(Text(f"{counted(questions, 'question')}, nothing wrong", "green"))
        return
    console.print()
    for kind in KIND_NAMES:
        if not counts[kind]:
            continue
        of_kind = [problem for problem in problems if problem.kind == kind]
        parts = [
            f"{thousands(sum(each.repaired for each in of_kind))} repaired",
            f"{thousands(sum(each.dropped for each in of_kind))} left out",
            f"{thousands(max(0, len(of_kind) - most))} not shown: -n, --json",
        ]
        note = ", ".join(part for part in parts if not part.startswith("0 "))
        remark = "  remark" if kind in REMARKS else ""
        console.print(
            Text(
                f"{thousands(counts[kind]):>8}  {KIND_NAMES[kind]}{remark}{f'  ({note})' if note else ''}"
            ),
            soft_wrap=True,
        )
    idle = counts["no_references"]
    usable = f"{counted(questions - idle, 'question')} can be used"
    if idle:
        # They stay in the file: an answer may be written beside them, and what is asked of a search is asked.
        usable += f", {thousands(idle)} more {one_or_many(idle, 'has', 'have')} nothing to find and will be unscored"
    console.print(Text(usable), soft_wrap=True)


def _is_mild(problem: Problem) -> bool:
    return problem.repaired or problem.kind in REMARKS


def _note(problem: Problem, written: bool) -> str:
    if problem.repaired:
        return "repaired" if written else "can be repaired: -o FILE"
    return "left out" if problem.dropped else ""
