"""The report of a sweep: its verdict, the leaders beside the defaults, and every figure the choice rests on."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.evaluation.results import Figure
from chunkwise.report.format_values import format_value
from chunkwise.report.report import (
    Chart,
    Code,
    Estimate,
    Excerpt,
    Headline,
    Report,
    Section,
    ValueTable,
    all_parts,
)
from chunkwise.report.side_by_side import SideBySide, marked_text
from chunkwise.report.to_html import report_page
from chunkwise.report.to_terminal import terminal_text
from chunkwise.report.tuning_charts import value_order
from chunkwise.report.tuning_figures import SweepFigures
from chunkwise.report.tuning_report import tuning_report
from chunkwise.tuning.sweep_result import MethodByType, SweepResult
from made_outcomes import RECURSIVE, noisy, outcome, questions, sweep, tuned
from real_browser import needs_browser, opened_browser
from report.made_tuning import BUDGETS, DEFAULTS, OBJECTIVE, made_side_by_side, made_tuning
from tables import cases

NEXT = "chunkwise index handbook/ --into kb -c chunkwise-tune/recommendation.toml"


@pytest.fixture(scope="module")
def tuning() -> SweepResult:
    return made_tuning()


@pytest.fixture(scope="module")
def both() -> SideBySide:
    return made_side_by_side()


@pytest.fixture(scope="module")
def report(tuning: SweepResult, both: SideBySide) -> Report:
    return tuning_report(tuning, both, {"Python": "a < 1\n"}, NEXT)


def section(report: Report, title: str) -> Section:
    return next(part for part in report.parts if isinstance(part, Section) and part.title == title)


def tables(parts: Report | Section) -> list[ValueTable]:
    return [part for part in all_parts(parts.parts) if isinstance(part, ValueTable)]


def charts(parts: Report | Section) -> list[Chart]:
    return [part for part in all_parts(parts.parts) if isinstance(part, Chart)]


def verdict(report: Report) -> Headline:
    return next(part for part in report.parts if isinstance(part, Headline))


def test_the_verdict_is_the_gain_over_the_strongest_default(
    tuning: SweepResult, report: Report
) -> None:
    standing = next(each for each in tuning.standings if each.key == tuning.chosen)
    assert standing.test
    reached = Estimate(standing.test.mean, standing.test.low, standing.test.high)
    found = verdict(report)
    assert found.level == "tie"
    assert found.text == (
        "Keep your default: nothing is significantly better than sentences 1024/200. "
        f"If you have none, use {standing.label}, {OBJECTIVE} "
        f"{format_value(reached, 'score')} on 60 test questions; +1.8 pts (−2.1 to 5.5)."
    )
    better = dataclasses.replace(tuning, against=tuning.against[:1])
    assert verdict(tuning_report(better)).level == "good"
    assert verdict(tuning_report(better)).text.endswith(
        "+7.1 pts (2.2–11.9) against recursive 1000/200 characters."
    )


def test_a_terminal_shows_the_leaders_with_the_defaults_in_short(report: Report) -> None:
    lines = terminal_text(report, 80).splitlines()
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 80
    assert lines[-1] == f"Next  {NEXT}"
    for name in ("structure(max_tokens=200,overlap=50) ", *DEFAULTS):
        assert sum(line.startswith(name) for line in lines) >= 1, name
    assert "…" not in "\n".join(lines)


def test_every_configuration_is_a_row(tuning: SweepResult, report: Report) -> None:
    (table,) = tables(section(report, "All configurations"))
    assert len(table.rows) == len(tuning.standings)
    for row, standing in zip(table.rows, tuning.standings, strict=True):
        assert row[3] == standing.validation.mean
        assert standing.test
        assert row[4] == Estimate(standing.test.mean, standing.test.low, standing.test.high)
        assert ("tied" in row[2]) is standing.tied  # type: ignore[operator]
        assert ("chosen" in row[2]) is (standing.key == tuning.chosen)  # type: ignore[operator]


def test_charts_hold_the_figures_of_the_test_questions(tuning: SweepResult, report: Report) -> None:
    (budgets,) = charts(section(report, "Token budgets"))
    choice = budgets.series[0]
    assert choice.name.startswith("the choice")
    assert [point.x for point in choice.points] == [f"{budget:,}" for budget in BUDGETS]
    found = SweepFigures(tuning).quality(tuning.chosen)
    assert found
    assert found.mean == pytest.approx(choice.points[BUDGETS.index(1000)].y.value)
    (levers,) = charts(section(report, "Levers"))
    assert {point.x for point in levers.series[0].points} == {each.name for each in tuning.levers}
    sizes = charts(section(report, "Chunk size"))
    assert [chart.title for chart in sizes] == ["recursive", "sections", "sentences", "structure"]
    (defaults,) = charts(section(report, "Against the defaults"))
    assert [point.y.value for point in defaults.series[0].points] == [
        each.difference for each in tuning.against
    ]


def test_the_front_goes_up_and_nothing_is_above_it(tuning: SweepResult) -> None:
    for one in (tuning, dataclasses.replace(tuning, objective="ndcg@5")):
        found = charts(section(tuning_report(one), "Trade-off"))
        assert len(found) == (1 if one is tuning else 2)  # within a budget all read as much
        for chart in found:
            others, front = chart.series[:2]
            quality = [point.y.value or 0 for point in front.points]
            assert quality == sorted(quality)
            for point in others.points:
                least = [each.y.value for each in front.points if each.x <= point.x]  # type: ignore[operator]
                assert least[-1] is not None
                assert point.y.value is not None
                assert point.y.value <= least[-1]


def test_what_both_retrieved_is_marked_where_it_is_gold(both: SideBySide, report: Report) -> None:
    (table,) = [each for each in tables(section(report, "Questions")) if each.noun == "question"]
    scores = [row[0] for row in table.rows]
    assert scores == sorted(scores)  # type: ignore[type-var]
    marked = {
        run.text
        for part in all_parts(section(report, "Questions").parts)
        if isinstance(part, Excerpt) and part.level == "good"
        for run in part.runs
        if run.mark == "gold"
    }
    texts = "".join(document.text for document in both.documents.values())
    assert marked
    assert all(text.removesuffix(" …") in texts for text in marked)


def test_without_questions_chunkings_are_compared() -> None:
    found = tuning_report(made_tuning(0), next_command="chunkwise testset generate docs")
    assert verdict(found).level == "bad"
    table = tables(found)[0]
    assert (table.title, table.columns[1].title) == ("Chunkings", "with issues")
    assert not any(isinstance(part, Section) and part.title == "Levers" for part in found.parts)
    lines = terminal_text(found, 80).splitlines()
    assert len(lines) <= 25
    assert report_page(found)


def nested(*, prior: bool) -> SweepResult:
    table = noisy(1, 40, [0.0, 0.2])
    levers = [{"size": "200 tokens", "overlap": "none"}, {"size": "800 tokens", "overlap": "25 %"}]
    outcomes = [
        outcome("recursive", table[:, 0], baseline=RECURSIVE, levers=levers[0]),
        outcome("winner", table[:, 1], levers=levers[1]),
    ]
    return tuned(outcomes, questions(40), of=sweep(test_share=0.0, prior=prior))


def test_without_test_questions_the_verdict_is_of_nested_validation() -> None:
    found = nested(prior=True)
    assert found.nested
    report = tuning_report(found)
    judged = found.nested.figure
    value = format_value(Estimate(judged.mean, judged.low, judged.high), "score")
    assert f"{value} in nested cross-validation (40 questions)" in verdict(report).text
    (table,) = tables(section(report, "Nested validation"))
    assert [row[1].value for row in table.rows] == [  # type: ignore[union-attr]
        judged.mean, found.standings[0].validation.mean,
    ]  # fmt: skip
    assert tables(section(report, "Expected beforehand"))
    without = tuning_report(nested(prior=False))
    assert "Expected beforehand" not in [getattr(part, "title", "") for part in without.parts]


def test_what_failed_and_what_was_left_out_is_told_with_its_reason(report: Report) -> None:
    (table,) = tables(section(report, "Not tried"))
    groups = {(row[0], row[1], row[3]) for row in table.rows}
    assert ("failed", 1, "the model broke off: out of memory") in groups
    assert ("not in the grid", 3, "overlap is not smaller than max_tokens") in groups
    names = [part.text for parts in table.details for part in parts if isinstance(part, Code)]
    assert any(text.count("structure") == 3 for text in names)


def test_one_retriever_of_a_default_is_meant_throughout(tuning: SweepResult) -> None:
    keys = {outcome.configuration.key for outcome in SweepFigures(tuning).baselines()}
    assert keys == {each.key for each in tuning.against}


@given(
    st.text("abc \n", max_size=900),
    st.lists(st.tuples(st.integers(-5, 905), st.integers(-5, 905)), max_size=5),
)
def test_marks_cover_the_gold_text_and_nothing_else(text: str, gold: list[tuple[int, int]]) -> None:
    runs = marked_text(text, 0, len(text), gold)
    inside = {at for low, high in gold for at in range(max(low, 0), min(high, len(text)))}
    marked = "".join(run.text for run in runs if run.mark == "gold")
    assert len(marked) == len(inside)
    assert sorted(marked) == sorted(text[at] for at in inside)


@cases(
    "values, order",
    [
        (["1000 tokens", "none", "200 tokens"], ["none", "200 tokens", "1000 tokens"]),
        (["25%", "10%", "words"], ["10%", "25%", "words"]),
    ],
)
def test_values_of_levers_are_ordered_by_size(values: list[str], order: list[str]) -> None:
    assert sorted(values, key=value_order) == order


def test_contexts_are_shown_by_question_type_with_the_drop_to_the_hardest(
    tuning: SweepResult,
) -> None:
    means = {"all": 0.2, "simple": 0.1, "cross-domain": 0.4}
    figures = {type: {"failure@20": Figure(mean)} for type, mean in means.items()}
    report = tuning_report(
        dataclasses.replace(tuning, methods=(MethodByType("context none", "key", figures),))
    )
    (table,) = (
        part
        for part in all_parts(report.parts)
        if isinstance(part, ValueTable) and part.title.startswith("failure@20")
    )
    assert [column.title for column in table.columns[1:]] == [
        "all",
        "simple",
        "cross-domain",
        "drop",
    ]
    assert table.rows == (("context none", 0.2, 0.1, 0.4, pytest.approx(0.3)),)


@pytest.mark.usefixtures("browser")
@needs_browser
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_accessible(report: Report, tmp_path: Path, width: int) -> None:
    page = tmp_path / "page.html"
    page.write_text(report_page(report), "utf-8")
    with opened_browser(policy=False) as browser:
        browser.size(width)
        browser.open(page.as_uri())
        for scheme in ("light", "dark"):
            browser.scheme(scheme)
            assert browser.axe_findings() == []
        assert browser.run("document.documentElement.scrollWidth") == width
