"""What a million names take to list, and chunks to cut by processes and by Ray: docs/benchmarks/scale.md.

    python -m benchmarks.scale names
    python -m benchmarks.scale cut --megabytes 20 [--ray]
    python -m benchmarks.scale nodes --megabytes 20     # processes, and a cluster of one and of two nodes
    python -m benchmarks.scale overhead --megabytes 1000  # both engines, each on half of the cores, or in turns
    python -m benchmarks.scale embed --megabytes 0.3    # the same for an index with vectors
    python -m benchmarks.scale memory --megabytes 100 300 1000 --strategy words   # of the command as a whole
    python -m benchmarks.scale model                    # arithmetic on these figures, for larger ones

Documents are the sections of the sample corpus in a seeded order, no two alike. Work is counted in seconds of the
processor, which a busy machine changes less than those of the clock; both are printed.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chunkwise
from benchmarks.watched import memory_of, watched
from chunkwise.base.ray_workers import RayCluster
from chunkwise.base.runner import Jobs
from chunkwise.chunkers import chunk_dataset
from chunkwise.chunkers.chunk_dataset import PartRecipe, write_dataset
from chunkwise.documents import LoadOptions, remote_documents
from chunkwise.models.home_folder import home

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
        remote_documents.store = lambda address, count=count: (_ManyNames(count), "")  # type: ignore[assignment,attr-defined,misc]
        began, before = time.process_time(), _peak()
        found = sum(
            1 for _ in remote_documents.walk_store("s3://bucket/docs", "bucket/docs", print)
        )
        took = time.process_time() - began
        print(f"{found:,} names: {took:.1f} s of CPU time, peak {before:.0f} -> {_peak():.0f} MB")


def corpus(folder: Path, megabytes: float) -> int:
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
        print(f"{corpus(folder, megabytes):,} documents, {megabytes:g} MB")
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
                f"{name}: {used:.1f} s of CPU time, {clock:.0f} s; {done.stderr.splitlines()[-2]}"
            )
        made = ["j1", "j2", *(["ray"] if with_ray else [])]
        parts = [
            sorted(
                (path.name, path.read_bytes()) for path in (Path(place) / each).glob("*.parquet")
            )
            for each in made
        ]
        print(f"files alike: {all(each == parts[0] for each in parts)} ({len(parts[0])})")


class Nodes:
    """So many raylets of so many cores each on this machine."""

    def __init__(self, count: int, cores: int = 1) -> None:
        import ray
        from ray.cluster_utils import Cluster

        self._ray = ray
        self.cluster = Cluster(
            initialize_head=True, head_node_args={"num_cpus": cores, "include_dashboard": False}
        )
        for _ in range(count - 1):
            self.cluster.add_node(num_cpus=cores)
        ray.init(address=self.cluster.address, log_to_driver=False, logging_level="error")
        self.warm(4 * count * cores)

    def warm(self, tasks: int) -> None:
        """Processes are there before they are timed."""
        work = self._ray.remote(_warm)
        self._ray.get([work.remote() for _ in range(tasks)])

    def __enter__(self) -> Nodes:
        return self

    def __exit__(self, *_: object) -> None:
        self._ray.shutdown()
        self.cluster.shutdown()


def _warm() -> int:
    import chunkwise.chunkers.chunk_dataset
    import chunkwise.retrieval.indexes

    return os.getpid() if chunkwise else 0


def processor_seconds() -> float:
    """Of this process and all that it began, those of raylets among them."""
    ticks = os.sysconf("SC_CLK_TCK")
    parents, used = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            rest = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        number = int(path.parent.name)
        parents[number] = int(rest[1])
        used[number] = sum(map(int, rest[11:15])) / ticks  # with those of children that have ended
    mine, total = {os.getpid()}, used[os.getpid()]
    while found := {each for each, parent in parents.items() if parent in mine} - mine:
        mine |= found
        total += sum(used[each] for each in found)
    return total


def _timed(work: Callable[[], object]) -> str:
    before, began = processor_seconds(), time.monotonic()
    work()
    return f"{processor_seconds() - before:.1f} s of CPU time, {time.monotonic() - began:.0f} s"


def _dataset(docs: Path, output: Path, jobs: Jobs, strategy: str = "structure") -> None:
    recipe = PartRecipe(strategy, LoadOptions(), "none", output)
    write_dataset(str(docs), recipe, jobs, print)


def nodes(megabytes: float) -> None:
    """Parts of 1 MB, so that there is something to share."""
    chunk_dataset._BATCHES = 1
    with tempfile.TemporaryDirectory() as place:
        docs = Path(place) / "docs"
        docs.mkdir()
        print(f"{corpus(docs, megabytes):,} documents, {megabytes:g} MB", flush=True)
        for jobs in (1, 2):
            print(f"-j {jobs}: {_timed(lambda j=jobs: _dataset(docs, Path(place) / f'j{j}', j))}", flush=True)  # type: ignore[misc]  # fmt: skip
        for count in (1, 2):
            with Nodes(count), RayCluster() as cluster:
                output = Path(place) / f"ray{count}"
                print(f"Ray, {count} node(s): {_timed(lambda o=output, c=cluster: _dataset(docs, o, c))}", flush=True)  # type: ignore[misc]  # fmt: skip
        parts = [
            sorted(
                (path.name, path.read_bytes()) for path in (Path(place) / each).glob("*.parquet")
            )
            for each in ("j1", "j2", "ray1", "ray2")
        ]
        print(f"files alike: {all(each == parts[0] for each in parts)} ({len(parts[0])})")


def overhead(megabytes: float, strategy: str) -> None:
    """Both engines, each on a half of the cores, or, of two, in turns: what one costs more than the other."""
    with tempfile.TemporaryDirectory() as place:
        docs = Path(place) / "docs"
        docs.mkdir()
        print(f"{corpus(docs, megabytes):,} documents, {megabytes:g} MB", flush=True)
        every = sorted(os.sched_getaffinity(0))
        half = len(every) // 2
        if half > 1:
            turns = [{"local": every[:half], "ray": every[half:]}]
        else:
            turns = [{"local": every}, {"ray": every}]
        for engines in turns:
            _beside(engines, place, strategy)
        made = [
            sorted((path.name, path.read_bytes()) for path in Path(place, each).glob("*.parquet"))
            for each in ("local", "ray")
        ]
        print(f"files alike: {made[0] == made[1]} ({len(made[0])})")


def _beside(engines: dict[str, list[int]], place: str, strategy: str) -> None:
    """Each on its cores, and the memory that all processes of each had together."""
    began = {
        engine: subprocess.Popen([
            "taskset", "-c", ",".join(map(str, own)), sys.executable, "-m", "benchmarks.scale", "one",
            "--engine", engine, "--folder", place, "--strategy", strategy,
        ])
        for engine, own in engines.items()
    }  # fmt: skip
    peaks = dict.fromkeys(began, 0.0)
    while any(process.poll() is None for process in began.values()):
        for engine, process in began.items():
            peaks[engine] = max(peaks[engine], memory_of(process.pid).together)
        time.sleep(1.0)
    if any(process.returncode for process in began.values()):
        sys.exit("one of them failed")
    for engine, peak in peaks.items():
        print(f"{engine}: peak of all processes {peak:.0f} MB", flush=True)


def one(engine: str, folder: Path, strategy: str) -> None:
    """One of them, on the cores it is allowed: two nodes of Ray with half of them each, or as many processes."""
    count, output = len(os.sched_getaffinity(0)), folder / engine
    if engine == "local":
        took = _timed(lambda: _dataset(folder / "docs", output, count, strategy))
    else:
        with Nodes(2, max(1, count // 2)), RayCluster() as cluster:
            took = _timed(lambda: _dataset(folder / "docs", output, cluster, strategy))
    print(f"{engine}, {count} cores: {took}", flush=True)


def own_home(folder: Path) -> None:
    """Weights as they are here, and a cache in which nothing is kept yet."""
    here = home()
    folder.mkdir()
    for each in here.iterdir():
        if not each.name.startswith("vectors"):
            (folder / each.name).symlink_to(each.resolve())
    os.environ["CHUNKWISE_HOME"] = str(folder)


def embed(megabytes: float) -> None:
    """Into an index in a folder, with the vectors of minilm and a cache of its own each."""
    with tempfile.TemporaryDirectory() as place:
        docs = Path(place) / "docs"
        docs.mkdir()
        print(f"{corpus(docs, megabytes):,} documents, {megabytes:g} MB", flush=True)

        def made(name: str, jobs: Jobs) -> None:
            chunkwise.index(str(docs), embedder="minilm", into=f"{place}/{name}", jobs=jobs)

        own_home(Path(place) / "home")
        print(f"local: {_timed(lambda: made('local', 1))}", flush=True)
        for count in (1, 2):
            own_home(Path(place) / f"home{count}")
            with Nodes(count), RayCluster() as cluster:
                print(f"Ray, {count} node(s): {_timed(lambda n=count, c=cluster: made(f'ray{n}', c))}", flush=True)  # type: ignore[misc]  # fmt: skip
        files = [
            {
                path.name: path.read_bytes()
                for path in (Path(place) / each).rglob("*")
                if path.is_file() and not path.name.startswith(".")
            }
            for each in ("local", "ray1", "ray2")
        ]
        print(f"files alike: {all(each == files[0] for each in files)} ({len(files[0])})")


def memory(sizes: list[float], strategy: str, engine: str) -> None:
    """By the command itself: who lists and commits, and two processes that cut."""
    for megabytes in sizes:
        with tempfile.TemporaryDirectory() as place:
            docs = Path(place) / "docs"
            docs.mkdir()
            count = corpus(docs, megabytes)
            command = [
                sys.executable,
                "-m",
                "chunkwise",
                "chunk",
                str(docs),
                "-o",
                f"{place}/out",
                "-q",
            ]
            command += [
                "-s",
                strategy,
                *(["-j", "2"] if engine == "local" else ["--engine", engine]),
            ]
            print(f"{megabytes:g} MB, {count:,} documents: {watched(command)}", flush=True)


EFFICIENCY = 0.85
"""Of perfect speedup."""
CUT = 0.5e6
"""Bytes a core cuts in a second: `nodes`, by two nodes."""
EMBEDDED = 2_708
"""Tokens that minilm reads in a second of a core: docs/benchmarks/tuning.md."""
TOKEN_BYTES, CHUNK_TOKENS, INDEX_BYTES = 4.2, 231, 26.9
"""Bytes of text a token, tokens a chunk, bytes of an index a token: the pages of docs/ by `structure`."""
CORE_HOUR = 0.04
"""Dollars, a usual price of a core of a rented machine; yours is another."""


def model() -> None:
    """What all that comes to for more documents than were ever measured here: nothing but arithmetic."""
    for documents, nodes_of_16 in ((10**5, 1), (10**6, 8), (10**7, 64), (10**9, 1000)):
        size = documents * 4_000
        tokens = size / TOKEN_BYTES
        cutting, embedding = size / CUT / 3600, tokens / EMBEDDED / 3600
        work = (cutting + embedding) / EFFICIENCY
        cells = (
            f"{documents:,}", f"{size / 1e9:,.1f} GB", f"{cutting:,.1f}", f"{embedding:,.0f}", f"{nodes_of_16:,}",
            f"{work / (16 * nodes_of_16):,.1f} h", f"{tokens / CHUNK_TOKENS / 1e6:,.1f} million",
            f"{tokens * INDEX_BYTES / 1e9:,.0f} GB", f"{work * CORE_HOUR:,.2f}",
        )  # fmt: skip
        print(f"| {' | '.join(cells)} |")


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument(
        "what",
        choices=[
            "names",
            "cut",
            "nodes",
            "overhead",
            "one",
            "embed",
            "memory",
            "model",
        ],
    )
    reader.add_argument("--megabytes", type=float, nargs="+", default=[20])
    reader.add_argument("--strategy", default="structure")
    reader.add_argument("--engine", default="local")
    reader.add_argument("--ray", action="store_true")
    reader.add_argument("--folder", type=Path)
    given = reader.parse_args()
    ways: dict[str, Callable[[], None]] = {
        "names": names,
        "cut": lambda: cut(given.megabytes[0], with_ray=given.ray),
        "nodes": lambda: nodes(given.megabytes[0]),
        "overhead": lambda: overhead(given.megabytes[0], given.strategy),
        "one": lambda: one(given.engine, given.folder, given.strategy),
        "embed": lambda: embed(given.megabytes[0]),
        "memory": lambda: memory(given.megabytes, given.strategy, given.engine),
        "model": model,
    }
    ways[given.what]()


if __name__ == "__main__":
    main()
