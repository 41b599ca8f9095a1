"""How long a sweep takes, whether it ends the same, and how good its choices are: a Markdown page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

from benchmarks import agreement, exact, few_questions, kills, leaders, sweep  # noqa: E402
from benchmarks.page import write_page  # noqa: E402
from benchmarks.saved_results import SavedResults  # noqa: E402


def parts(saved: SavedResults) -> dict[str, tuple[str, Callable[[], str]]]:
    """By the name on the command line."""
    return {
        "sweep": ("A hundred configurations", sweep.run),
        "exact": ("Per-chunk embeddings", exact.run),
        "agreement": ("Late chunking and per-chunk embeddings", partial(agreement.run, saved)),
        "leaders": ("Public datasets", partial(leaders.run, saved)),
        "few": ("Few questions", partial(few_questions.run, saved)),
        "kills": ("Resuming after a kill", kills.run),
    }


if __name__ == "__main__":
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument(
        "--save", type=Path, metavar="FOLDER", help="where sweeps are saved, to go on with them"
    )
    options.add_argument(
        "--exact",
        action="store_true",
        help="embed every chunk of the grid, for the agreement (45 minutes)",
    )
    known, _ = options.parse_known_args()
    write_page(
        "Tuning", "tuning.md", parts(SavedResults(known.save, known.exact)), __doc__, options
    )
