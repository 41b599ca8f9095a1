"""How long a sweep takes, and what it takes it for: a Markdown page."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

from benchmarks import sweep  # noqa: E402
from benchmarks.page import write_page  # noqa: E402

PARTS: dict[str, tuple[str, Callable[[], str]]] = {
    "sweep": ("A hundred configurations", sweep.run),
}


if __name__ == "__main__":
    write_page("Tuning", "tuning.md", PARTS, __doc__)
