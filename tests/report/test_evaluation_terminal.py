"""An evaluation on a screen: true words for what is not there, and nothing said twice."""

import dataclasses
import io

import pytest
from rich.console import Console

from chunkwise.evaluation.advice import advice
from chunkwise.evaluation.results import Agreement, Figure, Results
from chunkwise.report.evaluation.terminal import render_evaluation
from made_results import results


def drawn(run: Results, width: int = 100) -> str:
    out = io.StringIO()
    render_evaluation(run, Console(file=out, width=width))
    return out.getvalue()


def changed(**parts: object) -> str:
    """On one line, as a reader takes it in."""
    return " ".join(drawn(dataclasses.replace(results(), **parts)).split())  # type: ignore[arg-type]


def test_advice_names_its_figures_once() -> None:
    below = {"retrieval_precision.spans": Figure(0.195)}
    shown = changed(advice=advice(below))
    assert "What to try retrieval_precision.spans 0.195: good is over 0.70." in shown
    assert shown.count("retrieval_precision.spans") == 1


def test_what_no_ranking_can_reach_is_told_beside_the_verdict() -> None:
    name = "retrieval_precision.spans"
    figures = {name: Figure(0.2, 0.1, 0.3, 40, verdict="below")}
    told = "0.200 below 0.100–0.300"
    shown = changed(summary=figures, data={"reachable": {name: 0.258}})
    assert f"{told} at most 0.258 with k=5" in shown
    for data in ({"reachable": {name: 0.9}}, {"reachable": {}}, {}):
        shown = changed(summary=figures, data=data)
        assert told in shown
        assert "at most" not in shown


def test_what_the_offsets_of_a_file_are_worth_kind_by_kind() -> None:
    figures = {"citation_accuracy.position": Figure(0.984, scored=183, verdict="excellent")}
    counts = {"exact": 1180, "no_offsets": 0, "shifted": 2, "unknown_document": 1}
    shown = changed(summary=figures, data={"positions": counts})
    assert "offsets: 1,180 exact, 2 shifted, 1 unknown document" in shown
    assert "shifted: The text stands in the document, at another place." in shown
    assert "no offsets" not in shown
    assert "offsets:" not in changed(summary=figures)


@pytest.mark.parametrize(
    ("pair", "told"),
    [
        (Agreement("labels", "spans", None, None, 0), "no hit has a verdict of both"),
        (
            Agreement("labels", "spans", None, 1.0, 8),
            "no κ, both say one and the same of all 8 hits",
        ),
        (Agreement("labels", "spans", 0.5, 0.75, 1), "κ 0.50, the same on 75 % of 1 hit"),
    ],
)
def test_why_judges_have_no_kappa(pair: Agreement, told: str) -> None:
    assert f"labels and spans: {told}" in changed(agreement=(pair,))


@pytest.mark.parametrize(
    ("size", "told"),
    [(999, "999 bytes"), (41_234, "41.2 kB"), (3_000_000, "3.0 MB"), (7.25e9, "7.2 GB")],
)
def test_small_indexes_have_a_size(size: float, told: str) -> None:
    assert f"index {told}" in changed(cost={"index_bytes": size})


def test_what_is_not_shown_is_none_worse() -> None:
    groups = {
        f"t{number:02}": {"recall@5": Figure(number // 6 / 9, 0.0, 1.0, 3)} for number in range(13)
    }
    shown = changed(by_type=groups)
    assert "and 3 more, none worse" in shown
    assert "t00" in shown
    assert "t12 " not in shown.split("and 3 more")[0]


def test_nothing_is_not_below_nothing() -> None:
    shown = changed(summary={"contrast": Figure(-0.0001, scored=1)})
    assert "contrast 0.000" in shown


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    assert max(map(len, drawn(results(), width).splitlines())) <= width
