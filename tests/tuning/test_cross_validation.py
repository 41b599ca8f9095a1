"""Folds that judge what the others chose: naively once more, and never flattering."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.stats.intervals import interval
from chunkwise.tuning.validation import FOLDS, REPEATS, folds, held_out
from how_many import examples
from made_outcomes import noisy, outcome, questions, sweep, tuned
from tables import cases


@given(st.integers(0, 200), st.integers(0, 5), st.integers(0, 3))
def test_every_question_is_in_one_fold(count: int, seed: int, repeat: int) -> None:
    found = folds(count, seed, repeat)
    assert sorted(np.concatenate([np.empty(0, int), *found]).tolist()) == list(range(count))
    assert len(found) == min(FOLDS, count)
    sizes = [len(fold) for fold in found] or [0]
    assert max(sizes) - min(sizes) <= 1


@settings(max_examples=examples(15), deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 5))
def test_it_is_what_a_plain_loop_says(seed: int, count: int, width: int) -> None:
    scores = np.random.default_rng(seed).integers(0, 3, (count, width)) / 2

    def best(rows: np.ndarray) -> list[int]:
        return [int(np.argmax([sum(scores[row][at] for row in rows) for at in range(width)]))]

    found = held_out(scores, best, seed)
    assert found is not None
    repeats = REPEATS if count > FOLDS else 1
    totals, chosen = [0.0] * count, []
    for repeat in range(repeats):
        for fold in folds(count, seed, repeat):
            others = [row for row in range(count) if row not in fold]
            chosen.append(best(np.array(others))[0])
            for row in fold:
                totals[row] += scores[row][chosen[-1]] / repeats
    np.testing.assert_allclose(found.scores[:, 0], totals)
    assert found.chosen == {at: pytest.approx(chosen.count(at) / len(chosen)) for at in set(chosen)}


def test_no_question_has_a_part_in_what_it_judges() -> None:
    scores = np.zeros((20, 3))

    def choose(rows: np.ndarray) -> list[int]:
        seen.append(set(rows.tolist()))
        return [0]

    seen: list[set[int]] = []
    assert held_out(scores, choose, 0) is not None
    all_folds = [fold for repeat in range(REPEATS) for fold in folds(20, 0, repeat)]
    assert [set(range(20)) - own for own in seen] == [set(fold.tolist()) for fold in all_folds]


@cases("count", [0, 1])
def test_with_fewer_than_two_questions_nothing_is_left_out(count: int) -> None:
    assert held_out(np.zeros((count, 2)), lambda rows: [0], 0) is None


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
def test_the_figure_does_not_flatter_and_its_interval_holds() -> None:
    """Configurations of which none is better: the best of many seems to be, and what folds say is the truth."""
    flattered, judged, covered = [], [], 0
    rounds = 40
    for seed in range(rounds):
        table = np.clip(noisy(seed, 30, [0.0] * 20, spread=0.3), 0, 1)
        truth = float(np.clip(noisy(10_000 + seed, 4000, [0.0] * 20, spread=0.3), 0, 1).mean())
        found = tuned(
            [outcome(f"s{at}", table[:, at]) for at in range(20)], questions(30), of=sweep(test_share=0.0)
        )  # fmt: skip
        assert found.nested is not None
        figure = found.nested.figure
        assert figure.mean is not None
        chosen = next(each for each in found.standings if each.key == found.chosen)
        flattered.append((chosen.validation.mean or 0) - truth)
        judged.append(figure.mean - truth)
        covered += (figure.low or 0) <= truth <= (figure.high or 0)
    assert np.mean(flattered) > 0.03
    error = np.std(judged) / np.sqrt(rounds)
    assert np.mean(judged) < 2 * error
    assert covered >= 0.9 * rounds


def test_the_interval_is_that_of_the_scores_left_out() -> None:
    table = noisy(3, 40, [0.0, 0.3])
    outcomes = [outcome(f"s{at}", table[:, at]) for at in (0, 1)]
    found = tuned(outcomes, questions(40), of=sweep(test_share=0.0))
    assert found.nested is not None
    naive = interval(table[:, 1])
    assert naive is not None
    assert (found.nested.figure.mean, found.nested.figure.low) == pytest.approx(naive[:2])


def test_another_seed_makes_other_folds_and_the_same_seed_the_same() -> None:
    table = noisy(4, 30, [0.0, 0.01, 0.02], spread=0.3)
    outcomes = [outcome(f"s{at}", table[:, at]) for at in range(3)]
    first, again, other = (
        tuned(outcomes, questions(30), of=sweep(seed=seed, test_share=0.0)).nested for seed in (0, 0, 1)
    )  # fmt: skip
    assert first == again
    assert first != other
