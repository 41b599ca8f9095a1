"""How the choice was made, what speaks against it, what was not tried, and how to see it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import counted
from chunkwise.evaluation.results import Json
from chunkwise.records.typed import Misfit, read_as
from chunkwise.report.page_text import attribute, breakable, words
from chunkwise.report.page_values import values_table
from chunkwise.report.tuning.measured import Measured
from chunkwise.tuning.plan.sweep_file import sweep_text
from chunkwise.tuning.sweep import Sweep
from chunkwise.tuning.sweep_result import SweepResult

_MOST = 200


def method(measured: Measured) -> str:
    """What was done, in a few paragraphs; then the caveats."""
    tuning = measured.tuning
    objective = breakable(tuning.objective)
    chose = sum(split == "validation" for split in tuning.splits)
    test = sum(split == "test" for split in tuning.splits)
    told = []
    if tuning.questions:
        told.append(
            f"{counted(len(tuning.questions), 'question')}: {chose:,} choose (validation), {test:,} were kept back and"
            " are used for nothing but the report (test)."
        )
        told.append(
            f"Every configuration is asked all of them. The best on validation by {objective} is compared with each"
            " other one, question by question; those not shown to be worse after Holm’s correction are tied with it,"
            " and the choice is the cheapest of those tied and within a point of the best. Being the best of many"
            " flatters: on the test questions it may do less well, which is why these are what is reported."
        )
        told.append(
            "Intervals are 95 %, from resamples of the questions: another set of such questions would likely give a"
            " mean inside. Differences are paired: both sides were asked the same questions."
        )
        told.append(_counts(tuning))
        told += _enough(tuning.detectable, tuning.needed, chose)
    else:
        told.append(
            "There were no questions, so nothing says what is found: cuts, sizes and costs can be compared, no more."
        )
    text = "".join(f"<p>{each}</p>" for each in told)
    caveats = "".join(f"<li>{words(each, 600)}</li>" for each in tuning.caveats)
    against = (
        f'<article class="card start"><h3>Caveats</h3><ul class="list">{caveats}</ul></article>'
        if caveats
        else ""
    )
    return f'<div class="advice"><article class="card prose">{text}</article>{against}</div>'


def not_tried(measured: Measured) -> str:
    """What was left out of the grid, and what failed, each with its reason."""
    left = [(what, why) for what, why in _left_out(measured.tuning.plan)]
    lost = [each for each in measured.tuning.outcomes if each.error]
    failed, waiting = (
        [(each.configuration.label, each.error) for each in lost if each.waits is waits]
        for waits in (False, True)
    )
    return "".join(
        f'<article class="card"><h3>{title} <small>{len(rows):,}</small></h3>{_reasons(rows, heads)}</article>'
        for title, rows, heads in (
            ("Failed", failed, ("configuration", "why")),
            ("Not run yet", waiting, ("configuration", "why")),
            ("Left out of the grid", left, ("what", "why")),
        )
        if rows
    )


def made_with(measured: Measured) -> str:
    """What to run to see this again."""
    tuning = measured.tuning
    text = _sweep_text(tuning.plan)
    plan = {
        name: value
        for name, value in tuning.plan.items()
        if name != "left_out" and not (text and name == "sweep")
    }
    chosen = measured.chosen.configuration if measured.chosen else None
    choice: dict[str, Json] = (
        {
            "key": chosen.key, "strategy": chosen.strategy or "none", "retriever": chosen.retriever,
            "context": chosen.context, "neighbours": chosen.neighbours, "vectors": chosen.vectors,
        }
        if chosen
        else {}
    )  # fmt: skip
    tables = "".join(
        f"<h3>{title}</h3>{values_table(values)}"
        for title, values in (
            ("Choice", choice),
            ("Plan", plan),
            ("Data", dict(tuning.data)),
            ("Versions", dict(tuning.versions)),
        )
        if values
    )
    if text:
        tables = f"<h3>sweep.toml</h3><pre><code>{_code(text)}</code></pre>{tables}"
    return (
        f'<details class="card made" open><summary>Plan, data, versions</summary>{tables}</details>'
        if tables
        else ""
    )


def _sweep_text(plan: Mapping[str, Json]) -> str:
    """The sweep as the file that asks for it again; empty where the plan holds none."""
    try:
        sweep: Sweep = read_as(Sweep, plan.get("sweep"))
        return sweep_text(sweep)
    except (Misfit, InvalidParameter):
        return ""


def use_it(code: Mapping[str, str]) -> str:
    """Settings and code that do the same, by the name of what they are for."""
    return "".join(
        f'<details class="card code"{"" if at else " open"}><summary>{words(name, 60)}</summary>'
        f"<pre><code>{_code(text)}</code></pre></details>"
        for at, (name, text) in enumerate(code.items())
    )


def _counts(tuning: SweepResult) -> str:
    """How many were planned, run and chosen from: the numbers of this page, and why they differ."""
    planned = tuning.plan.get("configurations")
    aside = Counter(each.aside for each in tuning.standings if each.aside)
    chosen_from = len(tuning.standings) - aside.total()
    lost = [
        f"{counted(count, 'configuration')} {what}"
        for what, count in (
            ("failed", tuning.plan.get("failed")),
            ("had no time left", tuning.plan.get("not_run")),
        )
        if isinstance(count, int) and count
    ]
    told = f"{planned:,} configurations were planned" if isinstance(planned, int) else "Of all"
    parts = [
        *lost,
        f"{len(tuning.standings):,} have figures",
        *(
            f"{count:,} of these are listed only ({words(why, 120)})"
            for why, count in aside.items()
        ),
        f"{chosen_from:,} may be chosen",
    ]
    return f"{told}; {'; '.join(parts)}."


def _enough(least: float | None, needed: int | None, asked: int) -> list[str]:
    """What so many questions can show."""
    if least is None:
        return []
    more = f" About {needed:,} would tell the best two apart." if needed and needed > asked else ""
    return [
        f"{counted(asked, 'validation question')} show a difference of {100 * least:.1f} points or more four times in"
        f" five, tested alone.{more}"
    ]


def _code(text: str) -> str:
    """Line by line as it is."""
    return "\n".join(
        " " * (len(line) - len(line.lstrip(" "))) + attribute(line.lstrip(" "))
        for line in text.splitlines()
    )


def _left_out(plan: Mapping[str, Json]) -> list[tuple[str, str]]:
    given = plan.get("left_out")
    found = []
    for each in given if isinstance(given, list) else []:
        if isinstance(each, dict):
            found.append((str(each.get("what", "")), str(each.get("why", ""))))
        elif isinstance(each, list):
            found.append((str(each[0]) if each else "", " ".join(str(part) for part in each[1:])))
        else:
            found.append((str(each), ""))
    return found


def _reasons(rows: list[tuple[str, str]], heads: tuple[str, str]) -> str:
    """Those with one reason together: a grid leaves many out for the same."""
    by_reason: dict[str, list[str]] = {}
    for what, why in rows:
        by_reason.setdefault(why, []).append(what)
    body = ""
    for why, names in by_reason.items():
        listed = "".join(f"<li><code>{words(name, 200)}</code></li>" for name in names[:_MOST])
        more = f"<li>and {len(names) - _MOST:,} more</li>" if len(names) > _MOST else ""
        body += f'<tr><td><ul class="list">{listed}{more}</ul></td><td>{words(why, 600)}</td></tr>'
    return (
        f'<table class="plain reasons"><thead><tr><th scope="col">{heads[0]}</th><th scope="col">{heads[1]}</th></tr>'
        f"</thead><tbody>{body}</tbody></table>"
    )
