"""How the weights of several sizes were fitted, and whether late vectors can be trusted to rank."""

from __future__ import annotations

from chunkwise.report.charts.drawn import HALF, Room, as_table, drawn
from chunkwise.report.charts.look import ACCENT, CARD, Spec, row_key, rows_of
from chunkwise.report.page_text import attribute, words
from chunkwise.report.plain_text import one_line
from chunkwise.report.tuning.measured import Measured
from chunkwise.tuning.sweep_result import WeightFit

_NAMES = {"kendall_tau": "Kendall’s τ"}


def weights(measured: Measured) -> str:
    """Two cards, where there is something to tell."""
    tuning = measured.tuning
    cards = _fit(tuning.fit, tuning.objective) if tuning.fit else ""
    if tuning.agreement:
        rows = "".join(
            f'<tr><th scope="row">{attribute(_NAMES.get(name, name), 60)}</th><td>{value:.4g}</td></tr>'
            for name, value in tuning.agreement.items()
        )
        cards += (
            '<article class="card"><h3>Late vectors and vectors of their own</h3><p>The sweep takes the vectors of'
            " every chunking out of one pass over the documents (late). The finalists and the defaults were also"
            " embedded chunk by chunk (own); names that end in “own vectors” are those. How alike the two rank"
            " them, Kendall’s τ: 1 is the same order, 0 no relation.</p>"
            f'<table class="plain"><tbody>{rows}</tbody></table></article>'
        )
    return f'<div class="two">{cards}</div>' if cards else ""


def _fit(fit: WeightFit, objective: str) -> str:
    told = f"Mean {one_line(objective, 40)} on the validation questions"
    rows = [
        [
            f"<code>{words(label, 120)}</code>{' <b>kept</b>' if label == fit.kept else ''}",
            f"{mean:.3f}",
        ]
        for label, mean in fit.tried
    ]
    return (
        f'<article class="card"><h3>Weights of several sizes at once</h3><p>{words(fit.why, 600)}</p>'
        f"{drawn(lambda room: _chart(fit, told, room), told, wide=HALF)}"
        f"{as_table(told, ('weights', 'mean'), rows)}</article>"
    )


def _chart(fit: WeightFit, told: str, room: Room) -> Spec:
    """The one that was kept is full."""
    rows: list[Spec] = [
        {"row": row_key(at, label, 26), "mean": mean, "kept": "kept" if label == fit.kept else "tried",
         "told": one_line(f"{label}: {mean:.3f}", 160)}
        for at, (label, mean) in enumerate(fit.tried)
    ]  # fmt: skip
    kept = {
        "field": "kept", "type": "nominal", "legend": {"direction": "horizontal"},
        "scale": {"type": "ordinal", "domain": ["kept", "tried"], "range": [ACCENT, CARD]},
    }  # fmt: skip
    return {
        "width": room.width,
        "height": {"step": 26},
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": rows},
        "mark": {"type": "point", "stroke": ACCENT, "strokeWidth": 2, "size": 90},
        "encoding": {
            "y": rows_of(row["row"] for row in rows),
            "x": {"field": "mean", "type": "quantitative", "scale": {"zero": False, "padding": 14},
                  "axis": {"title": told, "tickCount": 4}},
            "fill": kept,
            "description": {"field": "told"},
        },
    }  # fmt: skip
