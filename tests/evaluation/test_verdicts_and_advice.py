"""Words and advice by the figures' bounds, the bounds themselves among them."""

from __future__ import annotations

import math
import re

from chunkwise.evaluation.results import Figure
from chunkwise.evaluation.verdicts_and_advice import advice, verdict
from chunkwise.metrics.registry import key_questions
from tables import cases


@cases(
    "metric, value, word",
    [
        ("retrieval_precision.spans", 0.69, "below"),
        ("retrieval_precision.spans", 0.70, "below"),
        ("retrieval_precision.labels", 0.7001, "good"),
        ("retrieval_precision.similarity", 0.85, "good"),
        ("retrieval_precision", 0.851, "excellent"),
        ("completeness.facts", 0.75, "below"),
        ("completeness.coverage@5", 0.76, "good"),
        ("completeness.spans", 0.90, "good"),
        ("completeness.spans", 0.91, "excellent"),
        ("boundary_issues", 0.10, "below"),
        ("boundary_issues", 0.0999, "good"),
        ("boundary_issues", 0.05, "good"),
        ("boundary_issues", 0.0499, "excellent"),
        ("boundary_issues", 0.0, "excellent"),
        ("citation_accuracy.position", 0.90, "below"),
        ("citation_accuracy.support", 0.95, "good"),
        ("citation_accuracy.attribution", 1.0, "excellent"),
        ("recall@5", 0.99, ""),
        ("completeness_of_something_else", 0.99, ""),
        ("completeness.facts", math.nan, ""),
        ("completeness.facts", None, ""),
    ],
)
def test_words(metric: str, value: float | None, word: str) -> None:
    assert verdict(metric, value) == word


def test_rounding_of_a_mean_makes_nothing_good() -> None:
    more = 0.8 - 0.1
    assert more > 0.7
    assert verdict("retrieval_precision.spans", more) == "below"
    assert verdict("boundary_issues", 0.1 - 1e-12) == "below"


def test_good_figures_need_no_advice() -> None:
    assert advice({"recall@5": Figure(0.1), "completeness.facts": Figure(0.8)}) == ()
    assert advice({"completeness.facts": Figure(None)}) == ()
    assert advice({}) == ()


def test_each_question_gets_its_causes_and_remedies_once() -> None:
    found = advice(
        {
            "retrieval_precision.spans": Figure(0.412),
            "recall@5": Figure(0.1),
            "retrieval_precision.labels": Figure(0.9),
            "retrieval_precision.similarity": Figure(0.6),
            "boundary_issues": Figure(0.25),
        }
    )
    assert [each.metric for each in found] == ["retrieval_precision.spans", "boundary_issues"]
    first, second = (each.text for each in found)
    assert "retrieval_precision.spans 41%, retrieval_precision.similarity 60%" in first
    assert "labels" not in first
    assert "good is over 70%" in first
    assert "rerank" in first
    assert "boundary_issues 25%: good is under 10%" in second
    assert "semantic" in second


def test_a_run_is_not_told_to_do_what_it_does_or_cannot() -> None:
    low = {"retrieval_precision.spans": Figure(0.4), "completeness.spans": Figure(0.4)}
    plain = " ".join(each.text for each in advice(low))
    assert "a smaller k, or `--reranker local`." in plain
    assert "a larger k" in plain
    reranked = advice(low, configuration={"reranker": "maxsim:minilm:1", "k": 5})[0].text
    assert "rerank" not in reranked
    assert reranked.endswith("a better model, or a smaller k.")
    assert "rerank" not in advice(low, configuration={"hits": "theirs.jsonl"})[0].text
    within = " ".join(each.text for each in advice(low, configuration={"k": 5, "budget": 150}))
    assert "a smaller budget, or `--reranker local`" in within
    assert "a larger budget" in within
    assert not re.search(r"\bk\b", within)


def test_who_has_reached_the_most_that_can_be_reached_needs_no_advice() -> None:
    spans, similarity = "retrieval_precision.spans", "retrieval_precision.similarity"
    found = {spans: Figure(0.2), similarity: Figure(0.03)}
    assert advice(found, {spans: 0.2}) == ()
    (told,) = advice(found, {spans: 0.3})
    assert "can't exceed 30%" in told.text
    # References know, likeness is a guess: where they are content, it gives no advice.
    assert advice({spans: Figure(0.9), similarity: Figure(0.03)}) == ()
    assert advice({similarity: Figure(0.03)})
    assert advice({spans: Figure(None), similarity: Figure(0.03)})


def test_answers_that_cite_badly_are_not_cut_again() -> None:
    position, support, attribution = advice(
        {
            f"citation_accuracy.{name}": Figure(0.5)
            for name in ("position", "support", "attribution")
        }
    )
    assert "chunk again with exact spans instead of searching for the text" in position.text
    assert support.metric == "citation_accuracy.support"
    assert (
        "chunk again with exact spans instead of searching for the text"
        not in support.text + attribution.text
    )
    assert (
        "one citation per claim, with its quote; less context; another answer model" in support.text
    )
    assert support.text.startswith("citation_accuracy.support 50%: good is over 90%.")


def test_every_question_has_advice() -> None:
    worst = {
        name: 1.0 if question.targets.lower_is_better else 0.0
        for name, question in key_questions().items()
    }
    found = advice({name: Figure(value) for name, value in worst.items()})
    assert [each.metric for each in found] == list(key_questions())
    assert len(found) == 4


@cases("strategy, told, left_out", [
    ("structure(max_tokens=400)", "the structure (sections) or the meaning (semantic), another size, or overlap.", ""),
    ("sections", "the structure (structure) or the meaning (semantic), or another size.", "overlap"),
    ("sections(overlap=0)", "the structure (structure) or the meaning (semantic), another size, or overlap.", ""),
    ("sentences", "the structure (structure, sections) or the meaning (semantic), or another size.", "overlap"),
    ("words", "the structure (structure, sections) or the meaning (semantic), or another size.", "overlap"),
    ("words(preset='small')", "the structure (structure, sections) or the meaning (semantic), or another size.",
     "overlap"),
    ("words(max_words=90)", "the structure (structure, sections) or the meaning (semantic), another size, or overlap.",
     ""),
    ("semantic(max_tokens=300)", "the structure (structure, sections), another size, or overlap.", "semantic"),
    ("structure(overlap=40)", "the structure (sections) or the meaning (semantic), or another size.", "overlap"),
    ("words(overlap=9)", "the structure (structure, sections) or the meaning (semantic), or another size.", "overlap"),
    ("theirs.jsonl", "the structure (structure, sections) or the meaning (semantic), another size, or overlap.", ""),
])  # fmt: skip
def test_nobody_is_advised_to_do_what_is_done_already(
    strategy: str, told: str, left_out: str
) -> None:
    low = {"boundary_issues": Figure(0.5), "completeness.spans": Figure(0.1)}
    cuts, complete = (each.text for each in advice(low, configuration={"strategy": strategy}))
    assert cuts.endswith(f"a strategy that follows {told}")
    if left_out:
        assert left_out not in cuts
    assert ("overlap" in complete) == (left_out != "overlap")
    (within,) = advice(
        {"completeness.spans": Figure(0.1)}, configuration={"strategy": "parent_child(overlap=0)"}
    )
    assert within.text.endswith("larger chunks, overlap, or a larger k.")


def test_advice_about_a_mean_of_some_questions_says_of_how_many() -> None:
    (told,) = advice({"completeness.spans": Figure(0.1, scored=2, unscored={"no references": 25})})
    assert told.text.startswith("completeness.spans 10% (2 of 27 questions): good is over")
