"""What can be compared when no question was asked: cuts, sizes and storage of every chunking."""

from __future__ import annotations

from chunkwise.base.wording import percent
from chunkwise.report.evaluation.marks import small_bar
from chunkwise.report.page_text import words
from chunkwise.report.tuning.measured import Measured, cost_of
from chunkwise.tuning.sweep_result import Outcome

_COLUMNS = (
    ("issues", "chunks with an issue"), ("chunks", "chunks"), ("mean", "tokens a chunk"), ("storage", "storage"),
)  # fmt: skip


def unasked_table(measured: Measured) -> str:
    """Each chunking once, in the order of the standings; nothing where questions tell more."""
    if any(each.validation.mean is not None for each in measured.tuning.standings):
        return ""
    found: dict[tuple[str, str], Outcome] = {}
    for each in measured.best_first():
        if each.configuration.strategy:
            found.setdefault((each.configuration.strategy, each.configuration.context), each)
    if not found:
        return ""
    rows = "".join(_row(each) for each in found.values())
    heads = "".join(
        f'<th role="columnheader" scope="col" data-sort="{key}">{name}</th>'
        for key, name in (("label", "strategy"), *_COLUMNS)
    )
    return (
        '<form class="tools" data-for="unasked-table" data-noun="chunking" data-rows="20" hidden>'
        '<label class="wide">Search <input type="search" autocomplete="off" placeholder="part of a name"></label>'
        '<output aria-live="polite"></output></form><div class="card"><div class="wide-table">'
        '<table class="plain" id="unasked-table" role="table"><caption>Chunkings</caption>'
        f'<thead role="rowgroup"><tr role="row">{heads}</tr></thead><tbody role="rowgroup">{rows}</tbody></table>'
        '<p class="pages"><button type="button" hidden></button></p></div></div>'
    )


def _row(outcome: Outcome) -> str:
    given = outcome.configuration
    chunks, hurt = cost_of(outcome, "chunks"), outcome.boundary_issues.get("chunks_with_issues")
    share = hurt / chunks if chunks and hurt is not None else None
    values = {
        "issues": share, "chunks": chunks, "mean": cost_of(outcome, "mean_tokens"),
        "storage": cost_of(outcome, "storage"),
    }  # fmt: skip
    data = "".join(
        f' data-{key}="{"" if value is None else f"{value:.6g}"}"' for key, value in values.items()
    )
    shown = {
        "issues": "" if share is None else f"{percent(share)}{small_bar(share)}",
        "storage": "" if values["storage"] is None else f"{values['storage']:.2f}×",
    }
    cells = "".join(
        f'<td role="cell">{shown[key] if key in shown else _number(values[key])}</td>'
        for key, _ in _COLUMNS
    )
    beside = " · headings" if given.context == "headings" else ""
    name = f"<code data-found>{words(given.strategy + beside, 200)}</code>"
    known = f" <small>{words(given.baseline, 60)}</small>" if given.baseline else ""
    return f'<tr role="row"{data}><th role="rowheader" scope="row">{name}{known}</th>{cells}</tr>'


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"
