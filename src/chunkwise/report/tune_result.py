"""What `chunkwise.tune` returns: the whole sweep, and what to do."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from chunkwise.base.renamed import warn_renamed
from chunkwise.records.typed import json_text
from chunkwise.report.page import fragment
from chunkwise.report.views.tuning import tuning_view
from chunkwise.tuning.recommendation import Recommendation
from chunkwise.tuning.sweep_result import SweepResult


@dataclass(frozen=True, slots=True, repr=False)
class TuneResult:
    """What was found out, and what to do; a notebook draws it."""

    sweep: SweepResult
    """Every configuration with its figures, the choice, and how sure it is."""
    recommendation: Recommendation | None
    """None: without questions nothing can be recommended."""

    @property
    def tuning(self) -> SweepResult:
        """The old name of `sweep`."""
        warn_renamed("TuneResult.tuning", "sweep")
        return self.sweep

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; `sweep` as in the file `results.json` of a sweep."""
        recommended = self.recommendation
        return {
            "sentence": self.sweep.sentence,
            "recommendation": recommended and recommended.settings(),
            "sweep": json.loads(json_text(self.sweep)),
        }

    def __str__(self) -> str:
        return self.sweep.sentence

    def __repr__(self) -> str:
        tried = (
            f"{len(self.sweep.outcomes):,} configurations, {len(self.sweep.questions):,} questions"
        )
        chosen = self.recommendation
        told = "no recommendation" if chosen is None else f"{chosen.strategy} · {chosen.retriever}"
        return f"<TuneResult {told}: {tried}>"

    def _repr_html_(self) -> str:
        return fragment(tuning_view(self.sweep))
