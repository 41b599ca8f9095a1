"""A sweep killed at random moments, and gone on with: whether it ends as an undisturbed one."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from benchmarks.tables import table
from chunkwise.documents.walk import SWEEP_RECORD
from chunkwise.models import home_folder as home_module

KILLS = 10
_SEED = 7
_A_BIT = 1.0
"""Seconds, at most, from an outcome to the kill."""
_PLAN = """
[sweep]
source = "{documents}"
queries = "{questions}"
embedder = "{model}"

[[sweep.chunkers]]
strategy = ["sentences", "recursive", "sections"]
max_tokens = [100, 200, 400]
overlap = 0

[sweep.retrieval]
retriever = {retrievers}
"""


class Sweeping(NamedTuple):
    """A plan in a folder of its own, run under several names; each name has its own cache of vectors."""

    place: Path

    @classmethod
    def of(cls, place: str, model: str, *retrievers: str) -> Sweeping:
        package = files("chunkwise")
        plan = _PLAN.format(
            documents=package / "corpus", questions=package / "corpus_questions.json",
            model=model, retrievers=list(retrievers),
        )  # fmt: skip
        (Path(place) / "sweep.toml").write_text(plan, encoding="utf-8")
        return cls(Path(place))

    def start(self, output: str) -> subprocess.Popen[bytes]:
        models = home_module.given_models() or home_module.fetched_models()
        environment = {
            **os.environ,
            home_module.HOME_VARIABLE: str(self.place / f"home-{output}"),
            home_module.MODELS_VARIABLE: os.fspath(models),
        }
        command = [sys.executable, "-m", "chunkwise", "tune", "sweep.toml", "-o", output, "-q", "-j", "1"]  # fmt: skip
        return subprocess.Popen(command, cwd=self.place, env=environment)

    def finish(self, output: str) -> str:
        """What `results.json` says but for the time it took."""
        status = self.start(output).wait()
        if status:
            raise RuntimeError(f"the sweep ended with status {status}")
        text = (self.place / output / "results.json").read_text(encoding="utf-8")
        return text[: text.index('"timing": ')]

    def done(self, output: str) -> int:
        """Outcomes on disk."""
        return len(list((self.place / output / SWEEP_RECORD / "outcomes").glob("[!.]*.json")))


def killed_once_each(sweeping: Sweeping, rng: random.Random) -> tuple[list[int], int]:
    """Outcomes on disk at each kill, and how many of the sweeps ended the same."""
    whole = sweeping.finish("whole")
    count = sweeping.done("whole")
    known, same = [], 0
    for number in range(KILLS):
        name = f"killed-{number}"
        known.append(_kill(sweeping, name, rng.randint(0, count), rng.uniform(0, _A_BIT)))
        same += sweeping.finish(name) == whole
    return known, same


def killed_in_a_row(sweeping: Sweeping, rng: random.Random) -> tuple[list[int], bool]:
    """One sweep that is killed again and again, three times while the model reads, then further and further on."""
    whole = sweeping.finish("whole")
    count = sweeping.done("whole")
    moments = [0] * 3 + sorted(rng.randint(0, count) for _ in range(KILLS - 3))
    known = [_kill(sweeping, "killed", each, rng.uniform(0, _A_BIT)) for each in moments]
    return known, sweeping.finish("killed") == whole


def _kill(sweeping: Sweeping, output: str, outcomes: int, after: float) -> int:
    """So many seconds after so many outcomes are on disk; how many are there then."""
    process = sweeping.start(output)
    begun = sweeping.place / output / "sweep.toml"
    while process.poll() is None and not (begun.exists() and sweeping.done(output) >= outcomes):
        time.sleep(0.005)
    with suppress(subprocess.TimeoutExpired):
        process.wait(after)
    process.kill()
    process.wait()
    return sweeping.done(output)


def run() -> str:
    """Both ways as Markdown."""
    rng = random.Random(_SEED)
    with tempfile.TemporaryDirectory() as place:
        each, same = killed_once_each(Sweeping.of(place, "none", "bm25"), rng)
    with tempfile.TemporaryDirectory() as place:
        sweeping = Sweeping.of(place, "minilm", "bm25", "dense", "hybrid")
        row, ends_so = killed_in_a_row(sweeping, rng)
    return "\n".join([
        f"The sample corpus inside the package, `kill -9` at {KILLS} random moments (seed {_SEED}), then the same "
        "command again. Results are `results.json` byte by byte, but for `timing`.\n",
        table(["", "outcomes on disk when killed", "the same results"], [
            [f"with BM25 only, {KILLS} sweeps, each killed once", _listed(each), f"{same} of {KILLS}"],
            [f"with the model, one sweep killed {KILLS} times", _listed(row), "yes" if ends_so else "**no**"],
        ]),
        "",
    ])  # fmt: skip


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))


if __name__ == "__main__":
    print(run())
