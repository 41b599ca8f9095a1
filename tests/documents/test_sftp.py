"""Documents on a server of SFTP, and on one of the web, both of this machine.

Run by `make test-scale`, in an environment of its own.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("asyncssh", reason="asyncssh is not installed: make test-scale")
pytest.importorskip("paramiko", reason="paramiko is not installed: make test-scale")
pytest.importorskip("fsspec")

import asyncssh

import chunkwise
from chunkwise.chunkers.write_chunks import chunk_file, row_of

SECTION = "# Part\n\nThe keeper of the lamp writes down the hour and the height of the water.\n\n"


class _Guarded(asyncssh.SSHServer):
    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == ("keeper", "secret")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    ready, over, ports = threading.Event(), asyncio.Event(), list[int]()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        server = await asyncssh.listen(
            "127.0.0.1", 0, server_factory=_Guarded, sftp_factory=True,
            server_host_keys=[asyncssh.generate_private_key("ssh-ed25519")],
        )  # fmt: skip
        async with server:
            ports.append(server.get_port())
            ready.set()
            await over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    assert ready.wait(60)
    yield f"sftp://keeper:secret@127.0.0.1:{ports[0]}"
    loop.call_soon_threadsafe(over.set)
    thread.join()
    loop.close()


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "more").mkdir(parents=True)
    (folder / "a.md").write_text("# A\n\nSome words of A.\n")
    (folder / "more/b.txt").write_text("Some words of B.\n")
    (folder / "long.md").write_text(SECTION * 210_000)  # 17 MB: read in ranges
    return folder


def test_a_folder_is_read_like_one_here(address: str, docs: Path) -> None:
    there = [row_of(each) for each in chunkwise.chunk(f"{address}{docs}", "words")]
    here = [row_of(each) for each in chunkwise.chunk(docs, "words")]
    assert len(there) > 3_000
    assert [{**row, "source": ""} for row in there] == [{**row, "source": ""} for row in here]
    assert "secret" not in {row["source"] for row in there}.pop()


def test_an_update_reads_what_changed(address: str, docs: Path, tmp_path: Path) -> None:
    where = f"{address}{docs}"
    made = chunkwise.index(where, "words", vectors="none", into=tmp_path / "kb")
    (docs / "a.md").write_text("# A\n\nOther words of A.\n")
    again = chunkwise.index(where, "words", vectors="none", into=tmp_path / "kb")
    assert again.changes is not None
    assert len(again) == len(made)
    assert (again.changes.changed, again.changes.unchanged) == (1, 2)


def test_a_file_is_written_whole(address: str, docs: Path, tmp_path: Path) -> None:
    with chunk_file(Path(f"{address}{tmp_path}/out.jsonl")) as write:
        write(list(chunkwise.chunk(docs / "a.md")))
        assert not (tmp_path / "out.jsonl").exists()
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 1
    with chunk_file(Path(f"{address}{tmp_path}/out.jsonl")) as write:
        write(list(chunkwise.chunk(docs / "more/b.txt")))
    assert "words of B" in (tmp_path / "out.jsonl").read_text()
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_a_long_page_of_the_web(docs: Path) -> None:
    pytest.importorskip("aiohttp", reason="aiohttp is not installed: make test-scale")
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(docs))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        where = f"http://127.0.0.1:{server.server_port}/long.md"
        there = [each.text for each in chunkwise.chunk(where, "words")]
        server.shutdown()
        thread.join()
    assert there == [each.text for each in chunkwise.chunk(docs / "long.md", "words")]
