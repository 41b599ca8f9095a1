"""A bucket of S3, on a server of this machine: listed in pages, read in ranges, and faulty at times.

Run by `make test-scale`, in an environment of its own.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("moto", reason="moto is not installed: make test-scale")
pytest.importorskip("s3fs", reason="s3fs is not installed: make test-scale")

import boto3
import fsspec
from moto.server import ThreadedMotoServer

import chunkwise
from chunkwise.base import object_store
from chunkwise.base.errors import UnreadableDocument
from chunkwise.chunkers import chunk_dataset
from chunkwise.chunkers.chunk_dataset import ChunkDataset, PartRecipe, write_dataset
from chunkwise.documents import LoadOptions
from chunkwise.documents.remote_documents import walk_store

BUCKET = "bucket"
Fault = Callable[[str, str], int]
"""The status that is answered to a request (GET, path) instead of the store's own; 0: none."""


class Bucket:
    """What the tests put there, and the requests that came."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.requests: list[tuple[str, str]] = []
        self.fault: Fault = lambda method, path: 0

    def put(self, name: str, data: bytes) -> None:
        self.client.put_object(Bucket=BUCKET, Key=name, Body=data)

    def objects_read(self) -> Counter[str]:
        begin = f"/{BUCKET}/"
        return Counter(
            path.partition("?")[0].removeprefix(begin)
            for method, path in self.requests
            if method == "GET" and path.startswith(begin) and path[len(begin) :].partition("?")[0]
        )


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(moto: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Bucket]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    client = boto3.client("s3", endpoint_url=moto)
    client.create_bucket(Bucket=BUCKET)
    made = Bucket(client)
    with FaultyServer(moto, made) as address:
        monkeypatch.setenv(
            "AWS_ENDPOINT_URL_S3", address
        )  # the user's own setting, as any tool of AWS takes it
        monkeypatch.setattr(object_store, "_FIRST_WAIT", 0.0)
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        yield made
    boto3.resource("s3", endpoint_url=moto).Bucket(BUCKET).objects.all().delete()


class FaultyServer:
    """A server before the store that hands requests on, or answers what the test wants."""

    def __init__(self, behind: str, bucket: Bucket) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _answer(self) -> None:
                import http.client

                bucket.requests.append((self.command, self.path))
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if status := bucket.fault(self.command, self.path):
                    self.send_response(status)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                connection = http.client.HTTPConnection(behind.removeprefix("http://"))
                headers = {k: v for k, v in self.headers.items() if k.lower() != "connection"}
                connection.request(self.command, self.path, body, headers)
                answer = connection.getresponse()
                data = answer.read()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in (
                        "connection",
                        "transfer-encoding",
                        "content-length",
                        "date",
                        "server",
                    ):
                        self.send_header(name, value)
                length = answer.getheader("Content-Length") if self.command == "HEAD" else len(data)
                self.send_header("Content-Length", str(length or 0))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self) -> str:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}"

    def __exit__(self, *error: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def test_a_bucket_is_read_like_a_folder(bucket: Bucket, tmp_path: Path) -> None:
    files = {"a-b.md": b"1", "a/z.txt": b"2", "a.md": b"3", "x/y/c.md": b"4", ".h/d.md": b"5"}
    for name, data in files.items():
        bucket.put(f"docs/{name}", data)
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    bucket.put("docs/x/", b"")  # as consoles mark a folder
    for below in ("", "/", "/*.md", "/**/*.md", "/a.md", "/x"):
        here = [(each.id, each.text) for each in chunkwise.read(f"{tmp_path}/docs{below}")]
        there = [(each.id, each.text) for each in chunkwise.read(f"s3://{BUCKET}/docs{below}")]
        assert there == here, below
    (only,) = chunkwise.read(f"s3://{BUCKET}/docs/a.md")
    assert only.source == f"s3://{BUCKET}/docs/a.md"


def test_a_folder_of_many_pages_comes_in_order(bucket: Bucket) -> None:
    for number in range(1005):
        bucket.put(f"many/{number:05}.txt", b"x")
    bucket.put("many/00500/inner.txt", b"x")
    found = [
        each.below for each in walk_store(f"s3://{BUCKET}/many", f"{BUCKET}/many", pytest.fail)
    ]
    assert found == sorted(found)
    assert len(found) == 1006


def test_an_update_asks_for_what_changed_by_its_etag(bucket: Bucket, tmp_path: Path) -> None:
    for number in range(5):
        bucket.put(f"docs/{number}.md", b"Text %d." % number)
    into = tmp_path / "kb"
    chunkwise.index(f"s3://{BUCKET}/docs", into=into, vectors="none")
    assert bucket.objects_read() == {f"docs/{number}.md": 1 for number in range(5)}
    bucket.put("docs/2.md", b"Another.")
    bucket.put("docs/3.md", b"Text 3.")  # written again, the same: its ETag is the same
    bucket.requests.clear()
    changes = chunkwise.index(f"s3://{BUCKET}/docs", into=into, vectors="none").changes
    assert changes is not None
    assert (changes.changed, changes.unchanged) == (1, 4)
    assert bucket.objects_read() == {"docs/2.md": 1}


@pytest.mark.parametrize("status", [500, 503])
def test_a_store_that_is_busy_at_times_loses_nothing(bucket: Bucket, status: int) -> None:
    for number in range(20):
        bucket.put(f"docs/{number:02}.md", b"Text %d." % number)
    seen: Counter[str] = Counter()

    def fault(method: str, path: str) -> int:
        seen[path] += 1
        return status if seen[path] <= 2 else 0  # the first two times, the listing, too

    bucket.fault = fault
    found = list(
        chunkwise.read(f"s3://{BUCKET}/docs", options=LoadOptions(on_unreadable=pytest.fail))
    )
    assert [each.id for each in found] == [f"{number:02}.md" for number in range(20)]


def test_a_file_that_stays_away_is_told_and_the_rest_goes_on(bucket: Bucket) -> None:
    for number in range(6):
        bucket.put(f"docs/{number}.md", b"Text %d." % number)

    def fault(method: str, path: str) -> int:
        return 403 if "/3.md" in path else 0

    bucket.fault = fault
    problems: list[str] = []
    found = list(
        chunkwise.read(
            f"s3://{BUCKET}/docs",
            options=LoadOptions(on_unreadable=lambda each: problems.append(str(each))),
        )
    )
    assert [each.id for each in found] == ["0.md", "1.md", "2.md", "4.md", "5.md"]
    assert problems == [f"s3://{BUCKET}/docs/3.md: permission denied"]


def test_what_is_not_there_is_told(bucket: Bucket) -> None:
    for name in (f"s3://{BUCKET}/nowhere", "s3://no-such-bucket/docs", f"s3://{BUCKET}/x/*.md"):
        problems: list[UnreadableDocument] = []
        assert list(chunkwise.read(name, options=LoadOptions(on_unreadable=problems.append))) == []
        assert len(problems) == 1
        assert problems[0].reason in ("no such file or folder", "no file matches this pattern")


def test_an_archive_in_a_bucket_is_opened_by_its_directory(bucket: Bucket) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a.md", "Inside.")
        archive.writestr("pad.bin", os.urandom(3 << 20))
    bucket.put("docs/big.zip", made.getvalue())
    quietly = LoadOptions(on_passed_over=lambda line: None, on_unreadable=pytest.fail)
    found = list(chunkwise.read(f"s3://{BUCKET}/docs/big.zip", quietly))
    assert [each.id for each in found] == ["big.zip/a.md"]


@pytest.mark.usefixtures("processes")
def test_the_command_reads_and_writes_a_bucket(bucket: Bucket, tmp_path: Path) -> None:
    for number in range(3):
        bucket.put(f"docs/{number}.md", b"# Title\n\nText %d." % number)
        (tmp_path / f"{number}.md").write_bytes(b"# Title\n\nText %d." % number)
    command = [sys.executable, "-m", "chunkwise", "chunk", f"s3://{BUCKET}/docs/"]
    out = f"s3://{BUCKET}/out/chunks.jsonl"
    for jobs in ("1", "2"):
        done = subprocess.run([*command, "-o", out, "-j", jobs], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert f"written: {out}" in done.stderr
        data = bucket.client.get_object(Bucket=BUCKET, Key="out/chunks.jsonl")["Body"].read()
        assert len(data.splitlines()) == 3
    done = subprocess.run(
        [*command, "-o", f"s3://{BUCKET}/docs/1.md"], capture_output=True, text=True
    )
    assert done.returncode != 0
    done = subprocess.run(
        [*command, "-o", f"s3://{BUCKET}/none/chunks.txt"], capture_output=True, text=True
    )
    assert done.returncode == 2


def _dataset(output: Path, stop_after: int | None = None) -> ChunkDataset:
    recipe = PartRecipe("structure", LoadOptions(), "none", output)
    parts = 0

    def stop(amount: int, note: str) -> None:
        nonlocal parts
        parts += 1
        if parts == stop_after:
            raise KeyboardInterrupt

    return write_dataset(f"s3://{BUCKET}/docs", recipe, 1, pytest.fail, stop)


def _files_of(output: Path) -> dict[str, bytes]:
    found = (each for each in output.rglob("*") if each.is_file())
    return {each.relative_to(output).as_posix(): each.read_bytes() for each in found}


@pytest.mark.usefixtures("processes")
def test_a_data_set_fetches_the_files_of_parts_that_are_made(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk_dataset, "_BATCHES", 1)  # 64 files a part
    names = [f"docs/{number:03}.md" for number in range(160)]
    for name in names:
        bucket.put(name, f"# Title of {name}\n\nText.\n".encode())
    output = tmp_path / "chunks"

    def read() -> Counter[str]:
        found = bucket.objects_read()
        bucket.requests.clear()
        return found

    with pytest.raises(KeyboardInterrupt):
        _dataset(output, stop_after=1)
    assert set(names[:64]) <= set(read())
    made = _dataset(output)  # it goes on
    assert (made.documents, made.reused) == (160, 1)
    assert read() == Counter(names[64:])
    made = _dataset(output)
    assert made.reused == 3
    assert read() == Counter()
    bucket.put(names[70], b"# Another\n\nText.\n")
    made = _dataset(output)
    assert made.reused == 2
    assert read() == Counter(names[64:128])
    _dataset(tmp_path / "fresh")
    assert _files_of(output) == _files_of(tmp_path / "fresh")
    bucket.client.delete_object(Bucket=BUCKET, Key=names[0])
    bucket.requests.clear()
    assert _dataset(output).documents == 159  # all parts begin with another file
    assert read() == Counter(names[1:])


def test_a_page_of_the_web_is_one_document(bucket: Bucket) -> None:
    class Handler(BaseHTTPRequestHandler):
        tries = 0

        def do_GET(self) -> None:
            type(self).tries += 1
            if self.path.startswith("/page") and type(self).tries % 2:
                self.send_error(503)
                return
            data = b"<main><h1>Leave</h1><p>Thirty days of leave.</p></main>"
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(data)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/page.html?id=3&token=hidden"
    (found,) = chunkwise.read(address, options=LoadOptions(on_unreadable=pytest.fail))
    assert found.id == "page.html"
    assert "Thirty days" in found.text
    assert "hidden" not in found.source
    server.shutdown()
    server.server_close()
