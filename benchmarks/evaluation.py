"""Whether the figures of an evaluation are right, and how fast they are made: a Markdown page."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

from benchmarks import chroma_report, scoring, significance  # noqa: E402
from benchmarks.page import write_page  # noqa: E402

PARTS: dict[str, tuple[str, Callable[[], str]]] = {
    "chroma": ("Published values of the Chroma report", chroma_report.run),
    "scoring": ("Scoring spans", scoring.run),
    "significance": ("Intervals and tests", significance.run),
}


if __name__ == "__main__":
    write_page("Evaluation: accuracy and speed", "evaluation.md", PARTS, __doc__)
