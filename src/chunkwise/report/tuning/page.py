"""A tuning as one HTML page that needs nothing else: what to do first, then all that it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from chunkwise.base.atomic import replacing, says_what_it_writes
from chunkwise.report.charts.drawn import without_charts
from chunkwise.report.page_frame import PagePart, asset, framed
from chunkwise.report.page_text import breakable, words
from chunkwise.report.tuning.account import made_with, method, not_tried, use_it
from chunkwise.report.tuning.budgets import budget_curves
from chunkwise.report.tuning.choice import head, recommendation
from chunkwise.report.tuning.corpus_parts import corpus_parts
from chunkwise.report.tuning.costs import costs
from chunkwise.report.tuning.cut_counts import cut_counts
from chunkwise.report.tuning.cut_documents import cut_documents
from chunkwise.report.tuning.differences import differences
from chunkwise.report.tuning.explored_questions import explored_questions
from chunkwise.report.tuning.explorer import Explorer
from chunkwise.report.tuning.leaders import leaders, legend_of_leaders
from chunkwise.report.tuning.lever_cards import lever_cards, lever_line
from chunkwise.report.tuning.measured import Measured
from chunkwise.report.tuning.pareto import pareto_plots
from chunkwise.report.tuning.sizes import held, size_charts
from chunkwise.report.tuning.unasked import unasked_table
from chunkwise.report.tuning.weights import weights
from chunkwise.tuning.sweep_result import SweepResult


def write_tuning_page(
    tuning: SweepResult,
    path: Path,
    *,
    explorer: Explorer | None = None,
    code: Mapping[str, str] | None = None,
) -> None:
    """Write the page; see `tuning_page`."""
    page = tuning_page(tuning, explorer=explorer, code=code).encode("utf-8")
    with replacing(path) as temporary, says_what_it_writes(path):
        temporary.write_bytes(page)


def tuning_page(
    tuning: SweepResult, *, explorer: Explorer | None = None, code: Mapping[str, str] | None = None
) -> str:
    """The page as a string; `explorer` gives it texts, `code` what does the same, by what it is for."""
    measured = Measured(tuning)
    label = measured.chosen.configuration.label if measured.chosen else "No choice"
    return framed(
        "tuning",
        label,
        head(measured) + (without_charts() if measured.count else ""),
        _parts(measured, explorer, code or {}),
        style=asset("page.css") + asset("charts.css") + asset("tuning.css"),
        script=asset("tables.js"),
    )


def _parts(
    measured: Measured, explorer: Explorer | None, code: Mapping[str, str]
) -> list[PagePart]:
    tuning = measured.tuning
    objective = breakable(tuning.objective)
    on = f"on the {measured.count:,} {measured.asked} questions"
    rest = words(held(measured), 200)
    found = (
        ("choice", "Choice", "What to do", recommendation(measured), ""),
        ("use", "Use it", "Use it", use_it(code), ""),
        ("against", "Defaults", "Is it better than the common defaults?", differences(measured),
         f"Difference in {objective} {on}, in points of a hundred. A line that crosses zero shows no difference."),
        ("leaders", "Leaders", "Everything that was tried", leaders(measured), legend_of_leaders(measured)),
        ("unasked", "Chunkings", "What can be compared without questions", unasked_table(measured),
         "Clean cuts and low costs do not tell what a search finds."),
        ("budgets", "Budgets", "How much context does it take?", budget_curves(measured),
         f"Recall {on}, by the tokens of context that may be handed on; lines beside the signs are 95 % intervals."),
        ("levers", "Levers", "What moves it, and what does not", lever_cards(measured),
         f"{lever_line(measured)} Mean {objective} of all configurations with each value, all else averaged."),
        ("sizes", "Sizes", "How large should chunks be?", size_charts(measured),
         f"{objective} {on} over the size of chunks; everything else as in the best configuration with chunks"
         f" ({rest}). Intervals are in the table."),
        ("pareto", "Trade-off", "What does quality cost?", pareto_plots(measured),
         "The line joins those that nothing in the chart is both better and cheaper than."
         + (f" Within {measured.budget:,} tokens all read as much: storage differs." if measured.budget else "")),
        ("parts", "Parts", "Is one setting good enough for all of the corpus?", corpus_parts(measured), ""),
        ("weights", "Weights", "Weights and vectors", weights(measured), ""),
        ("cuts", "Cuts", "What the cuts break", cut_counts(measured, explorer.cuts if explorer else {}),
         "Share of the chunks with an issue of each kind, and how many."),
        ("questions", "Questions", "Questions, one by one", explored_questions(explorer) if explorer else "",
         "What the choice and the default retrieved, the worst first. <mark>Gold text</mark> is marked where it was"
         " found; what was missed stands below with its rank."),
        ("documents", "Documents", "Documents as they are cut", cut_documents(explorer) if explorer else "",
         'Chunk by chunk; <span class="again">what two chunks share</span> is underlined.'),
        ("cost", "Cost", "What it costs", costs(measured), ""),
        ("method", "Method", "How this was found out", method(measured), ""),
        ("left", "Not tried", "What was not tried", not_tried(measured), ""),
        ("made", "Made with", "To see this again", made_with(measured), ""),
    )  # fmt: skip
    return [PagePart(*each) for each in found]
