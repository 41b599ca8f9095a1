"""What the cuts of the choice break, beside what those of the defaults break."""

from __future__ import annotations

from collections.abc import Mapping

from chunkwise.base.wording import percent
from chunkwise.evaluation.results import Cuts
from chunkwise.metrics.cuts.boundary_issues import KINDS
from chunkwise.report.evaluation.cuts import cut_kinds, named
from chunkwise.report.evaluation.marks import small_bar
from chunkwise.report.page_text import attribute, words
from chunkwise.report.tuning.measured import Measured, cost_of
from chunkwise.tuning.sweep_result import Outcome

_WHOLE = "chunks_with_issues"


def cut_counts(measured: Measured, examples: Mapping[str, Cuts]) -> str:
    """A column a configuration, a row a kind, as shares of the chunks; `examples` by the label of a configuration."""
    columns = [
        each
        for each in ([measured.chosen] if measured.chosen else []) + measured.baselines()
        if each.boundary_issues
    ]
    unique = list({each.configuration.key: each for each in columns}.values())
    if not unique:
        return ""
    kinds = [kind for kind in KINDS if any(each.boundary_issues.get(kind) for each in unique)]
    none = [named(kind) for kind in KINDS if kind not in kinds]
    most = max((_share(each, kind) for each in unique for kind in kinds), default=1.0) or 1.0
    heads = "".join(
        f'<th role="columnheader" scope="col">{words(_title(measured, each), 80)}</th>'
        for each in unique
    )
    rows = _row(measured, "chunks with an issue", "", [(each, _WHOLE) for each in unique], 1.0)
    for kind in kinds:
        rows += _row(measured, named(kind), KINDS[kind], [(each, kind) for each in unique], most)
    absent = f'<p class="hint">In none of them: {attribute(", ".join(none))}.</p>' if none else ""
    chunkless = (
        '<p class="hint">The choice searches several sizes at once and has no chunks of its own to break.</p>'
        if measured.chosen and not measured.chosen.boundary_issues
        else ""
    )
    shown = "".join(
        f'<details class="more"><summary>Cuts of {words(label, 200)}</summary>{cut_kinds(cuts)}</details>'
        for label, cuts in examples.items()
    )
    return (
        f'<div class="card"><table class="issues" role="table"><caption>Boundary issues by kind</caption>'
        f'<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">kind</th>{heads}</tr></thead>'
        f'<tbody role="rowgroup">{rows}</tbody></table>{absent}{chunkless}</div>{shown}'
    )


def _row(
    measured: Measured, name: str, hint: str, cells: list[tuple[Outcome, str]], most: float
) -> str:
    drawn = ""
    for outcome, kind in cells:
        share, count = _share(outcome, kind), outcome.boundary_issues.get(kind, 0)
        drawn += (
            f'<td role="cell" data-label="{attribute(_title(measured, outcome), 80)}"><b>{percent(share)}</b>'
            f" <small>{count:,}</small>{small_bar(share / most)}</td>"
        )
    told = f"<small>{attribute(hint)}</small>" if hint else ""
    return f'<tr role="row"><th role="rowheader" scope="row"><span>{attribute(name)}</span>{told}</th>{drawn}</tr>'


def _share(outcome: Outcome, kind: str) -> float:
    return outcome.boundary_issues.get(kind, 0) / max(cost_of(outcome, "chunks") or 0.0, 1.0)


def _title(measured: Measured, outcome: Outcome) -> str:
    given = outcome.configuration
    return "the choice" if given.key == measured.tuning.chosen else given.baseline
