"""The choice against the common defaults, question by question."""

from __future__ import annotations

from chunkwise.evaluation.direction import lower_is_better
from chunkwise.report.page_text import attribute, words
from chunkwise.report.tuning.forest import Difference, forest
from chunkwise.report.tuning.measured import Measured, number

_STYLES = {"better": ("yes", "▲"), "worse": ("no", "▼")}


def differences(measured: Measured) -> str:
    """One line a default."""
    rows = []
    for each in measured.tuning.against:
        outcome = measured.outcomes.get(each.key)
        label = outcome.configuration.label if outcome else ""
        figure = number(measured.quality(each.key))
        hint = f"<code>{words(label, 200)}</code>" if label else ""
        style, sign = _STYLES.get(each.words, ("same", "≈"))
        rows.append(
            Difference(
                words(each.baseline, 80),
                hint + (f" reaches {figure}" if figure else ""),
                each.difference,
                each.low,
                each.high,
                f'<span class="verdict {style}"><span aria-hidden="true">{sign}</span>'
                f" {attribute(each.words, 40)}</span><small>p {_chance(each.p)}</small>",
                each.baseline,
            )
        )
    caption = (
        f"Differences in {measured.tuning.objective} between the choice and the common defaults"
    )
    sides = ["default better", "choice better"]
    if lower_is_better(measured.tuning.objective):
        sides.reverse()
    table = forest(rows, caption, "against", *sides)
    return f'<div class="card">{table}</div>' if table else ""


def _chance(p: float) -> str:
    return "&lt; 0.001" if p < 0.001 else f"{p:.3f}"
