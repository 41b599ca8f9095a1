"""The choice, where the truth is known."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.core import Query
from chunkwise.records.json import json_text
from chunkwise.stats.paired import paired_difference, ties
from chunkwise.tuning.choose.choose import pareto_front
from chunkwise.tuning.plan.plan import VARIED
from chunkwise.tuning.sweep import Configuration
from chunkwise.tuning.sweep_result import Outcome
from how_many import examples
from made_outcomes import (
    OBJECTIVE,
    RECURSIVE,
    SENTENCES,
    noisy,
    outcome,
    questions,
    sweep,
    tuned,
)
from tables import cases
from untimed import is_linear


def test_a_clear_winner_is_chosen_and_proven_on_test_questions() -> None:
    table = noisy(1, 120, [0.0, 0.25, 0.05])
    outcomes = [
        outcome("recursive", table[:, 0], baseline=RECURSIVE),
        outcome("winner", table[:, 1], storage=3.0),
        outcome("sentences", table[:, 2], baseline=SENTENCES),
    ]
    found = tuned(outcomes, questions(120))
    assert found.chosen == outcomes[1].configuration.key
    assert [standing.label for standing in found.standings] == [
        "winner · bm25", "sentences · bm25", "recursive · bm25",
    ]  # fmt: skip
    assert [standing.tied for standing in found.standings] == [True, False, False]
    assert found.standings[0].best_share == 1
    judged = [row for row, side in enumerate(found.splits) if side == "test"]
    for held, column, share in zip(found.against, (0, 2), (0.025, 0.05), strict=True):
        # The one that is shown first is held to half of it: Holm's correction over the two.
        naive = paired_difference(table[judged, column], table[judged, 1], outside=share)
        assert naive is not None
        assert (held.difference, held.low, held.high) == naive.difference
        assert naive.p <= held.p <= 2 * naive.p
        assert held.words == "better"
    assert [held.baseline for held in found.against] == [RECURSIVE, SENTENCES]
    assert found.sentence.startswith(f"Use winner · bm25: it has {OBJECTIVE} 6")
    assert f"better than {RECURSIVE}" in found.sentence
    assert "all others are significantly worse" in found.sentence
    assert found.caveats == ()


def test_figures_are_those_of_each_side() -> None:
    table = noisy(2, 50, [0.0, 0.1])
    found = tuned([outcome(str(at), table[:, at]) for at in (0, 1)], questions(50))
    chose = np.array([side == "validation" for side in found.splits])
    for standing, column in zip(found.standings, (1, 0), strict=True):
        assert standing.test is not None
        assert standing.validation.mean == pytest.approx(table[chose, column].mean())
        assert standing.test.mean == pytest.approx(table[~chose, column].mean())
        assert (standing.validation.scored, standing.test.scored) == (25, 25)


@pytest.mark.unwatched
def test_sixty_equal_configurations_on_thirty_questions_are_tied() -> None:
    missed = 0
    for seed in range(4):
        table = noisy(seed, 60, [0.0] * 60, spread=0.2)
        outcomes = [outcome(f"s{at}", table[:, at], storage=1 + at / 10) for at in range(60)]
        found = tuned(outcomes, questions(60))
        assert sum(standing.validation.scored for standing in found.standings) == 60 * 30
        missed += sum(not standing.tied for standing in found.standings)
        # Prices rise with the number: the first that is within a point of what most is expected of.
        means = {standing.key: standing.expected or 0.0 for standing in found.standings}
        near = [
            each for each in outcomes if means[each.configuration.key] >= max(means.values()) - 0.01
        ]
        prices = [each.cost["storage"] for each in near]
        assert found.chosen in {
            each.configuration.key for each in near if each.cost["storage"] <= 1.05 * min(prices)
        }
        assert max(standing.best_share for standing in found.standings) < 0.6
        assert any("tied" in said for said in found.caveats)
    assert missed <= 2


def test_configurations_that_are_all_the_same_are_all_tied() -> None:
    same = noisy(3, 40, [0.0])[:, 0]
    found = tuned([outcome(f"s{at}", same) for at in range(5)], questions(40))
    assert all(standing.tied for standing in found.standings)
    assert found.needed is None
    assert found.detectable is None
    assert found.chosen == found.standings[0].key


def test_of_the_tied_clean_cuts_come_before_pennies() -> None:
    same = noisy(4, 80, [0.0])[:, 0]
    outcomes = [
        outcome("cheap but torn", same, storage=1.0, hurt=43),
        outcome("clean", same, storage=1.2, hurt=14),
        outcome("as clean and dear", same, storage=2.0, hurt=12),
    ]
    found = tuned(outcomes, questions(80))
    assert found.chosen == outcomes[1].configuration.key


def test_of_the_tied_the_cheapest_is_recommended() -> None:
    table = noisy(4, 80, [0.0, 0.002, 0.001, -0.3], spread=0.05)
    asked = sweep("recall@5")
    outcomes = [
        outcome("cheap", table[:, 0], storage=1.0, context=500, objective="recall@5"),
        outcome("dear", table[:, 1], storage=1.0, context=1000, objective="recall@5"),
        outcome("double", table[:, 2], storage=2.0, context=500, objective="recall@5"),
        outcome("bad", table[:, 3], storage=0.1, context=10, objective="recall@5"),
    ]
    found = tuned(outcomes, questions(80), of=asked)
    assert found.chosen == outcomes[0].configuration.key
    # What is not known counts as dearest.
    unknown = replace(outcomes[0], cost={"storage": 1.0, "context_tokens": None})
    assert tuned([unknown, *outcomes[1:]], questions(80), of=asked).chosen in {
        outcomes[1].configuration.key, outcomes[2].configuration.key,
    }  # fmt: skip


def test_a_choice_that_is_a_default_is_not_held_against_it() -> None:
    same = noisy(7, 80, [0.0])[:, 0]
    outcomes = [
        outcome("sentences", same, "bm25", baseline=SENTENCES),
        outcome("sentences", same, "hybrid", baseline=SENTENCES),
        outcome("recursive", same, "hybrid", baseline=RECURSIVE, storage=2.0),
    ]
    found = tuned(outcomes, questions(80))
    assert found.chosen == outcomes[0].configuration.key
    assert [held.baseline for held in found.against] == [RECURSIVE]
    assert found.sentence.startswith(f"Keep your default, such as {SENTENCES}")
    assert f"against {RECURSIVE} · hybrid" in found.sentence
    assert not any(SENTENCES in said for said in found.caveats)


def test_within_a_budget_context_puts_nothing_on_the_front() -> None:
    table = noisy(8, 80, [0.2, 0.0])
    for objective, both in (("recall@100t", False), ("recall@5", True)):
        outcomes = [
            outcome(f"s{at}", table[:, at], context=100 - 6 * at, objective=objective)
            for at in (0, 1)
        ]
        found = tuned(outcomes, questions(80), of=sweep(objective))
        assert [standing.pareto for standing in found.standings] == [True, both]


@cases(
    "objective, tokens, said",
    [
        ("recall@1000t", 1240, "1,000 tokens are 81% of these documents: nearly everything is found with any "
         "configuration; try --objective recall@100t."),
        ("precision@1000t", 2900, "1,000 tokens are 34% of these documents: much is found with any configuration; "
         "try --objective precision@250t."),
        ("recall@1000t", 200, "1,000 tokens are 100% of these documents: nearly everything is found with any "
         "configuration; use more documents."),
        ("recall@1000t", 3100, ""),
        ("recall@100t", 1240, ""),
        ("recall@5", 10, ""),
    ],
)  # fmt: skip
def test_a_budget_that_holds_much_of_the_corpus_is_told(
    objective: str, tokens: int, said: str
) -> None:
    own = outcome("s", noisy(9, 80, [0.0])[:, 0], objective=objective)
    own = replace(own, cost={**own.cost, "document_tokens": tokens})
    found = tuned([own], questions(80), of=sweep(objective))
    assert [each for each in found.caveats if "of these documents" in each] == (
        [said] if said else []
    )


def test_tied_and_cheap_is_not_enough_below_the_best() -> None:
    table = noisy(4, 120, [0.0, 0.05], spread=0.05)
    cheap = outcome("cheap", table[:, 0], storage=0.5)
    good = outcome("good", table[:, 1], storage=1.0)
    found = tuned([cheap, good], questions(120))
    best = max(found.standings, key=lambda standing: standing.expected or 0)
    other = min(found.standings, key=lambda standing: standing.expected or 0)
    assert (best.expected or 0) - (other.expected or 0) > 0.01
    assert found.chosen == best.key == good.configuration.key


def test_within_a_budget_all_read_as_much() -> None:
    table = noisy(18, 80, [0.0, 0.01, 0.01], spread=0.05)
    small = outcome("small", table[:, 0], context=500)
    large = outcome("large", table[:, 1], context=4000)
    twice = outcome("twice", table[:, 2], context=100, storage=2.0)
    assert tuned([small, large, twice], questions(80)).chosen == large.configuration.key


def test_where_prices_are_the_same_the_better_is_recommended_then_fewer_chunks() -> None:
    table = noisy(5, 80, [0.0, 0.01, 0.0], spread=0.05)
    first = outcome("a", table[:, 0], storage=1.0)
    second = outcome("b", table[:, 1], storage=1.04)
    assert tuned([first, second], questions(80)).chosen == second.configuration.key
    third = outcome("c", table[:, 0], storage=1.01, chunks=50, hurt=5)
    assert tuned([first, third], questions(80)).chosen == third.configuration.key


def test_a_default_that_is_tied_and_cheaper_is_recommended() -> None:
    table = noisy(6, 80, [0.0, 0.002], spread=0.03)
    default = outcome("recursive", table[:, 0], baseline=RECURSIVE)
    found = tuned([default, outcome("new", table[:, 1], storage=2.0)], questions(80))
    assert found.chosen == default.configuration.key
    assert found.against == ()
    assert found.sentence.startswith(f"Keep your default, such as {RECURSIVE}")


def test_what_does_not_beat_the_defaults_is_said() -> None:
    table = noisy(7, 80, [0.0, 0.005], spread=0.1)
    default = outcome("recursive", table[:, 0], baseline=RECURSIVE, storage=2.0)
    found = tuned([default, outcome("new", table[:, 1])], questions(80))
    assert found.sentence.startswith(
        f"Keep your default, such as {RECURSIVE}: nothing is significantly better on the test questions."
    )
    assert [held.words for held in found.against] == ["inconclusive"]


def test_a_default_stands_with_the_retriever_that_suits_it_best() -> None:
    table = noisy(8, 60, [0.1, 0.2, 0.4], spread=0.05)
    weak = outcome("recursive", table[:, 0], "bm25", baseline=RECURSIVE)
    strong = outcome("recursive", table[:, 1], "hybrid", vectors="late", baseline=RECURSIVE)
    found = tuned([weak, strong, outcome("new", table[:, 2])], questions(60))
    assert [held.key for held in found.against] == [strong.configuration.key]


def test_less_can_be_better() -> None:
    table = noisy(9, 80, [0.0, 0.3])
    outcomes = [
        outcome("low", table[:, 0], objective="failure@20"),
        outcome("high", table[:, 1], objective="failure@20", baseline=RECURSIVE),
    ]
    found = tuned(outcomes, questions(80), of=sweep("failure@20"))
    assert found.chosen == outcomes[0].configuration.key == found.standings[0].key
    assert found.against[0].words == "better"
    assert found.against[0].difference < 0
    assert "pts" in found.sentence
    assert f"better than {RECURSIVE}" in found.sentence


def test_failed_and_unreached_configurations_take_no_part_and_are_named() -> None:
    table = noisy(10, 60, [0.0, 0.1])
    failed = outcome("broken", (), error="the endpoint is gone")
    missing = Configuration("late one", "bm25")
    outcomes = [outcome("a", table[:, 0]), failed, outcome("b", table[:, 1])]
    found = tuned(outcomes, questions(60), planned=[missing], of=sweep(time=60))
    assert [standing.label for standing in found.standings] == ["b · bm25", "a · bm25"]
    said = " ".join(found.caveats)
    assert "1 configuration failed: broken · bm25 (the endpoint is gone)" in said
    assert "1 of 4 configurations not run" in said
    assert len(found.outcomes) == 3


def test_questions_without_a_score_are_counted_and_left_out() -> None:
    table = noisy(12, 40, [0.0, 0.3])
    queries = questions(40)
    queries[3] = replace(queries[3], references=())
    outcomes = [
        outcome(f"s{at}", [None if row == 3 else table[row, at] for row in range(40)])
        for at in (0, 1)
    ]
    found = tuned(outcomes, queries)
    side = found.splits[3]
    for standing in found.standings:
        figure = standing.validation if side == "validation" else standing.test
        assert figure is not None
        assert figure.unscored == {"no references": 1}
    assert any("1 question without references" in said for said in found.caveats)


def test_one_with_many_gaps_does_not_take_the_questions_from_the_others() -> None:
    table = noisy(13, 40, [0.0, 0.2])
    gaps = [0.9 if row < 8 else None for row in range(40)]
    outcomes = [*(outcome(f"s{at}", table[:, at]) for at in (0, 1)), outcome("gaps", gaps)]
    found = tuned(outcomes, questions(40))
    assert found.chosen == outcomes[1].configuration.key
    aside = {standing.label: standing.aside for standing in found.standings}
    assert aside["gaps · bm25"] == "no score for 32 questions that others have"


def test_without_test_questions_folds_judge() -> None:
    table = noisy(14, 3, [0.0, 0.1])
    outcomes = [outcome("a", table[:, 0], baseline=RECURSIVE), outcome("b", table[:, 1])]
    found = tuned(outcomes, questions(3), of=sweep(test_share=0.0))
    assert all(standing.test is None for standing in found.standings)
    assert found.nested is not None
    assert (found.nested.figure.scored, found.nested.folds, found.nested.repeats) == (3, 3, 1)
    assert found.levers == ()
    assert "nested cross-validation" in found.sentence
    said = " ".join(found.caveats)
    assert "Only 3 validation questions" in said


def test_one_question_chooses_and_nothing_judges() -> None:
    outcomes = [outcome("a", [0.2], baseline=RECURSIVE), outcome("b", [0.9])]
    found = tuned(outcomes, questions(1), of=sweep(test_share=0.0))
    assert found.chosen == outcomes[1].configuration.key
    assert found.nested is None
    assert found.against == ()
    assert "1 question (in-sample)" in found.sentence
    assert "No held-out questions" in " ".join(found.caveats)


def test_a_split_of_ones_own_is_sacred() -> None:
    table = noisy(21, 80, [0.0, 0.1, 0.05])
    sides = ["validation", "test"] * 40
    queries = [replace(each, split=side) for each, side in zip(questions(80), sides, strict=True)]
    other = table.copy()
    other[1::2] = 1 - other[1::2]  # what the test questions say
    found, changed = (
        tuned([outcome(f"s{at}", own[:, at]) for at in range(3)], queries, of=sweep(test_share=0.0))
        for own in (table, other)
    )
    assert found.nested is None
    assert changed.chosen == found.chosen
    expected = [[each.expected for each in own.standings] for own in (found, changed)]
    assert expected[0] == expected[1]
    assert [each.test for each in changed.standings] != [each.test for each in found.standings]


def test_a_fold_chooses_no_variation_that_other_questions_had_tried() -> None:
    """Two halves of the questions have a favourite each; what varies one of them was tried for all."""
    low, high = 0.2, 0.6
    halves = np.arange(40) < 20
    first, second = np.where(halves, high, low), np.where(halves, low, high)
    parents = [outcome("a", first + 0.01), outcome("b", second)]
    better = outcome("b", second + 0.3, "bm25(k1=2.5)")
    varied = replace(better, configuration=replace(
        better.configuration, varies=parents[1].configuration.key
    ))  # fmt: skip
    # As many others are varied as may be, unless a fold puts them behind.
    others = [outcome(f"c{number}", first) for number in range(VARIED - 1)]
    outcomes = [*parents, varied, *others]
    found = tuned(outcomes, questions(40), of=sweep(test_share=0.0))
    assert found.nested is not None
    # Where folds put all the others before b, nobody would have varied b.
    labels = {label for label, _ in found.nested.chosen}
    assert "a · bm25" in labels
    all_of_them = tuned(outcomes[:3], questions(40), of=sweep(test_share=0.0)).nested
    assert all_of_them is not None
    assert [label for label, _ in all_of_them.chosen] == ["b · bm25(k1=2.5)"]


@cases("more", [{"reranker": "local"}, {"maxsim": "colbert-small"}])
def test_another_model_must_be_worth_a_point(more: dict[str, str]) -> None:
    table = noisy(26, 200, [0.0, 0.002, 0.1], spread=0.01)
    outcomes = [outcome(f"s{at}", table[:, at]) for at in range(3)]
    reranked = [
        replace(each, configuration=replace(each.configuration, **more)) for each in outcomes[1:]
    ]
    found = tuned([outcomes[0], reranked[0]], questions(200), of=sweep(test_share=0.0))
    assert found.chosen == outcomes[0].configuration.key
    found = tuned([outcomes[0], *reranked], questions(200), of=sweep(test_share=0.0))
    assert found.chosen == reranked[1].configuration.key


def test_who_was_dropped_is_listed_and_not_chosen() -> None:
    table = noisy(23, 40, [0.0, 0.1])
    partly = [0.0 if at < 16 else None for at in range(40)]
    lost = replace(outcome("lost", partly), dropped="dropped after 16 questions: far behind")
    outcomes = [*(outcome(f"s{at}", table[:, at]) for at in (0, 1)), lost]
    found = tuned(outcomes, questions(40), of=sweep(test_share=0.0))
    asides = {each.label: each.aside for each in found.standings}
    assert asides["lost · bm25"] == lost.dropped
    assert found.chosen == outcomes[1].configuration.key
    assert found.nested is not None
    assert found.nested.figure.scored == 40
    assert "lost · bm25" in " ".join(found.caveats)


def test_unscored_questions_neither_choose_nor_judge() -> None:
    table = noisy(24, 30, [0.0, 0.2])
    scores = [
        [None if row % 5 == 0 else own for row, own in enumerate(column)] for column in table.T
    ]
    found = tuned(
        [outcome(f"s{at}", own) for at, own in enumerate(scores)], questions(30), of=sweep(test_share=0.0)
    )  # fmt: skip
    assert found.nested is not None
    assert found.nested.figure.scored == 24
    kept = [row for row in range(30) if row % 5]
    assert found.nested.figure.mean == pytest.approx(table[kept, 1].mean())


@cases("value", [0.0, 1.0])
def test_where_all_score_the_same_the_cheapest_is_chosen_and_judged(value: float) -> None:
    outcomes = [outcome("dear", [value] * 20, storage=2.0), outcome("cheap", [value] * 20)]
    found = tuned(outcomes, questions(20), of=sweep(test_share=0.0, prior=True))
    assert found.chosen == outcomes[1].configuration.key
    assert found.nested is not None
    assert found.nested.figure.mean == value
    alone = tuned(outcomes[:1], questions(20), of=sweep(test_share=0.0))
    assert alone.nested is not None
    assert alone.chosen == outcomes[0].configuration.key


def test_less_can_be_expected_to_be_better() -> None:
    table = noisy(25, 60, [0.2, 0.0])
    outcomes = [outcome(f"s{at}", table[:, at], objective="failure@20") for at in (0, 1)]
    found = tuned(outcomes, questions(60), of=sweep("failure@20", test_share=0.0))
    assert found.chosen == outcomes[1].configuration.key
    expected = {each.label: each.expected or 0.0 for each in found.standings}
    assert 0 < expected["s1 · bm25"] < expected["s0 · bm25"]


def test_choice_and_defaults_are_judged_on_what_was_left_out() -> None:
    table = noisy(22, 60, [0.0, 0.25, 0.0])
    outcomes = [
        outcome("recursive", table[:, 0], baseline=RECURSIVE),
        outcome("winner", table[:, 1]),
        outcome("sentences", table[:, 2], baseline=SENTENCES),
    ]
    found = tuned(outcomes, questions(60), of=sweep(test_share=0.0))
    assert found.nested is not None
    assert found.nested.chosen == (("winner · bm25", 1.0),)
    # Every fold chooses the same: what is left out says the same as all questions together.
    assert found.nested.figure.mean == pytest.approx(table[:, 1].mean())
    for held, column in zip(found.against, (0, 2), strict=True):
        assert held.difference == pytest.approx((table[:, 1] - table[:, column]).mean())
        assert held.words == "better"
    assert "In-sample" in found.sentence


def test_few_questions_say_what_they_can_show() -> None:
    table = noisy(15, 40, [0.0, 0.1])
    found = tuned([outcome(f"s{at}", table[:, at]) for at in (0, 1)], questions(40))
    assert found.detectable is not None
    least = f"differences under {100 * found.detectable:.1f} pts are rarely significant"
    assert least in found.caveats[0]


@cases("queries", [[], [Query("q", "what?")] * 1])
def test_without_scores_nothing_is_chosen(queries: list[Query]) -> None:
    outcomes = [
        replace(outcome("clean", [None] * len(queries)), boundary_issues={"chunks_with_issues": 1}),
        outcome("dear", [None] * len(queries), storage=2.0),
        outcome("cheap", [None] * len(queries)),
        replace(outcome("", [None] * len(queries), "multiscale"), boundary_issues={}),
        outcome("broken", (), error="no"),
    ]
    found = tuned(outcomes, queries)
    assert found.chosen == ""
    assert [standing.label for standing in found.standings] == [
        "clean · bm25", "cheap · bm25", "dear · bm25", "multiscale",
    ]  # fmt: skip
    assert found.sentence.startswith("No recommendation")
    assert "1.0% of its chunks" in found.sentence
    assert found.caveats
    assert tuned([], queries).standings == ()


def test_a_constraint_leaves_out_what_falls_short_and_says_so() -> None:
    queries = questions(60)
    chance = random.Random(3)

    def one(name: str, recall: float, precision: float, baseline: str = "") -> Outcome:
        recalls = [recall + chance.uniform(-0.1, 0.1) for _ in queries]
        made = outcome(name, recalls, baseline=baseline)
        return replace(made, scores={**made.scores, "precision@5": (precision,) * len(queries)})

    outcomes = [one("wide", 0.9, 0.1), one("narrow", 0.7, 0.4), one("tiny", 0.5, 0.6),
                one("usual", 0.6, 0.2, SENTENCES)]  # fmt: skip
    wide, narrow = (each.configuration.key for each in outcomes[:2])
    for share in (0.5, 0.0):  # test questions judge, or folds
        asked = sweep(test_share=share)
        assert tuned(outcomes, queries, of=asked).chosen == wide
        found = tuned(outcomes, queries, of=replace(asked, at_least=("precision@5=0.3",)))
        assert found.chosen == narrow
        assert "2 of 4 configurations have precision@5 of at least 30%" in found.sentence
        aside = {each.label: each.aside for each in found.standings if each.aside}
        assert sorted(aside) == ["usual · bm25", "wide · bm25"]
        assert [each.baseline for each in found.against] == [SENTENCES]
        none = tuned(outcomes, queries, of=replace(asked, at_least=("precision@5=0.7",)))
        assert not none.chosen
        assert all(each.aside and each.validation.mean is not None for each in none.standings)
        assert "tiny · bm25 comes closest" in none.sentence


def test_the_same_outcomes_give_the_same_bytes() -> None:
    table = noisy(16, 50, [0.0, 0.1, 0.1])
    outcomes = [outcome(f"s{at}", table[:, at], levers={"size": str(at)}) for at in range(3)]
    first, second = (json_text(tuned(outcomes, questions(50))) for _ in range(2))
    assert first == second
    assert json.loads(first)["plan"]["sweep"]["objective"] == OBJECTIVE


@given(
    st.lists(
        st.tuples(*[st.integers(0, 4)] * 3).map(lambda row: tuple(map(float, row))),
        min_size=1,
        max_size=20,
    )
)
def test_the_front_is_what_nothing_dominates(rows: list[tuple[float, ...]]) -> None:
    naive = [
        not any(
            all(a >= b for a, b in zip(other, row, strict=True)) and other != row for other in rows
        )
        for row in rows
    ]
    assert pareto_front(rows) == naive


@settings(max_examples=examples(15), deadline=None)
@given(st.integers(0, 10_000), st.integers(4, 40), st.integers(1, 6))
def test_the_choice_is_always_one_of_the_tied(seed: int, count: int, width: int) -> None:
    table = np.random.default_rng(seed).integers(0, 3, (count, width)) / 2
    queries = questions(count)
    outcomes = [outcome(f"s{at}", table[:, at], storage=1 + at % 2) for at in range(width)]
    found = tuned(outcomes, queries)
    tied = {standing.key for standing in found.standings if standing.tied}
    assert found.chosen in tied
    rows = [row for row, side in enumerate(found.splits) if side == "validation"]
    naive = ties(table[rows])
    assert naive is not None
    assert tied == {outcomes[at].configuration.key for at in range(width) if naive.tied[at]}
    assert sum(standing.best_share for standing in found.standings) == pytest.approx(1)
    assert any(standing.pareto for standing in found.standings)


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
def test_four_times_as_many_configurations_are_four_times_the_work() -> None:
    def work(count: int) -> None:
        table = noisy(17, 500, np.linspace(0, 0.2, count).tolist())
        levers = [{"size": str(at % 6), "boundaries": str(at // 6)} for at in range(count)]
        outcomes = [outcome(f"s{at}", table[:, at], levers=levers[at]) for at in range(count)]
        tuned(outcomes, questions(500))

    is_linear(work, 25)
