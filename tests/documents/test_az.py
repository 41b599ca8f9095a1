"""A container of Azure, on a server of this machine: `azurite`, where it is on the PATH (`npm install -g azurite`).

Run by `make test-scale`, in an environment of its own.
"""

from __future__ import annotations

import base64
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("adlfs", reason="adlfs is not installed: make test-scale")

import fsspec

import chunkwise
from chunkwise.chunkers.write_chunks import row_of

SECTION = "# Part\n\nThe keeper of the lamp writes down the hour and the height of the water.\n\n"
DOCS = {
    "a.md": "# A\n\nSome words of A.\n",
    "100% sure #1.md": "# C\n\nSome words of C.\n",
    "more/b.txt": "Some words of B.\n",
}


class Container:
    """`az://container`, and the requests that came for what is in it."""

    def __init__(self, log: Path) -> None:
        self.files = fsspec.filesystem("az", skip_instance_cache=True)
        self._log = log

    def put(self, name: str, text: str) -> None:
        self.files.pipe_file(f"container/{name}", text.encode())

    def requests(self) -> list[str]:
        return re.findall(r'"([A-Z]+ \S+) HTTP', self._log.read_text())


@pytest.fixture(scope="module")
def container(processes: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    program = shutil.which("azurite-blob")
    if program is None:
        pytest.skip("azurite is not on the PATH: npm install -g azurite")
    log = tmp_path_factory.mktemp("azurite") / "log"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    key = base64.b64encode(secrets.token_bytes(32)).decode()
    words = ["--blobHost", "127.0.0.1", "--blobPort", str(port), "--inMemoryPersistence"]
    words += ["--skipApiVersionCheck", "--disableTelemetry"]
    with pytest.MonkeyPatch.context() as patched, log.open("wb") as out:
        patched.setenv("AZURITE_ACCOUNTS", f"keeper:{key}")
        connection = (
            f"AccountName=keeper;AccountKey={key};BlobEndpoint=http://127.0.0.1:{port}/keeper"
        )
        # The user's own setting, as any tool of Azure takes it.
        patched.setenv("AZURE_STORAGE_CONNECTION_STRING", connection)
        server = subprocess.Popen([program, *words], stdout=out, stderr=out, cwd=log.parent)
        try:
            _wait_for(port, server)
            made = Container(log)
            made.files.mkdir("container")
            for name, text in DOCS.items():
                made.put(f"docs/{name}", text)
            yield made
        finally:
            server.kill()
            server.wait()


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert server.poll() is None
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("azurite did not start")


def _run(*words: str) -> str:
    command = [sys.executable, "-m", "chunkwise", *words]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stderr


def test_a_folder_is_read_like_one_here(container: Container, tmp_path: Path) -> None:
    container.put("long/long.md", SECTION * 210_000)  # 17 MB: read in ranges
    container.put("long/a.md", DOCS["a.md"])
    (tmp_path / "long.md").write_text(SECTION * 210_000)
    (tmp_path / "a.md").write_text(DOCS["a.md"])
    there = [row_of(each) for each in chunkwise.chunk("az://container/long/", "words")]
    here = [row_of(each) for each in chunkwise.chunk(tmp_path, "words")]
    assert len(there) > 3_000
    assert [{**row, "source": ""} for row in there] == [{**row, "source": ""} for row in here]


def test_names_and_patterns(container: Container) -> None:
    ids = [each.id for each in chunkwise.read("az://container/docs/")]
    assert ids == sorted(DOCS)
    assert [each.id for each in chunkwise.read("az://container/docs/**/*.txt")] == ["more/b.txt"]


def test_an_update_reads_what_changed(container: Container, tmp_path: Path) -> None:
    for name, text in DOCS.items():
        container.put(f"kb/{name}", text)
    chunkwise.index("az://container/kb/", vectors="none", into=tmp_path / "kb")
    container.put("kb/a.md", "# A\n\nOther words of A.\n")
    before = len(container.requests())
    again = chunkwise.index("az://container/kb/", vectors="none", into=tmp_path / "kb")
    assert again.changes is not None
    assert (again.changes.changed, again.changes.unchanged) == (1, 2)
    read = [each for each in container.requests()[before:] if re.fullmatch(r"GET [^?]+", each)]
    assert read == ["GET /keeper/container/kb/a.md"]


@pytest.mark.parametrize("name", ["chunks", "chunks.parquet"])
def test_chunks_are_written(container: Container, tmp_path: Path, name: str) -> None:
    place = f"az://container/{name}"
    for _ in range(2):
        told = _run("chunk", "az://container/docs/", "-j", "1", "-o", place)
    assert "3 documents, 3 chunks" in told
    assert name.endswith(".parquet") or "1 reused" in told
    container.files.invalidate_cache()
    found = container.files.find(f"container/{name}")
    assert not [each for each in found if "/_staged/" in each]
    if name == "chunks":
        import pyarrow.dataset as arrow_dataset

        table = arrow_dataset.dataset(f"container/{name}", filesystem=container.files).to_table()
        assert table.column("doc_id").to_pylist() == sorted(DOCS)


def test_an_index_in_lancedb(container: Container) -> None:
    pytest.importorskip("lancedb", reason="LanceDB is not installed: make test-scale")
    place = "lancedb+az://container/kb.lancedb"
    for expected in (3, 0):
        made = chunkwise.index("az://container/docs/", vectors="none", into=place)
        assert made.changes is not None
        assert (made.changes.added, len(made)) == (expected, 3)
    (hit, *_) = chunkwise.open_index(place).search("words of B", retriever="bm25")
    assert hit.document.id == "more/b.txt"


def test_what_is_not_there_and_who_may_not(
    container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("az://container/nowhere/", "az://other/docs/"):
        with pytest.raises(chunkwise.ext.UnreadableDocument, match="no such file or folder"):
            list(chunkwise.read(place))
    own = os.environ["AZURE_STORAGE_CONNECTION_STRING"]
    other = base64.b64encode(b"another key").decode()
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", re.sub("(?<=Key=)[^;]+", other, own))
    fsspec.get_filesystem_class("az").clear_instance_cache()
    with pytest.raises(chunkwise.ext.UnreadableDocument, match="permission denied"):
        list(chunkwise.read("az://container/docs/"))
    monkeypatch.delenv("AZURE_STORAGE_CONNECTION_STRING")
    fsspec.get_filesystem_class("az").clear_instance_cache()
    with pytest.raises(
        chunkwise.ext.UnreadableDocument, match="set AZURE_STORAGE_CONNECTION_STRING"
    ):
        list(chunkwise.read("az://container/docs/"))
    fsspec.get_filesystem_class("az").clear_instance_cache()
