"""A bucket of S3 and two nodes of Ray, both on this machine: commands say and write what they do without a cluster.

Run by `make test-scale`, in an environment of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="Ray is not installed: make test-scale")
pytest.importorskip("moto", reason="moto is not installed: make test-scale")
pytest.importorskip("s3fs", reason="s3fs is not installed: make test-scale")
pytest.importorskip("lancedb", reason="LanceDB is not installed: make test-scale")

import boto3
from moto.server import ThreadedMotoServer
from ray.cluster_utils import Cluster

import chunkwise

CORPUS = Path(chunkwise.__file__).parent / "corpus"
QUESTIONS = CORPUS.with_name("corpus_questions.json")


class Place:
    """A bucket with the sample corpus, and a cluster whose nodes know the way to it."""

    def __init__(self, cluster: str, env: dict[str, str]) -> None:
        self.cluster, self.env = cluster, env

    def run(self, *words: str, status: int = 0) -> str:
        command = [sys.executable, "-m", "chunkwise", *words]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True)
        assert done.returncode == status, done.stderr[-3000:]
        return done.stdout

    def by_both(self, *words: str) -> list[str]:
        """What it says by a process of this machine, and by the cluster."""
        cluster = ["--engine", "ray", "--address", self.cluster]
        return [self.run(*words, *engine) for engine in (["-j", "1"], cluster)]


@pytest.fixture(scope="module")
def place(processes: None) -> Iterator[Place]:
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patched:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patched.setenv(name, "testing")
        patched.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patched.setenv("AWS_ENDPOINT_URL_S3", f"http://{host}:{port}")
        client = boto3.client("s3", endpoint_url=f"http://{host}:{port}")
        client.create_bucket(Bucket="bucket")
        for path in sorted(CORPUS.iterdir()):
            client.put_object(Bucket="bucket", Key=f"docs/{path.name}", Body=path.read_bytes())
        # Nodes begin with the environment of this process: they find the bucket as it does.
        made = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
        )
        made.add_node(num_cpus=1)
        yield Place(made.address, dict(os.environ))
        made.shutdown()
    server.stop()


def _same(told: list[str]) -> None:
    assert told[0]
    assert told[1] == told[0]


def test_profile(place: Place) -> None:
    _same(place.by_both("profile", "s3://bucket/docs/", "--json"))


def test_lint(place: Place) -> None:
    _same(place.by_both("lint", "s3://bucket/docs/", "-s", "words(max_words=40)", "--json"))


def test_evaluate(place: Place, tmp_path: Path) -> None:
    words = ["evaluate", "s3://bucket/docs/", "--test-queries", str(QUESTIONS)]
    told = place.by_both(*words, "--vectors", "none", "--retriever", "bm25", "--json")
    _same([json.dumps(_without_times(json.loads(each))) for each in told])


def test_tune(place: Place, tmp_path: Path) -> None:
    words = ["tune", "s3://bucket/docs/", "--test-queries", str(QUESTIONS), "--json"]
    cluster = ["--engine", "ray", "--address", place.cluster]
    told = [
        place.run(*words, "--embedder", "none", "-o", str(tmp_path / name), *engine)
        for name, engine in (("local", ["-j", "1"]), ("ray", cluster))
    ]
    _same([json.dumps(_without_times(json.loads(each))) for each in told])


def _without_times(value: Any) -> Any:
    """What a run took is another each time, and where it was written."""
    if isinstance(value, list):
        return [_without_times(each) for each in value]
    if not isinstance(value, dict):
        return value
    passing = (
        "seconds",
        "timing",
        "time",
        "folder",
        "output",
        "memory",
        "throughput",
        "jobs",
        "engine",
    )
    return {
        name: _without_times(each)
        for name, each in value.items()
        if not any(word in name for word in passing)
    }
