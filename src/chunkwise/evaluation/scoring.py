"""One run scored: its hits, judges and answers handed to the scorer, its columns and whole figures taken back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from chunkwise.core import Hit, Query, Score
from chunkwise.evaluation.judging import JudgeVerdicts, judge_of
from chunkwise.evaluation.options import ScoringOptions
from chunkwise.evaluation.results import Figure
from chunkwise.evaluation.subject import SearchRun, Subject
from chunkwise.evaluation.verdicts import verdict
from chunkwise.metrics.answers.answer import Answer
from chunkwise.metrics.cuts.boundary_issues import CutCounts
from chunkwise.metrics.evidence import Evidence
from chunkwise.metrics.registry import MetricAt
from chunkwise.metrics.scorer import ScoreColumn, Scorer


@dataclass(frozen=True, slots=True)
class Scoring:
    """What scores are made of."""

    subject: Subject
    queries: Sequence[Query]
    asking: SearchRun
    rules: ScoringOptions
    verdicts: JudgeVerdicts = field(default_factory=dict)
    """Of judges that were asked already; of another, they are asked for when a metric needs them."""
    answers: Mapping[str, Answer] = field(default_factory=dict)
    """By the id of the question; empty: nobody answered."""
    by_llm: Mapping[str, Sequence[Score]] = field(default_factory=dict)
    """Scores that a language model's verdicts gave, by metric."""

    @property
    def evidence(self) -> Evidence:
        """All that a metric may look at."""
        subject, rules = self.subject, self.rules
        return Evidence(
            self.queries, self.asking.shown, subject.documents, self.answers, subject.index,
            subject.chunking, subject.position, rules.relevance_threshold, rules.unit,
            subject.tokenizer, rules.judge_model, self._ask_judge,
        )  # fmt: skip

    def columns(self) -> dict[str, ScoreColumn]:
        """One column a metric that scores questions, in the order they were asked for."""
        return self._scorer.columns(self.rules.wanted)

    def whole(self) -> tuple[dict[str, Figure], CutCounts | None]:
        """The figures of the whole chunking, which have no interval, and what is wrong at the cuts."""
        scores = self._scorer.whole(self.rules.wanted)
        cuts = next((each.cuts for each in scores.values() if each.cuts is not None), None)
        found: dict[str, Figure] = {}
        for name, each in scores.items():
            value, reason = each.score.value, each.score.reason
            unscored = dict(each.unscored) or ({reason: 1} if value is None else {})
            scored = 0 if value is None else each.count
            found[name] = Figure(
                value, scored=scored, unscored=unscored, verdict=verdict(name, value)
            )
        return found, cuts

    def reachable(self) -> dict[str, float]:
        """By metric, the most that any ranking of the same chunks could reach, where that is known."""
        found = {
            each.label: each.metric.reachable(self.evidence)
            for each in self.rules.wanted
            if each.metric.reachable is not None
        }
        return {name: most for name, most in found.items() if most is not None}

    @property
    def _scorer(self) -> Scorer:
        return Scorer(self.evidence, self.asking, self.by_llm)

    def _ask_judge(
        self, name: str, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]
    ) -> list[list[Score]]:
        if name in self.verdicts and hits is self.asking.shown:
            return self.verdicts[name]
        return judge_of(name, self.rules).judge(queries, hits)


def depths(wanted: Iterable[MetricAt]) -> list[int]:
    """How many hits these metrics look at."""
    return [each.at for each in wanted if each.at and not each.tokens]
