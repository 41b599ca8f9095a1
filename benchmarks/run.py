"""All parts in one run: tables on the terminal and a Markdown page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

from benchmarks import choices, corpora, hostile, machine, memory, speed, startup  # noqa: E402

NOTES = """## What the figures are

- Everyone chunks the same text to the same size in one process, one after the other, several rounds; the best
  round counts.
- Splitters are made outside the timed part. chunkwise starts from a fresh document each time and makes the text of
  every chunk; it also computes exact offsets and exact token counts. Peers are called by the function that does
  least (`split_text`, `chunks`), without offsets.
- The peers' tokenizer is tiktoken itself with cl100k_base; semantic-text-splitter brings its own. unstructured and
  docling start from elements cut at blank lines, made inside the timed part; reading a file is not in it.
- A peer that does another job (bytes instead of characters, no limit) is shown, but no bar is set against it.
- The peers in the row `paragraphs` fill chunks up to the limit, as our `merge` does; a paragraph a chunk, held against
  them all the same, makes nearly three times as many.
- Prose of 10 MB is books, then articles and contracts, none of it twice: in a book read three times over nearly
  every word is known, and a tokenizer that remembers words would be measured too quick.
- Left out of the hostile inputs are those of nothing but headings a few letters long (two and a half million underlined
  ones, a million numbered ones or ones in capitals): each is read by itself, in linear time, 10 MB in 7 to 21 s;
  `sections`, which makes a chunk of each, takes 49 s for the first.
- Hostile inputs run in a process each and are stopped after ten times the time of prose.
"""


def page(parts: list[str], quick: bool, peers: bool) -> str:
    """The requested parts, measured now."""
    told = []
    if "speed" in parts:
        told += ["## Speed\n", speed.run(200_000 if quick else 800_000, 2 if quick else 5)]
    if "hostile" in parts:
        size = corpora.MEGABYTE if quick else 10 * corpora.MEGABYTE
        told += [
            "## Hostile inputs\n",
            hostile.run(size, names=hostile.ON_THE_PAGE, peers=peers),
        ]
    if "startup" in parts:
        told += ["## Start\n", startup.run(3 if quick else 10)]
    if "memory" in parts:
        told += ["## Memory\n", memory.run((5, 20) if quick else memory.SIZES)]
        told += [memory.one_file((4,) if quick else memory.FILES)]
    if "choices" in parts:
        told += ["## Our own parts and the libraries instead\n", choices.run()]
    return "\n".join(
        ["# Chunking speed\n", "Written by `make bench`.\n", machine.describe(), *told, NOTES]
    )


def main() -> None:
    names = ["speed", "hostile", "startup", "memory", "choices"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(names)}; all where none is given")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "benchmarks" / "chunking.md")
    parser.add_argument(
        "--quick", action="store_true", help="small texts, two rounds: a try, not a result"
    )
    parser.add_argument("--peers", action="store_true", help="hostile inputs for the peers, too")
    given = parser.parse_args()
    unknown = set(given.parts) - set(names)
    if unknown:
        parser.error(f"unknown part {', '.join(sorted(unknown))}; known: {', '.join(names)}")
    text = page(given.parts or names, given.quick, given.peers)
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(text, encoding="utf-8")
    print(text)
    print(f"written to {given.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
