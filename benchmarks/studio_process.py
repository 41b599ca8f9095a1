"""A studio as a process of its own, asked as a browser asks, and what it costs."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener

CORPUS = Path(__file__).resolve().parents[1] / "src" / "chunkwise" / "corpus"


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
        """Seconds of CPU time so far; 0 where the system does not say."""
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
        """Best milliseconds of wall time, milliseconds of CPU time of one, and the answer."""
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
