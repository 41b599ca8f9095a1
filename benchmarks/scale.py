"""What a million names take to list, and chunks to cut by processes and by Ray: docs/benchmarks/scale.md.

    python -m benchmarks.scale names
    python -m benchmarks.scale cut --megabytes 20 [--ray]

Documents are the sections of the sample corpus in a seeded order, no two alike. Work is counted in seconds of the
processor, which a busy machine changes less than those of the clock; both are printed.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import chunkwise
from chunkwise.documents import object_store as remote

_PAGE = 1000


class _ManyNames:
    """Answers a listing as S3 does, a page at a time, of as many names as are wanted."""

    def __init__(self, count: int) -> None:
        self._count = count

    def split_path(self, path: str) -> tuple[str, str, None]:
        return "bucket", path.partition("/")[2], None

    def call_s3(self, method: str, *, ContinuationToken: str = "0", **asked: Any) -> dict[str, Any]:  # noqa: N803
        first = int(ContinuationToken)
        last = min(first + _PAGE, self._count)
        contents = [
            {
                "Key": f"{asked['Prefix']}{number:09}-a-name-of-usual-length.md",
                "Size": 4000,
                "ETag": f'"{number:032x}"',
            }
            for number in range(first, last)
        ]
        return {
            "Contents": contents,
            "IsTruncated": last < self._count,
            "NextContinuationToken": str(last),
        }


def _peak() -> float:
    """Megabytes this process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def names() -> None:
    for count in (10_000, 1_000_000):
        remote.store = lambda address, count=count: (_ManyNames(count), "")  # type: ignore[assignment,misc]
        began, before = time.process_time(), _peak()
        found = sum(1 for _ in remote.walk_store("s3://bucket/docs", "bucket/docs", print))
        took = time.process_time() - began
        print(
            f"{found:,} names: {took:.1f} s of the processor, peak {before:.0f} -> {_peak():.0f} MB"
        )


def _corpus(folder: Path, megabytes: float) -> int:
    texts = [
        path.read_text()
        for path in sorted((Path(chunkwise.__file__).parent / "corpus").rglob("*.md"))
    ]
    sections = [each for text in texts for each in text.split("\n## ") if len(each) > 200]
    chance, size, number = random.Random(7), 0, 0
    while size < megabytes * 1e6:
        text = f"# Document {number}\n\n" + "\n\n## ".join(
            chance.sample(sections, min(12, len(sections)))
        )
        path = folder / f"{number // 500:03}" / f"{number:06}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        size, number = size + len(text.encode()), number + 1
    return number


def cut(megabytes: float, *, with_ray: bool) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "docs"
        folder.mkdir()
        print(f"{_corpus(folder, megabytes):,} documents, {megabytes:g} MB")
        ways = {
            "one file, -j 1": ["one.parquet", "-j", "1"],
            "data set, -j 1": ["j1", "-j", "1"],
            "data set, -j 2": ["j2", "-j", "2"],
        }
        if with_ray:
            ways["data set, Ray"] = ["ray", "--engine", "ray"]
        for name, (output, *words) in ways.items():
            command = [
                sys.executable,
                "-m",
                "chunkwise",
                "chunk",
                str(folder),
                "-o",
                f"{place}/{output}",
                *words,
            ]
            before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{name} failed: {done.stderr[-2000:]}")
            after, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(
                f"{name}: {used:.1f} s of the processor, {clock:.0f} s; {done.stderr.splitlines()[-2]}"
            )
        made = ["j1", "j2", *(["ray"] if with_ray else [])]
        parts = [
            sorted(
                (path.name, path.read_bytes()) for path in (Path(place) / each).glob("*.parquet")
            )
            for each in made
        ]
        print(f"files alike: {all(each == parts[0] for each in parts)} ({len(parts[0])})")


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("what", choices=["names", "cut"])
    reader.add_argument("--megabytes", type=float, default=20)
    reader.add_argument("--ray", action="store_true")
    given = reader.parse_args()
    names() if given.what == "names" else cut(given.megabytes, with_ray=given.ray)


if __name__ == "__main__":
    main()
