"""What to do, in a sentence with its figures; the top of a page and the whole of a short one."""

from __future__ import annotations

from chunkwise.base.wording import counted
from chunkwise.report.page_text import breakable, words
from chunkwise.report.tuning.forest import signed
from chunkwise.report.tuning.measured import Measured, between, cost_of, number


def head(measured: Measured) -> str:
    """The choice as a title, what it was chosen from, and how well it does."""
    tuning = measured.tuning
    chosen = measured.chosen
    title = chosen.configuration.label if chosen else "No choice could be made"
    how = [f"chosen from <b>{counted(_entrants(measured), 'configuration')}</b>"] if chosen else []
    if tuning.questions:
        how.append(counted(len(tuning.questions), "question"))
    figure = measured.quality(tuning.chosen)
    shown = ""
    if figure and figure.mean is not None:
        sure = between(figure)
        told = f"<span>95 % interval {sure}</span>" if sure else ""
        shown = (
            f'<p class="objective"><span>{breakable(tuning.objective)}, {measured.asked} questions</span>'
            f"<b>{number(figure)}</b>{told}</p>"
        )
    return (
        f'<header class="top"><div><p class="kicker">Tuning</p><h1>{words(title, 300)}</h1>'
        f'<p class="how">{" · ".join(how)}</p></div>{shown}</header>'
    )


def _entrants(measured: Measured) -> int:
    """Configurations that could have been chosen."""
    return sum(not each.aside for each in measured.tuning.standings)


def recommendation(measured: Measured) -> str:
    """The sentence, and tiles with the figures it rests on."""
    tuning = measured.tuning
    told: list[tuple[str, str]] = []
    figure = measured.quality(tuning.chosen)
    if figure and figure.mean is not None:
        sure = between(figure)
        told.append(
            (
                number(figure),
                f"{breakable(tuning.objective)} on {measured.asked} questions {f'({sure})' if sure else ''}",
            )
        )
    for each in tuning.against[:2]:
        told.append(
            (
                signed(each.difference),
                f"points against {words(each.baseline, 60)} ({signed(each.low)} to {signed(each.high)}):"
                f" {words(each.words, 40)}",
            )
        )
    tied = sum(each.tied for each in tuning.standings)
    if tied:
        told.append(
            (f"{tied:,}", f"of {_entrants(measured):,} that may be chosen are tied with the best")
        )
    if measured.chosen:
        for name, shown, unit in (
            ("storage", "{:.2f}×", "tokens indexed per token"),
            ("context_tokens", "{:,.0f}", measured.context_words),
        ):
            value = cost_of(measured.chosen, name)
            if value is not None:
                told.append((shown.format(value), unit))
    tiles = "".join(
        f'<div class="card tile"><b>{value}</b><span>{name}</span></div>' for value, name in told
    )
    return (
        f'<div class="card start sentence"><p>{words(tuning.sentence, 2000)}</p></div>'
        f'<div class="tiles six">{tiles}</div>'
    )
