"""The best configurations so far, shown while a sweep runs: under the bar, or in a line now and then."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from chunkwise.cli.progress import progress
from chunkwise.core import OnProgress
from chunkwise.evaluation.direction import lower_is_better
from chunkwise.report.plain_text import one_line

if TYPE_CHECKING:
    from rich.table import Table

    from chunkwise.tuning.sweep_result import Outcome

_SHOWN = 5


class Leaders:
    """By their mean on the questions that choose: the others are not looked at before the choice is made."""

    def __init__(self, objective: str, splits: Sequence[str], quiet: bool) -> None:
        self._objective = objective
        self._chooses = [split == "validation" for split in splits]
        self._sign = 1 if lower_is_better(objective) else -1
        self._quiet = quiet
        self._means: dict[str, float] = {}

    def add(self, outcome: Outcome) -> None:
        """One more is known."""
        scores = outcome.scores.get(self._objective, ())
        chosen = [
            score
            for score, chooses in zip(scores, self._chooses, strict=False)
            if chooses and score is not None
        ]
        if chosen:
            self._means[outcome.configuration.label] = sum(chosen) / len(chosen)

    @property
    def best(self) -> list[tuple[str, float]]:
        """At most five, the best first; of equals the one that was known first."""
        order = sorted(self._means, key=lambda label: self._sign * self._means[label])
        return [(label, self._means[label]) for label in order[:_SHOWN]]

    @contextmanager
    def stages(self, name: str, total: int) -> Iterator[OnProgress]:
        """A stage of the sweep, with the leaders below its bar or in its lines."""
        done = 0

        def told(amount: int, note: str) -> None:
            nonlocal done
            done += amount
            if name == "configurations":
                note = f"{done:,} of {total:,}{self._told_best()}"
            advance(amount, note)

        with progress(name, total, self._quiet, below=self._table) as advance:
            yield told

    def _told_best(self) -> str:
        """For a line; on a terminal the leaders stand below."""
        if not self._means or sys.stderr.isatty():
            return ""
        label, mean = self.best[0]
        return f"; best so far: {one_line(label, 80)} {mean:.3f}"

    def _table(self) -> Table | None:
        from rich.table import Table
        from rich.text import Text

        if not self._means:
            return None
        table = Table.grid(padding=(0, 2))
        table.add_column()
        table.add_column(no_wrap=True, overflow="ellipsis")
        for label, mean in self.best:
            table.add_row(f"  {mean:.3f}", Text(one_line(label, 100)))
        return table
