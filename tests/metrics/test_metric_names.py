"""Names of metrics as users write them, and what each declares."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidParameter, UnknownName
from chunkwise.metrics.metric import KeyQuestion, Metric, Remedy, Targets
from chunkwise.metrics.registry import (
    GROUPS,
    MetricAt,
    asks_for_all,
    chosen,
    described,
    groups,
    handed_over,
    help_of,
    is_own,
    key_questions,
    known_metrics,
    listed_metrics,
    lower_is_better,
    metric_of,
    named_one_by_one,
    of_judge,
    parse,
    remember,
    title_of,
)
from chunkwise.metrics.spans.span_metric import SpanMetric
from how_many import examples
from tables import cases


@cases(
    "text, label",
    [
        ("recall@5", "recall@5"),
        ("recall@1000t", "recall@1000t"),
        (" nDCG@10 ", "ndcg@10"),
        ("ndcg", "ndcg@7"),
        ("failure", "failure@20"),
        ("failure@3", "failure@3"),
        ("recall@05", "recall@5"),
        ("chroma.iou", "chroma.iou@7"),
        ("precision@300t", "precision@300t"),
        ("chroma.precision_omega", "chroma.precision_omega"),
    ],
)
def test_labels(text: str, label: str) -> None:
    wanted = parse(text, k=7)
    assert wanted.label == label
    assert parse(wanted.label) == wanted


def test_a_bare_name_is_measured_within_the_budget_of_the_run() -> None:
    assert parse("iou", k=7, budget=900).label == "iou@900t"
    assert parse("ndcg", k=7, budget=900).label == "ndcg@7"
    assert parse("chroma.precision_omega", budget=900).label == "chroma.precision_omega"


@cases("text", ["", "@5", "zzz@5", "\x1b[31m"])
def test_unknown_names(text: str) -> None:
    with pytest.raises(
        UnknownName, match=r"known: all, retrieval, .*`chunkwise list metrics` lists"
    ):
        parse(text)


@cases("text", ["reccall@5", "recall_5", "récall"])
def test_what_was_probably_meant(text: str) -> None:
    with pytest.raises(UnknownName, match="did you mean recall"):
        parse(text)


@cases(
    "text, told",
    [
        ("recall@", "recall@5"),
        ("recall@0", "recall@5"),
        ("recall@-1", "recall@5"),
        ("recall@5x", "recall@5"),
        ("recall@1e3", "recall@5"),
        ("recall@9999999999", "recall@5"),
        ("recall@٥", "recall@5"),
        ("ndcg@1000t", "not tokens; use ndcg@5"),
        ("chroma.precision_omega@5", "use chroma.precision_omega"),
    ],
)
def test_bad_cuts(text: str, told: str) -> None:
    with pytest.raises(InvalidParameter, match=told):
        parse(text)


def test_every_metric_says_all_that_is_asked_of_it() -> None:
    for metric in known_metrics().values():
        assert metric.help.endswith("."), metric.name
        assert "\n" not in metric.help
        low, high = metric.bounds
        assert low < high
        if (aims := metric.aims) is not None:
            assert aims.lower_is_better == (metric.better == "lower"), metric.name
        assert isinstance(metric, SpanMetric) or metric.score or metric.asks, metric.name
        assert (metric.asks == "llm") == ("llm" in metric.needs), metric.name
        assert parse(metric.name).metric is metric


def test_which_way_is_better() -> None:
    lower = [name for name, each in known_metrics().items() if each.better == "lower"]
    assert lower == ["failure", "boundary_issues", "split_references", "coherence"]


def test_recall_and_precision_say_which_they_are() -> None:
    known = known_metrics()
    assert "chunk_recall" in known["recall"].help
    assert (
        "Share of the retrieved text that is gold, in characters; repeated text counts once"
        in known["precision"].help
    )


def test_groups_are_as_they_are_declared_and_families_by_their_names() -> None:
    known = groups()
    assert known["retrieval"][-2:] == ("recall@1000t", "failure@20")
    assert known["faithfulness"] == ("faithfulness.words", "faithfulness.llm")
    assert set(known["faithfulness"]) < set(known["answers"])
    assert known["boundary_issues"][0] == "boundary_issues"
    assert "p" not in known["retrieval"]


def test_who_asks_must_be_named() -> None:
    every = known_metrics()
    assert not any(every[name.partition("@")[0]].asks for name in chosen("all", 5, None))
    assert "faithfulness.llm" in chosen("faithfulness", 5, None, asked=["llm"])
    with pytest.raises(InvalidParameter, match="needs an LLM judge: --judge llm --llm local"):
        chosen("faithfulness.llm", 5, None)


@cases("name", ["", "Mine", "my metric", "mine@5", "<b>", ".mine", "mine."])
def test_names_that_cannot_be_written(name: str) -> None:
    with pytest.raises(
        InvalidParameter, match="allowed: lower-case letters, digits, _ and dots: coverage"
    ):
        Metric(name, "Help.", score=lambda evidence: [])


def test_a_question_is_scored_with_a_share() -> None:
    with pytest.raises(
        InvalidParameter, match="question scores must be between 0 and 1: divide by the maximum"
    ):
        Metric("mine", "Help.", score=lambda evidence: [], bounds=(0, 100))


@settings(max_examples=examples(60))
@given(
    st.tuples(st.sampled_from([-0.1, 0, 0.2, 1, 1.1, 3]), st.sampled_from([-0.1, 0, 0.2, 1, 1.1, 3])),
    st.sampled_from(["question", "chunking"]),
)  # fmt: skip
def test_bounds_of_a_question_are_those_of_a_share(bounds: tuple[float, float], per: Any) -> None:
    low, high = bounds
    if per == "chunking" or 0 <= low < high <= 1:
        assert Metric("mine", "Help.", bounds=bounds, per=per).bounds == bounds
        return
    with pytest.raises(InvalidParameter):
        Metric("mine", "Help.", bounds=bounds, per=per)


@cases(
    "given",
    [
        {"better": "more"}, {"at": "tokens"}, {"per": "answer"}, {"needs": "references"}, {"needs": ("hits",)},
        {"needs": 5},
        {"score": 0.5}, {"name": 3},
    ],
)  # fmt: skip
def test_what_a_metric_cannot_be_is_refused_when_it_is_made(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        Metric(**{"name": "mine", "help": "Help.", **given})
    assert Metric("mine", "Help.", needs=["labels", "facts"], at="hits", better="lower")  # type: ignore[arg-type]


def test_what_a_metric_does_not_say_its_question_says() -> None:
    asked = KeyQuestion("mine", "Is it?", Targets(0.5, 0.8), Remedy("It is not.", "Try."))
    plain, own = Metric("mine.words", "Help."), (Targets(0.3, 0.1), Remedy("Ours.", "Ours."))
    assert (plain.family, plain.aims, plain.advice) == ("mine", None, None)
    of_it = Metric("mine", "Help.", question=asked)
    assert (of_it.family, of_it.aims, of_it.advice) == ("mine", asked.targets, asked.remedy)
    itself = Metric("mine.a.b", "Help.", question=asked, targets=own[0], remedy=own[1])
    assert (itself.family, itself.aims, itself.advice) == ("mine", *own)
    assert [each.lower_is_better for each in (asked.targets, own[0], Targets(1, 1))] == [
        False,
        True,
        False,
    ]
    for judge, asks, whose in [("", "", ""), ("", "llm", "llm"), ("j", "", "j"), ("j", "llm", "j")]:
        assert Metric("mine", "Help.", judge=judge, asks=asks).opinion_of == whose


def test_a_sweep_is_decided_by_what_scores_what_is_retrieved_and_asks_nobody() -> None:
    assert Metric("mine", "Help.", needs=("references",)).can_choose
    others: list[dict[str, Any]] = [
        {"asks": "llm"}, {"per": "chunking"}, {"needs": ("labels", "answers")}, {"needs": ("citations",)}
    ]  # fmt: skip
    for more in others:
        assert not Metric("mine", "Help.", **more).can_choose


EVERY = chosen("all", 5, None)
ALONE = [name for name in EVERY if name.partition("@")[0] not in groups()]
"""A name of a group stands for it."""


@settings(max_examples=examples(12), deadline=None)
@given(st.lists(st.sampled_from(ALONE), min_size=1))
def test_those_asked_for_stand_in_the_order_of_the_tables_each_once(names: list[str]) -> None:
    assert chosen(names, 5, None) == [label for label in EVERY if label in names]
    assert chosen(",".join(names) + ", ", 5, None) == chosen(names, 5, None)
    assert named_one_by_one(["all", *names, "retrieval"], 5, None) == tuple(names)
    # Where the number is the run's they stand where the metric stands.
    bare = list(dict.fromkeys(name.partition("@")[0] for name in names))
    order = [name.partition("@")[0] for name in EVERY]
    for k, budget in ((7, None), (7, 700)):
        found = chosen(bare, k, budget)
        assert sorted(found) == sorted(parse(name, k, budget).label for name in bare)
        assert named_one_by_one(bare, k, budget) == tuple(parse(n, k, budget).label for n in bare)
        assert [label.partition("@")[0] for label in found] == sorted(bare, key=order.index)


def test_within_a_budget_a_group_has_nothing_at_another_amount() -> None:
    within = chosen("all", 5, 700)
    assert within
    assert {label.partition("@")[2] for label in within} <= {"", "700t", "5", "20"}
    assert not any(label.endswith("@1000t") for label in within)
    assert [name.partition("@")[0] for name in within] == list(
        dict.fromkeys(name.partition("@")[0] for name in EVERY if "@" not in name or name.endswith("@5"))
    )  # fmt: skip


@cases(
    "names, wanted",
    [("all", True), (["recall", " all "], True), ("recall", False), (["retrieval"], False)],
)
def test_everything_is_asked_for_by_all(names: str | list[str], wanted: bool) -> None:
    assert asks_for_all(names) == wanted


@cases("names", ["", " , ", []])
def test_nothing_is_no_choice(names: str | list[str]) -> None:
    with pytest.raises(InvalidParameter):
        chosen(names, 5, None)


def test_a_metric_tells_what_it_is_by_any_label() -> None:
    for name, metric in known_metrics().items():
        assert is_own(metric)
        for label in (name, f"{name}@5", f"{name}@500t"):
            assert metric_of(label) is metric
            assert lower_is_better(label) == (metric.better == "lower")
        # That less is better is told beside it, and that it is within tokens.
        told = help_of(name)
        assert told.startswith(metric.help)
        assert (told == metric.help) == (metric.better == "higher")
        assert help_of(f"{name}@5") == told
        assert len(help_of(f"{name}@500t")) > len(told)
        head = title_of(metric)
        assert (head == "The four questions") == (metric.question is not None)
        if metric.question is None:
            own = "boundary_issues" if metric.per == "chunking" else metric.group
            assert head == GROUPS[own]
    assert help_of("nobody@5") == ""
    assert metric_of("nobody") is None
    assert not lower_is_better("nobody")
    assert len({title_of(Metric("mine", "Help.", group=group)) for group in ("one_of", "two")}) == 2
    asked = {each.question.name for each in known_metrics().values() if each.question}
    assert set(key_questions()) == asked
    assert len(asked) == 4
    own = [each.name for each in listed_metrics() if each.package == "chunkwise"]
    assert own == list(known_metrics())[: len(own)]
    assert len(own) > 30


def test_groups_hold_what_declares_itself_a_member() -> None:
    known = known_metrics()
    every = groups()
    for group in {metric.group for metric in known.values()}:
        own = [metric for metric in known.values() if metric.group == group]
        usual = [metric.name for metric in own if "" in metric.usual]
        later = [f"{metric.name}@{at}" for metric in own for at in metric.usual if at]
        assert every[group] == (*usual, *later)
    families: dict[str, list[str]] = {}
    for name in known:
        family, dot, _ = name.partition(".")
        if dot and family not in known and family not in GROUPS:
            families.setdefault(family, []).append(name)
    named = {name: list(own) for name, own in every.items() if name not in GROUPS}
    assert named == families
    asked = groups(asked=["anybody"])
    assert set(asked["retrieval_precision"]) - set(every["retrieval_precision"]) == {
        of_judge("anybody").name
    }


def test_metrics_of_others_are_kept_with_a_file_and_known_to_its_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("chunkwise.metrics.registry._handed_over", {})
    kinds = [(better, per) for better in ("higher", "lower") for per in ("question", "chunking")]
    made = [
        Metric(f"mine_{better}_{per}", "Help.", score=lambda evidence: [], group="mine", better=better, per=per)  # type: ignore[arg-type]
        for better, per in kinds
    ]  # fmt: skip
    judged = Metric("mine_judged", "Help.", judge="me")
    told = described([*made, judged, known_metrics()["recall"]])
    assert set(told) == {metric.name for metric in made}
    odd = {"recall": {"help": "Other."}, "a": {}, "b": {"help": 3}, "A b": {"help": ""}, "c": 1}
    for nonsense in (None, [], odd):
        remember(nonsense)
    assert [metric_of(name) for name in ("a", "b", "A b", "c", *told)] == [None] * (4 + len(told))
    remember({"A b": {"help": "x"}, **told, "plain": {"help": "Plain."}})
    for metric in made:
        known = metric_of(metric.name)
        assert known is not None
        assert (known.name, known.help, known.group) == (metric.name, metric.help, "mine")
        assert (known.better, known.per, known.score) == (metric.better, metric.per, None)
        assert parse(f"{metric.name}@9t") == MetricAt(known, 9, True)
        with pytest.raises(UnknownName):
            chosen(metric.name, 5, None)
    assert metric_of("plain") == Metric("plain", "Plain.", at="hits or tokens")
    remember({"plain": {"help": "Other."}})
    assert metric_of("plain") == Metric("plain", "Plain.", at="hits or tokens")
    mine = Metric("mine_handed", "Help.", score=lambda evidence: [])
    assert chosen([mine, "recall"], 5, None) == ["recall@5", "mine_handed"]
    assert metric_of("mine_handed") is mine
    for part in (Metric, len, Metric("recall", "Other.")):
        with pytest.raises(InvalidParameter):
            handed_over("mine", part)
    assert handed_over("mine", known_metrics()["recall"]) is known_metrics()["recall"]
