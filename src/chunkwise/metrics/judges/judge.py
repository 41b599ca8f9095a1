"""What a judge offers, and the judges there are by the names users give them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from chunkwise.base import spec
from chunkwise.base.registry import Registry
from chunkwise.core import Hit, Query, Score

LLM = "llm"
"""The judge that is a language model: `--llm` says which."""

registry = Registry(
    "judge",
    "chunkwise.judges",
    {
        "labels": "chunkwise.metrics.judges.relevance_judges:LabelJudge",
        "spans": "chunkwise.metrics.judges.relevance_judges:SpanJudge",
        "similarity": "chunkwise.metrics.judges.relevance_judges:SimilarityJudge",
        LLM: "chunkwise.metrics.judges.llm_judge:LlmJudge",
    },
    needs=("judge(queries, hits)", "name"),
    example="similarity(threshold=0.7)",
)


@runtime_checkable
class Judge(Protocol):
    """Says of every hit whether it is relevant to its question: 1, 0, or unscored with a reason."""

    @property
    def name(self) -> str:
        """What its column is called: labels, spans, similarity, llm."""

    def judge(self, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]) -> list[list[Score]]:
        """One score a hit, in the order of the hits."""


def get_judge(judge: str | Judge) -> Judge:
    """A judge from "name(parameter=value)", `./file.py:Class`, or an object with `name` and `judge`."""
    made: Judge = registry.make(judge)
    return made


def judge_names(text: str) -> list[str]:
    """Names with commas between them, those in brackets left alone: "llm, mine(near=0.5, far=1)"."""
    return [part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip()]


def judge_identity(judge: Judge) -> str:
    """What its calibration is kept under: what it says itself, or its name with its parameters."""
    return str(getattr(judge, "identity", "") or spec.describe(judge.name, judge))
