"""The page of a tuning: every figure is on it, charts and tables say the same, nothing runs, it fits a telephone."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from html import unescape
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.wording import points
from chunkwise.core import Passage
from chunkwise.metrics.cuts.boundary_issues import KINDS
from chunkwise.records.json import json_text
from chunkwise.report.charts import drawn, scale_of
from chunkwise.report.page import fragment, scoped_style, write_page
from chunkwise.report.page import page as page_of
from chunkwise.report.views.pareto import pareto_chart
from chunkwise.report.views.side_by_side import (
    ComparedQuestion,
    RetrievedSpan,
    SideBySide,
    SideResult,
    marked_text,
)
from chunkwise.report.views.sweep_charts import SweepFigures, size_chart, value_order
from chunkwise.report.views.tuning import tuning_view
from chunkwise.stats.intervals import interval
from chunkwise.tuning.sweep import Configuration, Grid, Sweep
from chunkwise.tuning.sweep_result import Standing, SweepResult
from real_browser import needs_browser
from report.made_tuning import BUDGETS, DEFAULTS, OBJECTIVE, made_side_by_side, made_tuning
from report.reading_pages import (
    EVIL,
    Page,
    changed,
    in_browser,
    luminance,
    part,
    plain,
)
from tables import cases

CODE = {
    "recommendation.toml": '# why\nstrategy = "structure"\n',
    "Python": "for a in b:\n    c(a < 1)\n",
}
_KEPT = {
    "test", "validation", OBJECTIVE, *KINDS, "late", "own", "none", "headings", "chunks_with_issues",
    *(f"recall@{budget}t" for budget in BUDGETS),
    *("chunks", "storage", "context_tokens", "mean_tokens", "p95_tokens", "left_out", "what", "why"),
    *("boundaries", "size", "overlap", "retriever", "one size or several", "better", "", *DEFAULTS),
}  # fmt: skip
FRONTS = re.compile('<path d="M([^"]*)"[^>]*stroke="var\\(--s3\\)"')


def tuning_page(
    tuning: SweepResult, both: SideBySide | None = None, code: Mapping[str, str] | None = None
) -> str:
    return page_of(tuning_view(tuning, side_by_side=both, code=code))


def tuning_fragment(tuning: SweepResult) -> str:
    return fragment(tuning_view(tuning))


@pytest.fixture(scope="module")
def tuning() -> SweepResult:
    return made_tuning()


@pytest.fixture(scope="module")
def both() -> SideBySide:
    return made_side_by_side()


@pytest.fixture(scope="module")
def html(tuning: SweepResult, both: SideBySide) -> str:
    return tuning_page(tuning, both, CODE)


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    """That of `html`, read."""
    return Page(html)


def rows_of(html: str, table: str) -> list[str]:
    body = re.search(f'<table class="{table}".*?<tbody[^>]*>(.*?)</tbody>', html, re.S)
    assert body
    return re.findall("<tr.*?</tr>", body[1], re.S)


def drawings(html: str) -> list[str]:
    """The wide one and the narrow one of each chart."""
    return re.findall("<svg class=.(?:wide|narrow).*?</svg>", html, re.S)


def curves(svg: str) -> list[tuple[str, str]]:
    """Color and dash of every line through points."""
    return re.findall('<path d="M[^"]*" stroke="([^"]*)" stroke-width="2.2"([^>]*)>', svg)


@pytest.mark.usefixtures("large_inputs")
def test_the_parts_come_in_their_order(html: str, page: Page) -> None:
    assert page.headings == [
        "What to do", "Use it", "Is it better than the common defaults?", "Everything that was tried",
        "How much context does it take?", "What moves it, and what does not", "How large should chunks be?",
        "What does quality cost?", "Is one setting good enough for all of the corpus?", "Weights and vectors",
        "What the cuts break", "Questions, one by one", "Documents as they are cut", "What it costs",
        "How this was found out", "What was not tried", "To see this again",
    ]  # fmt: skip
    assert re.findall('<a href="#([a-z]+)">', html) == re.findall('<section id="([a-z]+)"', html)


@pytest.mark.usefixtures("large_inputs")
def test_the_recommendation_has_its_figures_and_intervals(tuning: SweepResult, html: str) -> None:
    found = plain(part(html, "choice"))
    assert tuning.sentence in found
    assert f"of {len(tuning.standings) - 1} that may be chosen are tied with the best" in found
    assert "chosen from 158 configurations" in plain(html)
    standing = next(each for each in tuning.standings if each.key == tuning.chosen)
    test = standing.test
    assert test
    assert f"{test.mean:.3f}" in found
    assert f"({test.low:.3f}–{test.high:.3f})" in found
    for each in tuning.against:
        assert f"points against {each.baseline}" in found
        assert f"({points(each.low)} to {points(each.high)}): {each.words}" in found


@pytest.mark.unwatched
def test_the_context_is_that_of_the_objective(tuning: SweepResult, html: str) -> None:
    told = "tokens of context a question"
    for name in ("choice", "cost", "pareto", "leaders"):
        assert f"{told}, at most 1,000" in plain(part(html, name)), name
    by_k = tuning_page(dataclasses.replace(tuning, objective="recall@5"))
    assert "at most" not in plain(part(by_k, "choice"))
    # Where all read as much, there is nothing to draw over it.
    assert len(FRONTS.findall(part(html, "pareto"))) == 2  # one cost, for two widths


def test_what_the_rows_of_the_leaders_are(tuning: SweepResult, html: str) -> None:
    told = plain(part(html, "leaders"))
    assert "158 configurations that may be chosen, and 1 listed only" in told


@pytest.mark.unwatched
def test_one_retriever_of_a_default_is_meant_throughout(tuning: SweepResult) -> None:
    by_key = {each.configuration.key: each.configuration for each in tuning.outcomes}
    other = [
        dataclasses.replace(held, key=key)
        for held in tuning.against
        for key, own in by_key.items()
        if own.baseline == held.baseline and own.retriever == "bm25"
    ]
    measured = SweepFigures(dataclasses.replace(tuning, against=tuple(other)))
    assert [each.configuration.key for each in measured.baselines()] == [each.key for each in other]
    page = tuning_page(measured.tuning)
    for each in other:
        assert f"{each.baseline} · bm25" in plain(part(page, "cost"))


def test_parts_with_few_questions_are_named(tuning: SweepResult) -> None:
    few = dataclasses.replace(tuning, small_parts={"<b>odd</b>/": 9, "notes/": 2})
    told = plain(part(tuning_page(few), "parts"))
    assert "Not looked at, with fewer than 10 questions: <b>odd</b>/ (9), notes/ (2)." in told
    alone = plain(part(tuning_page(dataclasses.replace(few, parts=())), "parts"))
    assert "notes/ (2)" in alone


@pytest.mark.unwatched
def test_the_sweep_is_shown_as_the_file_that_asks_for_it(tuning: SweepResult) -> None:
    sweep = Sweep(
        ("handbook",), "q.json", (Grid(("sentences", "recursive"), (("max_tokens", (100, 200)),)),),
        (Grid(("bm25",)),),
    )  # fmt: skip
    plan = {"sweep": json.loads(json_text(sweep)), "configurations": 4}
    made = unescape(part(tuning_page(dataclasses.replace(tuning, plan=plan)), "made"))
    assert (
        '[[sweep.chunkers]]\nstrategy = ["sentences", "recursive"]\nmax_tokens = [100, 200]' in made
    )
    assert "chunkers ›" not in made


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        ((-0.3, 0.3), ["default better", "choice better"]),
        ((0.0, 0.7), ["choice better"]),
        ((-0.02, 0.7), ["choice better"]),
        ((-0.7, 0.0), ["default better"]),
    ],
)
def test_a_side_is_named_only_above_itself(
    tuning: SweepResult, ends: tuple[float, float], shown: list[str]
) -> None:
    held = dataclasses.replace(
        tuning.against[0], difference=sum(ends) / 2, low=ends[0], high=ends[1]
    )
    drawn = part(tuning_page(dataclasses.replace(tuning, against=(held,))), "against")
    assert re.findall("(?:← )?((?:default|choice) better)(?: →)?</text>", drawn) == shown


def test_every_configuration_is_a_row_of_the_leaders(tuning: SweepResult, html: str) -> None:
    rows = rows_of(html, "leaders")
    assert len(rows) == len(tuning.standings) == sum(not each.error for each in tuning.outcomes)
    by_key = {each.configuration.key: each for each in tuning.outcomes}
    for row, standing in zip(rows, tuning.standings, strict=True):
        text, outcome = plain(row), by_key[standing.key]
        assert standing.label in text
        for figure in (standing.validation, standing.test):
            assert figure
            assert f"{figure.mean:.3f}{figure.low:.3f}–{figure.high:.3f}" in text
        assert ("≈ tied" in text) == standing.tied
        assert ("★ the choice" in text) == (standing.key == tuning.chosen)
        assert ("◆ on the front" in text) == standing.pareto
        assert (f"■ common default: {outcome.configuration.baseline}" in text) == bool(
            outcome.configuration.baseline
        )
        assert (f"listed only: {standing.aside}" in text) == bool(standing.aside)
        assert f"{outcome.cost['storage']:.2f}×" in text


def test_filters_are_the_levers_with_more_than_one_value(tuning: SweepResult, html: str) -> None:
    tools = part(html, "leaders").split("<table")[0]
    values: dict[str, set[str]] = {}
    for each in tuning.outcomes:
        for name, value in each.configuration.levers.items():
            if not each.error:
                values.setdefault(name, set()).add(value)
    for name, own in values.items():
        found = re.search(f"<label>{name} <select[^>]*>(.*?)</select>", tools)
        assert bool(found) == (len(own) > 1)
        if found:
            options = [unescape(option) for option in re.findall(">([^<]*)</option>", found[1])]
            assert options == ["all", *sorted(own, key=value_order)]
    assert (
        value_order("none")
        < value_order("10 %")
        < value_order("100 tokens")
        < value_order("parent")
    )


@pytest.mark.unwatched
def test_curves_are_means_and_intervals_of_test_questions(tuning: SweepResult, html: str) -> None:
    found = part(html, "budgets")
    table = {
        plain(cells[0]): [plain(cell) for cell in cells[1:]]
        for row in rows_of(found, "plain")
        if (cells := re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row, re.S))
    }
    shown = {name.split(": ", 1)[1]: (name, cells) for name, cells in table.items()}
    by_label = {each.configuration.label: each for each in tuning.outcomes}
    for label, (name, cells) in shown.items():
        for budget, cell in zip(BUDGETS, cells, strict=True):
            scores = by_label[label].scores[f"recall@{budget}t"]
            asked = [
                score
                for score, split in zip(scores, tuning.splits, strict=True)
                if split == "test" and score is not None
            ]
            own = interval(asked)
            assert own
            told = f"{np.mean(asked):.3f} ({own.low:.3f}–{own.high:.3f})"
            assert cell == told
            # A curve says the same as its table.
            assert f"<title>{name}, {budget:,} tokens: {told}</title>" in found.replace(
                "&#x27;", "'"
            )
    names = " ".join(name for name, _ in shown.values())
    for wanted in (
        "the choice",
        "best bm25",
        "best dense",
        "best hybrid",
        "best multiscale",
        *DEFAULTS,
    ):
        assert wanted in names
    for svg in drawings(found):
        assert len(curves(svg)) == len(set(curves(svg))) == len(shown)


def test_sizes_are_a_chart_a_strategy_and_a_line_an_overlap(tuning: SweepResult, html: str) -> None:
    found = part(html, "sizes")
    for svg in drawings(found):
        assert re.findall('font-weight="600"[^>]*>([^<]*)</text>', svg) == [
            "recursive", "sections", "sentences", "structure",
        ]  # fmt: skip
        assert len(curves(svg)) == 3 + 1 + 3 + 3
        assert len(set(curves(svg))) == 3
    chosen = next(
        own.configuration for own in tuning.outcomes if own.configuration.key == tuning.chosen
    )
    standings = {each.key: each for each in tuning.standings}
    rows = [plain(row) for row in rows_of(found, "plain")]
    for each in tuning.outcomes:
        own = each.configuration
        same = (own.retriever, own.vectors) == (chosen.retriever, chosen.vectors)
        if own.strategy and not own.baseline and same:
            test = standings[own.key].test
            assert test
            levers = own.levers
            told = f"{levers['boundaries']}{levers['overlap']}{levers['size']}{test.mean:.3f}"
            assert any(row.startswith(told) for row in rows)
    assert len(rows) == 50


def test_the_front_goes_up_and_nothing_is_above_it(tuning: SweepResult) -> None:
    chart = pareto_chart(SweepFigures(dataclasses.replace(tuning, objective="recall@5")))
    assert chart
    found = drawn(chart)
    fronts = FRONTS.findall(found)
    assert len(fronts) == 4  # two costs, for two widths
    for path in fronts:
        steps = [tuple(map(float, step.split(","))) for step in path.split("L")]
        assert all(one[0] <= two[0] and one[1] >= two[1] for one, two in pairwise(steps))
    signs = r'<path transform="translate\(([0-9.]+),([0-9.]+)\) [^"]*" d="[^"]*" fill="[^"]*"[^>]*><title>'
    tops = [float(y) for _, y in re.findall(signs, drawings(found)[0])]
    assert len(tops) == 2 * len(tuning.standings)
    assert min(tops) == pytest.approx(
        min(float(step.split(",")[1]) for path in fronts[:2] for step in path.split("L")), abs=0.2
    )
    for svg in drawings(found):
        # In both charts; the legend names the defaults once more.
        named = re.findall('font-weight="600"[^>]*>([^<]*)</text>', svg)
        for name in ("the choice", *DEFAULTS):
            assert sum(name.startswith(label.removesuffix("…")) for label in named) == 2
        assert len(named) == 2 * 3
    assert len(chart.rows) == sum(each.pareto for each in tuning.standings)


def test_a_legend_names_what_is_there(tuning: SweepResult) -> None:
    default = {each.configuration.key for each in tuning.outcomes if each.configuration.baseline}
    others = [each for each in tuning.standings if each.key not in default and not each.pareto]
    few = dataclasses.replace(tuning, chosen="", standings=tuple(others[:5]))
    chart = pareto_chart(SweepFigures(few))
    assert chart
    wide = drawings(drawn(chart))[0]
    assert "the others</text>" in wide
    assert "the choice" not in wide
    assert not [name for name in DEFAULTS if name in wide]


def test_levers_parts_weights_and_agreement_are_told(tuning: SweepResult, html: str) -> None:
    cards = re.findall("<article.*?</article>", part(html, "levers"), re.S)
    levers = sorted(tuning.levers, key=lambda lever: -lever.effect)
    for card, lever in zip(cards, levers, strict=True):
        text = plain(card)
        assert text.startswith(lever.name + ("▲ moves it" if lever.moves else "≈ no effect shown"))
        assert (
            f"{points(lever.effect)} points, 95 % interval (of all levers together) "
            f"{points(lever.low)} to {points(lever.high)}" in text
        )
        for level in lever.levels:
            assert f"{level.value}: {level.mean:.3f}, {level.configurations} configuration" in text
        assert card.count("<circle") == len(lever.levels)
    rows = [plain(row) for row in rows_of(part(html, "parts"), "forest")]
    for row, own in zip(rows, tuning.parts, strict=True):
        assert row.startswith(
            f"{own.name}{own.questions} questions; the choice reaches {own.chosen_mean:.3f}"
        )
        assert ("worth one of its own" in row) == own.worth_it
    weights = plain(part(html, "weights"))
    assert tuning.fit
    assert tuning.fit.why in weights
    assert "multiscale kept0.761" in weights
    assert "Kendall’s τ0.87" in weights


def test_cuts_and_costs_stand_beside_those_of_the_defaults(tuning: SweepResult, html: str) -> None:
    cuts = part(html, "cuts")
    chosen = next(own for own in tuning.outcomes if own.configuration.key == tuning.chosen)
    rows = [plain(row) for row in rows_of(cuts, "issues")]
    assert len(rows) == len(KINDS)  # one kind is in none of them, all issues together are a row
    for kind, told in KINDS.items():
        own = [row for row in rows if told in row]
        assert len(own) == (kind != "broken_grapheme")
        assert all(f" {chosen.boundary_issues[kind]:,}" in row for row in own)
    assert "In none of them: broken grapheme." in plain(cuts)
    assert cuts.count('class="cut"') > 5
    costs = plain(part(html, "cost"))
    assert f"{chosen.cost['storage']:.2f}×" in costs
    assert "31.1 sto sweep" in costs


def test_method_failures_reasons_and_making_are_told(tuning: SweepResult, html: str) -> None:
    method = plain(part(html, "method"))
    assert "120 questions: 60 choose (validation), 60 were kept back" in method
    assert "About 410 would tell the best two apart" in method
    for caveat in tuning.caveats:
        assert caveat in method
    left = plain(part(html, "left"))
    assert "the model broke off: out of memory" in left
    assert "structure(max_tokens=100, overlap=120)" in left
    assert left.count("overlap is not smaller than max_tokens") == 1
    made = plain(part(html, "made"))
    for told in ("9f2c" * 16, "51ab" * 16, "0.1.0", "queries.json", "seed", tuning.chosen):
        assert told in made
    assert "    c(a < 1)" in plain(part(html, "use"))


def test_gold_text_is_marked_on_both_sides(both: SideBySide, html: str) -> None:
    rows = rows_of(html, "questions explored")
    assert len(rows) == len(both.questions)
    for row, question in zip(rows, both.questions, strict=True):
        gold = question.gold[0]
        sides = row.split("<h4 title=")[1:]
        for side, answered in zip(sides, (question.chosen, question.baseline), strict=True):
            holding = [
                hit
                for hit in answered.hits
                if hit.doc_id == gold.doc_id and hit.start < gold.end and gold.start < hit.end
            ]
            assert side.count("holds gold text") == side.count("<mark>") == len(holding)
            for hit, marked in zip(
                holding, re.findall("<mark>(.*?)</mark>", side, re.S), strict=True
            ):
                text = both.texts[gold.doc_id][max(gold.start, hit.start) : min(gold.end, hit.end)]
                assert unescape(marked).split() == text.split()
            for missed in answered.missed:
                told = f"stands at rank {missed.rank}" if missed.rank else "is not among the hits"
                assert told in plain(side)
    assert [row.count("<details open>") for row in rows] == [1] + [0] * (len(rows) - 1)


def test_a_summary_is_shown_by_what_it_says(tuning: SweepResult) -> None:
    """Not by the text between its first place and its last, which it need not stand for."""
    text = "First of all. " + "Gold is here. " * 20 + "Last of all."
    summary = RetrievedSpan("a", 0, len(text), 1, summary="It <b>begins</b> and it ends.")
    answered = SideResult(0.5, (summary, RetrievedSpan("a", 14, 60, 2)))
    question = ComparedQuestion("q", "why?", (Passage("a", 14, 27),), answered, answered)
    page = tuning_page(tuning, both=SideBySide("x", "y", (question,), {"a": text}))
    [row] = rows_of(page, "questions explored")
    assert row.count("It &lt;b&gt;begins&lt;/b&gt; and it ends.") == 2
    assert row.count("a summary") == row.count("holds gold text") == row.count("<mark>") == 2
    assert "First of all" not in row


def test_documents_are_cut_as_both_cut_them(both: SideBySide, html: str) -> None:
    found = part(html, "documents").split("<details")[1:]
    for document, shown in zip(both.documents, found, strict=True):
        text = both.texts[document.doc_id]
        for spans, column in zip(
            (document.chosen, document.baseline), shown.split("<h4>")[1:], strict=True
        ):
            assert f"{len(spans)} chunks" in column
            for (start, end), item in zip(
                sorted(spans), re.findall("<li>.*?</li>", column, re.S), strict=False
            ):
                shown = plain(item.replace("</span>", " ", 1)).split(" ", 1)[1]
                assert shown.split() == text[start : min(end, 4000)].split()
    assert 'class="again"' in found[0]


@pytest.mark.unwatched
def test_without_an_explorer_there_is_no_explorer(tuning: SweepResult) -> None:
    page = tuning_page(tuning)
    assert 'id="questions"' not in page
    assert 'id="documents"' not in page
    assert 'id="use"' not in page


def test_without_questions_it_compares_what_can_be_compared() -> None:
    tuning = made_tuning(0)
    page = tuning_page(tuning)
    assert Page(page).headings == [
        "What to do", "What can be compared without questions", "What the cuts break", "What it costs",
        "How this was found out", "What was not tried", "To see this again",
    ]  # fmt: skip
    rows = rows_of(page, "plain")
    strategies = {each.configuration.strategy for each in tuning.outcomes if not each.error} - {""}
    assert len(rows) == len(strategies)
    assert "no questions" in plain(part(page, "method"))
    assert "leaders" not in tuning_fragment(tuning).split("</style>")[1]


def test_a_choice_without_chunks_has_no_cuts_and_sizes_of_another(tuning: SweepResult) -> None:
    several = next(each for each in tuning.outcomes if not each.configuration.strategy)
    measured = SweepFigures(dataclasses.replace(tuning, chosen=several.configuration.key))
    assert "has no chunks of its own to break" in part(tuning_page(measured.tuning), "cuts")
    sizes = size_chart(measured)
    assert sizes
    assert ">structure</text>" in drawn(sizes)


def test_less_is_better_turns_the_sides(tuning: SweepResult) -> None:
    def sides(objective: str) -> list[str]:
        held = dataclasses.replace(tuning.against[0], low=-0.2, high=0.2)
        turned = dataclasses.replace(tuning, objective=objective, against=(held,))
        shown = part(tuning_page(turned), "against")
        return re.findall("(?:← )?((?:default|choice) better)(?: →)?<", shown)

    assert sides(OBJECTIVE) == ["default better", "choice better"]
    assert sides("failure@20") == ["choice better", "default better"]


def test_an_empty_tuning_is_a_page(tuning: SweepResult, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = SweepResult({}, {}, {}, "", "", "", (), (), (), (), None, {}, (), (), (), ())
    assert Page(tuning_page(empty)).headings == ["What to do", "How this was found out"]
    assert Page(tuning_fragment(empty)).tags[0][0] == "div"
    alone = dataclasses.replace(tuning, splits=("validation",) * len(tuning.splits), against=())
    alone = dataclasses.replace(
        alone, standings=tuple(dataclasses.replace(each, test=None) for each in tuning.standings)
    )
    assert "on the 120 questions that choose" in part(tuning_page(alone), "budgets")


def test_the_policy_allows_the_two_inline_texts_and_nothing_else(page: Page) -> None:
    def source(text: str) -> str:
        digest = hashlib.sha256(text.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"

    assert page.policy["default-src"] == "'none'"
    assert page.policy["style-src"] == source(page.style)
    assert page.policy["script-src"] == source(page.script)
    assert not re.search(r"@import|url\(|https?://", page.style + page.script)
    for _, attributes in page.tags:
        assert not [
            name for name in attributes if name.startswith("on") or name in ("style", "src")
        ]
        assert (attributes.get("href") or "#").startswith("#")
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def hostile(tuning: SweepResult, both: SideBySide) -> tuple[SweepResult, SideBySide]:
    """Evil text behind every string that is no key to a figure."""

    def change(text: str) -> str:
        return text if text in _KEPT else text + EVIL

    # The key of a configuration is made of its strategy: outcomes and standings must go on meeting.
    outcomes = changed(tuning.outcomes, lambda text: change(text).replace("\ud800", ""))
    new = {
        old.configuration.key: evil.configuration.key
        for old, evil in zip(tuning.outcomes, outcomes, strict=True)
    }
    evil = changed(
        dataclasses.replace(tuning, outcomes=()), lambda text: new.get(text, change(text))
    )
    return dataclasses.replace(evil, outcomes=outcomes), changed(both, change)


@pytest.fixture(scope="module")
def evil(tuning: SweepResult, both: SideBySide) -> tuple[SweepResult, str]:
    """With its page."""
    few = dataclasses.replace(both, questions=both.questions[:5])
    own, shown = hostile(dataclasses.replace(tuning, standings=tuning.standings[:12]), few)
    return own, tuning_page(own, both=shown, code={EVIL: EVIL})


@pytest.mark.unwatched
def test_hostile_text_is_only_text(evil: tuple[SweepResult, str], html: str, page: Page) -> None:
    own, drawn = evil
    read = Page(drawn)
    assert [tag for tag, _ in read.tags if tag in ("script", "img", "style", "title")].count(
        "script"
    ) == 1
    assert not [tag for tag, _ in read.tags if tag == "img"]
    assert not re.search("[\x00-\x08\x1b\u202e\u2066\u200f\ufeff\ud800]", drawn)
    assert "document.title" in read.text
    assert read.headings == page.headings
    assert len(drawings(drawn)) == len(drawings(html))
    fragment = Page(tuning_fragment(own))
    assert not [tag for tag, _ in fragment.tags if tag in ("script", "img")]


@pytest.mark.unwatched
def test_a_page_is_written_whole_and_in_utf_8(tuning: SweepResult, tmp_path: Path) -> None:
    write_page(tuning_view(tuning), tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text("utf-8") == tuning_page(tuning)
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.usefixtures("large_inputs")
def test_a_large_sweep_with_long_texts_stays_under_five_megabytes(tuning: SweepResult) -> None:
    by_key = {each.configuration.key: each for each in tuning.outcomes}
    standings: list[Standing] = []
    outcomes = []
    for turn in range(7):
        for each in tuning.standings:
            own = by_key[each.key]
            label = f"{own.configuration.strategy}{turn}"
            given = dataclasses.replace(own.configuration, strategy=label)
            standings.append(dataclasses.replace(each, key=given.key, label=given.label))
            outcomes.append(dataclasses.replace(own, configuration=given))
    many = dataclasses.replace(
        tuning, standings=tuple(standings), outcomes=tuple(outcomes), chosen=standings[1].key
    )
    text = "<&\"'>" * 4000
    hits = tuple(RetrievedSpan("a", 100 * at, 100 * at + 6000, at) for at in range(1, 11))
    answered = SideResult(0.5, hits)
    questions = tuple(
        ComparedQuestion(f"q{n}", "why?", (Passage("a", 900, 1600),), answered, answered)
        for n in range(400)
    )
    page = tuning_page(many, both=SideBySide("x", "y", questions, {"a": text}))
    assert len(standings) > 1000
    assert len(rows_of(page, "leaders")) == 1000
    assert 1_000_000 < len(page.encode()) < 5_000_000
    assert "more questions found no room here" in part(page, "questions")


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.integers(2, 8), st.booleans())
def test_a_scale_holds_all_values_between_round_ends(
    values: list[float], most: int, zero: bool
) -> None:
    scale = scale_of(values, most, zero=zero)
    slack = 1e-6 * (scale.high - scale.low)
    assert scale.low - slack <= min(values) <= max(values) <= scale.high + slack
    assert len(scale.ticks) <= most + 2 + 1
    assert scale.share(scale.low) == 0
    assert scale.share(scale.high) == 1
    assert not zero or scale.low <= 0 <= scale.high
    steps = np.diff(scale.ticks)
    assert np.allclose(steps, steps[0], rtol=1e-3)


@given(
    st.text("ab <&\n", max_size=3000),
    st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 3000)), max_size=4),
    st.integers(0, 3000),
    st.integers(0, 3000),
)
def test_marks_cover_the_gold_text_and_nothing_else(
    text: str, gold: list[tuple[int, int]], start: int, end: int
) -> None:
    parts = marked_text(text, start, end, gold)
    marked = "".join(part.text for part in parts if part.is_gold)
    places = sorted({
        at for low, high in gold for at in range(max(low, start), min(high, end, len(text)))
    })  # fmt: skip
    wanted = "".join(text[at] for at in places)
    if "…" not in marked:
        assert "".join(marked.split()) == "".join(wanted.split())
    shown = "".join(part.text for part in parts)
    for piece in shown.split("…"):
        assert "".join(piece.split()) in "".join(text[start:end].split())


def test_differences_are_signed_points() -> None:
    assert [points(each) for each in (0.071, -0.021, 0.0, 0.00004, 0.1)] == [
        "+7.1",
        "−2.1",
        "0.0",
        "0.0",
        "+10.0",
    ]


def test_baselines_are_the_best_of_each_default(tuning: SweepResult) -> None:
    found = SweepFigures(tuning).baselines()
    order = [each.key for each in tuning.standings]
    for each in found:
        same = [
            order.index(own.configuration.key)
            for own in tuning.outcomes
            if own.configuration.baseline == each.configuration.baseline
        ]
        assert order.index(each.configuration.key) == min(same)
    assert [each.configuration.baseline for each in found] == sorted(DEFAULTS)


def test_what_is_only_listed_is_the_best_of_nothing(tuning: SweepResult) -> None:
    first = tuning.standings[0]
    aside = (dataclasses.replace(first, aside="listed"), *tuning.standings[1:])
    found = SweepFigures(dataclasses.replace(tuning, standings=aside)).best_first()
    assert found[0].configuration.key == tuning.standings[1].key
    assert found[-1].configuration.key == first.key or found[-2].configuration.key == first.key
    assert isinstance(found[0].configuration, Configuration)


@cases("dark", [False, True])
def test_colours_can_be_told_from_their_ground(dark: bool) -> None:
    style = "".join(
        (files("chunkwise.report") / "assets" / name).read_text("utf-8")
        for name in ("page.css", "tuning.css")
    )
    themes = [
        dict(re.findall("--([a-z0-9-]+): (#[0-9a-f]{6})", each)) for each in style.split(":root")
    ]
    light, night = {**themes[1], **themes[4]}, {**themes[2], **themes[5]}
    assert set(light) == set(night)
    colors = night if dark else light

    def contrast(one: str, other: str) -> float:
        low, high = sorted((luminance(colors[one]), luminance(colors[other])))
        return (high + 0.05) / (low + 0.05)

    for number in range(8):
        assert contrast(f"s{number}", "card") >= 3, number
    assert contrast("ink", "gold") >= 4.5
    assert contrast("ink", "accent-soft") >= 4.5


_DRIVE = """
const shown = (name) => [...document.querySelectorAll(`#${name} tbody tr:not([hidden])`)];
const head = (name, key) => document.querySelector(`#${name} [data-sort="${key}"] button`).click();
const tell = (element, value, event) => { element.value = value; element.dispatchEvent(new Event(event)); };
const tools = document.querySelector('[data-for="leaders-table"]');
const selects = [...tools.querySelectorAll("select")], found = [shown("leaders-table").length];
head("leaders-table", "test"); found.push(shown("leaders-table")[0].dataset.place);
head("leaders-table", "test"); found.push(shown("leaders-table")[0].dataset.place);
tell(selects[0], "baseline", "change"); found.push(shown("leaders-table").length);
tell(selects[0], "", "change");
const retriever = selects.find((each) => each.parentElement.textContent.startsWith("retriever"));
tell(retriever, [...retriever.options].find((each) => each.text === "multiscale").value, "change");
found.push(shown("leaders-table").length); tell(retriever, "", "change");
tell(document.getElementById("leader"), "no such name", "input"); found.push(shown("leaders-table").length);
tell(document.getElementById("explored"), "q003", "input"); found.push(shown("explored-table").length);
found.push([...document.querySelectorAll("summary, select, input, button, a")].every((each) => each.tabIndex >= 0));
return found;
"""


@pytest.mark.usefixtures("browser")
@needs_browser
def test_leaders_are_sorted_and_filtered_and_questions_found(
    tuning: SweepResult, html: str, tmp_path: Path
) -> None:
    found = in_browser(html, tmp_path, _DRIVE)
    tests = [each.test.mean or 0.0 for each in tuning.standings if each.test]
    assert found == [
        "15", str(tests.index(max(tests)) + 1), str(tests.index(min(tests)) + 1), "6", "3", "0", "1", "true",
    ]  # fmt: skip


@pytest.mark.usefixtures("processes")
@needs_browser
def test_a_telephone_needs_no_scrolling_sideways_and_hostile_text_does_nothing(
    evil: tuple[SweepResult, str], tmp_path: Path
) -> None:
    _, html = evil
    script = """
    for (const each of document.querySelectorAll("details")) each.open = true;
    const root = document.documentElement;
    const out = [...document.querySelectorAll("main *")].filter((each) =>
      !each.closest("caption, .wide-table, pre, svg")
      && each.getBoundingClientRect().right > root.clientWidth + 12
    );
    // Of each chart the narrow drawing is shown, with letters that can be read.
    const seen = [...document.querySelectorAll(".chart svg")].filter((each) => each.getBoundingClientRect().width);
    const letters = seen.flatMap((each) => [...each.querySelectorAll("text")].map((text) =>
      parseFloat(getComputedStyle(text).fontSize) * each.getScreenCTM().a));
    return [document.title === "owned", root.clientWidth, root.scrollWidth, out.length,
      seen.length, seen.every((each) => each.matches(".narrow")), Math.min(...letters) > 10];
    """
    *found, title = in_browser(html, tmp_path, script, width=390, as_it_is=True)
    assert found == ["false", "390", "390", "0", f"{len(drawings(html)) // 2}", "true", "true"]
    assert title == Page(html).title


@pytest.mark.usefixtures("browser")
@needs_browser
def test_a_fragment_styles_itself_and_nothing_else(tuning: SweepResult, tmp_path: Path) -> None:
    assert (
        re.search(
            r"(?<![\w-])(:root|html|body)\b",
            scoped_style("chunkwise-tuning", "page.css", "charts.css", "tuning.css"),
        )
        is None
    )
    html = f'<body><table id="other"><tr><td>1</td></tr></table>{tuning_fragment(tuning)}</body>'
    script = """
    const style = (each) => getComputedStyle(document.querySelector(each));
    return [style("#other").borderCollapse, style(".leaders").borderCollapse, style("body").margin,
      style(".chunkwise-tuning .card").borderRadius,
      style(".chunkwise-tuning").backgroundColor !== style("body").backgroundColor,
      document.querySelectorAll(".chunkwise-tuning .leaders tbody tr").length];
    """
    assert in_browser(html, tmp_path, script) == [
        "separate",
        "collapse",
        "8px",
        "14px",
        "true",
        "10",
    ]
