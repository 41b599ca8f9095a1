"""What is expected of configurations: naively once more, and on tables that leave nothing to learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.tuning.choose.priors_and_shrinkage import (
    NO_PRIOR,
    LeverEffects,
    LeverPrior,
    expectation,
    expected_means,
    public_priors,
    shared_levers,
)
from chunkwise.tuning.plan.grid import default_sweep
from chunkwise.tuning.plan.plan import plan_sweep
from how_many import examples
from tables import cases

SIZES, KINDS = ("100", "200", "400"), ("bm25", "dense")
GRID = [{"size": size, "retriever": kind} for size in SIZES for kind in KINDS]
PRIOR = LeverPrior(
    {"size": {"100": 0.05, "200": 0.0, "400": -0.05}, "retriever": {"bm25": 0.02, "dense": -0.02}},
    {"size": 0.03, "retriever": 0.05},
    0.02,
)


def made(seed: int, questions: int, spread: float = 0.2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    lifts = rng.normal(0, 0.05, len(GRID))
    return rng.uniform(0, 1, (questions, 1)) + lifts + rng.normal(0, spread, (questions, len(GRID)))


def naive(scores: np.ndarray, levers: list[dict[str, str]], prior: LeverPrior) -> list[float]:
    """The same by plain means: of a whole grid, what a value adds is the mean of those that have it."""
    count, width = scores.shape
    before = [
        sum(prior.effects.get(name, {}).get(value, 0.0) for name, value in own.items())
        for own in levers
    ]
    rows = [
        [scores[q][c] - sum(scores[q]) / width - before[c] + sum(before) / width for c in range(width)]
        for q in range(count)
    ]  # fmt: skip
    reach = max(1.0, scores.max()) - min(0.0, scores.min())
    unseen = reach**2 / 4 / (count + 1)
    found = [before[c] - sum(before) / width + scores.mean() for c in range(width)]
    rest = [list(row) for row in rows]
    for name in levers[0]:
        values = list(dict.fromkeys(own[name] for own in levers))
        adds = {
            value: [
                np.mean([row[c] for c in range(width) if levers[c][name] == value]) for row in rows
            ]
            for value in values
        }
        noise = np.mean([np.var(own, ddof=1) for own in adds.values()]) + unseen / len(values)
        seen = np.mean([float(np.mean(own)) ** 2 for own in adds.values()]) - 4 * noise / count
        sure = max(max(prior.spreads.get(name, 0.02), 0.01) ** 2, seen)
        share = sure / (sure + noise / count)
        for c in range(width):
            found[c] += share * float(np.mean(adds[levers[c][name]]))
            for q in range(count):
                rest[q][c] -= adds[levers[c][name]][q]
    noise = np.mean([np.var([row[c] for row in rest], ddof=1) for c in range(width)]) + unseen
    seen = np.mean([np.mean([row[c] for row in rest]) ** 2 for c in range(width)])
    sure = max(max(prior.alone, 0.01) ** 2, seen - 4 * noise / count)
    share = sure / (sure + noise / count)
    return [found[c] + share * float(np.mean([row[c] for row in rest])) for c in range(width)]


@settings(max_examples=examples(20), deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 40), st.sampled_from([PRIOR, NO_PRIOR]))
def test_it_is_what_plain_means_say(seed: int, questions: int, prior: LeverPrior) -> None:
    scores = made(seed, questions)
    found = expected_means(scores, GRID, prior).means
    # Least squares leave a thousandth of a configuration to chance, of scores up to 1.5: 2.6e-4 at most of 4,000 drawn.
    np.testing.assert_allclose(found, naive(scores, GRID, prior), atol=5e-4)


def test_with_many_questions_it_is_the_mean_whatever_was_expected() -> None:
    scores = made(1, 200_000)
    found = expected_means(scores, GRID, PRIOR).means
    np.testing.assert_allclose(found, scores.mean(axis=0), atol=1e-3)
    few = expected_means(scores[:10], GRID, PRIOR).means
    before = PRIOR.of(GRID)
    apart = np.abs(few - few.mean() - (before - before.mean()))
    plain = scores[:10].mean(axis=0)
    assert apart.mean() < np.abs(plain - plain.mean() - (before - before.mean())).mean()


def test_what_is_clearly_otherwise_than_expected_is_believed() -> None:
    """Of a corpus unlike those that the prior is of, thirty questions say more than the prior."""
    rng = np.random.default_rng(6)
    other = np.array([-0.3, -0.3, 0.0, 0.0, 0.3, 0.3])
    scores = 0.5 + other + rng.normal(0, 0.2, (30, 6))
    found = expected_means(scores, GRID, PRIOR).means
    assert found.argmax() in (4, 5)
    np.testing.assert_allclose(np.ptp(found), np.ptp(scores.mean(axis=0)), rtol=0.25)


def test_noise_is_shrunk() -> None:
    """Over many corpora, what is expected is nearer to the truth than the means are."""
    rng = np.random.default_rng(2)
    away = []
    for _ in range(200):
        truth = 0.5 + rng.normal(0, 0.02, 3)[[0, 0, 1, 1, 2, 2]] + rng.normal(0, 0.01, 6)
        scores = truth + rng.normal(0, 0.3, (20, 1)) + rng.normal(0, 0.2, (20, 6))
        found = expected_means(scores, GRID).means
        plain = scores.mean(axis=0)
        away.append([
            np.mean((each - each.mean() - truth + truth.mean()) ** 2) for each in (found, plain)
        ])  # fmt: skip
    shrunk, means = np.mean(away, axis=0)
    assert shrunk < means / 2


@cases(
    "scores",
    [
        np.full((1, 6), 0.5),  # one question
        np.zeros((30, 6)),  # nothing is found by anyone
        np.ones((30, 6)),
        np.repeat(np.random.default_rng(3).uniform(0, 1, (30, 1)), 6, axis=1),  # all tie
    ],
)
def test_where_nothing_differs_nothing_is_learnt(scores: np.ndarray) -> None:
    alike = expected_means(scores, GRID).means
    np.testing.assert_allclose(alike, scores.mean(), atol=1e-6)
    before = PRIOR.of(GRID)
    found = expected_means(scores, GRID, PRIOR).means
    assert np.isfinite(found).all()
    # Less than was expected, in the same order.
    assert (np.argsort(found) == np.argsort(before)).all()
    assert np.ptp(found) < np.ptp(before)


def test_one_configuration_and_configurations_without_levers() -> None:
    scores = made(4, 12)
    assert expected_means(scores[:, :1], GRID[:1]).means == pytest.approx(scores[:, :1].mean())
    found = expected_means(scores, [{}] * 6).means
    assert (np.argsort(found) == np.argsort(scores.mean(axis=0))).all()


def test_the_order_of_questions_and_configurations_does_not_matter() -> None:
    scores = made(5, 25)
    found = expected_means(scores, GRID, PRIOR)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(25), rng.permutation(6)
    other = expected_means(scores[rows][:, columns], [GRID[at] for at in columns], PRIOR)
    np.testing.assert_allclose(other.means, found.means[columns], atol=1e-8)
    assert other.worth == pytest.approx(found.worth)


def test_levers_that_change_together_share_what_they_do() -> None:
    levers = [{"size": "100", "overlap": "none"}] * 2 + [{"size": "200", "overlap": "some"}] * 2
    effects = LeverEffects(levers)
    assert np.isfinite(effects.of(np.array([[0.0, 0.0, 1.0, 1.0]]))).all()


def test_the_usual_sweep_has_a_prior_that_says_something() -> None:
    plan = plan_sweep(default_sweep((), None, has_headings=True))
    levers = [shared_levers(each) for each in plan.configurations]
    several = next(at for at, each in enumerate(plan.configurations) if each.label == "multiscale")
    assert levers[several]["retriever"] == "hybrid"
    prior = public_priors()["recall@1000t"]
    before = prior.of(levers)
    assert before[several] > np.median(before)
    assert all(0 <= spread < 0.5 for spread in (*prior.spreads.values(), prior.alone))


@settings(max_examples=examples(20), deadline=None)
@given(st.integers(0, 2**16), st.integers(2, 60))
def test_what_the_prior_favors_loses_no_standard_error(seed: int, count: int) -> None:
    usual = default_sweep((), None, has_headings=False)
    configurations = plan_sweep(usual).configurations[:6]
    prior = public_priors()["recall@1000t"]
    scores = made(seed, count)
    found = expectation(scores, configurations, prior)
    favorite = int(prior.of([shared_levers(each) for each in configurations]).argmax())
    differences = scores - scores[:, [favorite]]
    errors = [np.std(column, ddof=1) / count**0.5 for column in differences.T]
    np.testing.assert_allclose(found.means - found.cautious, errors, atol=1e-8)
    assert found.cautious[favorite] == found.means[favorite]
    # Without a prior nothing is favored.
    plain = expectation(scores, configurations)
    assert (plain.cautious == plain.means).all()
