"""`chunkwise list strategies` as a user runs it."""

import json
import re

import pytest

from chunkwise.chunkers import describe_strategies, strategies
from cli.in_process import Run, here

__all__ = ["here"]  # a fixture


def test_strategies_lists_all_and_one(here: Run) -> None:
    everything = here("list", "strategies").stdout
    for name in (
        "characters",
        "words",
        "tokens",
        "sentences",
        "paragraphs",
        "recursive",
        "sections",
        "structure",
        "code",
    ):
        assert f"\n{name} " in everything
    (one,) = json.loads(here("list", "strategies", "sections", "--json").stdout)
    assert {p["name"]: p["default"] for p in one["parameters"]}["max_tokens"] == 800
    assert {p["name"]: p["default"] for p in one["parameters"]}["overlap_sentences"] == 2


@pytest.mark.parametrize("width", ["80", "140"])
def test_every_value_a_parameter_may_have_can_be_read(
    here: Run, monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    shown = here("list", "strategies").stdout
    assert shown.count("…") == 1  # of the line that says how a strategy is written
    words = set(re.findall(r"\w+", shown))
    for strategy in describe_strategies():
        for parameter in strategy["parameters"]:
            assert words.issuperset(parameter["choices"]), parameter
            assert parameter["name"] in words


def test_strategies_in_brief(here: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    lines = here("list", "strategies", "--brief").stdout.splitlines()
    rows = {line.split()[0]: line for line in lines[3:-1]}
    assert list(rows) == strategies.names()
    assert "language model" in rows["raptor"]
    assert re.match(r"semantic +embedder +0\.\d+ ", rows["semantic"])
    assert re.match(r"words +– +\d+ ", rows["words"])
    assert "max_tokens" not in "".join(lines)
