"""An evaluation as one HTML page that needs nothing else: the four questions first, then all that they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from chunkwise.base.atomic import replacing, says_what_it_writes
from chunkwise.base.wording import counted, short_number
from chunkwise.core import Document
from chunkwise.evaluation.results import Json, Results
from chunkwise.report.evaluation.account import cost, how_sure, made_with, what_to_try
from chunkwise.report.evaluation.beside import nothing_known
from chunkwise.report.evaluation.cards import four_cards
from chunkwise.report.evaluation.cuts import cut_kinds, cuts_lead
from chunkwise.report.evaluation.figures import all_figures, by_document, by_type
from chunkwise.report.evaluation.questions import questions_table
from chunkwise.report.evaluation.rows import between
from chunkwise.report.evaluation.score_columns import how_many
from chunkwise.report.evaluation.worst import worst_questions
from chunkwise.report.page_frame import PagePart, asset, framed
from chunkwise.report.page_text import breakable, words


def write_evaluation_page(
    results: Results, path: Path, documents: Mapping[str, Document] | None = None
) -> None:
    """Write the page; `documents`, by id, give the hits of the worst questions their text."""
    page = evaluation_page(results, documents).encode("utf-8")
    with replacing(path) as temporary, says_what_it_writes(path):
        temporary.write_bytes(page)


def evaluation_page(results: Results, documents: Mapping[str, Document] | None = None) -> str:
    """The page as a string; nothing is fetched, and it can be read without its script."""
    return framed(
        "evaluation",
        results.label or "An evaluation",
        _head(results),
        _parts(results, documents or {}),
        style=asset("page.css") + asset("charts.css") + asset("evaluation.css"),
        script=asset("tables.js"),
    )


def _parts(results: Results, documents: Mapping[str, Document]) -> list[PagePart]:
    objective = breakable(results.objective)
    cuts = results.cuts
    found = (
        ("four", "Four questions", "The four questions", four_cards(results), ""),
        ("figures", "Figures", "Every figure", all_figures(results),
         "The dot is the mean, the line its 95 % interval: another set of such questions would likely give a"
         " mean on it."),
        ("types", "Types", "Which questions are hard?", by_type(results), ""),
        ("documents", "Documents", "Which documents are hard?", by_document(results),
         f"{objective} over the questions about each document, the worst first."),
        ("cuts", "Cuts", "Where the cuts hurt", cut_kinds(cuts) if cuts and cuts.chunks else "",
         cuts_lead(cuts) if cuts else ""),
        ("worst", "Worst", "The worst questions", worst_questions(results, documents),
         f"By {objective}. What was missed, and what took its place."),
        ("questions", "All questions", "All questions", how_many(results) + questions_table(results), ""),
        ("try", "What to try", "What to try", what_to_try(results), ""),
        ("sure", "How sure", "How sure is this?", how_sure(results), ""),
        ("cost", "Cost", "What it costs", cost(results), ""),
        ("made", "Made with", "Made with", made_with(results), ""),
    )  # fmt: skip
    return [PagePart(*each) for each in found]


def _head(results: Results) -> str:
    given = results.configuration
    strategy = given.get("strategy") or given.get("hits") or "An evaluation"
    parts = [given.get("retriever"), *results.steps, given.get("model")]
    how = [f"<b>{words(str(each), 120)}</b>" for each in parts if each]
    budget, k = given.get("budget"), given.get("k")
    if isinstance(budget, int):
        how.append(f"{budget:,} tokens a question")
    elif isinstance(k, int):
        how.append(f"{counted(k, 'hit')} a question")
    how.append(counted(len(results.questions), "question"))
    if documents := _count(results.data.get("documents")):
        how.append(counted(documents, "document"))
    if tokens := _count(results.data.get("tokens")):
        how.append(f"{short_number(tokens)} tokens")
    told = nothing_known(results)
    lacking = f"<p><b>{words(told[:1].upper() + told[1:])}</b></p>" if told else ""
    return (
        f'<header class="top"><div><p class="kicker">Evaluation</p><h1>{words(str(strategy), 300)}</h1>'
        f'<p class="how">{" · ".join(how)}</p>{lacking}</div>{_objective(results)}</header>'
    )


def _objective(results: Results) -> str:
    figure = results.summary.get(results.objective)
    if figure is None or figure.mean is None:
        return ""
    sure = between("", figure)
    told = f"<span>95 % interval {sure}</span>" if sure else ""
    return (
        f'<p class="objective"><span>{breakable(results.objective)}</span>'
        f"<b>{figure.mean:.3f}</b>{told}</p>"
    )


def _count(given: Json) -> int:
    """A number, or the one inside what else is known."""
    if isinstance(given, dict):
        given = given.get("count")
    return int(given) if isinstance(given, int | float) else 0
