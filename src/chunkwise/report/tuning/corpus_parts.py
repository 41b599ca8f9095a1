"""Whether parts of the corpus want a setting of their own."""

from __future__ import annotations

from chunkwise.base.wording import counted
from chunkwise.report.page_text import words
from chunkwise.report.tuning.forest import Difference, forest
from chunkwise.report.tuning.measured import Measured
from chunkwise.tuning.choose.corpus_parts import FEWEST_QUERIES
from chunkwise.tuning.sweep_result import SweepResult

_NAMED = 12


def corpus_parts(measured: Measured) -> str:
    """What the best setting of each part gains over the choice."""
    tuning = measured.tuning
    rows = []
    for part in tuning.parts:
        own = part.best == tuning.chosen
        best = "the choice itself" if own else f"<code>{words(part.best_label, 200)}</code>"
        word = (
            '<span class="verdict yes"><span aria-hidden="true">▲</span> worth one of its own</span>'
            if part.worth_it
            else '<span class="verdict same"><span aria-hidden="true">≈</span> the choice is good enough</span>'
        )
        rows.append(
            Difference(
                words(part.name or "(no name)", 120),
                f"{counted(part.questions, 'question')}; the choice reaches {part.chosen_mean:.3f}, the best"
                f" {part.best_mean:.3f}: {best}",
                part.gain,
                part.low,
                part.high,
                word,
                part.name,
            )
        )
    caption = f"What a setting of its own gains in {tuning.objective}, by part of the corpus"
    table = forest(rows, caption, "part", "", "gained by one of its own")
    small = _small(tuning)
    return f'<div class="card">{table}{small}</div>' if table or small else ""


def _small(tuning: SweepResult) -> str:
    """What was left out, by name."""
    names = [f"{name} ({count:,})" for name, count in tuning.small_parts.items()]
    if not names:
        return ""
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    told = f"Not looked at, with fewer than {FEWEST_QUERIES} questions: {', '.join(names[:_NAMED])}{more}."
    return f'<p class="hint">{words(told, 1000)}</p>'
