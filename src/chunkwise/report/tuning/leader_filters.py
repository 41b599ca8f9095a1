"""Filters above the table of leaders: one for each lever, by the values that were tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.report.page_text import attribute
from chunkwise.report.tuning.measured import Measured
from chunkwise.tuning.sweep_result import Standing


def varied(measured: Measured, shown: Sequence[Standing]) -> dict[str, dict[str, int]]:
    """What was varied, each value with a number; nothing that has one value only."""
    found: dict[str, dict[str, int]] = {}
    for each in shown:
        outcome = measured.outcomes.get(each.key)
        for name, value in outcome.configuration.levers.items() if outcome else ():
            values = found.setdefault(name, {})
            values.setdefault(value, len(values))
    return {name: values for name, values in found.items() if len(values) > 1}


def leader_tools(levers: Mapping[str, Mapping[str, int]], kinds: Sequence[tuple[str, str]]) -> str:
    """Hidden until there is a script that makes them work."""
    choosers = _chooser("show", "kind", kinds)
    for at, (name, values) in enumerate(levers.items()):
        options = [
            (str(values[value]), value or "(none)") for value in sorted(values, key=in_order)
        ]
        choosers += _chooser(name, f"f{at}", options)
    return (
        '<form class="tools" data-for="leaders-table" data-noun="configuration" data-rows="15" hidden>'
        '<label class="wide">Search <input type="search" id="leader" autocomplete="off"'
        ' placeholder="part of a name"></label>'
        f'{choosers}<output aria-live="polite"></output></form>'
    )


def _chooser(name: str, key: str, options: Sequence[tuple[str, str]]) -> str:
    inner = "".join(
        f'<option value="{value}">{attribute(shown, 60)}</option>' for value, shown in options
    )
    return (
        f'<label>{attribute(name, 30)} <select data-filter="{key}"><option value="">all</option>{inner}'
        "</select></label>"
    )


def in_order(value: str) -> tuple[float, str]:
    """Numbers by their size, none before them, words behind them."""
    digits = "0" if value == "none" else value.split(" ", 1)[0].replace(",", "").rstrip("%")
    return (
        (float(digits), value) if digits.isascii() and digits.isdigit() else (float("inf"), value)
    )
