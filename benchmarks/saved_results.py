"""Where long parts keep what they found out, so that a second run goes on with it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple


class SavedResults(NamedTuple):
    """What was asked for on the command line."""

    folder: Path | None = None
    """None: a temporary one, gone at the end."""

    @contextmanager
    def place(self) -> Iterator[Path]:
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            yield self.folder
        else:
            with tempfile.TemporaryDirectory() as folder:
                yield Path(folder)
