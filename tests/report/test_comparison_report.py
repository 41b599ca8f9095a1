"""The report of a comparison: its verdict, one row a metric, and what the questions cannot show."""

from __future__ import annotations

import dataclasses

from chunkwise.evaluation.compare import compare
from chunkwise.evaluation.comparison_result import Best, Comparison
from chunkwise.evaluation.results import Results
from chunkwise.report.comparison_report import comparison_report
from chunkwise.report.report import Badge, Estimate, Headline, Report, ValueTable, all_parts
from chunkwise.report.to_html import report_page
from chunkwise.report.to_terminal import terminal_text
from made_results import of_questions, question, results
from tables import cases


def headline(report: Report) -> Headline:
    return next(part for part in report.parts if isinstance(part, Headline))


def tables(report: Report, first_head: str) -> list[ValueTable]:
    every = [part for part in all_parts(report.parts) if isinstance(part, ValueTable)]
    return [table for table in every if table.columns[0].title == first_head]


def of_scores(scores: list[float], **others: float) -> Results:
    return of_questions(
        tuple(question(n, {"recall@5": score, **others}) for n, score in enumerate(scores))
    )


@cases(
    "lift, level, words",
    [
        (0.3, "good", "b is better than a: recall@5 +28.8 pts (14.1–37.0)."),
        (-0.3, "bad", "b is worse than a: recall@5 −"),
        (0.0, "tie", "No evidence that b differs from a: recall@5 −"),
    ],
)
def test_the_verdict_has_the_difference_and_its_interval(
    lift: float, level: str, words: str
) -> None:
    found = headline(comparison_report(compare(results(1), results(2, lift=lift))))
    assert found.text.startswith(words)
    assert found.level == level


def test_a_row_a_metric_with_the_numbers_of_the_result() -> None:
    comparison = compare(results(1), results(2, lift=0.15))
    key, every = tables(comparison_report(comparison), "metric")[:2]
    tested = comparison.contrasts[0].metrics["recall@5"]
    difference = Estimate(tested.difference.mean, tested.corrected.low, tested.corrected.high)
    assert key.rows[0] == (
        "recall@5",
        tested.first,
        tested.second,
        difference,
        Badge("better", "good"),
    )
    rows = {row[0]: row for row in key.rows}
    # Shown by its own interval, not by the corrected one; and a lower failure rate is better.
    assert rows["mrr@5"][4] == Badge("probably better", "good")
    assert rows["failure@5 ↓"][4] == Badge("better", "good")
    assert every.rows[0][5] == tested.adjusted


def test_the_terminal_shows_one_screen_and_breaks_no_row() -> None:
    names = ["retrieval_precision.similarity", *(f"completeness.measure{at}" for at in range(14))]
    runs = [
        of_questions(
            tuple(
                question(n, {name: (n * at % 7) / 10 + lift for at, name in enumerate(names)})
                for n in range(12)
            )
        )
        for lift in (0.0, 0.2)
    ]
    report = comparison_report(compare(runs, sources=["a.json", "b.json"]), "chunkwise compare x y")
    shown = terminal_text(report, 80).splitlines()
    assert len(shown) <= 25
    assert shown[-1] == "Next  chunkwise compare x y"
    assert sum(line.endswith("inconclusive") for line in shown) == 6
    assert "Other metrics: 9 inconclusive" in "\n".join(shown)
    assert "completeness.measure13" in terminal_text(report, 80, verbose=True)


def test_what_so_many_questions_cannot_show_is_said() -> None:
    few = terminal_text(comparison_report(compare(of_scores([0.5] * 4), of_scores([0.6] * 4))))
    assert "use 6 or more" in few
    first = [n / 10 for n in range(10)]
    close = of_scores([n + (-1) ** at * 0.05 + 1e-5 for at, n in enumerate(first)])
    shown = terminal_text(comparison_report(compare(of_scores(first), close)))
    assert "minimum detectable difference" in shown
    assert "More than 100,000 questions would make a difference of this size significant." in shown


def test_what_was_left_out_is_said() -> None:
    first = of_questions(tuple(question(n, {"recall@5": 0.5, "facts": None}) for n in range(5)))
    second = of_questions((
        *(question(n, {"recall@5": None if n == 1 else 0.75, "facts": 1.0}) for n in range(4)),
        question(4, {"recall@5": 0.5, "facts": 1.0}, text="?"),
        question(9, {"recall@5": 0.5, "facts": 1.0}),
    ))  # fmt: skip
    shown = terminal_text(comparison_report(compare(first, second)), 120, verbose=True)
    assert "4 questions in both a and b, 1 only in b, 1 skipped, as their texts differ" in shown
    assert "Not scored in both: facts." in shown
    assert "1 question skipped: recall@5 is missing in one run." in shown
    none = comparison_report(compare(first, second, metrics=["facts"]))
    assert headline(none).text == "a and b have no scored metric in common."


def test_amounts_and_costs_keep_their_units() -> None:
    runs = [
        dataclasses.replace(
            of_scores([0.5] * 8, latency=value), cost={"chunks": count, "index_bytes": 1.5e6}
        )
        for value, count in ((900.0, 1200), (950.0, 1300))
    ]
    comparison = compare(*runs)
    shown = terminal_text(comparison_report(comparison), 120, verbose=True)
    assert "1,200" in shown
    assert "chunks 1,200 → 1,300" in shown
    assert "1.5 MB" in shown
    assert "No evidence" in shown


def of_best(shares: dict[str, float], tied: tuple[str, ...]) -> Comparison:
    made = compare([results(1), results(2, lift=0.2), results(3, lift=0.2)])
    return dataclasses.replace(made, best={"recall@5": Best("b", tied, shares, 40, None)})


@cases(
    "shares, tied, words",
    [
        ({"a": 0, "b": 1, "c": 0}, ("b",), "b is the best by recall@5; all others are worse."),
        ({"a": 0, "b": 0.6, "c": 0.4}, ("b", "c"), "b has the highest recall@5, but c may be as good."),
        ({"a": 1, "b": 1, "c": 1}, ("a", "b", "c"), "All runs have the same recall@5."),
    ],
)  # fmt: skip
def test_several_runs_say_which_is_best(
    shares: dict[str, float], tied: tuple[str, ...], words: str
) -> None:
    report = comparison_report(of_best(shares, tied))
    assert headline(report).text == words
    (runs,) = tables(report, "run")
    assert [row[3].text for row in runs.rows if isinstance(row[3], Badge)] == [
        "baseline",
        "better",
        "better",
    ]
    page = report_page(report)
    assert "b against a" in page
    assert "c against a" in page


def test_warnings_come_before_the_figures() -> None:
    shown = terminal_text(comparison_report(compare([results(1), results(2, k=10)])))
    assert shown.index("! a returns 5 hits per question") < shown.index("recall@5  ")
