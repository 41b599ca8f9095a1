"""The product at work on the corpus inside the package: what is printed are commands that run, and what they say."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import chunkwise
from chunkwise.documents.walk import SWEEP_RECORD

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "out"
PACKAGE = Path(chunkwise.__file__).parent
WIDEST = 100

STEPS = (
    (
        "Cut a document: every chunk is an exact span of its source.",
        'chunkwise chunk handbook/recipes-of-the-salt-kitchen.md -s "sections(max_tokens=200)" --show 3',
    ),
    (
        "As pages: what the documents look like, and where the cuts fall.",
        "chunkwise profile handbook --html profile.html",
        'chunkwise chunk handbook -s "sentences(max_tokens=120, overlap=30)" --html cuts.html',
    ),
    (
        "Make them findable, by words and by vectors: on this machine, no key, no server.",
        "chunkwise index handbook --into kb",
    ),
    (
        "The best 120 tokens for a question: whole sentences that fit, and where they stand.",
        'chunkwise search kb "how many unused days can I carry over?" --budget 120',
    ),
    (
        "Which chunking, which search? Chosen on one part of the questions, judged on the other.",
        "chunkwise demo --output .",
    ),
    (
        "What is that worth? Against a common default, question by question, in 1,000 tokens each.",
        "chunkwise evaluate handbook --test-queries questions.json --budget 1000 --retriever bm25 \\\n"
        '    -s "sentences(max_tokens=1024, overlap=200)" --metrics recall@1000t,completeness -qo default.json',
        "chunkwise evaluate handbook --test-queries questions.json --config recommendation.toml \\\n"
        "    --metrics recall@1000t,completeness -qo recommended.json",
        "chunkwise compare default.json recommended.json",
    ),
)
END = """
{bold}Open out/report.html in a browser{plain}: the recommendation, every configuration, every question,
and code to use it. Beside it are cuts.html and profile.html. The commands above run again in out/
once the environment is on: source .venv/bin/activate

Your documents:    chunkwise tune FOLDER --test-queries questions.json
No questions yet?  chunkwise tune FOLDER
More: README.md; with a language model of your choice, answers and judges too: docs/how-to/language-models.md
"""


def main() -> None:
    # Made anew each time: of another version of the corpus nothing can be gone on with.
    for made in ("handbook", "kb", SWEEP_RECORD):
        shutil.rmtree(OUT / made, ignore_errors=True)
    shutil.copytree(PACKAGE / "corpus", OUT / "handbook")
    shutil.copy(PACKAGE / "corpus_questions.json", OUT / "questions.json")
    bold, plain = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("", "")
    print("In out/: handbook/, the 13 documents inside the package, and 132 questions about them.")
    for number, (title, *commands) in enumerate(STEPS, 1):
        print(f"\n{bold}{number} of {len(STEPS)}  {title}{plain}")
        for command in commands:
            print(f"$ {command}", end="\n\n" if command == commands[-1] else "\n", flush=True)
            run(command)
    print(END.format(bold=bold, plain=plain), end="")


def words_of(command: str) -> list[str]:
    """As a shell has them."""
    return shlex.split(command.replace("\\\n", " "))


def run(command: str) -> None:
    """As a shell would, in `out/`; the width is that of the terminal as far as lines read well."""
    columns = min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)
    done = subprocess.run(
        [sys.executable, "-m", *words_of(command)],
        cwd=OUT,
        env={**os.environ, "COLUMNS": str(columns)},
    )
    if done.returncode:
        sys.exit(f"{command} ended with {done.returncode}")


if __name__ == "__main__":
    main()
