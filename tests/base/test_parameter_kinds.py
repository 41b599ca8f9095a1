"""Values that hold several parameters, given as something else."""

from __future__ import annotations

from typing import Any

import pytest

import chunkwise
from chunkwise.base.errors import InvalidParameter
from tables import cases

TEXT = chunkwise.Document("a.txt", "Lamps are lit at dusk.")


def verbs() -> dict[str, Any]:
    index = chunkwise.index([TEXT], vectors="none")
    return {
        "chunk": lambda **more: chunkwise.chunk([TEXT], **more),
        "read": lambda **more: chunkwise.read([TEXT], **more),
        "index": lambda **more: chunkwise.index([TEXT], vectors="none", **more),
        "update": lambda **more: index.update([TEXT], **more),
        "evaluate": lambda **more: chunkwise.evaluate([TEXT], [], **more),
        "tune": lambda **more: chunkwise.tune([TEXT], **more),
        "lint": lambda **more: chunkwise.lint([TEXT], **more),
        "profile": lambda **more: chunkwise.profile([TEXT], **more),
        "ask": lambda **more: chunkwise.ask([TEXT], "Which?", **more),
        "generate_questions": lambda **more: chunkwise.generate_questions([TEXT], **more),
    }


def test_options_of_every_verb_are_load_options() -> None:
    for name, verb in verbs().items():
        with pytest.raises(InvalidParameter) as told:
            verb(options={"encoding": "latin-1"})
        assert str(told.value).startswith(
            "options is {'encoding': 'latin-1'}; chunkwise.LoadOptions is needed: "
            "options=chunkwise.LoadOptions(encoding=…), which has encoding, "
        ), name


def test_options_by_position() -> None:
    with pytest.raises(InvalidParameter, match=r"options is 'latin-1'; chunkwise\.LoadOptions is"):
        chunkwise.read([TEXT], "latin-1")  # type: ignore[arg-type]


@cases("given", [{"unit": "tokens"}, "tokens", None, chunkwise.ScoringRules])
def test_scoring_is_scoring_rules(given: Any) -> None:
    with pytest.raises(InvalidParameter) as told:
        chunkwise.evaluate([TEXT], [], scoring=given)
    assert "scoring=chunkwise.ScoringRules(unit=…)" in str(told.value)


@cases("verb", [chunkwise.evaluate, chunkwise.tune])
def test_listeners_are_listeners(verb: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"listeners=chunkwise.Listeners\(on_documents=…\)"):
        verb([TEXT], [], listeners=print)


def test_a_long_value_is_shortened() -> None:
    with pytest.raises(InvalidParameter) as told:
        chunkwise.read([TEXT], options={"x": "y" * 500})  # type: ignore[arg-type]
    assert len(str(told.value)) < 400
