"""Peak memory while a growing JSONL corpus streams through: it must not grow with the corpus."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import corpora
from benchmarks.tables import table

SIZES = (20, 80, 320)
FILES = (40, 200)
GROWTH = 1.15
"""Largest peak over smallest; more means that something is kept."""

# In a process of its own: the peak of a process never goes down again.
_CHILD = """
import json, resource, sys, time
import chunkwise
began, count = time.perf_counter(), 0
for chunk in chunkwise.chunk(sys.argv[1], sys.argv[2]):
    count += 1
took = time.perf_counter() - began
if sys.platform == "darwin":
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
else:  # the other figure starts at the size of the process that started this one
    status = open("/proc/self/status").read()
    peak = int(status.split("VmHWM:")[1].split()[0]) / 1e3
print(json.dumps([peak, count, took]))
"""


def write_corpus(path: Path, megabytes: int, document: int = 50_000) -> None:
    """Documents of 50 kB, each with a name of its own."""
    text = corpora.prose(2 * corpora.MEGABYTE)
    with path.open("w", encoding="utf-8") as lines:
        for number in range(megabytes * corpora.MEGABYTE // document):
            start = number * 7919 % (len(text) - document)
            record = {"id": f"d{number}", "text": text[start : start + document]}
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")


def one_file(sizes: tuple[int, ...] = FILES, strategy: str = "structure") -> str:
    """Peak memory of a single text: a few times its size, however long it is."""
    rows: list[list[str]] = []
    text = corpora.prose(2 * corpora.MEGABYTE)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "book.txt"
        for megabytes in sizes:
            path.write_text(text * (megabytes // 2), encoding="utf-8")
            done = subprocess.run(
                [sys.executable, "-c", _CHILD, str(path), strategy], capture_output=True, text=True
            )
            if done.returncode:
                return f"- left out: {done.stderr.strip().splitlines()[-1]}\n"
            peak, chunks, _ = json.loads(done.stdout)
            rows.append(
                [f"{megabytes} MB", f"{peak:.0f}", f"{peak / megabytes:.1f}×", f"{chunks:,}"]
            )
    return table([f"one file ({strategy})", "peak MB", "of its size", "chunks"], rows) + "\n"


def run(sizes: tuple[int, ...] = SIZES, strategy: str = "recursive") -> str:
    """The table as Markdown."""
    rows: list[list[str]] = []
    peaks: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for megabytes in sizes:
            path = Path(folder) / "corpus.jsonl"
            write_corpus(path, megabytes)
            done = subprocess.run(
                [sys.executable, "-c", _CHILD, str(path), strategy], capture_output=True, text=True
            )
            if done.returncode:
                return f"- left out: {done.stderr.strip().splitlines()[-1]}\n"
            peak, chunks, took = json.loads(done.stdout)
            peaks.append(peak)
            rows.append(
                [f"{megabytes} MB", f"{peak:.0f}", f"{chunks:,}", f"{megabytes / took:.1f}"]
            )
            print(rows[-1], file=sys.stderr, flush=True)
    met = max(peaks) <= GROWTH * min(peaks)
    growth = f"{max(peaks) / min(peaks):.2f}, bar {GROWTH}: {'met' if met else '**missed**'}"
    verdict = f"- largest / smallest peak: {growth}"
    return "\n".join(
        [table([f"corpus ({strategy})", "peak MB", "chunks", "MB/s"], rows), "", verdict, ""]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, help="megabytes")
    parser.add_argument("--strategy", default="recursive")
    given = parser.parse_args()
    print(run(tuple(given.sizes) or SIZES, given.strategy))


if __name__ == "__main__":
    main()
