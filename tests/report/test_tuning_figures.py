"""Which figure is which, where the same questions choose and judge: on the page, in the terminal, in the files."""

import io

from rich.console import Console

from chunkwise.report.page import page
from chunkwise.report.terminal.tuning import render_tuning
from chunkwise.report.views.tuning import tuning_view
from chunkwise.tuning.sweep_result import SweepResult
from made_outcomes import RECURSIVE, noisy, outcome, questions, sweep, tuned

LEVERS = [{"size": "200 tokens", "overlap": "none"}, {"size": "800 tokens", "overlap": "25 %"}]


def made(*, prior: bool = True, test_share: float = 0.0) -> SweepResult:
    table = noisy(1, 40, [0.0, 0.2])
    outcomes = [
        outcome("recursive", table[:, 0], baseline=RECURSIVE, levers=LEVERS[0]),
        outcome("winner", table[:, 1], levers=LEVERS[1]),
    ]
    return tuned(outcomes, questions(40), of=sweep(test_share=test_share, prior=prior))


def shown(found: SweepResult) -> str:
    out = io.StringIO()
    render_tuning(tuning_view(found), Console(file=out, width=200))
    return out.getvalue()


def test_both_figures_are_told_and_told_apart() -> None:
    found = made()
    assert found.nested is not None
    judged = f"{found.nested.figure.mean:.3f}"
    for text in (shown(found), page(tuning_view(found))):
        assert judged in text
        assert "nested cross-validation" in text.lower()
        assert "flatters" in text
        assert "on questions that had no part in" in text
        assert "expected" in text
    assert f"choosing like this reaches recall@1000t {judged}" in found.sentence


def test_the_prior_is_printed_and_can_be_left_out() -> None:
    with_prior, without = made(), made(prior=False)
    assert set(with_prior.prior) == {"size", "overlap"}
    text = shown(with_prior)
    assert "Expected beforehand, from public question sets" in text
    assert "--no-prior leaves it out" in text
    assert "200 tokens" in page(tuning_view(with_prior))
    assert (without.prior, without.prior_questions) == ({}, None)
    assert "Expected beforehand" not in shown(without)
    assert "Expected beforehand" not in page(tuning_view(without))


def test_test_questions_are_told_as_before() -> None:
    text = shown(made(test_share=0.5))
    assert "validation" in text
    assert "Which figure is which" not in text
    assert "on test questions" in text
