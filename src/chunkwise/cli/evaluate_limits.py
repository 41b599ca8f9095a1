"""`--at-least` and `--at-most`: what figures have to reach, for use in continuous integration."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from chunkwise.evaluation.results import Results


class Limit(NamedTuple):
    """What a figure has to reach (sign 1), or not to exceed (sign -1)."""

    name: str
    value: float
    sign: int


def limits_of(given: tuple[str, ...], sign: int) -> list[Limit]:
    """What was asked for, read from the words given."""
    found = []
    for text in given:
        match = re.fullmatch(r"\s*([\w.@]+)\s*=\s*(-?(?:\d+\.?\d*|\.\d+))\s*(%?)\s*", text)
        if not match:
            raise click.UsageError(f"{text!r} is no limit; write it like recall@5=0.8")
        value = float(match[2]) / (100 if match[3] else 1)
        if not -1 <= value <= 1:
            raise click.UsageError(
                f"{text!r}: no figure is {value:g}; write a share like recall@5=0.8, or recall@5=80%"
            )
        found.append(Limit(match[1], value, sign))
    return found


def measured_as(limits: list[Limit], options: dict[str, Any]) -> list[Limit]:
    """Limits by the names the figures will have; one that names no figure is told before anything is read."""
    from chunkwise.cli.evaluate_checks import budget_of
    from chunkwise.evaluation.metric_names import chosen

    k, budget = options["count"], budget_of(options) if limits else None
    llm = options["judge"] == "llm"
    found = []
    for limit in limits:
        known = chosen(options["metrics"], k, budget, llm=llm)
        name = limit.name
        if name not in known:
            names = chosen(name, k, budget, llm=llm)
            name = names[0] if len(names) == 1 else name
        if name not in known:
            raise click.UsageError(f"{name} is not among what is measured: {', '.join(known)}")
        found.append(limit._replace(name=name))
    return found


def missed_limits(results: Results, limits: list[Limit]) -> list[str]:
    """The limits that do not hold, in words."""
    lines = []
    for name, limit, sign in limits:
        mean = results.summary[name].mean
        if mean is None:
            lines.append(f"{name} could not be scored, and {limit:g} was asked for")
        elif (
            sign * round(mean, 9) < sign * limit
        ):  # a mean of 0.8 may come out as 0.7999999999999999
            what = "at least" if sign > 0 else "at most"
            lines.append(f"{name} is {mean:.3f}; {what} {limit:g} was asked for")
    return lines
