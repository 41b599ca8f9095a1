"""What a sweep with vectors of their own spends on anything but the model, and how fast it feeds the model."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine, plain_embedding
from benchmarks.sweep import CHROMA, material, plan_of
from benchmarks.tables import table
from chunkwise.models import home_folder as home_module
from chunkwise.models.embed.pretrained import minilm
from chunkwise.tuning.run import sweep_workers as running
from chunkwise.tuning.run.sweep_folder import SweepRecord
from chunkwise.tuning.sweep import Sweep

BAR = 0.1
TEXTS = 300
_SEED = 11


class Instant:
    """A model that takes no time: vectors by a checksum. It remembers what it was asked to read."""

    identity = "instant"
    dimensions = 384

    def __init__(self) -> None:
        self.passages: list[str] = []
        made = np.random.default_rng(_SEED).normal(size=(4096, self.dimensions)).astype(np.float32)
        self._rows = made / np.linalg.norm(made, axis=1, keepdims=True)

    def embed(self, texts: Sequence[str], kind: str = "passage") -> np.ndarray:
        if kind == "passage":
            self.passages += texts
        found: np.ndarray = self._rows[[zlib.crc32(text.encode()) % 4096 for text in texts]]
        return found


def _measure() -> dict[str, Any]:
    """The exact sweep but for its model: CPU seconds; and the distinct texts a model would have to read."""
    documents, queries = material()
    model = Instant()
    with tempfile.TemporaryDirectory() as place:
        began = time.process_time()
        found = running.run_plan(
            plan_of({"dense": "own", "hybrid": "own"}), documents, queries, Sweep((), None, (), ()),
            SweepRecord(place), embedder=model,
        )  # fmt: skip
        rest = time.process_time() - began
    assert not any(each.error for each in found), [each.error for each in found if each.error][:1]
    assert len(set(model.passages)) == len(model.passages), "a text was read twice"
    reader = minilm()
    tokens = sum(len(reader.token_starts(text)) for text in model.passages)
    sample = random.Random(_SEED).sample(model.passages, TEXTS)
    own = sum(len(reader.token_starts(text)) for text in sample)
    reader.embed(sample[:8])
    began = time.process_time()
    reader.embed(sample)
    return {
        "rest": rest, "texts": len(model.passages), "tokens": tokens,
        "rate": own / (time.process_time() - began), "configurations": len(found),
    }  # fmt: skip


def _apart() -> dict[str, Any]:
    """In a process and a cache of its own."""
    models = home_module.given_models() or home_module.fetched_models()
    with tempfile.TemporaryDirectory() as home:
        environment = {
            **os.environ, home_module.HOME_VARIABLE: home, home_module.MODELS_VARIABLE: os.fspath(models),
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.exact", "--measure"],
            stdout=subprocess.PIPE, text=True, env=environment, cwd=Path(__file__).parents[1], check=True,
        )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def run() -> str:
    """Both as Markdown."""
    if not CHROMA.available:
        return "- left out: its data are not there\n"
    found = _apart()
    rest, model = found["rest"], found["tokens"] / found["rate"]
    share = rest / (rest + model)
    return "\n".join([
        f"`--exact` over {found['configurations']} configurations (34 chunkings × dense, hybrid) on chroma_eval: "
        f"{found['texts']:,} distinct chunk texts, {found['tokens']:,} tokens of the model. What the rest takes is "
        "measured with a model that takes no time; what the model takes is reckoned from its speed on "
        f"{TEXTS} of these texts.\n",
        table(["", "CPU seconds"], [
            [f"embedding, at {found['rate']:,.0f} tokens per CPU second", f"{model:,.0f}"],
            ["everything else: cutting, the cache, indexing, ranking, scoring, keeping", f"{rest:.1f}"],
        ]),
        "",
        f"- everything else: {share:.1%} of the time, bar under {BAR:.0%}: {'met' if share < BAR else '**missed**'}",
        "",
        plain_embedding.run(),
    ])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true", help="the first part, as JSON")
    if parser.parse_args().measure:
        print(json.dumps(_measure()))
    else:
        print(machine.describe())
        print(run())


if __name__ == "__main__":
    main()
