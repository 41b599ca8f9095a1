"""Plug-in authors import the kit without the rest of the house."""

import subprocess
import sys

import pytest

import chunkwise.testkit
from untimed import HANG

REST = ("cli", "report", "tuning", "evaluation", "answering", "testsets", "profiling")


def loaded_by(statement: str) -> set[str]:
    """The rooms that are imported by it in a fresh Python."""
    code = f"import sys\n{statement}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=HANG
    )
    named = [name.split(".") for name in done.stdout.split()]
    return {parts[1] for parts in named if parts[0] == "chunkwise" and len(parts) > 1}


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("name", chunkwise.testkit.__all__)
def test_no_check_loads_what_stands_above_it(name: str) -> None:
    assert loaded_by(f"from chunkwise.testkit import {name}").isdisjoint(REST)


@pytest.mark.usefixtures("processes")
def test_who_writes_a_strategy_or_a_model_needs_no_index_and_no_metric() -> None:
    assert loaded_by("import chunkwise.testkit") <= {"base", "testkit"}
    for name in ("check_chunker", "check_embedder", "check_reranker"):
        rooms = loaded_by(f"from chunkwise.testkit import {name}")
        assert rooms.isdisjoint(("retrieval", "metrics", "documents"))


def test_an_unknown_check_is_told() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'check_weather'"):
        chunkwise.testkit.check_weather  # noqa: B018
