"""The report of an evaluation: its verdict, what it leads with, and every figure of the results in it."""

from __future__ import annotations

import dataclasses

import pytest

from chunkwise.evaluation.results import Figure, Results
from chunkwise.metrics.registry import help_of, known_metrics
from chunkwise.report.evaluation_report import evaluation_report
from chunkwise.report.format_values import format_value
from chunkwise.report.report import (
    Chart,
    Estimate,
    Excerpt,
    Headline,
    Note,
    Report,
    ValueTable,
    all_parts,
)
from chunkwise.report.to_html import report_page
from chunkwise.report.to_terminal import terminal_text
from report.evaluated_corpus import OBJECTIVE, corpus, evaluated

_EMPTY = Results({}, {}, {}, {}, {}, {}, None, {}, (), (), (), "", {}, ())


@pytest.fixture(scope="module")
def results() -> Results:
    return evaluated()


@pytest.fixture(scope="module")
def report(results: Results) -> Report:
    return evaluation_report(results, corpus(), next_command="chunkwise tune docs -Q q.json")


def tables(report: Report, first_head: str) -> list[ValueTable]:
    parts = all_parts(report.parts)
    return [
        part
        for part in parts
        if isinstance(part, ValueTable) and part.columns[0].title == first_head
    ]


def test_the_verdict_comes_first_and_a_terminal_shows_one_screen(
    results: Results, report: Report
) -> None:
    lines = terminal_text(report, 80).splitlines()
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 80
    mean = results.summary[OBJECTIVE].mean or 0
    assert f"{OBJECTIVE} {100 * mean:.0f}%" in lines[2]
    assert lines[-1] == "Next  chunkwise tune docs -Q q.json"


def test_the_weakest_type_is_in_the_headline_and_first_of_the_types(
    results: Results, report: Report
) -> None:
    weakest = min(results.by_type, key=lambda name: results.by_type[name][OBJECTIVE].mean or 0)
    headline = next(part for part in report.parts if isinstance(part, Headline))
    assert f"Weakest: {weakest} questions" in headline.text
    types = tables(report, "question type")[0]
    assert types.rows[0][0] == weakest
    assert len(types.rows) == len(results.by_type)


def test_every_figure_is_in_the_report_unrounded(results: Results, report: Report) -> None:
    (every,) = [table for table in tables(report, "metric") if table.noun]
    rows = {str(row[0]).split(" ")[0]: row for row in every.rows}
    assert set(rows) == set(results.summary)
    for name, figure in results.summary.items():
        value = rows[name][2]
        if isinstance(value, Estimate):
            assert value == Estimate(figure.mean, figure.low, figure.high)


def test_every_question_opens_to_its_scores(results: Results, report: Report) -> None:
    (questions,) = tables(report, "id")
    assert [row[0] for row in questions.rows] == [question.id for question in results.questions]
    for question, (scores, *_) in zip(results.questions, questions.details, strict=True):
        assert isinstance(scores, Note)
        shown = dict(score.rsplit(" ", 1) for score in scores.text.split(" · "))
        assert shown == {
            name: format_value(value, "score") for name, value in question.scores.items()
        }


def test_a_thousand_questions_make_a_page_of_little_weight(results: Results) -> None:
    many = tuple(
        dataclasses.replace(question, id=f"{question.id}-{turn}")
        for turn in range(13)
        for question in results.questions
    )
    page = report_page(evaluation_report(dataclasses.replace(results, questions=many)))
    assert len(page) < 3000 * len(many)


def test_the_worst_questions_quote_what_was_missed_and_what_came_instead(
    results: Results, report: Report
) -> None:
    (worst,) = tables(report, OBJECTIVE)
    by_id = {question.id: question for question in results.questions}
    assert [row[1] for row in worst.rows] == [by_id[id].text for id in results.worst]
    for id, details in zip(results.worst, worst.details, strict=True):
        excerpts = [part for part in all_parts(details) if isinstance(part, Excerpt)]
        question = by_id[id]
        assert len(excerpts) == len(question.missed) + min(len(question.hits), 10)
        for piece, excerpt in zip(question.missed, excerpts, strict=False):
            assert excerpt.runs[0].text.startswith(piece.text)
            assert excerpt.title == piece.doc_id


def test_questions_are_counted_by_score(results: Results, report: Report) -> None:
    chart = next(part for part in all_parts(report.parts) if isinstance(part, Chart))
    counts = [point.y.value or 0 for point in chart.series[0].points]
    scores = [question.scores[OBJECTIVE] or 0.0 for question in results.questions]
    assert sum(counts) == len(scores)
    assert counts[0] == sum(score <= 0 for score in scores)
    assert counts[-1] == sum(score >= 1 for score in scores)


def test_what_no_ranking_can_reach_is_no_fault(results: Results) -> None:
    name = "retrieval_precision.spans"
    mean = results.summary[name].mean or 0
    for most, word in ((mean, "at its ceiling"), (mean + 0.1, "best possible")):
        built = evaluation_report(dataclasses.replace(results, data={"reachable": {name: most}}))
        assert f"≈ {word}" in terminal_text(built, verbose=True)


def test_generated_questions_and_questions_left_out_are_warned_of(results: Results) -> None:
    about = {"questions": {"count": 9, "generated": 3, "left_out": 2}}
    warned = evaluation_report(dataclasses.replace(results, data=about))
    warnings = [part.text for part in warned.parts if isinstance(part, Note) and part.is_warning]
    assert len(warnings) == 2
    assert "2 questions left out" in warnings


def test_metrics_that_were_not_computed_are_one_line(results: Results) -> None:
    none = {name: Figure(None, unscored={"no answer": 9}) for name in ("faithfulness", "bpref")}
    shown = terminal_text(
        evaluation_report(dataclasses.replace(_EMPTY, summary=none, objective="bpref"))
    )
    assert [line for line in shown.splitlines() if "no answer" in line] == [
        "2 metrics not computed: no answer (2)"
    ]


def test_nothing_at_all_is_still_a_page() -> None:
    assert "is unscored" in report_page(evaluation_report(_EMPTY))


def test_every_metric_says_what_it_is() -> None:
    for name in (*known_metrics(), "ndcg@5"):
        assert help_of(name).endswith("."), name
    assert help_of("mine") == ""
