"""Names of measures as users write them."""

from __future__ import annotations

import pytest

from chunkwise.base.errors import InvalidParameter, UnknownName
from chunkwise.metrics.measures import CATALOGUE, NAMES, parse, why_unscored
from metrics.span_cases import chunking_of


@pytest.mark.parametrize(
    ("text", "label"),
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


@pytest.mark.parametrize(
    "text", ["", "@5", "reccall@5", "recall_5", "récall", "chroma", "\x1b[31m"]
)
def test_unknown_names(text: str) -> None:
    with pytest.raises(UnknownName, match="known: recall, precision"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "told"),
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


def test_the_catalogue_says_what_everything_is() -> None:
    assert len(set(NAMES)) == len(CATALOGUE)
    assert all(measure.help.endswith(".") for measure in CATALOGUE)
    assert [measure.name for measure in CATALOGUE if measure.better == "lower"] == ["failure"]
    assert {parse(name).measure.name for name in NAMES} == set(NAMES)


def test_why_a_question_is_unscored() -> None:
    wanted = parse("ndcg@5")
    assert "no references" in why_unscored(wanted, references=0, chunking=None)
    assert "ndcg counts the chunks" in why_unscored(wanted, references=1, chunking=None)
    assert "no chunks of the index" in why_unscored(wanted, references=1, chunking=chunking_of([]))
