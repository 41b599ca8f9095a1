"""What a judge offers, and the judges there are by the names users give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from chunkwise.base import parameters, spec
from chunkwise.base.errors import InvalidParameter
from chunkwise.base.registry import Registry
from chunkwise.core import Hit, Query, Score

LLM = "llm"
"""The judge that is a language model: `--llm` says which."""

registry = Registry(
    "judge",
    "chunkwise.judges",
    {
        "labels": "chunkwise.metrics.judges.labels:LabelJudge",
        "spans": "chunkwise.metrics.judges.spans:SpanJudge",
        "similarity": "chunkwise.metrics.judges.similarity:SimilarityJudge",
        LLM: "chunkwise.metrics.judges.llm_judge:LlmJudge",
    },
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
    made: object = judge
    if isinstance(judge, str):
        name, values = spec.parse(judge)
        made = parameters.build(registry.get(name), name, values)
    if not isinstance(made, Judge):
        raise InvalidParameter(
            f"{judge!r} is no judge: it needs a name and a method `judge(queries, hits)` with a score a hit"
        )
    return made
