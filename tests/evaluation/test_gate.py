"""Whether a run may take the place of another: what fails, what is as good as equal, what says nothing."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidParameter
from chunkwise.evaluation.compare import compare
from chunkwise.evaluation.gate import Gate, gate
from chunkwise.evaluation.results import Figure, Results
from how_many import examples
from made_results import of_questions, question, results
from tables import cases


def run(
    scores: Sequence[float | None], name: str = "recall@5", **more: Sequence[float | None]
) -> Results:
    rows = [
        question(number, {name: score, **{each: values[number] for each, values in more.items()}})
        for number, score in enumerate(scores)
    ]
    return of_questions(tuple(rows))


def verdicts(found: Gate) -> list[str]:
    return [each.verdict for each in found.checks]


BASE = [0.5, 0.7, 0.9, 0.4] * 150


def shifted(by: float) -> list[float]:
    return [each + by for each in BASE]


@cases(
    "by, margin, verdict",
    [
        (-0.1, 0.02, "worse"),
        (-0.1, 0.0, "worse"),
        (-0.01, 0.02, "equivalent"),
        (-0.01, 0.0, "worse"),
        (-0.02, 0.02, "worse within the margin"),
        (0.0, 0.02, "equivalent"),
        (0.01, 0.02, "equivalent"),
        (0.1, 0.02, "better"),
        (0.0, 0.0, "inconclusive"),
    ],
)
def test_a_verdict_needs_the_test_and_the_margin(by: float, margin: float, verdict: str) -> None:
    found = gate([run(BASE), run(shifted(by))], metrics=["recall"], min_effect=margin)
    assert verdicts(found) == [verdict]
    assert found.outcome == ("failed" if verdict == "worse" else "passed")


def test_of_few_questions_a_large_fall_that_is_not_shown_does_not_fail() -> None:
    found = gate(
        [run([1, 1, 1, 0.5]), run([0, 0.9, 0.9, 0.5])], metrics=["recall"], min_effect=0.02
    )
    assert verdicts(found) == ["inconclusive"]
    assert found.checks[0].equivalence is None
    assert found.outcome == "passed"


@settings(max_examples=examples(20))
@given(
    st.lists(st.tuples(*[st.integers(0, 10)] * 2), min_size=6, max_size=30),
    st.sampled_from([0.0, 0.02, 0.1, 0.3]),
)
def test_it_fails_only_what_a_comparison_shows_and_never_calls_it_equal(
    pairs: list[tuple[int, int]], margin: float
) -> None:
    first, second = (run([each[at] / 10 for each in pairs]) for at in (0, 1))
    found = gate([first, second], metrics=["recall@5"], min_effect=margin)
    (check,) = found.checks
    (contrast,) = compare(first, second, metrics=["recall@5"]).contrasts
    shown = contrast.metrics["recall@5"].verdict == "a is better"
    assert check.is_worse == (shown and round(-check.difference, 9) > margin)
    if check.verdict == "equivalent":
        assert abs(check.difference) < margin
    assert (found.outcome == "failed") == check.is_worse


def test_tests_are_corrected_over_the_metrics_that_are_named() -> None:
    noise = {f"m{at}@5": [(n * (at + 3) % 11) / 10 for n in range(40)] for at in range(9)}
    base = run([0.5] * 40, **noise)
    head = run([0.5] * 26 + [0.1] * 14, **noise)
    alone = gate([base, head], metrics=["recall"])
    every = gate([base, head], metrics=["any"])
    assert (alone.tests, every.tests) == (1, 10)
    assert verdicts(alone) == ["worse"]
    assert every.checks[0].verdict == "inconclusive"


def test_where_less_is_better_more_is_worse() -> None:
    base, head = run([0.1] * 30, "failure@5"), run([0.9] * 30, "failure@5")
    assert verdicts(gate([base, head], metrics=["failure"], min_effect=0.02)) == ["worse"]
    assert verdicts(gate([head, base], metrics=["failure"], min_effect=0.02)) == ["better"]


def test_other_documents_questions_or_rules_are_not_comparable() -> None:
    base, head = run(BASE), run(shifted(-0.3))
    for what in ("documents", "questions"):
        other = replace(head, data={**head.data, what: {"count": 3, "hash": "else"}})
        found = gate([base, other], metrics=["recall"])
        assert found.outcome == "not comparable"
        assert f"--accept {what}" in found.not_comparable[0]
        assert gate([base, other], metrics=["recall"], accept=[what]).outcome == "failed"
    other = replace(head, configuration={**head.configuration, "relevance_threshold": 0.9})
    found = gate([base, other], metrics=["recall"], accept=["documents", "questions"])
    assert found.outcome == "not comparable"
    assert "relevance_threshold differs" in found.not_comparable[0]


@cases(
    "counts, outcome",
    [
        ({"generated": 40}, "not comparable"),
        ({"generated": 60, "reviewed": 24}, "not comparable"),
        ({"generated": 60, "reviewed": 25}, "failed"),
        ({"generated": 60, "count": 85}, "failed"),
        ({}, "failed"),
    ],
)
def test_nothing_fails_by_generated_questions_that_nobody_reviewed(
    counts: dict[str, int], outcome: str
) -> None:
    runs = [
        replace(made, data={**made.data, "questions": {"count": 60, "hash": "x", **counts}})
        for made in (run(BASE), run(shifted(-0.3)))
    ]
    assert gate(runs, metrics=["recall"]).outcome == outcome
    assert gate(runs, metrics=["recall"], accept=["generated"]).outcome == "failed"


def test_questions_that_are_gone_are_not_passed_over() -> None:
    base = run([1.0] * 20)
    found = gate([base, replace(base, questions=base.questions[:15])], metrics=["recall"])
    assert found.outcome == "not comparable"
    assert "5 questions of a missing from b, such as 'q15'" in found.not_comparable[0]
    strange = of_questions((question(77, {"recall@5": 1.0}),))
    found = gate([base, strange], metrics=["recall"], accept=["questions"])
    assert found.outcome == "not comparable"
    assert "have no question in common" in found.not_comparable[0]
    gone = gate([base, run([None] * 20)], metrics=["recall"])
    assert gone.outcome == "not comparable"


def test_a_single_question_that_breaks_fails_where_it_is_told_to() -> None:
    base, head = run([1.0] * 40), run([1.0] * 38 + [0.0, None])
    assert gate([base, run([1.0] * 39 + [0.0])], metrics=["recall"]).outcome == "passed"
    found = gate([base, head], metrics=["recall"], no_new_zero=True)
    assert found.outcome == "failed"
    assert [(each.id, each.after) for each in found.new_zeros] == [("q38", 0.0), ("q39", None)]
    assert found.checks[0].lost == 1
    assert gate([head, base], metrics=["recall"], no_new_zero=True).outcome == "passed"
    zero = run([0.0] * 40)
    assert gate([zero, zero], metrics=["recall"], no_new_zero=True).outcome == "passed"
    low, high = run([0.3, 0.2] * 9, "failure@5"), run([1.0, 0.2] * 9, "failure@5")
    assert len(gate([low, high], metrics=["failure"], no_new_zero=True).new_zeros) == 9
    assert gate([high, low], metrics=["failure"], no_new_zero=True).new_zeros == ()


def test_questions_that_have_no_score_any_more_are_not_passed_over() -> None:
    base, crashed = run([1.0] * 72), run([1.0] + [None] * 71)
    found = gate([base, crashed], metrics=["recall"], min_effect=0.02)
    assert found.outcome == "not comparable"
    assert found.not_comparable == (
        "71 of the 72 questions with a score by recall@5 in a have none in b, such as 'q01': no answer; score "
        "them, or accept this: --accept questions (accept=['questions'] in Python)",
    )
    one = gate([base, run([1.0] * 71 + [None])], metrics=["recall"])
    assert one.not_comparable[0].startswith(
        "1 of the 72 questions with a score by recall@5 in a has"
    )
    assert gate([base, crashed], metrics=["recall"], accept=["questions"]).outcome == "passed"
    # Who gains scores, or never had them, has lost nothing.
    assert gate([crashed, base], metrics=["recall"]).outcome == "passed"
    assert gate([crashed, crashed], metrics=["recall"]).outcome == "passed"
    # One line for the questions, however many metrics they are scored by.
    more = {"mrr@5": [1.0] * 72}
    both = [run([1.0] * 72, **more), run([1.0] + [None] * 71, **{"mrr@5": [1.0] + [None] * 71})]
    (line,) = gate(both, metrics=["any"]).not_comparable
    assert "by recall@5, mrr@5 in a" in line
    # What had nothing before cannot fall to nothing, and is lost all the same.
    zeros = gate([run([0.0] * 9), run([0.0] * 8 + [None])], metrics=["recall"], no_new_zero=True)
    assert zeros.outcome == "not comparable"


def test_a_metric_without_any_score_is_left_out_and_the_rest_is_judged() -> None:
    nothing = {"citation_precision": [None] * len(BASE), "citation_recall": [None] * len(BASE)}
    base, head = run(BASE, **nothing), run(shifted(-0.1), **nothing)
    for names in (["recall@5", "citation"], ["any"]):
        found = gate([base, head], metrics=names, min_effect=0.02)
        assert found.left_out == ("citation_precision", "citation_recall")
        assert found.outcome == "failed"
        assert verdicts(found) == ["worse"]
        assert found.tests == 1
    assert gate([base, base], metrics=["recall@5", "citation"]).outcome == "passed"
    alone = gate([base, head], metrics=["citation"])
    assert alone.outcome == "not comparable"
    assert alone.not_comparable == (
        "no run has a score for citation_precision, citation_recall; choose another metric",
    )
    cited = run(BASE, **{name: [1.0] * len(BASE) for name in nothing})
    assert gate([cited, head], metrics=["recall@5", "citation"]).outcome == "not comparable"


def test_a_figure_of_the_whole_chunking_fails_by_the_margin_alone() -> None:
    base = run([1.0] * 8)
    head = replace(base, summary={**base.summary, "boundary_issues": Figure(0.2)})
    assert gate([base, head], metrics=["boundary_issues"], min_effect=0.02).outcome == "failed"
    assert gate([head, base], metrics=["boundary_issues"], min_effect=0.02).outcome == "passed"
    assert verdicts(gate([base, head], metrics=["boundary_issues"], min_effect=0.1)) == [
        "equivalent"
    ]


def test_several_runs_are_each_held_against_the_first() -> None:
    found = gate(
        [run(BASE), run(shifted(0.1)), run(shifted(-0.1))], metrics=["recall"], min_effect=0.02
    )
    assert [(each.run, each.verdict) for each in found.checks] == [("b", "better"), ("c", "worse")]


def test_of_several_runs_as_many_questions_are_told_as_every_one_shares_with_the_first() -> None:
    found = gate([run(BASE), run(BASE), run(BASE[:120])], metrics=["recall"], accept=["questions"])
    assert found.questions == 120


def test_wrong_values_say_what_is_allowed() -> None:
    runs = [results(1), results(2)]
    with pytest.raises(InvalidParameter, match="min_effect is 1"):
        gate(runs, metrics=["recall"], min_effect=1)
    with pytest.raises(InvalidParameter, match="'speed' isn't a shared metric"):
        gate(runs, metrics=["speed"])
    with pytest.raises(InvalidParameter, match="accept is"):
        gate(runs, metrics=["recall"], accept=["luck"])


def test_it_is_plain_data() -> None:
    told = gate(
        [results(1), results(2, lift=-0.2)], metrics=["recall", "mrr"], no_new_zero=True
    ).to_dict()
    assert told["outcome"] == "failed"
    assert told["checks"][0]["metric"] == "recall@5"
    assert "comparison" not in told


def test_its_repr_is_a_line() -> None:
    found = gate([run(BASE), run(shifted(-0.1))], metrics=["recall"])
    assert repr(found) == "<Gate failed; recall@5: worse>"
