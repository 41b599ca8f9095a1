"""How long a sweep takes, and how good its choices are."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

from benchmarks import few_questions, sweep  # noqa: E402
from benchmarks.page import write_page  # noqa: E402
from benchmarks.saved_results import SavedResults  # noqa: E402

if __name__ == "__main__":
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument(
        "--save", type=Path, metavar="FOLDER", help="where scores are kept; a second run resumes"
    )
    known, _ = options.parse_known_args()
    saved = SavedResults(known.save)
    parts = {
        "sweep": ("A hundred configurations", sweep.run),
        "few": ("Few questions", partial(few_questions.run, saved)),
    }
    write_page("Tuning", "tuning.md", parts, __doc__, options)
