"""Documents in HDFS, by its web address: a server of this machine that answers as the documentation of WebHDFS says.

Where `CHUNKWISE_TEST_HDFS` names real ones (`webhdfs://me@host:9870 hdfs://host:9000`), those are tried, too.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

pytest.importorskip("fsspec")
pytest.importorskip("requests")
pytest.importorskip("pyarrow")

import fsspec

import chunkwise
from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.object_store import store
from chunkwise.chunkers.chunk_dataset import ChunkDataset, PartRecipe, write_dataset
from chunkwise.chunkers.write_chunks import chunk_file, row_of
from chunkwise.documents import LoadOptions

REAL = os.environ.get("CHUNKWISE_TEST_HDFS", "").split()


class WebHdfs(ThreadingHTTPServer):
    """Files in memory; data goes by a redirect, and a name that is taken stays with its file."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.files: dict[str, tuple[bytes, int]] = {}
        """With the time of each, in milliseconds."""
        self.opened: list[str] = []
        self.kept_free = ""
        """A name that no file may take."""
        self.times = count(1_794_959_463_353)

    def status(self, path: str) -> dict[str, Any] | None:
        name = path.rpartition("/")[2]
        if path in self.files:
            data, time = self.files[path]
            found = {"pathSuffix": name, "type": "FILE", "length": len(data)}
            return {**found, "modificationTime": time, "accessTime": next(self.times)}
        if any(each.startswith(f"{path.rstrip('/')}/") for each in self.files):
            return {"pathSuffix": name, "type": "DIRECTORY", "length": 0, "modificationTime": 0}
        return None


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: WebHdfs

    def _answer(self) -> None:
        given = urlsplit(self.path)
        path = unquote(given.path).removeprefix("/webhdfs/v1").rstrip("/") or "/"
        asked = {name: values[0] for name, values in parse_qs(given.query).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        files, operation = self.server.files, asked["op"]
        if operation in ("OPEN", "CREATE", "APPEND") and "there" not in asked:
            self._send(307, b"", {"Location": f"http://{self.headers['Host']}{self.path}&there=1"})
        elif operation == "CREATE":
            files[path] = (body, next(self.server.times))
            self._send(201, b"")
        elif operation == "APPEND":
            files[path] = (files[path][0] + body, next(self.server.times))
            self._send(200, b"")
        elif operation == "MKDIRS":
            self._json({"boolean": True})
        elif operation == "RENAME":
            is_free = asked["destination"] not in {*files, self.server.kept_free}
            if is_free:
                files[asked["destination"]] = files.pop(path)
            self._json({"boolean": is_free})
        elif operation == "DELETE":
            self._json({"boolean": files.pop(path, None) is not None})
        elif (status := self.server.status(path)) is None:
            error = {"exception": "FileNotFoundException", "message": f"no {path}"}
            self._send(404, json.dumps({"RemoteException": error}).encode())
        elif operation == "GETFILESTATUS":
            self._json({"FileStatus": status})
        elif operation == "LISTSTATUS":
            begin = f"{path.rstrip('/')}/"
            inside = {
                each[len(begin) :].partition("/")[0] for each in files if each.startswith(begin)
            }
            listed = [self.server.status(f"{begin}{name}") for name in sorted(inside)]
            self._json({"FileStatuses": {"FileStatus": listed}})
        else:
            self.server.opened.append(path)
            start = int(asked.get("offset", 0))
            self._send(200, files[path][0][start:][: int(asked.get("length", 1 << 40))])

    do_GET = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815

    def _json(self, value: object) -> None:
        self._send(200, json.dumps(value).encode())

    def _send(self, status: int, data: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *words: Any) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[WebHdfs]:
    with WebHdfs() as made:
        thread = threading.Thread(target=made.serve_forever, daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@pytest.fixture(params=["own", *REAL])
def folder(request: pytest.FixtureRequest, server: WebHdfs) -> Iterator[str]:
    """An empty one of its own."""
    port = server.server_address[1]
    root = f"webhdfs://keeper@127.0.0.1:{port}" if request.param == "own" else request.param
    made = f"{root}/chunkwise-{secrets.token_hex(4)}"
    files, path = store(made)
    files.makedirs(f"{path}/docs/more", exist_ok=True)
    yield made
    if request.param != "own":
        files.rm(path, recursive=True)
    server.files.clear()


def _put(address: str, data: bytes) -> None:
    files, path = store(address)
    with files.open(path, "wb") as out:
        out.write(data)


@pytest.fixture
def docs(folder: str) -> str:
    _put(f"{folder}/docs/a.md", b"# A\n\nSome words of A.\n")
    _put(f"{folder}/docs/more/b.txt", b"Some words of B.\n")
    return f"{folder}/docs/"


def test_a_folder_is_read(docs: str) -> None:
    rows = [row_of(each) for each in chunkwise.chunk(docs)]
    assert [(row["doc_id"], row["text"]) for row in rows] == [
        ("a.md", "# A\n\nSome words of A."),
        ("more/b.txt", "Some words of B."),
    ]
    assert rows[0]["source"] == f"{docs}a.md"


def test_an_update_reads_what_changed(docs: str, server: WebHdfs, tmp_path: Path) -> None:
    chunkwise.index(docs, vectors="none", into=tmp_path / "kb")
    _put(f"{docs}a.md", b"# A\n\nOther words of A.\n")
    server.opened.clear()
    again = chunkwise.index(docs, vectors="none", into=tmp_path / "kb")
    assert again.changes is not None
    assert (again.changes.changed, again.changes.unchanged) == (1, 1)
    assert {each.rpartition("/")[2] for each in server.opened} <= {"a.md"}


def test_a_file_takes_the_place_of_an_older_one(docs: str, folder: str) -> None:
    files, root = store(folder)
    for name, expected in (("a.md", "Some words of A."), ("more/b.txt", "Some words of B.")):
        with chunk_file(Path(f"{folder}/out.jsonl")) as write:
            write(list(chunkwise.chunk(f"{docs}{name}")))
        assert expected in files.cat_file(f"{root}/out.jsonl").decode()
    names = {each.rstrip("/").rpartition("/")[2] for each in files.ls(root, detail=False)}
    assert names == {"docs", "out.jsonl"}


def test_a_file_that_is_not_renamed_is_not_written(docs: str, folder: str, server: WebHdfs) -> None:
    """The answer is false, and the library raises nothing."""
    with chunk_file(Path(f"{folder}/out.jsonl")) as write:
        write(list(chunkwise.chunk(f"{docs}a.md")))
    before = dict(server.files)
    path = fsspec.core.url_to_fs(f"{folder}/out.jsonl")[1]
    if path not in before:
        pytest.skip("a real server renames")
    refused = pytest.raises(ChunkwiseError, match="did not rename")
    # Neither the new file nor the older one, which is put aside, takes that name again.
    server.kept_free = path
    try:
        with refused, chunk_file(Path(f"{folder}/out.jsonl")) as write:
            write(list(chunkwise.chunk(f"{docs}more/b.txt")))
    finally:
        server.kept_free = ""
    kept = [data for each, (data, _) in server.files.items() if each not in before]
    assert any(b"Some words of A." in data for data in kept)


@pytest.mark.usefixtures("processes")
def test_a_data_set_is_made_and_made_again(docs: str, folder: str) -> None:
    recipe = PartRecipe("structure", LoadOptions(), "none", Path(f"{folder}/chunks"))

    def made() -> ChunkDataset:
        return write_dataset(docs, recipe, 1, lambda each: None)

    assert (made().reused, made().reused) == (0, 1)
    _put(f"{docs}a.md", b"# A\n\nOther words of A.\n")
    assert made().reused == 0
    files, root = store(f"{folder}/chunks")
    names = {each.rstrip("/").rpartition("/")[2] for each in files.ls(root, detail=False)}
    assert len([name for name in names if name.endswith(".parquet")]) == 1
    assert not [name for name in names if name.startswith(".")]
