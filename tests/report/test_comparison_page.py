"""The page of a comparison: what the terminal says, both intervals with their names, and no text that does more."""

import dataclasses

import pytest

from chunkwise.evaluation.compare import compare
from chunkwise.evaluation.comparison_result import Comparison
from chunkwise.report.page import page
from chunkwise.report.views.comparison import comparison_view
from made_results import of_questions, question, results
from report.reading_pages import Page
from tables import cases

HOSTILE = "</style><script>alert(1)</script>\x1b[31m\u202e"


def made(comparison: Comparison) -> str:
    return page(comparison_view(comparison, whole=True))


@pytest.fixture(scope="module")
def html() -> str:
    return made(compare(results(1), results(2, lift=0.15, strategy="recursive")))


def test_it_says_verdict_both_intervals_change_and_test(html: str) -> None:
    comparison = compare(results(1), results(2, lift=0.15, strategy="recursive"))
    own = comparison.contrasts[0].metrics["recall@5"]
    for told in (
        "b is better", "no difference shown", f"+{own.corrected.low:.3f} to +{own.corrected.high:.3f}",
        f"+{own.difference.low:.3f} to +{own.difference.high:.3f}", f"{100 * own.difference.mean / own.first:+.0f} %",
        "corrected interval", "95 % alone", "after Holm's correction over 4 tests", "exact sign test",
        "lower is better", "By type of question", "Questions that changed most",
    ):  # fmt: skip
        assert told in html.replace("&#39;", "'"), told


def test_hostile_text_is_only_text() -> None:
    runs = [
        dataclasses.replace(
            of_questions(tuple(question(n, {f"m{HOSTILE}": n * k / 9}, text=HOSTILE) for n in range(9))),
            configuration={"strategy": HOSTILE, "k": 5},
            objective=f"m{HOSTILE}",
        )
        for k in (0, 1)
    ]  # fmt: skip
    found = made(compare(*runs, sources=[HOSTILE, HOSTILE]))
    assert "<script" not in found
    assert "\x1b" not in found
    assert {name for name, _ in Page(found).tags} <= {
        name for name, _ in Page(made(compare(results(1), results(2)))).tags
    } | {"small"}


def test_several_runs_say_which_is_best() -> None:
    found = made(compare(results(1), results(2, lift=0.15), results(3)))
    assert "Which is the best of all?" in found
    assert "c against a" in found


def test_runs_that_are_the_same_have_a_page() -> None:
    run = of_questions(tuple(question(n, {"recall@5": 0.0}) for n in range(7)))
    assert "no difference shown" in made(compare(run, run))


@cases(
    "sources, titles",
    [
        (["out/five.json", "out/three.json"], ("five.json", "three.json")),
        (["main/run.json", "branch/run.json"], ("main/run.json", "branch/run.json")),
        ([], ("a", "b")),
    ],
)
def test_runs_with_one_label_are_told_apart_in_the_title(
    sources: list[str], titles: tuple[str, str]
) -> None:
    comparison = compare(results(1), results(2), sources=sources)
    label = comparison.runs[0].label
    assert comparison_view(comparison).titles == tuple(f"{label} ({each})" for each in titles)
    head = made(comparison).partition("</h1>")[0]
    assert all(f"({each})" in head for each in titles)


def test_runs_with_labels_of_their_own_need_no_more() -> None:
    runs = (results(1), results(2, strategy="recursive"))
    view = comparison_view(compare(*runs, sources=["a.json", "b.json"]))
    assert view.titles == tuple(run.label for run in runs)
