"""What the choice and the defaults cost to keep and to ask, and what the sweep took."""

from __future__ import annotations

from collections.abc import Callable

from chunkwise.base.wording import counted, short_number
from chunkwise.report.page_text import attribute, words
from chunkwise.report.tuning.measured import Measured, cost_of
from chunkwise.tuning.choose.score_table import TWIN
from chunkwise.tuning.sweep_result import Outcome

_ROWS: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("chunks", "chunks", "{:,.0f}".format),
    ("mean_tokens", "tokens a chunk, mean", "{:,.0f}".format),
    ("median_tokens", "tokens a chunk, median", "{:,.0f}".format),
    ("p95_tokens", "tokens at most in 95 % of the chunks", "{:,.0f}".format),
    ("max_tokens", "tokens in the longest chunk", "{:,.0f}".format),
    ("storage", "tokens indexed per token of the documents", "{:.2f}×".format),
    ("tokens_embedded", "tokens embedded", short_number),
)


def costs(measured: Measured) -> str:
    """A column a configuration; then the stages of the sweep."""
    columns = ([measured.chosen] if measured.chosen else []) + measured.baselines()
    unique = list({each.configuration.key: each for each in columns}.values())
    rows = (*_ROWS, ("context_tokens", measured.context_words, "{:,.0f}".format))
    body = "".join(_row(name, told, shown, unique) for name, told, shown in rows)
    table = ""
    if body:
        heads = "".join(
            f'<th scope="col">{words(measured.short_name(each), 90)}</th>' for each in unique
        )
        table = (
            '<div class="card"><div class="wide-table"><table class="plain"><caption>Costs</caption><thead><tr>'
            f'<th scope="col">what</th>{heads}</tr></thead><tbody>{body}</tbody></table></div></div>'
        )
    return table + _sweep(measured)


def _row(name: str, told: str, shown: Callable[[float], str], columns: list[Outcome]) -> str:
    values = [cost_of(each, name) for each in columns]
    if all(value is None for value in values):
        return ""
    cells = "".join(f"<td>{'–' if value is None else shown(value)}</td>" for value in values)
    return f'<tr><th scope="row">{told}</th>{cells}</tr>'


def _sweep(measured: Measured) -> str:
    tuning = measured.tuning
    told = [
        (f"{seconds:,.1f} s", attribute(f"to {stage}" if stage.islower() else stage, 60))
        for stage, seconds in tuning.timing.items()
    ]
    if tuning.outcomes:
        done = len(tuning.outcomes)
        again = sum(each.aside.startswith(TWIN) for each in tuning.standings)
        beside = f", {again:,} of them once more with vectors of their own" if again else ""
        name = counted(done, "configuration").split(" ", 1)[1]
        told.insert(0, (f"{done:,}", f"{name} measured{beside}"))
    tiles = "".join(
        f'<div class="card tile"><b>{value}</b><span>{name}</span></div>' for value, name in told
    )
    return (
        f'<h3 class="apart">The sweep itself</h3><div class="tiles">{tiles}</div>' if tiles else ""
    )
