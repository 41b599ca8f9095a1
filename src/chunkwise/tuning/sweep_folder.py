"""The folder of a sweep: its plan, the record of what is done, and the names of what is written at the end."""

from __future__ import annotations

import os
from pathlib import Path

from chunkwise.base.atomic import check_writable, replacing, says_what_it_writes
from chunkwise.documents.walk import SWEEP_FILES, SWEEP_RECORD
from chunkwise.tuning.plan.prepare import PreparedSweep
from chunkwise.tuning.plan.sweep_file import sweep_text
from chunkwise.tuning.run.record import SweepRecord, sweep_fingerprint

PLAN, RECOMMENDATION, RESULTS, REPORT = SWEEP_FILES


class SweepFolder:
    """One sweep's; a folder of another sweep is refused and stays as it is."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    @property
    def files(self) -> list[Path]:
        """What a sweep writes here, which is no document of it."""
        return [self.path.resolve() / name for name in SWEEP_FILES]

    @property
    def record(self) -> SweepRecord:
        return SweepRecord(self.path / SWEEP_RECORD)

    def check_writable(self) -> None:
        """That nothing can be written here is an error before hours are spent."""
        if self.path.exists():
            check_writable(self.path / RESULTS)

    def refuse_another(self, prepared: PreparedSweep) -> None:
        """An error where the record is that of another sweep; without a record nothing is written."""
        if self.record.folder.exists():
            self._match(prepared)

    def keep_plan(self, prepared: PreparedSweep) -> None:
        """Writes the plan that `--resume` continues."""
        self._match(prepared)
        path = self.path / PLAN
        with replacing(path) as temporary, says_what_it_writes(path):
            temporary.write_text(sweep_text(prepared.sweep, self.path), encoding="utf-8")

    def _match(self, prepared: PreparedSweep) -> None:
        inputs = prepared.inputs
        self.record.matches(
            sweep_fingerprint(inputs.documents, inputs.questions.queries, prepared.sweep)
        )
