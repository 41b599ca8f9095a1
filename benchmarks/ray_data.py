"""The same work by Ray Data and by the tasks of `--engine ray`, on two nodes of one core: docs/benchmarks/scale.md.

    python -m benchmarks.ray_data --megabytes 8      # read, cut, Parquet
    python -m benchmarks.ray_data --megabytes 0.3 --embed
    python -m benchmarks.ray_data --megabytes 2 --fault document     # one that kills its process each time
    python -m benchmarks.ray_data --megabytes 4 --fault node         # one of the two is killed on the way

Each way runs in a process of its own with a cluster of its own. Files are listed and read, cut by one strategy and
written with the same columns; Ray Data is used as its guide has it: files by `read_binary_files`, a function or an
actor by `map_batches`, `write_parquet`, the order kept where that is said. A busy machine needs
`RAY_worker_niceness=0`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import chunkwise
from benchmarks.watched import Memory, memory_of
from chunkwise.base.ray_workers import RayCluster
from chunkwise.chunkers import chunk_dataset
from chunkwise.chunkers.chunk_dataset import PartRecipe, write_dataset
from chunkwise.chunkers.write_chunks import row_of
from chunkwise.documents import LoadOptions
from chunkwise.models import get_embedder

WAYS = ("ours", "data", "data, in order")
_GIVEN_UP = 180.0
"""Seconds after which a run with a fault is ended."""
_KILLED_AFTER = 4.0
_TRIES = 3
"""To begin a cluster: Ray gives a node thirty seconds to start, busy machine or not."""
_DEADLY = """
import os, signal
from chunkwise.chunkers.structure import StructureChunker


class Deadly(StructureChunker):
    def split(self, document):
        if "this document ends its process" in document.text:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().split(document)
"""


class _Cut:
    """Batches of files to batches of chunks: the rows of a file of chunks."""

    def __init__(self, docs: str, strategy: str) -> None:
        self._docs, self._strategy = docs, strategy

    def __call__(self, batch: Any) -> Any:
        import pyarrow as pa

        return pa.Table.from_pylist(list(self._rows(batch)))

    def _rows(self, batch: Any) -> Iterator[dict[str, object]]:
        for path, data in zip(batch["path"].to_pylist(), batch["bytes"].to_pylist(), strict=True):
            document = chunkwise.Document(
                os.path.relpath(path, self._docs), data.decode(), source=path, format="markdown"
            )
            for chunk in chunkwise.chunk(document, self._strategy):
                yield dict(row_of(chunk))


class _CutAndEmbed(_Cut):
    """The same, with a vector each, by a model that is loaded once."""

    def __init__(self, docs: str, strategy: str) -> None:
        super().__init__(docs, strategy)
        # With the cache that ours has, which begins empty: documents of the corpus share sections.
        self._model = get_embedder("minilm")

    def _rows(self, batch: Any) -> Iterator[dict[str, object]]:
        rows = list(super()._rows(batch))
        vectors = self._model.embed([str(row["text"]) for row in rows])
        for row, vector in zip(rows, vectors.tolist(), strict=True):
            yield {**row, "vector": vector}


def _by_ray_data(docs: Path, output: Path, strategy: str, *, embed: bool, in_order: bool) -> None:
    import ray.data

    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = in_order
    context.enable_progress_bars = False
    files = ray.data.read_binary_files(str(docs), include_paths=True, file_extensions=["md"])
    how: dict[str, Any] = {"batch_format": "pyarrow", "batch_size": 64}
    if embed:
        given = (str(docs), strategy)
        made = files.map_batches(
            _CutAndEmbed, fn_constructor_args=given, concurrency=(1, 2), num_cpus=1, **how
        )
    else:
        made = files.map_batches(_Cut(str(docs), strategy), **how)
    made.write_parquet(str(output))


def _by_tasks(docs: Path, output: Path, strategy: str, *, embed: bool) -> None:
    with RayCluster() as cluster:
        if embed:
            chunkwise.index(
                str(docs), strategy, embedder="minilm", vectors="own", into=output, jobs=cluster
            )
            return
        chunk_dataset._BATCHES = 1  # parts of 1 MB, so that there is something to share
        recipe = PartRecipe(strategy, LoadOptions(), "none", output)
        write_dataset(str(docs), recipe, cluster, print)


def _warm(way: str, folder: Path, *, embed: bool) -> None:
    """Processes have begun, and what they import is there, before anything is timed."""
    with tempfile.TemporaryDirectory() as place:
        docs, output = Path(place) / "docs", Path(place) / "out"
        docs.mkdir()
        for number, path in enumerate(sorted((folder / "docs").rglob("*.md"))[:8]):
            (docs / f"{number}.md").write_text(path.read_text()[:2_000])
        if way == "ours":
            _by_tasks(docs, output, "structure", embed=embed)
        else:
            _by_ray_data(docs, output, "structure", embed=embed, in_order=False)


class _Took(NamedTuple):
    clock: float
    processor: float
    memory: float
    failed: str


def one(way: str, folder: Path, strategy: str, *, embed: bool, fault: str) -> None:
    """One way, here; what it took goes to the standard output as JSON."""
    from benchmarks.scale import Nodes, own_home, processor_seconds

    docs, output = folder / "docs", _output_folder(folder, way)
    if embed:
        own_home(output.with_suffix(".home"))
    with Nodes(2) as nodes:
        _warm(way, folder, embed=embed)
        if fault == "node":
            threading.Timer(_KILLED_AFTER, _kill_one, (nodes,)).start()
        work: Callable[[], None] = (
            (lambda: _by_tasks(docs, output, strategy, embed=embed))
            if way == "ours"
            else lambda: _by_ray_data(
                docs, output, strategy, embed=embed, in_order=way.endswith("order")
            )
        )
        before, began, failed = processor_seconds(), time.monotonic(), ""
        peak, done = [Memory()], threading.Event()
        watcher = threading.Thread(target=_watch, args=(peak, done))
        watcher.start()
        if fault:
            ender = threading.Timer(_GIVEN_UP, _give_up, (began, before, peak))
            ender.daemon = True
            ender.start()
        try:
            work()
        except Exception as error:  # whatever Ray raises is what is to be known
            failed = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        done.set()
        watcher.join()
        clock, used = time.monotonic() - began, processor_seconds() - before
        _tell(_Took(clock, used, peak[0].together, failed))


def _tell(took: _Took) -> None:
    print(f"took {json.dumps(took)}", flush=True)


def _give_up(began: float, before: float, peak: list[Memory]) -> None:
    """A run that does not end is one that did not work; its cluster ends with it."""
    from benchmarks.scale import processor_seconds

    used = processor_seconds() - before
    failed = f"still running after {_GIVEN_UP:.0f} s"
    _tell(_Took(time.monotonic() - began, used, peak[0].together, failed))
    os._exit(0)


def _kill_one(nodes: Any) -> None:
    node = next(iter(nodes.cluster.worker_nodes))
    nodes.cluster.remove_node(node, allow_graceful=False)


def _watch(peak: list[Memory], done: threading.Event) -> None:
    while not done.wait(0.5):
        peak[0] = peak[0].highest(memory_of(os.getpid()))


def compare(megabytes: float, strategy: str, *, embed: bool, fault: str) -> None:
    """Every way on the same documents, one after the other."""
    from benchmarks.scale import corpus

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "docs").mkdir()
        count = corpus(folder / "docs", megabytes)
        if fault == "document":
            deadly = folder / "deadly.py"
            deadly.write_text(_DEADLY)
            strategy = f"{deadly}:Deadly"
            path = sorted((folder / "docs").rglob("*.md"))[count // 3]
            path.write_text(path.read_text() + "\n\nthis document ends its process\n")
        print(f"{count:,} documents, {megabytes:g} MB, by {strategy}", flush=True)
        for way in WAYS:
            took = _in_a_process(way, folder, strategy, embed=embed, fault=fault)
            print(f"{way}: {_said(took)}{_output(folder, way, count)}", flush=True)
        if not embed and not fault:
            _compare_rows(folder)


def _in_a_process(way: str, folder: Path, strategy: str, *, embed: bool, fault: str) -> _Took:
    command = [sys.executable, "-m", "benchmarks.ray_data", "--way", way]
    command += ["--folder", str(folder), "--strategy", strategy, "--fault", fault]
    for _ in range(_TRIES):
        done = subprocess.run(
            command + ["--embed"] * embed, capture_output=True, text=True, start_new_session=True
        )
        told = [line for line in done.stdout.splitlines() if line.startswith("took ")]
        if told:
            return _Took(*json.loads(told[-1].removeprefix("took ")))
        if "timed out during startup" not in done.stderr:
            break
    sys.exit(f"{way} failed: {done.stderr[-2000:]}")


def _said(took: _Took) -> str:
    found = f"{took.processor:.1f} s of CPU time, {took.clock:.1f} s, peak {took.memory:,.0f} MB"
    return f"{found}; {took.failed}" if took.failed else found


def _output_folder(folder: Path, way: str) -> Path:
    return folder / way.replace(", ", "-").replace(" ", "-")


def _table(folder: Path, way: str) -> Any:
    """The rows in the order of the files' names, which is all that a reader of a folder knows."""
    import pyarrow.dataset

    files = sorted(str(path) for path in _output_folder(folder, way).glob("*.parquet"))
    return pyarrow.dataset.dataset(files).to_table() if files else None


def _output(folder: Path, way: str, documents: int) -> str:
    table = _table(folder, way)
    if table is None:
        return ""
    ids = table.column("doc_id").to_pylist()
    changes = [one for one, before in zip(ids, [None, *ids], strict=False) if one != before]
    once = "each once" if len(set(changes)) == len(changes) else "some twice"
    order = "in order" if changes == sorted(changes) else "in another order"
    files = len(list(_output_folder(folder, way).glob("*.parquet")))
    return f"; {files} files, {len(set(ids)):,} of {documents:,} documents, {once}, {order}, {len(ids):,} chunks"


def _compare_rows(folder: Path) -> None:
    """Whether all have the rows of the first; files are compared by their bytes in `nodes`."""
    tables = [_table(folder, way) for way in WAYS]
    columns = ["id", "doc_id", "start", "end", "text", "token_count", "section"]
    rows = [table.select(columns).to_pylist() for table in tables]
    for way, own in zip(WAYS, rows, strict=True):
        alike = sorted(own, key=_key) == sorted(rows[0], key=_key)
        print(f"{way}: rows of ours {alike}, in the order of ours {own == rows[0]}")


def _key(row: dict[str, Any]) -> tuple[str, int]:
    return row["doc_id"], row["start"]


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("--megabytes", type=float, default=8)
    reader.add_argument("--strategy", default="structure")
    reader.add_argument("--embed", action="store_true")
    reader.add_argument("--fault", choices=["", "document", "node"], default="")
    reader.add_argument("--way", default="", help="one of them alone, in the documents of --folder")
    reader.add_argument("--folder", type=Path)
    given = reader.parse_args()
    if given.way:
        one(given.way, given.folder, given.strategy, embed=given.embed, fault=given.fault)
    else:
        compare(given.megabytes, given.strategy, embed=given.embed, fault=given.fault)


if __name__ == "__main__":
    main()
