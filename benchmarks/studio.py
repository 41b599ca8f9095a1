"""How soon the studio is there, how fast a document is cut anew, and what 20,000 documents and one of 10 MB cost it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener

from benchmarks.page import write_page
from benchmarks.tables import table

CORPUS = Path(__file__).resolve().parents[1] / "src" / "chunkwise" / "corpus"
DOCUMENTS = 20_000
STRATEGIES = (
    "structure(max_tokens=210)", "structure(max_tokens=390)", "sentences(max_tokens=190)", "sentences(max_tokens=390)",
    "recursive(max_tokens=250)", "tokens(max_tokens=250)",
)  # fmt: skip


class Studio:
    """A process of its own, asked as a browser asks."""

    def __init__(self, *sources: str) -> None:
        self.began = time.perf_counter()
        command = [sys.executable, "-m", "chunkwise", "studio", *sources, "--no-browser", "--quiet"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        self.root = self.address.partition("/documents")[0]
        self._opener = build_opener(HTTPCookieProcessor())
        self._opener.open(self.address).read()
        self.first_page = time.perf_counter() - self.began
        self.first_page_processor = self.processor()

    def processor(self) -> float:
        """Seconds of processor time so far; 0 where the system does not say."""
        file = Path(f"/proc/{self.process.pid}/stat")
        if not file.exists():
            return 0.0
        values = file.read_text().rpartition(")")[2].split()
        return (int(values[11]) + int(values[12])) / 100

    def memory(self) -> float:
        """Megabytes; 0 where the system does not say."""
        file = Path(f"/proc/{self.process.pid}/status")
        lines = file.read_text().splitlines() if file.exists() else []
        return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1000

    def ask(self, path: str, **values: object) -> Any:
        return json.loads(self._opener.open(f"{self.root}{path}?{urlencode(values)}").read())

    def timed(self, path: str, rounds: int = 1, **values: object) -> tuple[float, float, Any]:
        """Best milliseconds of wall time, milliseconds of processor time of one, and the answer."""
        best, before, found = float("inf"), self.processor(), None
        for _ in range(rounds):
            began = time.perf_counter()
            found = self.ask(path, **values)
            best = min(best, time.perf_counter() - began)
        return best * 1000, (self.processor() - before) * 1000 / rounds, found

    def wait(self) -> None:
        while self.ask("/api/state")["working"]:
            time.sleep(0.5)


@contextmanager
def studio(*sources: str) -> Iterator[Studio]:
    made = Studio(*sources)
    try:
        yield made
    finally:
        made.process.kill()
        made.process.wait()


def start() -> str:
    rows = []
    for _ in range(3):
        with studio("--demo") as made:
            rows.append((made.first_page, made.first_page_processor))
    wall, processor = min(rows)
    return (
        f"From the command to the whole of the first page, the best of three: {wall:.2f} s of wall time, "
        f"{processor:.2f} s of processor time (wanted: under a second)."
    )


def cuts() -> str:
    text = "\n\n".join(path.read_text("utf-8") for path in sorted(CORPUS.glob("*.md")))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, size in (("1 MB", 1_000_000), ("10 MB", 10_000_000)):
            many = text * (size // len(text) + 1)
            Path(folder, f"{name}.md").write_text(many[:size], "utf-8")
        with studio(folder) as made:
            made.wait()
            listed = made.ask("/api/documents")["rows"]
            for row in sorted(listed, key=lambda each: each["characters"]):
                path = f"/api/documents/{row['number']}/cuts"
                made.ask(
                    path, strategy="sentences(max_tokens=100)"
                )  # what is found once a document
                for strategy in STRATEGIES:
                    wall, processor, found = made.timed(path, strategy=strategy, count=6)
                    rows.append(
                        [
                            row["id"],
                            strategy,
                            f"{found['chunks']:,}",
                            f"{wall:,.0f}",
                            f"{processor:,.0f}",
                        ]
                    )
                wall, processor, _ = made.timed(path, 5, strategy=strategy, first=100, count=12)
                rows.append(
                    [
                        row["id"],
                        "twelve further bands of the same",
                        "",
                        f"{wall:,.0f}",
                        f"{processor:,.0f}",
                    ]
                )
    heads = ["document", "cut by", "chunks", "ms", "ms of processor time"]
    return (
        "A document that was analysed once is cut by another strategy or size, with all boundary issues and six bands "
        f"of text, as a slider does it (wanted: 1 MB in under 200 ms).\n\n{table(heads, rows)}"
    )


def many() -> str:
    paragraph = (CORPUS / "glossary.md").read_text("utf-8")[600:1000]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(DOCUMENTS):
            text = (
                f"# Note {number}\n\nLamp {number % 977} and boat {number % 83}.\n\n{paragraph}\n"
            )
            Path(folder, f"note-{number:05}.md").write_text(text, "utf-8")
        with studio(folder) as made:
            rows.append(
                [
                    "first page",
                    f"{made.first_page * 1000:,.0f}",
                    f"{made.first_page_processor * 1000:,.0f}",
                ]
            )
            while made.ask("/api/state")["documents"] < DOCUMENTS:
                time.sleep(0.2)
            wall, processor, _ = made.timed("/api/documents", 5, offset=10_000, count=100)
            rows.append(
                [
                    "100 rows from the middle, while the rest is indexed",
                    f"{wall:,.0f}",
                    f"{processor:,.0f}",
                ]
            )
            made.wait()
            whole = (time.perf_counter() - made.began) * 1000
            spent = made.processor() * 1000
            rows.append(["all read, indexed and counted", f"{whole:,.0f}", f"{spent:,.0f}"])
            for what, path, values in (
                ("100 rows from the middle", "/api/documents", {"offset": 10_000, "count": 100}),
                ("sorted by issues", "/api/documents", {"sort": "issues"}),
                ("found by words of a name", "/api/documents", {"find": "note 199"}),
                ("a search, one retriever", "/api/search", {"q": "lamp 199", "retriever": "bm25"}),
                ("a search, several sizes", "/api/search", {"q": "lamp 199", "retriever": "multiscale"}),
            ):  # fmt: skip
                wall, processor, _ = made.timed(path, 5, **values)
                rows.append([what, f"{wall:,.0f}", f"{processor:,.0f}"])
            told = f"{made.memory():,.0f} MB of memory in the end."
    return f"{DOCUMENTS:,} documents in a folder, {told}\n\n{table(['', 'ms', 'ms of processor time'], rows)}"


PARTS = {
    "start": ("Start", start),
    "cuts": ("Cutting anew", cuts),
    "many": ("20,000 documents", many),
}

if __name__ == "__main__":
    write_page("Studio", "studio.md", PARTS, __doc__)
