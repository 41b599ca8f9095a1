"""LanceDB in a bucket of S3, on a server of this machine: the same contract, with a lock that the bucket keeps.

Run by `make test-scale`, in an environment of its own.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("moto", reason="moto is not installed: make test-scale")
pytest.importorskip("lancedb", reason="lancedb is not installed: make test-scale")

import boto3
from moto.server import ThreadedMotoServer

import chunkwise
from chunkwise.base.errors import ChunkwiseError
from chunkwise.retrieval.databases import StoredIndex
from chunkwise.retrieval.databases.address import parse_store_address
from chunkwise.retrieval.databases.lancedb import LanceStore
from chunkwise.testkit import check_engine
from chunkwise.testkit.sample_run import HashedWords
from retrieval.databases.test_lancedb import documents, made

BUCKET = "lance"


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def place(moto: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", moto)
    boto3.client("s3", endpoint_url=moto).create_bucket(Bucket=BUCKET)
    yield f"lancedb+s3://{BUCKET}/kb"
    boto3.resource("s3", endpoint_url=moto).Bucket(BUCKET).objects.all().delete()


def test_a_bucket_keeps_the_contract(place: str) -> None:
    numbers = itertools.count()
    check_engine(lambda: f"{place}{next(numbers)}")


def _store(place: str) -> Any:
    index = chunkwise.open_index(place, embedder=HashedWords())
    assert isinstance(index.source, StoredIndex)
    store: Any = index.source.store
    store.opened_by = (
        index  # one that nobody holds any more closes its store, whenever it is collected
    )
    return store


def test_of_many_that_take_the_lock_one_has_it(place: str) -> None:
    made(place, documents(1))
    first = LanceStore(parse_store_address(place))
    first._make_lock()
    holders: list[str] = []
    together = threading.Barrier(4)

    def take(name: str) -> None:
        store = LanceStore(parse_store_address(place))
        together.wait()
        holders.append(store._take(name, time.time() + 100, ""))

    threads = [threading.Thread(target=take, args=(f"writer {each}",)) for each in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(holders) == 4
    assert len({*holders}) == 1


def test_who_began_from_another_state_does_not_publish(place: str) -> None:
    made(place, documents(2))
    store = _store(place)
    with store.locked(0.0):
        store.begin(HashedWords.dimensions, anew=False)
        store._began = store._began._replace(chunks=store._began.chunks + 1)
        with pytest.raises(ChunkwiseError, match="another writer took over"):
            store.publish("{}")
    assert len(chunkwise.open_index(place, embedder=HashedWords())) == 2
