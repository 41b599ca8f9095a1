"""An evaluation in a terminal: the four questions first, then every figure with its interval, then what to look at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from chunkwise.base.wording import (
    counted,
    from_to,
    interval,
    percent,
    points,
    score,
    short_number,
    size_in_bytes,
    thousands,
    two_digits,
)
from chunkwise.evaluation.cost import cost_words
from chunkwise.evaluation.results import Agreement, Figure, Json
from chunkwise.evaluation.verdicts_and_advice import AT_CEILING, OUT_OF_REACH, WEAK
from chunkwise.report.sanitize import one_line
from chunkwise.report.terminal.widgets import (
    LOWER,
    add_row,
    bar,
    figure_table,
    heading,
    indented,
    line,
    plain_table,
)
from chunkwise.report.views.evaluation import EvaluationView, FigureRow, FourCard
from chunkwise.report.views.lint import BY_KIND
from chunkwise.report.views.questions import WorstQuestion

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_WORST = 5
_METHOD = 26
"""Cells up to the figures of the four questions."""
_MOST_GROUPS = 10
_MOST_REASONS = 3
_LONGEST_REASON = 300
_WORD = max(map(len, (AT_CEILING, OUT_OF_REACH, WEAK, "excellent")))
_STYLES = {"excellent": "green", "good": "green", "below": "yellow"}


def render_evaluation(view: EvaluationView, console: Console) -> None:
    """Draw the results."""
    _head(view, console)
    measured = [card for card in view.four if card.methods]
    if measured:
        heading(console, "The four questions")
        for card in measured:
            _four(console, card)
    answered = {method.name for card in measured for method in card.methods}
    rows = {row.name: row for group in view.figures for row in group.rows}
    rest = [rows[name] for name in view.figure_order if name not in answered]
    if any(row.figure.mean is not None for row in rest):
        heading(console, "Every figure")
        console.print(_figures(rest, console))
        _directions(console, rest)
        _judged(console, [(row.name.rpartition(".")[2], row.judged_by) for row in rest])
    _unscored(console, rest)
    _groups(console, "By type", view.types, view)
    _groups(console, "By document", view.documents, view)
    _cuts(console, view)
    _agreement(console, view)
    _worst(console, view)
    _cost(console, view)
    if view.advice:
        heading(console, "What to try")
        for each in view.advice:
            line(console, one_line(each.text))
    _detectable(console, view)


def _head(view: EvaluationView, console: Console) -> None:
    from rich.text import Text

    how = f"{counted(view.budget, 'token')} a question" if view.budget else f"k={view.k}"
    console.print(Text(f"{one_line(view.label, 200)} · {how}", "bold"))
    more = (
        f" ({thousands(view.questions_left_out)} more left out)" if view.questions_left_out else ""
    )
    line(
        console,
        f"{counted(view.question_count, 'question')}{more} · {counted(view.document_count, 'document')} of "
        f"{short_number(view.character_count)} characters",
        "dim",
    )
    if view.warning:
        line(console, f"! {view.warning}", "yellow")


def _four(console: Console, card: FourCard) -> None:
    """A question of the four with a line a method, and what there is to say about these figures."""
    from rich.text import Text

    line(console, card.question)
    for method in card.methods:
        figure = method.figure
        tail = Text()
        shown = Text(f"    {method.method or 'chunks with an issue':<{_METHOD - 4}}")
        if figure.mean is None:
            tail.append(f"unscored: {_why(figure)}", "dim")
        else:
            shown.append(f"{method.row.value:>7}  ", "bold")
            shown.append(f"{figure.verdict:<{_WORD}} ", _STYLES.get(figure.verdict, ""))
            shown.append(interval(figure.low, figure.high), "dim")
            if method.at_most is not None:
                tail.append(f"  at most {score(method.at_most)}", "dim")
            if figure.of_how_many:
                tail.append(f"  {figure.of_how_many}", "yellow")
        _beside_or_below(console, shown, tail)
    partly: dict[str, list[str]] = {}
    for method in card.methods:
        figure = method.figure
        if figure.mean is not None and figure.unscored:
            gone = f"{thousands(figure.questions - figure.scored)} of {thousands(figure.questions)}"
            partly.setdefault(f"unscored for {gone}: {_why(figure)}", []).append(method.method)
    for why, names in partly.items():
        indented(console, f"{', '.join(names)} {why}", "dim", 6)
    for number, note in enumerate(card.notes):
        indented(console, note, "dim" if number else "", 6)
    scored = [method for method in card.methods if method.figure.mean is not None]
    _judged(console, [(method.name.rpartition(".")[2], method.judged_by) for method in scored], 6)


def _beside_or_below(console: Console, shown: Text, tail: Text) -> None:
    """A line and what belongs to it, which gets a line of its own where the screen is narrow: no figure is cut."""
    from rich.padding import Padding

    if shown.cell_len + tail.cell_len <= console.width:
        console.print(shown.append_text(tail), no_wrap=True, overflow="ellipsis")
        return
    lines = tail.wrap(console, max(console.width - _METHOD, 20))
    if shown.cell_len <= _METHOD:  # there is room beside the name
        shown.append_text(lines.pop(0))
    console.print(shown, no_wrap=True, overflow="ellipsis")
    for each in lines:
        console.print(Padding(each, (0, 0, 0, _METHOD), expand=False))


def _judged(console: Console, judged: Iterable[tuple[str, str]], left: int = 2) -> None:
    """Who judged, and what that is worth; once for figures of the same judge."""
    methods_of: dict[str, list[str]] = {}
    for method, who in judged:
        if who:
            methods_of.setdefault(who, []).append(method)
    for who, own in methods_of.items():
        methods = ", ".join(dict.fromkeys(own))
        indented(console, f"{methods}: {one_line(who, 300)}", "dim", left)


def _figures(rows: Sequence[FigureRow], console: Console) -> Table:
    table = figure_table(console)
    for row in rows:
        if row.figure.mean is not None:
            name = f"{row.name} {LOWER}" if row.lower_is_better else row.name
            add_row(table, name, row.value, row.figure, console)
    return table


def _directions(console: Console, rows: Sequence[FigureRow]) -> None:
    """Which way is good where it is not up, and what figures of a whole chunking say."""
    shown = [row for row in rows if row.figure.mean is not None]
    if any(row.lower_is_better for row in shown):
        line(console, f"{LOWER} lower is better", "dim")
    for row in shown:
        if row.is_of_chunking and row.help:
            line(console, f"{row.name}: {row.help}", "dim")


def _why(figure: Figure) -> str:
    """The reasons why there is no score, the most common first, each with its questions where there are several."""
    reasons = sorted(figure.unscored.items(), key=lambda each: -each[1])
    # They may quote what a server or a model said.
    told = [one_line(reason, _LONGEST_REASON) for reason, _ in reasons[:_MOST_REASONS]]
    if len(reasons) > 1:
        told = [
            f"{why} ({thousands(count)})" for why, (_, count) in zip(told, reasons, strict=False)
        ]
    if len(reasons) > _MOST_REASONS:
        rest = sum(count for _, count in reasons[_MOST_REASONS:])
        told.append(f"other reasons ({thousands(rest)})")
    return "; ".join(told) or "unscored"


def _unscored(console: Console, rows: Sequence[FigureRow]) -> None:
    """Metrics without any score, by the reason; then those that some questions have no score in: a mean over the
    others may be one over the easy ones."""
    none: dict[str, list[str]] = {}
    partly: dict[str, list[str]] = {}
    for row in rows:
        figure = row.figure
        if figure.mean is None:
            none.setdefault(_why(figure), []).append(row.name)
        elif figure.unscored:
            gone = row.question_count - figure.scored
            partly.setdefault(
                f"{thousands(gone)} of {thousands(row.question_count)}: {_why(figure)}", []
            ).append(row.name)
    for title, reasons in (("unscored", none), ("unscored in part", partly)):
        for why, names in reasons.items():
            line(console, f"{title}: {', '.join(names)} ({why})", "dim")


def _groups(console: Console, title: str, rows: Sequence[FigureRow], view: EvaluationView) -> None:
    """The hardest first."""
    if not rows:
        return
    heading(console, f"{title}: {view.objective}")
    table = figure_table(console)
    sign = -1 if view.lower_is_better else 1
    hardest = sorted(rows, key=lambda row: (sign * (row.figure.mean or 0.0), row.name))
    for row in hardest[:_MOST_GROUPS]:
        add_row(table, row.name or "(none)", score(row.figure.mean), row.figure, console)
    console.print(table)
    if len(hardest) > _MOST_GROUPS:
        line(console, f"and {thousands(len(hardest) - _MOST_GROUPS)} more, none worse", "dim")
    spread = view.spread
    if title == "By type" and spread and (spread.drop > 0 or spread.pairs == 1):
        line(
            console,
            f"from {one_line(spread.easiest, 40)} to {one_line(spread.hardest, 40)}: "
            f"{points(spread.drop, plus=False)} points worse ({spread.words})",
            "dim",
        )


def _cuts(console: Console, view: EvaluationView) -> None:
    from rich.text import Text

    cuts = view.cuts
    if cuts is None or not cuts.with_issues:
        return
    heading(console, "Boundary issues")
    line(console, cuts.words)
    line(console, BY_KIND, "dim")
    table = plain_table("", "", "cuts", left=2)
    for kind in cuts.kinds:
        drawn = Text(bar(kind.count / cuts.kinds[0].count, 16), "cyan")
        table.add_row(Text(f"  {kind.name}"), drawn, thousands(kind.count))
    console.print(table)


def _agreement(console: Console, view: EvaluationView) -> None:
    if not view.agreement:
        return
    heading(console, "Do the judges agree?")
    for pair in view.agreement:
        line(console, f"{pair.first} and {pair.second}: {_agreed(pair)}")


def _agreed(pair: Agreement) -> str:
    if pair.same is None or not pair.hits:
        return "no hit has a verdict of both"
    if pair.kappa is None:
        return f"no κ, both say one and the same of all {counted(pair.hits, 'hit')}"
    return f"κ {two_digits(pair.kappa)}, the same on {percent(pair.same)} of {counted(pair.hits, 'hit')}"


def _worst(console: Console, view: EvaluationView) -> None:
    from rich.text import Text

    if not view.worst:
        return
    heading(console, f"The worst questions, by {view.objective}")
    for question in view.worst[:_WORST]:
        shown = score(question.score)
        room = max(console.width - 10, 20)
        console.print(Text.assemble(f"  {shown}  ", (one_line(question.text, room), "bold")))
        _missed(console, question)


def _missed(console: Console, question: WorstQuestion) -> None:
    for piece in question.missed[:2]:
        rank = f"stands at rank {piece.rank}" if piece.rank else "not among the hits looked at"
        place = f"{one_line(piece.doc_id, 60)} {from_to(piece.start, piece.end)}"
        indented(console, f"missed: “{one_line(piece.text, 160)}”")
        indented(console, f"{place} · {rank}", "dim")
    if len(question.missed) > 2:
        indented(console, f"and {thousands(len(question.missed) - 2)} more", "dim")


def _cost(console: Console, view: EvaluationView) -> None:
    cost = view.cost
    if not cost and not view.llm_spent:
        return
    heading(console, "Cost")
    parts = []
    if "chunks" in cost:
        parts.append(
            f"{counted(_number(cost['chunks']), 'chunk')} of {counted(_number(cost.get('median_tokens')), 'token')} "
            f"(median; p95 {_worded(cost, 'p95_tokens')}, longest {_worded(cost, 'max_tokens')})"
        )
    if stored := _storage(cost):
        parts.append(f"storage {stored}")
    if cost.get("context_tokens") is not None:
        parts.append(f"{counted(_number(cost['context_tokens']), 'token')} of context a question")
    if parts:
        line(console, " · ".join(parts))
    if view.latency:
        told = ", ".join(f"{each.name} {each.value}" for each in view.latency)
        line(console, f"latency of the retriever: {told}")
    if view.llm_spent:
        spent = " · ".join(f"{each.value} {each.name}" for each in view.llm_spent)
        line(console, f"language model: {spent}")
    for each in view.llm_by_metric:
        indented(console, f"{one_line(each.name, 60)}: {each.value}", "dim")


def _storage(cost: Mapping[str, Json]) -> str:
    """In tokens, and in bytes where an index is there: vectors and terms take more than the text."""
    said = []
    if cost.get("storage") is not None:
        share = _worded(cost, "storage")
        tokens = cost.get("indexed_tokens")
        said.append(
            share if tokens is None else f"{_worded(cost, 'indexed_tokens')} tokens ({share})"
        )
    if cost.get("index_bytes"):
        said.append(size_in_bytes(_number(cost["index_bytes"])))
    return ", ".join(said)


def _worded(cost: Mapping[str, Json], name: str) -> str:
    return cost_words(name, _number(cost.get(name)))


def _detectable(console: Console, view: EvaluationView) -> None:
    least = view.detectable.get(view.objective)
    if least is not None:
        console.print()
        shown = f"hardly any difference in {view.objective} can be shown"
        if least < 1:
            under = f"{points(least, plus=False)} points"
            shown = f"differences in {view.objective} under {under} are seldom shown"
        line(console, f"With {counted(view.question_count, 'question')}, {shown}.", "dim")


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
