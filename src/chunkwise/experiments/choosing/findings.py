"""Everything a choice was made from, for those who put it into words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chunkwise.core import Query
from chunkwise.experiments.choosing.field import Field
from chunkwise.experiments.configuration import Configuration
from chunkwise.experiments.outcome import Outcome
from chunkwise.experiments.planning.plan import Plan
from chunkwise.experiments.sweep import Sweep
from chunkwise.experiments.tuning import Against, Standing
from chunkwise.stats.ties import Ties


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """Before there is a sentence about it."""

    sweep: Sweep
    plan: Plan
    outcomes: Sequence[Outcome]
    queries: Sequence[Query]
    field: Field
    ties: Ties
    chosen: int
    """Column of the field."""
    standings: tuple[Standing, ...]
    against: tuple[Against, ...]
    agreement: Mapping[str, float]
    detectable: float | None

    @property
    def configuration(self) -> Configuration:
        """The one recommended."""
        return self.field.outcomes[self.chosen].configuration

    @property
    def standing(self) -> Standing:
        """That of the one recommended."""
        return self.of(self.configuration)

    def of(self, configuration: Configuration) -> Standing:
        return next(each for each in self.standings if each.key == configuration.key)

    @property
    def tied(self) -> int:
        """How many cannot be told from the best, the best included."""
        return sum(self.ties.tied)
