"""`chunkwise list metrics`: every metric with what it declares."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from chunkwise.base.errors import UnknownName
from chunkwise.cli.list.metrics import command
from chunkwise.metrics.registry import known_metrics
from tables import cases


def run(*words: str) -> str:
    done = CliRunner().invoke(command, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_every_metric_is_listed_with_all_it_declares() -> None:
    told = json.loads(run("--json"))
    assert [each["name"] for each in told] == list(known_metrics())
    for each in told:
        assert each["help"].endswith(".")
        assert each["better"] in ("higher", "lower")
        assert each["bounds"][0] < each["bounds"][1]
    by_name = {each["name"]: each for each in told}
    assert by_name["boundary_issues"]["targets"] == {"good": 0.1, "excellent": 0.05}
    assert by_name["boundary_issues"]["question"] == "Are chunk boundaries good?"
    assert by_name["retrieval_precision.llm"]["judge"] == "llm"
    assert by_name["recall"]["objective"] is True
    assert by_name["citation_recall"]["objective"] is False


def test_lists_are_for_people() -> None:
    shown = " ".join(run().split())
    for metric in known_metrics().values():
        assert metric.name in shown
    assert "lower is better" in shown
    assert "needs references (gold spans)" in shown
    brief = run("--brief", "p", "chunk_recall")
    assert "precision as defined in information retrieval" in " ".join(brief.split())
    assert "needs" not in brief


@cases(
    "name, members",
    [
        ("faithfulness", ["faithfulness.words", "faithfulness.llm"]),
        ("chroma", ["chroma.recall", "chroma.precision", "chroma.iou", "chroma.precision_omega"]),
        ("recall", ["recall"]),
        ("recall@5", ["recall"]),
    ],
)
def test_a_name_or_a_group(name: str, members: list[str]) -> None:
    assert [each["name"] for each in json.loads(run("--json", name))] == members


def test_group_lists_those_that_must_be_asked_for_too() -> None:
    names = [each["name"] for each in json.loads(run("--json", "retrieval"))]
    assert {"p", "chunk_recall"} < set(names)


def test_what_is_not_there_is_told() -> None:
    with pytest.raises(UnknownName, match="did you mean recall"):
        run("reccall")
