"""Weights of several sizes at once: kept as they are unless others are clearly better."""

import numpy as np
import pytest

from chunkwise.tuning.choose.levers import fit_weights
from chunkwise.tuning.choose.score_table import score_table_of
from chunkwise.tuning.sweep_result import Outcome
from made_outcomes import noisy, outcome, questions, sweep, tuned

NAMES = ("multiscale(dense=0)", "multiscale(dense=0.25)", "multiscale", "multiscale(dense=2)")


def variants(table: np.ndarray, names: tuple[str, ...] = NAMES) -> list[Outcome]:
    return [
        outcome("", column, name, vectors="late")
        for column, name in zip(table.T, names, strict=True)
    ]


def test_weights_that_are_clearly_better_are_kept_and_stand_for_all() -> None:
    outcomes = variants(noisy(1, 120, [0.1, 0.0, 0.0, -0.1]))
    rival = outcome("s", noisy(1, 120, [0.02])[:, 0])
    found = tuned([*outcomes, rival], questions(120))
    assert found.fit is not None
    assert found.fit.kept == "multiscale(dense=0)"
    assert "points better than multiscale (p = " in found.fit.why
    assert [name for name, _ in found.fit.tried] == list(NAMES)
    assert found.chosen == outcomes[0].configuration.key
    taking_part = [standing.label for standing in found.standings if not standing.aside]
    assert taking_part == ["multiscale(dense=0)", "s · bm25"]
    assert sum(standing.best_share for standing in found.standings if standing.aside) == 0


@pytest.mark.unwatched
def test_the_default_stays_where_nothing_is_shown() -> None:
    changed = 0
    for seed in range(20):
        outcomes = variants(noisy(seed, 30, [0.0] * 4, spread=0.2))
        score_table = score_table_of(outcomes, ("validation",) * 30, sweep())
        assert score_table is not None
        found = fit_weights(score_table)
        assert found is not None
        changed += found.fit.kept != "multiscale"
    assert changed <= 2


def test_the_means_are_those_of_the_standings_and_of_the_words() -> None:
    table = noisy(2, 14, [0.0, 0.1, 0.0, 0.0])
    found = tuned(variants(table), questions(14))
    assert found.fit is not None
    chose = [row for row, side in enumerate(found.splits) if side == "validation"]
    assert len(chose) == 7  # folds of two sizes
    np.testing.assert_allclose([mean for _, mean in found.fit.tried], table[chose].mean(axis=0))
    means = dict(found.fit.tried)
    assert means == pytest.approx(
        {standing.label: standing.validation.mean for standing in found.standings}
    )
    gain = 100 * (means["multiscale(dense=0.25)"] - means["multiscale"])
    assert f"multiscale(dense=0.25) is {gain:.1f} points better" in found.fit.why


def test_few_questions_never_change_the_default() -> None:
    found = tuned(variants(noisy(3, 8, [0.5, 0.0, 0.0, 0.0], spread=0.01)), questions(8))
    assert found.fit is not None
    assert found.fit.kept == "multiscale"
    assert "do not show" in found.fit.why


def test_the_default_is_known_by_its_weights() -> None:
    names = ("multiscale(dense=1)", "multiscale(dense=0.5)")
    found = tuned(variants(noisy(4, 60, [0.0, 0.0]), names), questions(60))
    assert found.fit is not None
    assert found.fit.kept == "multiscale(dense=0.5)"


def test_without_the_default_the_first_takes_its_place() -> None:
    alone = tuned(variants(noisy(5, 60, [0.0]), ("multiscale(dense=2)",)), questions(60))
    assert alone.fit is not None
    assert (alone.fit.kept, alone.fit.why) == (
        "multiscale(dense=2)",
        "multiscale(dense=2) alone was tried",
    )
    both = tuned(
        variants(noisy(5, 60, [0.0, -0.1]), ("multiscale(dense=2)", "multiscale(dense=1)")),
        questions(60),
    )
    assert both.fit is not None
    assert both.fit.kept == "multiscale(dense=2)"
    assert both.fit.why == "none of 1 others is better on 30 questions"


def test_chunks_alone_need_no_weights() -> None:
    assert tuned([outcome("s", noisy(6, 40, [0.0])[:, 0])], questions(40)).fit is None
