"""Runs against each other: the same questions only, the right way round, no more than can be shown."""

import dataclasses
import json

import numpy as np
import pytest

import made_results
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.evaluation.compare import compare, run_name
from chunkwise.evaluation.comparison_result import NO_DIFFERENCE, Change
from chunkwise.evaluation.results import Figure, Results
from chunkwise.records.json import json_text
from chunkwise.stats.paired import holm
from chunkwise.stats.paired import paired_difference as paired
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER
from made_results import METRICS, of_questions, question, results


def scores(run: Results, metric: str) -> list[float | None]:
    return [own.scores[metric] for own in run.questions]


def test_a_better_run_is_said_to_be_better_whichever_comes_first() -> None:
    low, high = results(1), results(2, lift=0.15)
    up, down = compare([low, high]).contrasts[0], compare([high, low]).contrasts[0]
    assert up.metrics["recall@5"].verdict == "b is better"
    assert down.metrics["recall@5"].verdict == "a is better"
    # Less failure is better, though the difference is below 0.
    failure = up.metrics["failure@5"]
    assert failure.lower_is_better
    assert failure.difference.mean < 0
    assert failure.verdict == "b is better"
    assert up.metrics["precision@5"].verdict == NO_DIFFERENCE
    assert [c.id for c in up.first_better] == [c.id for c in down.second_better]
    assert [c.id for c in up.second_better] == [c.id for c in down.first_better]


def test_figures_are_those_of_the_statistics() -> None:
    a, b = results(1), results(2, lift=0.03)
    found = compare([a, b])
    own = found.contrasts[0]
    assert list(own.metrics) == list(METRICS)
    alone = {
        name: paired(np.array(scores(a, name), float), np.array(scores(b, name), float))
        for name in METRICS
    }
    for name, test in alone.items():
        assert test is not None
        tested = own.metrics[name]
        assert (tested.difference, tested.p, tested.pairs) == (test.difference, test.p, 40)
        assert tested.second - tested.first == pytest.approx(test.difference.mean)
        assert tested.detectable is not None
    p = [test.p for test in alone.values() if test]
    assert [tested.adjusted for tested in own.metrics.values()] == holm(p)
    assert found.tests == 4
    assert found.best == {}


def test_the_interval_that_is_drawn_says_what_the_verdict_says() -> None:
    runs = [results(seed, lift=0.03 * seed) for seed in range(1, 6)]
    found = compare(runs)
    p = {(each.second, name): own.p for each in found.contrasts for name, own in each.metrics.items()}  # fmt: skip
    assert found.tests > len(p) > 10
    for each in found.contrasts:
        for name, own in each.metrics.items():
            is_shown = own.verdict != NO_DIFFERENCE
            assert own.corrected.leaves_out_zero == is_shown == (own.adjusted <= 0.05)
            assert own.difference.leaves_out_zero == (own.p <= 0.05)
            assert own.corrected.low <= own.difference.low <= own.difference.high
            assert 0.95 <= own.confidence <= 1 - 0.05 / found.tests
            alone = paired(
                np.array(scores(runs[0], name), float),
                np.array(scores(runs[int(ord(each.second) - 97)], name), float),
                outside=1 - own.confidence,
            )
            assert alone is not None
            assert own.corrected == pytest.approx(alone.difference)


def test_questions_that_are_all_the_same_leave_room_for_others() -> None:
    run = of_questions(tuple(question(n, {"recall@5": 1.0}) for n in range(13)))
    other = of_questions(tuple(question(n, {"recall@5": 1.0}) for n in range(13)), k=6)
    own = compare(run, other).contrasts[0].metrics["recall@5"]
    assert own.verdict == NO_DIFFERENCE
    assert own.difference.low == pytest.approx(-0.247, abs=0.003)
    assert own.difference.high == pytest.approx(0.247, abs=0.003)
    assert own.relative == 0


def test_a_change_is_told_as_a_share_of_what_was_there() -> None:
    first, second = (
        of_questions(tuple(question(n, {"recall@5": score}) for n in range(8)))
        for score in (0.4, 0.26)
    )
    own = compare(first, second)
    assert own.contrasts[0].metrics["recall@5"].relative == pytest.approx(-0.35)
    told = own.to_dict()["contrasts"][0]["metrics"]["recall@5"]
    assert told["relative"] == pytest.approx(-0.35)
    nothing = of_questions(tuple(question(n, {"recall@5": 0.0}) for n in range(8)))
    assert compare(nothing, first).contrasts[0].metrics["recall@5"].relative is None


def test_metrics_that_are_not_in_both_are_refused() -> None:
    low, high = results(1), results(2, lift=0.15)
    with pytest.raises(InvalidParameter, match="'speed' isn't a shared metric; known: recall@5"):
        compare(low, high, metrics=["speed"])
    with pytest.raises(InvalidParameter, match="did you mean recall"):
        compare(low, high, metrics=["recal"])


def test_runs_are_named_one_by_one_or_in_a_list() -> None:
    a, b = results(1), results(2, lift=0.15)
    assert compare(a, b) == compare([a, b]) == compare((a, b))
    assert list(compare(a, b, metrics="mrr").contrasts[0].metrics) == ["mrr@5"]
    for wrong, told in (
        ((), r"0 runs given; a comparison needs at least two: compare\(before, after\)"),
        ((a,), "1 run given; a comparison"),
        (([a],), "1 run given; a comparison"),
        ((a, 3), r"run 2 is 3 \(int\); expected results of chunkwise.evaluate\(\)"),
        ((a, b, ["recall"]), r"run 3 is \['recall'\] \(list\)"),
        ((7,), r"run 1 is 7 \(int\)"),
        (({"a": 1},), r"run 1 is 'a' \(str\)|1 run"),
    ):
        with pytest.raises(InvalidParameter, match=told):
            compare(*wrong)


def test_only_questions_with_the_same_id_and_text_are_paired() -> None:
    first = of_questions(tuple(question(n, {"recall@5": 0.0}) for n in range(10)))
    second = of_questions((
        *(question(n, {"recall@5": 1.0}) for n in range(2, 9)),
        question(9, {"recall@5": 1.0}, text="Another question?"),
        question(50, {"recall@5": 1.0}),
    ))  # fmt: skip
    own = compare([first, second]).contrasts[0]
    assert (own.questions, own.only_first, own.only_second) == (7, 2, 1)
    assert own.other_text == ("q09",)
    assert own.metrics["recall@5"].pairs == 7
    assert own.metrics["recall@5"].verdict == "b is better"
    text = "What is said of the lamp in chapter 2?"
    assert own.second_better[0] == Change("q02", text, 0.0, 1.0)
    assert len(own.second_better) == 5
    assert own.first_better == ()
    assert {type: each["recall@5"].pairs for type, each in own.by_type.items()} == {
        "list": 2, "negation": 3, "numeric": 2,
    }  # fmt: skip


def test_five_questions_show_nothing() -> None:
    first, second = (
        of_questions(tuple(question(n, {"recall@5": score}) for n in range(5)))
        for score in (0.0, 1.0)
    )
    tested = compare([first, second]).contrasts[0].metrics["recall@5"]
    assert tested.verdict == NO_DIFFERENCE
    assert tested.p == pytest.approx(0.0625, rel=0.03)
    assert tested.detectable is None
    assert tested.needed == 6
    assert tested.difference.low < 0
    alone = compare([of_questions(run.questions[:1]) for run in (first, second)])
    one = alone.contrasts[0].metrics["recall@5"]
    assert (one.pairs, one.p, one.needed, one.verdict) == (1, 1.0, None, NO_DIFFERENCE)
    assert one.difference.low < 0 < one.difference.high


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
def test_many_runs_by_many_metrics_show_what_is_plain() -> None:
    metrics = [f"m{number}@5" for number in range(25)]

    def run(score: float) -> Results:
        return of_questions(tuple(question(n, dict.fromkeys(metrics, score)) for n in range(40)))

    found = compare([run(0.0), *(run(1.0) for _ in range(21))])
    assert found.tests > 500
    assert {each.metrics["m0@5"].verdict for each in found.contrasts} == {
        f"{run.name} is better" for run in found.runs[1:]
    }
    assert "a" not in found.best["m0@5"].tied


@pytest.mark.unwatched
def test_the_order_of_questions_changes_nothing() -> None:
    a, b = results(1), results(2, lift=0.02)
    order = np.random.default_rng(0).permutation(40).tolist()
    again = of_questions(tuple(a.questions[at] for at in order))
    found, other = (
        compare([run, b, b], metrics=["recall", "failure"], sources=["", "", ""])
        for run in (a, again)
    )
    assert other.contrasts == found.contrasts
    assert other.best == found.best


def test_unscored_questions_are_counted() -> None:
    first = of_questions(
        tuple(question(n, {"recall@5": 0.5, "facts": None, "mrr@5": None}) for n in range(8))
    )
    second = of_questions(
        tuple(
            question(n, {"recall@5": None if n < 3 else 0.5, "facts": 1.0, "mrr@5": None})
            for n in range(8)
        )
    )
    own = compare([first, second]).contrasts[0]
    assert list(own.metrics) == ["recall@5"]
    assert (own.metrics["recall@5"].pairs, own.metrics["recall@5"].unscored) == (5, 3)
    assert own.metrics["recall@5"].needed is None
    assert own.unpaired == ("facts", "mrr@5")
    assert "facts" not in own.by_type["list"]
    # By nothing that can be tested there is no order of questions either.
    nothing = compare([first, second], metrics=["facts"]).contrasts[0]
    assert (nothing.metrics, nothing.objective, nothing.second_better) == ({}, "", ())


def test_metrics_can_be_chosen() -> None:
    runs = [results(1), results(2)]
    own = compare(runs, metrics=["mrr", "recall@5"]).contrasts[0]
    assert list(own.metrics) == ["mrr@5", "recall@5"]
    assert own.objective == "recall@5"
    assert compare(runs, metrics=["mrr"]).contrasts[0].objective == "mrr@5"
    assert list(compare(runs, metrics=["all"]).contrasts[0].metrics) == list(METRICS)
    group = compare(runs, metrics=["retrieval"]).contrasts[0].metrics
    assert list(group) == ["recall@5", "precision@5", "mrr@5"]
    named = [
        of_questions(tuple(question(n, {"completeness.facts": n / 9}) for n in range(9)))
        for _ in range(2)
    ]
    assert list(compare(named, metrics=["completeness"]).contrasts[0].metrics) == [
        "completeness.facts"
    ]
    with pytest.raises(
        InvalidParameter,
        match=r"'recall@9' isn't a shared metric; did you mean recall@5 or recall\? known: ",
    ):
        compare(runs, metrics=["recall@9"])


def test_nothing_to_compare() -> None:
    few = of_questions((question(1, {"recall@5": 1.0}),))
    with pytest.raises(InvalidParameter, match="1 run given; a comparison needs at least two"):
        compare([few])
    with pytest.raises(InvalidParameter, match="expected one per run, or none"):
        compare([few, few], sources=["x"])
    other = of_questions((question(2, {"recall@5": 1.0}),))
    with pytest.raises(
        ChunkwiseError, match=r"a \(1 question\) and b .* have no question in common"
    ):
        compare([few, other])
    worded = of_questions((question(1, {"recall@5": 1.0}, text="?"),))
    with pytest.raises(ChunkwiseError, match=r"1 shared ids have different texts"):
        compare([few, worded])
    deeper = of_questions((question(1, {"recall@10": 1.0}),))
    with pytest.raises(
        ChunkwiseError, match=r"no metric in common \(a has recall@5; b has recall@10"
    ):
        compare([few, deeper])
    twice = of_questions((question(1, {"recall@5": 1.0}),) * 2)
    with pytest.raises(ChunkwiseError, match="b has two questions with the id 'q01'"):
        compare([few, twice])


def test_what_makes_runs_less_comparable_is_said() -> None:
    a = results(1)
    data = {"documents": {"hash": "d2"}, "questions": {"hash": "q1", "count": 39}}
    b = dataclasses.replace(results(2, k=10), data=data)
    told = compare([a, b]).warnings
    assert len(told) == 2
    assert told[0].startswith("a and b have different documents")
    assert told[1].startswith("a returns 5 hits per question, b 10 hits per question, ")
    c = dataclasses.replace(
        results(3), configuration={**a.configuration, "budget": 1000, "unit": "tokens"}
    )
    told = compare([a, c]).warnings
    assert told[0].startswith("a returns 5 hits per question, b up to 1000 tokens")
    assert told[1].startswith("unit differs (")
    d = dataclasses.replace(results(3), configuration={**a.configuration, "tokenizer": "words"})
    assert [line.split(" (")[0] for line in compare([a, d]).warnings] == ["tokenizer differs"]
    usual = {**a.configuration, "tokenizer": DEFAULT_TOKENIZER}
    assert compare([a, dataclasses.replace(results(3), configuration=usual)]).warnings == ()
    assert compare([a, results(1)]).warnings[0].startswith("a and b have identical hits")
    assert compare([a, results(2)]).warnings == ()


def test_another_judge_is_another_measure_where_it_judges() -> None:
    one, other = (
        dataclasses.replace(
            results(seed),
            configuration={"k": 5, "embedder": model, "similarity_threshold": threshold},
        )
        for seed, model, threshold in ((1, "minilm", 0.7), (2, "other", 0.6))
    )
    assert compare([one, other]).warnings == ()
    judged = [
        dataclasses.replace(
            run, summary={**run.summary, "retrieval_precision.similarity": Figure(0.5, 0.4, 0.6)}
        )
        for run in (one, other)
    ]
    told = compare(judged).warnings
    assert [line.split(":")[0] for line in told] == [
        "similarity_threshold differs (a",
        "judge model differs (a",
    ]
    assert compare([one, judged[1]]).warnings == ()


@pytest.mark.unwatched
def test_of_several_the_best_and_those_tied_with_it_are_named() -> None:
    runs = [results(1), results(2, lift=0.2), results(3, lift=0.2), results(4)]
    found = compare(runs, sources=["w.json", "x.json", "y.json", "z.json"])
    assert [run.name for run in found.runs] == ["a", "b", "c", "d"]
    assert [run.source for run in found.runs][2] == "y.json"
    assert [(each.first, each.second) for each in found.contrasts] == [
        ("a", "b"),
        ("a", "c"),
        ("a", "d"),
    ]
    recall = found.best["recall@5"]
    assert set(recall.tied) == {"b", "c"}
    assert recall.best in recall.tied
    assert sum(recall.best_share.values()) == pytest.approx(1)
    assert recall.best_share["a"] == 0
    assert recall.questions == 40
    assert found.best["failure@5"].tied == recall.tied
    # Each against the first, and the others against the best where that is another pair.
    assert found.tests >= 3 * 4
    for metric, best in found.best.items():
        for own in found.contrasts:
            if best.best in (own.first, own.second):
                (other,) = {own.first, own.second} - {best.best}
                assert (own.metrics[metric].verdict == NO_DIFFERENCE) == (other in best.tied)


def test_several_runs_without_a_question_in_common_to_all() -> None:
    one, other = question(1, {"recall@5": 1.0}), question(2, {"recall@5": 1.0})
    found = compare([of_questions((one, other)), of_questions((one,)), of_questions((other,))])
    assert [own.questions for own in found.contrasts] == [1, 1]
    assert found.best == {}


def test_figures_of_whole_runs_stand_beside() -> None:
    a = results(1)
    b = dataclasses.replace(results(2), cost={"chunks": 9, "cached": True, "context_tokens": 18.0})
    assert compare([a, b]).figures == {
        "boundary_issues": (0.125, 0.125),
        "chunks": (8.0, 9.0),
        "storage": (1.25, None),
        "context tokens per question": (18.0, 18.0),
    }


@pytest.mark.unwatched
def test_a_comparison_is_json_and_the_same_every_time() -> None:
    runs = [made_results.results(seed, lift=seed / 50) for seed in range(3)]
    text = json_text(compare(runs))
    assert text == json_text(compare(runs))
    value = json.loads(text)
    assert set(value["contrasts"][0]["metrics"]["recall@5"]["difference"]) == {
        "mean",
        "low",
        "high",
    }


def test_runs_have_letters() -> None:
    assert [run_name(at) for at in (0, 25, 26, 53)] == ["a", "z", "a2", "b3"]
