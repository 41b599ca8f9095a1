"""Metrics that ask one thing: whether a text supports a claim."""

from __future__ import annotations

from chunkwise.judges.llm.judge_model import JudgeModel
from chunkwise.judges.llm.support import Support


class BySupport:
    """Who is asked, and by which wording; what is asked about, the metric says."""

    def __init__(self, model: JudgeModel) -> None:
        self._support = Support(model)

    @property
    def versions(self) -> tuple[str, ...]:
        return (self._support.prompt.version,)
