"""Every figure of an evaluation, and the one that counts by type and by document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chunkwise.base.wording import counted
from chunkwise.evaluation.direction import lower_is_better
from chunkwise.evaluation.four_questions import FOUR, robustness
from chunkwise.evaluation.judges_told import judged_by
from chunkwise.evaluation.results import Figure, Results
from chunkwise.report.evaluation.help import help_of
from chunkwise.report.evaluation.marks import interval_bar, interval_line
from chunkwise.report.evaluation.rows import Row, figures_table, row_of
from chunkwise.report.page_text import attribute, breakable, words

_GROUPS = (
    "What is retrieved",
    "As the Chroma report defines them",
    "The four questions",
    "The chunks themselves",
    "Answers",
)
_OF_ANSWERS = ("answer_", "faithfulness", "citation_precision", "citation_recall")
_MOST_DOCUMENTS = 20


def all_figures(results: Results) -> str:
    """The forest of intervals, in groups."""
    groups: dict[str, list[Row]] = {name: [] for name in _GROUPS}
    for name, figure in results.summary.items():
        told = " ".join(part for part in (help_of(name), _judged(results, name, figure)) if part)
        groups[_group(name, figure)].append(row_of(name, figure, attribute(told)))
    if not results.summary:
        return ""
    table = figures_table(groups, interval_line, "Every figure with its 95 % interval", "metric")
    return f'<div class="card">{table}</div>'


def _judged(results: Results, name: str, figure: Figure) -> str:
    """Who judged, as a sentence; nothing where nobody did."""
    told = judged_by(results, name) if figure.mean is not None else ""
    return f"{told[:1].upper()}{told[1:]}." if told else ""


def by_type(results: Results) -> str:
    """From the easiest type of question to the hardest; nothing where there are not two."""
    found = _means(results, results.by_type)
    if len(found) < 2:
        return ""
    sign = 1 if lower_is_better(results.objective) else -1
    order = sorted(found, key=lambda name: (sign * (found[name].mean or 0.0), name))
    best = found[order[0]].mean or 0.0
    rows = [_grouped(name, found[name], best) for name in order]
    table = figures_table(
        {"": rows}, interval_bar, f"{results.objective} by type of question", "type"
    )
    spread = robustness(results)
    told = (
        f'<p class="drop"><b>{100 * spread.drop:.1f} points</b> lie between {words(spread.easiest, 60)}'
        f" and {words(spread.hardest, 60)} in {breakable(results.objective)}.</p>"
        if spread
        else ""
    )
    return f'<div class="card">{told}{table}</div>'


def by_document(results: Results) -> str:
    """The documents whose questions fare worst come first."""
    found = _means(results, results.by_document)
    if len(found) < 2:
        return ""
    sign = -1 if lower_is_better(results.objective) else 1
    order = sorted(found, key=lambda name: (sign * (found[name].mean or 0.0), name))
    caption = f"{results.objective} by document"
    first, rest = (
        _documents(found, order[:_MOST_DOCUMENTS], caption),
        _documents(found, order[_MOST_DOCUMENTS:], caption),
    )
    more = len(order) - _MOST_DOCUMENTS
    behind = (
        f"<details><summary>{counted(more, 'more document')}</summary>{rest}</details>"
        if more > 0
        else ""
    )
    return f'<div class="card">{first}{behind}</div>'


def _documents(found: Mapping[str, Figure], names: Sequence[str], caption: str) -> str:
    rows = [row_of(name, found[name], shown=words(name, 120)) for name in names]
    return figures_table({"": rows}, interval_bar, caption, "document")


def _grouped(name: str, figure: Figure, best: float) -> Row:
    below = 100 * (best - (figure.mean or 0.0))
    hint = f"{below:.1f} points below the easiest" if below >= 0.05 else "the easiest"
    return row_of(name, figure, hint, words(name, 60) if name.strip() else "(no type)")


def _means(results: Results, groups: Mapping[str, Mapping[str, Figure]]) -> dict[str, Figure]:
    return {
        name: figure
        for name, figures in groups.items()
        if (figure := figures.get(results.objective)) and figure.mean is not None
    }


def _group(name: str, figure: Figure) -> str:
    if name.startswith("chroma."):
        return _GROUPS[1]
    if any(name == metric or name.startswith(f"{metric}.") for _, metric in FOUR):
        return _GROUPS[2]
    if name.startswith(_OF_ANSWERS):
        return _GROUPS[4]
    # What is said of a chunking and of no question has no interval.
    of_questions = "@" in name or figure.scored or figure.unscored
    return _GROUPS[0] if of_questions else _GROUPS[3]
