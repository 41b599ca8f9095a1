"""A tuning in short, for notebooks: its style reaches nothing outside of it, and nothing runs."""

from __future__ import annotations

import re

from chunkwise.report.charts.drawn import without_charts
from chunkwise.report.page_frame import asset
from chunkwise.report.tuning.budgets import budget_curves
from chunkwise.report.tuning.choice import head, recommendation
from chunkwise.report.tuning.differences import differences
from chunkwise.report.tuning.leaders import leader_table
from chunkwise.report.tuning.lever_cards import lever_line
from chunkwise.report.tuning.measured import Measured
from chunkwise.tuning.sweep_result import SweepResult

_SHOWN = 10
_SCOPE = "chunkwise-tuning"
_WHOLE = re.compile(r"(?<![\w.#-])(?::root|html|body|main)(?![\w-])(?=[ ,{])")


def tuning_fragment(tuning: SweepResult) -> str:
    """The choice, the defaults and the first of the leaders as one element."""
    measured = Measured(tuning)
    leaders = (
        f'<h2>The first of {len(tuning.standings):,}</h2><div class="card">'
        f"{leader_table(measured, tuning.standings[:_SHOWN])}</div>"
        if any(each.validation.mean is not None for each in tuning.standings)
        else ""
    )
    against, curves, line = differences(measured), budget_curves(measured), lever_line(measured)
    parts = (
        without_charts() if curves else "",
        recommendation(measured),
        f"<h2>Against the common defaults</h2>{against}" if against else "",
        leaders.replace(' id="leaders-table"', ""),
        f"<h2>By context</h2>{curves}" if curves else "",
        f'<p class="hint">{line}</p>' if line else "",
    )
    return f'<div class="{_SCOPE}"><style>{scoped_style()}</style>{head(measured)}{"".join(parts)}</div>'


def scoped_style() -> str:
    """The rules of the page nested in one: what they say of the whole page, they say of the fragment."""
    rules = _WHOLE.sub("&", asset("page.css") + asset("charts.css") + asset("tuning.css"))
    return f".{_SCOPE} {{\n{rules}}}\n"
