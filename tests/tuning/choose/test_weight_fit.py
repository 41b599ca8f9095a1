"""Weights of several sizes at once: all take part in the choice, and the ones that most is expected of are named."""

import numpy as np
import pytest

from chunkwise.tuning.sweep_result import Outcome
from made_outcomes import noisy, outcome, questions, tuned

NAMES = ("multiscale(dense=0)", "multiscale(dense=0.25)", "multiscale", "multiscale(dense=2)")


def variants(table: np.ndarray, names: tuple[str, ...] = NAMES) -> list[Outcome]:
    return [
        outcome("", column, name, vectors="late")
        for column, name in zip(table.T, names, strict=True)
    ]


def test_weights_that_are_clearly_better_are_chosen() -> None:
    outcomes = variants(noisy(1, 120, [0.1, 0.0, 0.0, -0.1]))
    rival = outcome("s", noisy(1, 120, [0.02])[:, 0])
    found = tuned([*outcomes, rival], questions(120))
    assert found.fit is not None
    assert found.fit.kept == "multiscale(dense=0)"
    assert "multiscale(dense=0) is expected to score" in found.fit.why
    assert [name for name, _ in found.fit.tried] == list(NAMES)
    assert found.chosen == outcomes[0].configuration.key
    assert not any(standing.aside for standing in found.standings)


def test_the_default_stays_where_nothing_differs() -> None:
    same = np.repeat(noisy(2, 30, [0.0]), 4, axis=1)
    found = tuned(variants(same), questions(30))
    assert found.fit is not None
    assert (found.fit.kept, found.fit.why) == (
        "multiscale",
        "none of 3 others has a higher expected score",
    )


def test_the_means_are_those_of_the_standings() -> None:
    table = noisy(2, 14, [0.0, 0.1, 0.0, 0.0])
    found = tuned(variants(table), questions(14))
    assert found.fit is not None
    chose = [row for row, side in enumerate(found.splits) if side == "validation"]
    np.testing.assert_allclose([mean for _, mean in found.fit.tried], table[chose].mean(axis=0))
    assert dict(found.fit.tried) == pytest.approx(
        {standing.label: standing.validation.mean for standing in found.standings}
    )


def test_the_default_is_known_by_its_weights() -> None:
    names = ("multiscale(dense=1)", "multiscale(dense=0.5)")
    same = np.repeat(noisy(4, 60, [0.0]), 2, axis=1)
    found = tuned(variants(same, names), questions(60))
    assert found.fit is not None
    assert found.fit.kept == "multiscale(dense=0.5)"


def test_without_the_default_the_first_takes_its_place() -> None:
    alone = tuned(variants(noisy(5, 60, [0.0]), ("multiscale(dense=2)",)), questions(60))
    assert alone.fit is not None
    assert (alone.fit.kept, alone.fit.why) == (
        "multiscale(dense=2)",
        "only multiscale(dense=2) was tried",
    )


def test_chunks_alone_need_no_weights() -> None:
    assert tuned([outcome("s", noisy(6, 40, [0.0])[:, 0])], questions(40)).fit is None
