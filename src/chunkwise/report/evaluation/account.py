"""What stands behind an evaluation: how sure it is, what it costs, what to try, and what it was made with."""

from __future__ import annotations

from chunkwise.base.wording import counted, percent, short_number
from chunkwise.evaluation.four_questions import FOUR
from chunkwise.evaluation.results import Agreement, Results
from chunkwise.evaluation.verdicts import family
from chunkwise.report.evaluation.marks import small_bar
from chunkwise.report.evaluation.spent import OF_LLM, llm_spent
from chunkwise.report.page_text import attribute, breakable, words
from chunkwise.report.page_values import values_table

_COSTS = {
    "chunks": ("chunks", "{:,.0f}"),
    "mean_tokens": ("tokens a chunk, mean", "{:,.0f}"),
    "median_tokens": ("tokens a chunk, median", "{:,.0f}"),
    "p95_tokens": ("tokens at most in 95 % of the chunks", "{:,.0f}"),
    "max_tokens": ("tokens in the longest chunk", "{:,.0f}"),
    "storage": ("tokens indexed per token of the documents", "{:.2f}×"),
    "context_tokens": ("tokens of context a question", "{:,.0f}"),
}
_COUNTS = {
    "document_tokens": "tokens in the documents",
    "indexed_tokens": "tokens indexed",
    "tokens_embedded": "tokens embedded",
}


def how_sure(results: Results) -> str:
    """The least difference that can be shown, and whether the judges agree."""
    parts = ""
    least = results.detectable.get(results.objective)
    if least is not None:
        rows = "".join(
            f'<tr><th scope="row">{breakable(name)}</th><td>{100 * value:.1f}</td></tr>'
            for name, value in results.detectable.items()
        )
        parts += (
            '<div class="card"><h3>Enough questions?</h3>'
            f"<p>With {counted(len(results.questions), 'question')}, a difference of less than"
            f" <b>{100 * least:.1f} points</b> in {breakable(results.objective)} to another run cannot be shown:"
            " it may well be chance.</p>"
            '<p class="hint">Found in four of five tries where it is real, claimed in one of twenty where it is'
            " not; both runs asked the same questions.</p>"
            '<details><summary>For every metric</summary><table class="plain"><thead><tr>'
            f'<th scope="col">metric</th><th scope="col">points</th></tr></thead><tbody>{rows}</tbody></table>'
            "</details></div>"
        )
    if results.agreement:
        pairs = "".join(_pair(pair) for pair in results.agreement)
        parts += f'<div class="card"><h3>Do the judges agree?</h3>{pairs}</div>'
    return f'<div class="two">{parts}</div>' if parts else ""


def cost(results: Results) -> str:
    """Tiles for what is known, a line for anything else."""
    told: list[tuple[str, str]] = []
    for name, value in results.cost.items():
        if isinstance(value, bool) or value is None:
            continue
        if not isinstance(value, int | float):
            told.append((attribute(str(value), 60), attribute(name.replace("_", " "))))
        elif name in _COSTS:
            told.append((_COSTS[name][1].format(value), _COSTS[name][0]))
        elif name == "index_bytes":
            told.append((f"{value / 1e6:,.1f} MB", "on disk"))
        else:
            told.append((short_number(value), attribute(_COUNTS.get(name, name.replace("_", " ")))))
    told += [(amount, attribute(f"language model: {what}")) for what, amount in llm_spent(results)]
    for stage, seconds in results.timing.items():
        if stage.startswith(OF_LLM):
            continue
        told.append((f"{seconds:,.1f} s", attribute(f"to {stage}" if stage.islower() else stage)))
    tiles = "".join(
        f'<div class="card tile"><b>{value}</b><span>{name}</span></div>' for value, name in told
    )
    return f'<div class="tiles">{tiles}</div>' if tiles else ""


def what_to_try(results: Results) -> str:
    """Figures that are not good yet, with their usual causes."""
    asked = {metric: question for question, metric in FOUR}
    items = "".join(
        f'<div class="card start"><h3>{asked.get(family(each.metric)) or breakable(each.metric)}</h3>'
        f"<p>{words(each.text)}</p></div>"
        for each in results.advice
    )
    return f'<div class="advice">{items}</div>' if items else ""


def made_with(results: Results) -> str:
    """What to run to see this again."""
    parts = (
        ("Configuration", results.configuration),
        ("Data", results.data),
        ("Versions", results.versions),
    )
    tables = "".join(f"<h3>{title}</h3>{values_table(values)}" for title, values in parts if values)
    return f'<details class="card made"><summary>Configuration, data, versions</summary>{tables}</details>'


def _pair(pair: Agreement) -> str:
    kappa = (
        "no κ: one of them always says the same, or they never judged the same hit"
        if pair.kappa is None
        else f"Cohen’s κ {pair.kappa:.2f}"
    )
    same = "" if pair.same is None else f"{percent(pair.same)} alike"
    bar = "" if pair.same is None else small_bar(pair.same)
    return (
        f'<div class="pair"><span>{words(pair.first, 40)} and {words(pair.second, 40)}</span><b>{same}</b>{bar}'
        f"<small>{kappa} · {counted(pair.hits, 'hit')}</small></div>"
    )
