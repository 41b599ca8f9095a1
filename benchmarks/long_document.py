"""What one long document takes of memory and work, cut into a data set or a file: docs/benchmarks/scale.md.

    python -m benchmarks.long_document --megabytes 100 300 1000
    python -m benchmarks.long_document --megabytes 100 --ending .txt --strategy structure
    python -m benchmarks.long_document --megabytes 1000 --engine ray
    python -m benchmarks.long_document --megabytes 300 --output out.parquet   # or out.jsonl, out.csv
    python -m benchmarks.long_document --megabytes 300 --ending .jsonl        # a line of JSON for each part
    python -m benchmarks.long_document --megabytes 100 --index      # into an index of words; with --engine ray, too

Its sections are those of the sample corpus in a seeded order. Memory is what all processes of the command together
have for themselves (`Pss`), looked at once a second; work is counted in seconds of CPU time.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from pathlib import Path

import chunkwise
from benchmarks.watched import watched


def make_text(path: Path, megabytes: float) -> None:
    """So much Markdown in one file, or records of it."""
    corpus = sorted((Path(chunkwise.__file__).parent / "corpus").rglob("*.md"))
    texts = [each.read_text() for each in corpus]
    sections = [each for text in texts for each in text.split("\n## ") if len(each) > 200]
    chance, size, number = random.Random(7), 0, 0
    with path.open("w") as file:
        while size < megabytes * 1e6:
            parts = (each.lstrip("# ") for each in chance.sample(sections, min(12, len(sections))))
            text = f"# Part {number}\n\n" + "".join(f"## {each.strip()}\n\n" for each in parts)
            if path.suffix == ".jsonl":
                text = json.dumps({"id": str(number), "text": text}) + "\n"
            size, number = size + file.write(text), number + 1


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("--megabytes", type=float, nargs="+", default=[100, 300, 1000])
    reader.add_argument("--strategy", default="words")
    reader.add_argument("--ending", default=".md")
    reader.add_argument("--engine", default="local")
    reader.add_argument("--output", default="out")
    reader.add_argument("--index", action="store_true")
    given = reader.parse_args()
    for megabytes in given.megabytes:
        with tempfile.TemporaryDirectory() as place:
            docs, output = Path(place) / "docs", Path(place) / given.output
            docs.mkdir()
            make_text(docs / f"long{given.ending}", megabytes)
            if given.engine != "local":  # one file alone is cut by the process that was started
                (docs / "short.md").write_text("# Short\n\nA short one.\n")
            command = [sys.executable, "-m", "chunkwise"]
            if given.index:
                command += ["index", str(docs), "--into", str(output), "--vectors", "none"]
            else:
                command += ["chunk", str(docs), "-o", str(output)]
            command += ["-q", "-s", given.strategy, "--engine", given.engine]
            took = watched(command)
            chunks = ""
            if (output / "_chunkwise.json").exists():
                made = json.loads((output / "_chunkwise.json").read_text())
                chunks = f", {made['chunks']:,} chunks"
            print(f"{megabytes:g} MB{chunks}: {took}; load {os.getloadavg()[0]:.0f}", flush=True)


if __name__ == "__main__":
    main()
