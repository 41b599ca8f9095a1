"""One of two nodes of Ray killed at a random moment of each run: every document once (docs/benchmarks/scale.md).

    python -m benchmarks.killed_nodes --kills 10

A run without a kill says how long one takes; a moment is drawn from that, by a seed. On a busy machine Ray's own
processes need `RAY_worker_niceness=0`: they run behind all others as a rule.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

import pyarrow.dataset

from benchmarks.scale import Nodes
from chunkwise.base.ray_workers import RayCluster
from chunkwise.chunkers import chunk_dataset
from chunkwise.chunkers.chunk_dataset import PartRecipe, write_dataset
from chunkwise.documents import LoadOptions

_DOCUMENTS = 640
_SLOW = """
import time
from chunkwise.chunkers.structure import StructureChunker


class Slow(StructureChunker):
    def split(self, document):
        time.sleep(0.02)
        return super().split(document)
"""


def _run(docs: Path, output: Path, strategy: str) -> float:
    """Seconds it took."""
    recipe = PartRecipe(strategy, LoadOptions(), "none", output)
    cluster = RayCluster()
    began = time.monotonic()
    write_dataset(str(docs), recipe, cluster, print)
    return time.monotonic() - began


def _another(nodes: Nodes) -> None:
    """A node in the place of the one that was killed; Ray gives it thirty seconds to start, busy machine or not."""
    for _ in range(5):
        try:
            nodes.cluster.add_node(num_cpus=1)
            break
        except Exception as error:  # it is told by no class of its own
            print(f"a node did not start: {str(error)[:80]}", flush=True)
    nodes.warm(8)


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("--kills", type=int, default=10)
    given = reader.parse_args()
    chunk_dataset._BATCHES = 1
    chance = random.Random(5)
    wanted = [f"{number:03}.md" for number in range(_DOCUMENTS)]
    lost = 0
    with tempfile.TemporaryDirectory() as place, Nodes(2) as made:
        docs = Path(place) / "docs"
        docs.mkdir()
        for number, name in enumerate(wanted):
            (docs / name).write_text(f"# Title {number}\n\nA text of {number}.\n")
        strategy = Path(place) / "slow.py"
        strategy.write_text(_SLOW)
        length = _run(docs, Path(place) / "whole", f"{strategy}:Slow")
        print(f"without a kill: {length:.1f} s", flush=True)
        for number in range(given.kills):
            node = made.cluster.worker_nodes and next(iter(made.cluster.worker_nodes))
            moment = chance.uniform(0.05, 0.9) * length
            killer = threading.Timer(
                moment, made.cluster.remove_node, args=(node,), kwargs={"allow_graceful": False}
            )
            killer.start()
            output = Path(place) / f"out{number}"
            took = _run(docs, output, f"{strategy}:Slow")
            killer.join()
            ids = pyarrow.dataset.dataset(output).to_table().column("doc_id").to_pylist()
            lost += ids != wanted
            print(
                f"{number + 1}: killed after {moment:.1f} s of {took:.1f} s; every document once: {ids == wanted}",
                flush=True,
            )
            _another(made)
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
