"""Whether the context has everything that the reference answer says."""

from __future__ import annotations

from chunkwise.core import Score
from chunkwise.evaluation.scores.llm.context_recall import NOTHING_EXPECTED
from chunkwise.evaluation.scores.llm.material import Material
from chunkwise.judges.llm.completeness import Completeness
from chunkwise.judges.llm.judge_model import JudgeModel
from chunkwise.judges.llm.tasks import Task


class CompletenessByLlm:
    """`completeness.llm`."""

    def __init__(self, model: JudgeModel) -> None:
        self._completeness = Completeness(model)

    @property
    def versions(self) -> tuple[str, ...]:
        return (self._completeness.prompt.version,)

    def tasks(self, given: Material) -> list[Task]:
        if not given.expected.strip():
            return []
        return self._completeness.tasks(given.query.text, given.expected, given.context)

    def score(self, given: Material) -> Score:
        if not given.expected.strip():
            return Score(None, NOTHING_EXPECTED)
        return self._completeness.score(given.query.text, given.expected, given.context)
