"""An evaluation in a terminal: the four questions first, then every figure with its interval, then what to look at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from chunkwise.base.wording import counted, percent, short_number
from chunkwise.evaluation.direction import lower_is_better
from chunkwise.evaluation.four_questions import four_questions, robustness
from chunkwise.evaluation.judges_told import judged_by
from chunkwise.evaluation.results import Agreement, Figure, QuestionResult, Results
from chunkwise.report.evaluation.answers_terminal import (
    indented,
    print_answer,
    value,
    why_unscored,
)
from chunkwise.report.evaluation.beside import nothing_known
from chunkwise.report.evaluation.interval_rows import add_row, figure_table
from chunkwise.report.evaluation.spent import llm_spent
from chunkwise.report.plain_text import one_line
from chunkwise.report.terminal_parts import bar, heading, line, plain_table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_WORST = 5
_MOST_GROUPS = 10


def render_evaluation(results: Results, console: Console) -> None:
    """Draw the results; documents' and questions' text cannot move the cursor or add markup."""
    _head(results, console)
    answered = four_questions(results)
    if answered:
        heading(console, "The four questions")
        for each in answered:
            print_answer(console, each, results)
            _judged(console, results, (f"{each.metric}.{name}" for name in each.figures), 6)
    rest = {
        name: figure
        for name, figure in results.summary.items()
        if not any(name == each.metric or name.startswith(f"{each.metric}.") for each in answered)
    }
    if any(figure.mean is not None for figure in rest.values()):
        heading(console, "Every figure")
        console.print(_figures(rest, console))
        _judged(console, results, rest)
    _unscored(console, rest)
    _groups(console, "By type", results.by_type, results)
    _groups(console, "By document", results.by_document, results)
    _cuts(console, results)
    _agreement(console, results)
    _worst(console, results)
    _cost(console, results)
    _advice(console, results)
    _detectable(console, results)


def _head(results: Results, console: Console) -> None:
    from rich.text import Text

    asked = results.configuration
    known = results.data.get("documents")
    documents = known if isinstance(known, dict) else {}
    how = f"k={asked['k']}" if not asked.get("budget") else f"{asked['budget']:,} tokens a question"
    console.print(Text(f"{one_line(results.label, 200)} · {how}", "bold"))
    line(
        console,
        f"{counted(len(results.questions), 'question')} · "
        f"{counted(_whole(documents.get('count')), 'document')} of "
        f"{short_number(_whole(documents.get('characters')))} characters",
        "dim",
    )
    if told := nothing_known(results):
        line(console, f"! {told}", "yellow")


def _judged(console: Console, results: Results, names: Iterable[str], left: int = 2) -> None:
    """Who judged, and what that is worth; once for figures of the same judge."""
    told: dict[str, list[str]] = {}
    for name in names:
        figure = results.summary.get(name)
        if figure is not None and figure.mean is not None and (who := judged_by(results, name)):
            told.setdefault(who, []).append(name.rpartition(".")[2])
    for who, own in told.items():
        methods = ", ".join(dict.fromkeys(own))
        indented(console, f"{methods}: {one_line(who, 300)}", "dim", left)


def _figures(figures: Mapping[str, Figure], console: Console) -> Table:

    table = figure_table(console)
    for name, figure in figures.items():
        if figure.mean is not None:
            add_row(table, name, value(name, figure.mean), figure, console)
    return table


def _unscored(console: Console, figures: Mapping[str, Figure]) -> None:
    """Metrics without any score, by the reason."""
    reasons: dict[str, list[str]] = {}
    for name, figure in figures.items():
        if figure.mean is None:
            reasons.setdefault(why_unscored(figure), []).append(name)
    for why, names in reasons.items():
        line(console, f"unscored: {', '.join(names)} ({why})", "dim")
    _partly_scored(console, figures)


def _partly_scored(console: Console, figures: Mapping[str, Figure]) -> None:
    """Metrics that some questions have no score in: a mean over the others may be one over the easy ones."""
    reasons: dict[str, list[str]] = {}
    for name, figure in figures.items():
        if figure.mean is not None and figure.unscored:
            gone = sum(figure.unscored.values())
            told = f"{gone:,} of {gone + figure.scored:,}: {why_unscored(figure)}"
            reasons.setdefault(told, []).append(name)
    for why, names in reasons.items():
        line(console, f"unscored in part: {', '.join(names)} ({why})", "dim")


def _groups(
    console: Console, title: str, groups: Mapping[str, Mapping[str, Figure]], results: Results
) -> None:
    found = {
        name: figure
        for name, figures in groups.items()
        if (figure := figures.get(results.objective)) and figure.mean is not None
    }
    if len(found) < 2:
        return
    heading(console, f"{title}: {results.objective}")
    table = figure_table(console)
    sign = -1 if lower_is_better(results.objective) else 1
    hardest = sorted(found, key=lambda name: (sign * (found[name].mean or 0.0), name))
    for name in hardest[:_MOST_GROUPS]:
        add_row(table, name or "(none)", f"{found[name].mean:.3f}", found[name], console)
    console.print(table)
    if len(hardest) > _MOST_GROUPS:
        line(console, f"and {len(hardest) - _MOST_GROUPS:,} more, none worse", "dim")
    spread = robustness(results)
    if title == "By type" and spread and spread.drop > 0:
        line(
            console,
            f"from {one_line(spread.easiest, 40)} to {one_line(spread.hardest, 40)}: "
            f"{100 * spread.drop:.1f} points worse",
            "dim",
        )


def _cuts(console: Console, results: Results) -> None:
    from rich.text import Text

    cuts = results.cuts
    if cuts is None or not cuts.with_issues:
        return
    heading(console, f"Boundary issues: {cuts.with_issues:,} of {counted(cuts.chunks, 'chunk')}")
    table = plain_table("", "", "count", left=2)
    most = max(cuts.counts.values(), default=1)
    for kind, count in sorted(cuts.counts.items(), key=lambda item: -item[1]):
        if count:
            table.add_row(Text(f"  {kind}"), Text(bar(count / most, 16), "cyan"), f"{count:,}")
    console.print(table)


def _agreement(console: Console, results: Results) -> None:
    if not results.agreement:
        return
    heading(console, "Do the judges agree?")
    for pair in results.agreement:
        line(console, f"{pair.first} and {pair.second}: {_agreed(pair)}")


def _agreed(pair: Agreement) -> str:
    if pair.same is None or not pair.hits:
        return "no hit has a verdict of both"
    if pair.kappa is None:
        return f"no κ, both say one and the same of all {counted(pair.hits, 'hit')}"
    return f"κ {pair.kappa:.2f}, the same on {percent(pair.same)} of {counted(pair.hits, 'hit')}"


def _worst(console: Console, results: Results) -> None:
    from rich.text import Text

    by_id = {question.id: question for question in results.questions}
    worst = [by_id[id] for id in results.worst[:_WORST] if id in by_id]
    if not worst:
        return
    heading(console, f"The worst questions, by {results.objective}")
    for question in worst:
        score = question.scores.get(results.objective)
        shown = "unscored" if score is None else f"{score:.2f}"
        room = max(console.width - 10, 20)
        console.print(Text.assemble(f"  {shown}  ", (one_line(question.text, room), "bold")))
        _missed(console, question)


def _missed(console: Console, question: QuestionResult) -> None:
    for piece in question.missed[:2]:
        rank = f"stands at rank {piece.rank}" if piece.rank else "not among the hits looked at"
        place = (
            f"{one_line(piece.passage.doc_id, 60)} {piece.passage.start:,}–{piece.passage.end:,}"
        )
        indented(console, f"missed: “{one_line(piece.text, 160)}”")
        indented(console, f"{place} · {rank}", "dim")
    if len(question.missed) > 2:
        indented(console, f"and {len(question.missed) - 2:,} more", "dim")


def _cost(console: Console, results: Results) -> None:
    cost = results.cost
    if not cost and not llm_spent(results):
        return
    heading(console, "Cost")
    told = []
    if "chunks" in cost:
        told.append(
            f"{counted(_whole(cost['chunks']), 'chunk')} of {_number(cost.get('median_tokens')):,.0f} tokens (median; "
            f"p95 {_number(cost.get('p95_tokens')):,.0f}, longest {_number(cost.get('max_tokens')):,.0f})"
        )
    if cost.get("storage") is not None:
        told.append(f"storage {_number(cost['storage']):.2f}×")
    if cost.get("index_bytes"):
        told.append(f"index {_bytes(_number(cost['index_bytes']))}")
    if cost.get("context_tokens") is not None:
        told.append(f"{_number(cost['context_tokens']):,.0f} tokens of context a question")
    if told:
        line(console, " · ".join(told))
    if spent := llm_spent(results):
        line(console, "language model: " + " · ".join(f"{amount} {what}" for what, amount in spent))


def _advice(console: Console, results: Results) -> None:
    if results.advice:
        heading(console, "What to try")
        for each in results.advice:
            line(console, one_line(each.text))


def _detectable(console: Console, results: Results) -> None:
    least = results.detectable.get(results.objective)
    if least is not None:
        console.print()
        line(
            console,
            f"With {counted(len(results.questions), 'question')}, differences in {results.objective} under "
            f"{100 * least:.1f} points cannot be shown.",
            "dim",
        )


def _bytes(count: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count:,.0f} bytes"


def _number(given: object) -> float:
    return float(given) if isinstance(given, int | float) else 0.0


def _whole(given: object) -> int:
    return int(_number(given))
