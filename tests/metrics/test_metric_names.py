"""Names of metrics as users write them, and what each declares."""

from __future__ import annotations

import pytest

from chunkwise.base.errors import InvalidParameter, UnknownName
from chunkwise.metrics.metric import Metric
from chunkwise.metrics.registry import chosen, groups, known_metrics, parse
from chunkwise.metrics.spans.span_metric import SpanMetric
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
        ("ndcg@1000t", "not measured within tokens; write ndcg@5"),
        ("chroma.precision_omega@5", "write chroma.precision_omega"),
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
    assert "context_precision, or p" in known["precision"].help


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
    with pytest.raises(InvalidParameter, match="asks a language model; say so"):
        chosen("faithfulness.llm", 5, None)


@cases("name", ["", "Mine", "my metric", "mine@5", "<b>", ".mine", "mine."])
def test_names_that_cannot_be_written(name: str) -> None:
    with pytest.raises(InvalidParameter, match="a metric is named"):
        Metric(name, "Help.", score=lambda evidence: [])


def test_a_question_is_scored_with_a_share() -> None:
    with pytest.raises(InvalidParameter, match="from 0 to 1: divide"):
        Metric("mine", "Help.", score=lambda evidence: [], bounds=(0, 100))
