"""The product at work on the corpus inside the package; pages and files are left in `out/`."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from shutil import rmtree

import chunkwise
from chunkwise.documents.walk import SWEEP_RECORD

ROOT = Path(__file__).resolve().parents[1]
CORPUS = Path(chunkwise.__file__).parent / "corpus"

STEPS = (
    ("What does the corpus look like?", "profile CORPUS"),
    ("The same as a page.", "profile CORPUS --page out/profile.html"),
    ("Which strategies are there?", "strategies sentences sections"),
    ("Cut it by section, and look.", 'chunk CORPUS --strategy "sections(max_tokens=200)" -n 6'),
    (
        "Keep the chunks.",
        'chunk CORPUS --strategy "sections(max_tokens=200)" -o out/chunks.parquet',
    ),
    (
        "Make it findable: words and vectors, on this machine.",
        'index CORPUS --strategy "sections(max_tokens=200)" --into out/kb',
    ),
    ("Ask.", 'search out/kb "how is leave approved?" -k 3'),
    (
        "The best 200 tokens for a question, as spans of whatever size fits.",
        'search out/kb "how many unused days can I carry over?" --budget 200',
    ),
    (
        "An answer by a small language model on this machine: what it says is held against the passage.",
        'ask out/kb "how many unused days may be carried over?" -k 1 --llm local',
    ),
    (
        "No questions yet? Drafts out of the documents, by rules; with --llm a model writes them.",
        "testset generate CORPUS -n 20 -o out/questions.json",
    ),
    (
        "Draw the cuts on the documents: overlaps hatched, issues marked.",
        'chunk CORPUS --strategy "sentences(max_tokens=120, overlap=30)" --view out/cuts.html',
    ),
    (
        "And what would have been best? Four dozen ways to cut and to search, asked 132 questions.",
        "demo --output out/",
    ),
)


def main() -> None:
    (ROOT / "out").mkdir(exist_ok=True)
    # Tuned anew each time: of another version of the corpus nothing can be gone on with.
    rmtree(ROOT / "out" / SWEEP_RECORD, ignore_errors=True)
    for title, command in STEPS:
        print(f"\n\033[1m{title}\033[0m\n$ chunkwise {command}\n", flush=True)
        words = [str(CORPUS) if word == "CORPUS" else word for word in shlex.split(command)]
        subprocess.run([sys.executable, "-m", "chunkwise", *words], check=True, cwd=ROOT)
    print("\nOpen out/report.html in a browser; out/cuts.html and out/profile.html are there, too.")


if __name__ == "__main__":
    main()
