"""Levers that move and levers that do not."""

from itertools import product

import numpy as np
import pytest

from chunkwise.tuning.choose.levers import LeverMember, _widths, comparable, levers, main_effects
from chunkwise.tuning.choose.score_table import score_table_of
from chunkwise.tuning.sweep_result import Lever, Outcome
from made_outcomes import outcome, questions, sweep, tuned

BOUNDARIES, SIZES, OVERLAPS = ("sentences", "sections"), ("100", "200", "500"), ("none", "10%")


def made(
    seed: int, lift: float, count: int = 100, objective: str = "recall@1000t"
) -> list[Outcome]:
    """Size 200 is better by the lift; nothing else moves anything."""
    rng = np.random.default_rng(seed)
    hard = rng.uniform(0.2, 0.6, count)
    found = []
    for boundaries, size, overlap in product(BOUNDARIES, SIZES, OVERLAPS):
        scores = hard + lift * (size == "200") + rng.normal(0, 0.1, count)
        varied = {"boundaries": boundaries, "size": size, "overlap": overlap, "retriever": "bm25"}
        name = f"{boundaries}({size}, {overlap})"
        found.append(outcome(name, scores, levers=varied, objective=objective))
    return found


def by_name(found: tuple[Lever, ...]) -> dict[str, Lever]:
    return {lever.name: lever for lever in found}


def test_the_lever_that_moves_is_found_and_the_others_are_not() -> None:
    found = tuned(made(1, 0.05), questions(100))
    assert found.levers[0].name == "size"
    named = by_name(found.levers)
    assert set(named) == {"size", "boundaries", "overlap"}
    size = named["size"]
    assert size.moves
    assert size.levels[0].value == "200"
    assert size.low < 0.05 < size.high
    assert size.effect == pytest.approx(size.levels[0].mean - size.levels[-1].mean)
    assert [level.configurations for level in size.levels] == [4, 4, 4]
    assert not named["boundaries"].moves
    assert not named["overlap"].moves


@pytest.mark.unwatched
def test_levers_that_do_not_move_are_seldom_said_to() -> None:
    wrong = 0
    for seed in range(30):
        score_table = score_table_of(made(seed, 0.0, 30), ("validation",) * 30, sweep())
        assert score_table is not None
        wrong += sum(lever.moves for lever in levers(score_table))
    assert wrong <= 9  # 5% of 90 are 4.5


def test_in_a_full_grid_levels_are_plain_means() -> None:
    outcomes = made(2, 0.05)
    found = tuned(outcomes, questions(100))
    chose = [row for row, side in enumerate(found.splits) if side == "validation"]
    for lever in found.levers:
        for level in lever.levels:
            own = [
                np.array(each.scores["recall@1000t"])[chose].mean()
                for each in outcomes
                if each.configuration.levers[lever.name] == level.value
            ]
            assert level.mean == pytest.approx(np.mean(own), abs=1e-9)


def test_of_two_levels_the_effect_is_the_mean_over_pairs() -> None:
    scores = np.random.default_rng(3).random((20, 7))
    members = [
        LeverMember(0, "g", "a"), LeverMember(1, "g", "b"), LeverMember(2, "h", "a"), LeverMember(3, "h", "b"),
    ]  # fmt: skip
    own = main_effects(members, ["a", "b"], scores)
    naive = ((scores[:, 1] - scores[:, 0]) + (scores[:, 3] - scores[:, 2])) / 2
    assert own[:, 1] - own[:, 0] == pytest.approx(naive)
    assert own.sum(axis=1) == pytest.approx(np.zeros(20), abs=1e-9)


def test_a_level_that_stands_only_in_good_company_gets_no_credit_for_it() -> None:
    # Groups differ by 0.5, the lever by 0.1; level b is tried mostly where everything is good.
    truth = {("bad", "a"): 0.1, ("good", "a"): 0.6, ("good", "b"): 0.7, ("best", "b"): 0.9}
    scores = np.tile(list(truth.values()), (10, 1))
    members = [LeverMember(at, group, level) for at, (group, level) in enumerate(truth)]
    kept = comparable(members)
    assert {member.group for member in kept} == {"good"}
    own = main_effects(kept, ["a", "b"], scores)
    assert own[:, 1] - own[:, 0] == pytest.approx(np.full(10, 0.1))


def test_levels_that_nothing_links_are_not_compared() -> None:
    members = [
        LeverMember(0, "g", "a"), LeverMember(1, "g", "b"), LeverMember(2, "h", "b"), LeverMember(3, "h", "c"),
        LeverMember(4, "i", "x"), LeverMember(5, "i", "y"), LeverMember(6, "j", "z"),
    ]  # fmt: skip
    assert {member.level for member in comparable(members)} == {"a", "b", "c"}
    assert comparable([LeverMember(0, "g", "a"), LeverMember(1, "h", "b")]) == []
    # Linked through a third, whose comparison is with both.
    scores = np.tile([0.1, 0.2, 0.5, 0.8, 0, 0, 0], (4, 1))
    own = main_effects(members[:4], ["a", "b", "c"], scores)
    assert own[:, 2] - own[:, 0] == pytest.approx(np.full(4, 0.4))


def test_less_can_be_better() -> None:
    found = tuned(made(4, 0.2, objective="failure@20"), questions(100), of=sweep("failure@20"))
    size = by_name(found.levers)["size"]
    assert size.levels[-1].value == "200"
    assert size.effect > 0.15
    assert size.moves


def test_several_sizes_are_held_against_chunks_searched_alike() -> None:
    rng = np.random.default_rng(5)
    hard = rng.uniform(0.2, 0.6, 80)
    lifts = {"bm25": 0.0, "dense": 0.3, "hybrid": 0.1}
    outcomes = [
        outcome(
            f"s{size}", hard + lifts[name] + rng.normal(0, 0.02, 80), name,
            levers={"size": str(size), "one size or multi-scale": "one", "retriever": name, "weights": "usual"},
        )
        for size in (1, 2) for name in lifts
    ]  # fmt: skip
    for name, like in {
        "multiscale(dense=0)": "bm25",
        "multiscale": "hybrid",
        "multiscale(words=0)": "dense",
    }.items():
        scores = hard + lifts[like] + 0.1 + rng.normal(0, 0.02, 80)
        varied = {"one size or multi-scale": "several", "retriever": "multiscale", "weights": name}
        outcomes.append(outcome("", scores, name, levers=varied))
    sizes = by_name(tuned(outcomes, questions(80)).levers)["one size or multi-scale"]
    assert [level.value for level in sizes.levels] == ["several", "one"]
    assert sizes.effect == pytest.approx(0.1, abs=0.01)
    assert sizes.moves


def test_a_strategy_without_overlap_is_compared_with_those_that_have_none() -> None:
    rng = np.random.default_rng(6)
    outcomes = [
        outcome("plain", rng.random(40), levers={"boundaries": "plain", "size": "100"}),
        outcome("other", rng.random(40), levers={"boundaries": "other", "size": "100", "overlap": "none"}),
    ]  # fmt: skip
    assert set(by_name(tuned(outcomes, questions(40)).levers)) == {"boundaries"}


def test_many_of_one_level_against_few_of_another() -> None:
    levels = ["one"] * 111 + ["several"] * 6
    members = [LeverMember(at, at % 3, level) for at, level in enumerate(levels)]
    rng = np.random.default_rng(5)
    scores = rng.uniform(0, 1, (54, 1)) + np.array([0.05 * (each == "several") for each in levels])
    adds = main_effects(members, ["one", "several"], scores)
    assert adds[:, 1] - adds[:, 0] == pytest.approx(np.full(54, 0.05))
    assert np.abs(adds).max() < 1


@pytest.mark.usefixtures("large_inputs")
def test_of_levers_that_move_nothing_none_is_said_to_in_nineteen_sweeps_of_twenty() -> None:
    """Ten levers of four values each, all of them noise: all together, not each for itself."""
    alarms, covered = 0, 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        questions = 30
        own = [rng.normal(0, 0.2, (questions, 4)) for _ in range(10)]
        widths = _widths(own, 1.0, seed)
        apart = [float(np.ptp(each.mean(axis=0))) for each in own]
        alarms += any(effect > width for effect, width in zip(apart, widths, strict=True))
        covered += all(effect <= width for effect, width in zip(apart, widths, strict=True))
    assert alarms <= 4
    assert covered >= 36


def test_a_lever_that_changed_no_question_may_change_others() -> None:
    alike, moving = np.zeros((13, 2)), np.tile([0.0, 0.5], (13, 1))
    alone = _widths([alike], 1.0, 0)[0]
    # One in twenty would miss so many.
    assert alone == pytest.approx(1 - 0.05 ** (1 / 13), abs=0.02)
    assert _widths([alike, moving], 1.0, 0)[0] >= alone
