"""The recommendation in plain words, with its figures."""

from __future__ import annotations

from chunkwise.experiments.choosing.findings import Findings
from chunkwise.experiments.choosing.words import figure, listed, points, several
from chunkwise.experiments.tuning import Against


def sentence(found: Findings) -> str:
    """What to use, what it reaches on test questions, what that is against the common defaults, and why this one."""
    return f"{_opening(found)}{_reached(found)}{_compared(found)}. {_why(found)}"


def _opening(found: Findings) -> str:
    label = found.configuration.label
    if found.configuration.baseline:
        return (
            f"Nothing tried is shown to beat the common default {found.configuration.baseline}, which is the choice: "
            f"stay with {label}. It has "
        )
    if found.against and all(each.words != "better" for each in found.against):
        names = listed([each.baseline for each in found.against])
        return (
            f"Nothing is shown to beat the common defaults ({names}) on the test questions. "
            f"Of what was tried, {label} is the choice: it has "
        )
    return f"Use {label}: it has "


def _reached(found: Findings) -> str:
    test = found.standing.test
    if test is None or test.mean is None:
        told = figure(found.standing.validation)
        count = several(found.standing.validation.scored, "question")
        return f"{found.sweep.objective} {told} on the {count} that chose it"
    return f"{found.sweep.objective} {figure(test)} on {several(test.scored, 'test question')}"


def _compared(found: Findings) -> str:
    said = [_against(each, _searched(found, each), found.field.lower) for each in found.against]
    return f", {listed(said)}" if said else ""


def _searched(found: Findings, each: Against) -> str:
    """The default with the retriever that it is held against with."""
    outcomes = (outcome.configuration for outcome in found.field.outcomes)
    retriever = next(own.retriever for own in outcomes if own.key == each.key)
    return f"{each.baseline} · {retriever}"


def _against(each: Against, name: str, lower: bool) -> str:
    sign = -1.0 if lower else 1.0
    low, high = sorted((sign * each.low, sign * each.high))
    gain, between = sign * each.difference, points(low, high)
    if each.words == "better":
        return f"{100 * gain:.1f} points ({between}) better than {name}"
    if each.words == "worse":
        return f"{-100 * gain:.1f} points ({points(-high, -low)}) worse than {name}"
    return f"{100 * gain:+.1f} points ({between}, no difference shown) against {name}"


def _why(found: Findings) -> str:
    chose = several(found.ties.questions, "validation question")
    field = len(found.field.entrants)
    if field == 1:
        return "It is the only configuration that could be chosen."
    if found.tied == 1:
        return f"It is the best of {field} on {chose}, and all others are shown to be worse."
    return (
        f"Of {several(field, 'configuration')} that may be chosen, {found.tied} are not shown to be worse than the "
        f"best on {chose}; of those within a point of the best this is the cheapest, and the best of those that cost "
        "as little."
    )
