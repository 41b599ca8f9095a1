"""A comparison on a screen: every width, words before colors, and no text that can do more than show."""

import dataclasses
import io
import re

import numpy as np
import pytest
from rich.console import Console

from chunkwise.base.wording import number, signed
from chunkwise.evaluation.compare import compare
from chunkwise.evaluation.comparison_result import Best, Comparison, MetricDifference
from chunkwise.evaluation.results import Results
from chunkwise.report.terminal.comparison import (
    DifferenceRow,
    difference_bar,
    print_rows,
    render_comparison,
)
from chunkwise.report.views.comparison import comparison_view
from chunkwise.stats.intervals import Interval
from made_results import of_questions, question, results
from tables import cases


def drawn(
    comparison: Comparison, width: int = 80, color: bool = False, *, whole: bool = False
) -> str:
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=color, color_system="standard" if color else None
    )
    render_comparison(comparison_view(comparison, whole=whole), console)
    return out.getvalue()


@pytest.fixture(scope="module")
def two() -> Comparison:
    return compare(
        [results(1), results(2, lift=0.15, strategy="recursive")], sources=["a.json", "b.json"]
    )


@cases(
    "interval, line",
    [
        (Interval(0.0, 0.0, 0.0), "     ●     "),
        (Interval(0.6, 0.4, 1.0), "     │ ─●──"),
        (Interval(-0.2, -0.8, 0.4), " ───●┼──   "),
        (Interval(-5.0, -9.0, 9.0), "●────┼─────"),
    ],
)
def test_an_interval_is_a_line_around_zero(interval: Interval, line: str) -> None:
    assert difference_bar(interval, 1.0, 11) == line
    assert difference_bar(Interval(0.0, 0.0, 0.0), 0.0, 11) == "     ●     "


def test_a_line_a_metric(two: Comparison) -> None:
    shown = drawn(two, 100).splitlines()
    assert shown[:3] == [
        "a  sentences · hybrid · a.json",
        "b  recursive · hybrid · b.json",
        "40 questions in both a and b",
    ]
    recall = next(line for line in shown if line.startswith("  recall@5"))
    assert recall.endswith("b is better")
    assert "│" in recall
    assert recall.index("│") < recall.index("●")
    failure = next(line for line in shown if line.startswith("  failure@5 ↓"))
    assert failure.endswith("b is better")
    assert failure.index("●") < failure.index("│")
    precision = next(line for line in shown if line.startswith("  precision@5"))
    assert precision.endswith("no difference shown")
    assert any("↓ lower is better" in line for line in shown)
    assert any("With 40 questions, differences under 0.0" in line for line in shown)
    told = " ".join(" ".join(shown).split())
    assert "By type of question: recall@5, 95 % intervals of each alone, not tested" in told
    assert "list (13)" in told
    assert "Holm's correction over 4 tests" in told
    assert "a run is better where the interval leaves out 0, and p says the same" in told
    assert " change " in told
    assert re.search(r"recall@5 +0\.\d+ +0\.\d+ +\+0\.\d+ +\+\d+ %", recall)
    assert "  chunks                         8      8" in shown


@cases("width", [40, 60, 80, 100, 200])
def test_no_line_is_wider_than_the_screen_and_the_words_are_always_there(
    two: Comparison, width: int
) -> None:
    shown = drawn(two, width)
    lines = shown.splitlines()
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)
    assert shown.count("b is better") >= 2
    assert "no difference shown" in shown
    assert "●" in shown


def test_colour_adds_nothing(two: Comparison) -> None:
    plain = re.sub(r"\x1b\[[0-9;]*m", "", drawn(two, color=True))
    assert [line.rstrip() for line in plain.splitlines()] == drawn(two).splitlines()


def test_questions_that_changed_are_shown_with_both_scores(two: Comparison) -> None:
    change = two.contrasts[0].second_better[0]
    line = f"    {change.first:.3f} → {change.second:.3f}  {change.id}  {change.text}"
    assert line in drawn(two).splitlines()


def of_many_measures(lift: float) -> Results:
    """The four questions, recall, and a dozen more measures, of which every other one is lifted."""
    names = ["recall@5", "completeness.spans", *(f"other{at}" for at in range(12))]
    rng = np.random.default_rng(5)
    rows = np.round(rng.random((40, len(names))), 3)
    lifted = [lift * (name.startswith("other") and int(name[5:]) % 2) for name in names]
    run = of_questions(
        tuple(
            question(n, {"never": None, **dict(zip(names, row, strict=True))})
            for n, row in enumerate((rows + lifted).tolist())
        )
    )
    costs = {f"cost{at}": at for at in range(9)}
    return dataclasses.replace(run, cost={"chunks": 8, **costs}, objective="recall@5")


def test_at_first_sight_the_objective_and_the_four_questions() -> None:
    comparison = compare([of_many_measures(0.0), of_many_measures(0.3)])
    shown, whole = drawn(comparison), drawn(comparison, whole=True)
    words = " ".join(shown.split())
    assert "recall@5 no difference shown" in words
    assert "completeness.spans no difference shown" in words
    # What is not drawn is told: no difference that is shown is out of sight.
    assert (
        "besides, b against a: b is better by other1, other3, other5, other7 and 2 more; "
        "no difference shown by 6 measures" in words
    )
    assert "other0" not in shown
    assert "  chunks" in shown
    assert "cost0" not in shown
    assert "By type of question" not in shown
    assert shown.rstrip().endswith(
        "--all shows every measure, the types of questions and every cost"
    )
    for name in ("other0", "other11", "cost8", "By type of question"):
        assert name in whole
    assert "besides" not in whole
    assert "--all" not in whole
    three = [of_many_measures(0.0), of_many_measures(0.3), of_many_measures(0.0)]
    several = " ".join(drawn(compare(three)).split())
    assert "besides, b against a: b is better by other1" in several
    assert "besides, c against a: no difference shown by 12 measures" in several


def test_several_runs_say_who_is_best_and_who_is_tied() -> None:
    runs = [results(1), results(2, lift=0.2), results(3, lift=0.2)]
    shown = " ".join(drawn(compare(runs)).split())
    best = compare(runs).best["recall@5"]
    (other,) = set(best.tied) - {best.best}
    assert f"best: {best.best}, in " in shown
    assert f"; tied with it: {other} (" in shown
    alone = " ".join(drawn(compare([results(1), results(2, lift=0.3), results(4)])).split())
    assert "best: b, in 100 % of resamples; all others are worse" in alone


def test_equal_runs_are_no_tie_and_who_is_seldom_best_is_not_called_tied() -> None:
    equal = [results(1), results(1), results(1)]
    shown = " ".join(drawn(compare(equal)).split())
    assert "all equal" in shown
    assert "best:" not in shown
    found = compare([results(1), results(2, lift=0.2), results(3, lift=0.2)])
    shares = {"a": 0.001, "b": 0.949, "c": 0.05}
    best = {"recall@5": Best("b", ("a", "b", "c"), shares, 40, None)}
    shown = " ".join(drawn(dataclasses.replace(found, best=best)).split())
    assert (
        "best: b, in 95 % of resamples; tied with it: c (5.0 %); "
        "seldom best, but not shown to be worse: a (0.1 %)" in shown
    )


def test_costs_are_few_however_few_the_measures() -> None:
    run = dataclasses.replace(results(1), cost={"chunks": 8, "p95_tokens": 3, "seconds": 2})
    comparison = compare([run, results(2, lift=0.1)])
    shown, whole = drawn(comparison), drawn(comparison, whole=True)
    assert "  chunks" in shown
    assert "p95_tokens" not in shown
    assert "--all shows" in shown
    assert "p95_tokens" in whole
    assert "--all shows" not in whole


def test_what_was_left_out_is_said() -> None:
    first = of_questions(tuple(question(n, {"recall@5": 0.5, "facts": None}) for n in range(5)))
    second = of_questions((
        *(question(n, {"recall@5": None if n == 1 else 0.75, "facts": 1.0}) for n in range(4)),
        question(4, {"recall@5": 0.5, "facts": 1.0}, text="?"),
        question(9, {"recall@5": 0.5, "facts": 1.0}),
    ))  # fmt: skip
    shown = drawn(compare([first, second]))
    assert "4 questions in both a and b · 1 only in b · 1 left out, their texts differ" in shown
    assert "no question has a score in both a and b: facts" in shown
    assert "recall@5: 1 question unscored in one or both, left out" in shown
    assert "With 4 questions no difference can be shown: 6 are the fewest." in shown
    assert "! a and b" not in shown
    none = drawn(compare([first, second], metrics=["facts"]))
    assert "Differences" not in none
    assert "Holm" not in none


def test_a_figure_that_one_run_lacks_is_a_dash(two: Comparison) -> None:
    bare = dataclasses.replace(two, figures={"storage": (1.25, None)})
    assert drawn(bare).splitlines()[-1] == "  storage  1.25×      -"
    assert "Whole runs" not in drawn(dataclasses.replace(two, figures={}))


def test_more_questions_than_anybody_writes_are_not_counted() -> None:
    nearly = of_questions(tuple(question(n, {"recall@5": n / 10}) for n in range(10)))
    other = of_questions(
        tuple(question(n, {"recall@5": n / 10 + (-1) ** n * 0.05 + 1e-5}) for n in range(10))
    )
    shown = " ".join(drawn(compare([nearly, other])).split())
    assert "difference of the size seen: more than 100,000 (recall@5)." in shown
    shown = " ".join(drawn(compare([nearly, other, nearly])).split())
    assert "; more than 100,000 questions would separate the best two" in shown


def test_the_tokens_of_context_are_told_once() -> None:
    run = dataclasses.replace(results(1), cost={"chunks": 8, "context_tokens": 18.0})
    shown = drawn(compare([run, results(2)]))
    assert shown.count("context") == 1


def test_warnings_stand_on_top() -> None:
    shown = drawn(compare([results(1), results(2, k=10)]))
    assert shown.index("! k differs (a: 5, b: 10)") < shown.index("Differences")


def test_text_cannot_draw() -> None:
    evil = "\x1b[31mred\x1b[0m [bold]x[/bold] :smile: \u202e\x07\x00\ud800\nnext"
    runs = [
        dataclasses.replace(
            of_questions(tuple(question(n, {f"m{evil}": n * k / 9}, text=evil) for n in range(9))),
            configuration={"strategy": evil, "k": evil if k else 5},
            objective=f"m{evil}",
        )
        for k in (0, 1)
    ]
    for some in (runs, [*runs, runs[1]]):
        shown = drawn(compare(some, sources=[evil] * len(some)), width=120)
        assert "[bold]x[/bold] :smile:" in shown
        assert not set("\x1b\u202e\x07\x00\ud800") & set(shown)
        assert "\nnext" not in shown


def test_numbers_and_large_figures() -> None:
    assert [number(value) for value in (0.5, -9.9, 12.34, 1234.5)] == [
        "0.500",
        "-9.900",
        "12.3",
        "1,234",
    ]
    assert [signed(value) for value in (0.5, 0.0, -0.5)] == ["+0.500", "0.000", "-0.500"]
    assert [signed(value) for value in (1e-5, -1e-5)] == ["0.000", "0.000"]
    out = io.StringIO()
    rows = [
        DifferenceRow(
            "share",
            MetricDifference(0.5, 0.75, Interval(0.25, 0.125, 0.25), 9),
            "0.010",
            "b is better",
        ),
        DifferenceRow(
            "tokens",
            MetricDifference(900.0, 950.0, Interval(50.0, 20.0, 80.0), 9),
            "0.020",
            "a is better",
        ),
    ]
    print_rows(Console(file=out, width=90), rows, ("a", "b"))
    head, share, tokens = out.getvalue().splitlines()
    assert "-0.25" in head
    # Each is drawn by a measure of its own: the share is not a point beside the tokens.
    assert share.index("●") > tokens.index("●") > head.index("0 ")
