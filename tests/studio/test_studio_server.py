"""The server listens on this machine alone, says what it needs, and answers a real browser's requests."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.retrieval import index
from chunkwise.studio.project import Project
from chunkwise.studio.project_sources import ProjectSources, sort_sources
from chunkwise.studio.server import USUAL_PORT, ServerSettings, bound_socket
from studio.made_studio import client_of, read_project
from tables import cases
from untimed import HANG


@cases("host", ["0.0.0.0", "::", "192.168.0.7", "example.org", "127.0.0.2"])
def test_a_host_that_others_reach_is_refused(host: str) -> None:
    with pytest.raises(InvalidParameter, match="without --users FILE") as refused:
        ServerSettings(host=host).check()
    assert repr(host) in str(refused.value)
    assert "ssh -L" in str(refused.value)


def test_the_loopback_is_taken() -> None:
    assert [ServerSettings(host=host).check() for host in ("127.0.0.1", "localhost", "::1")] == [
        "127.0.0.1",
        "127.0.0.1",
        "::1",
    ]


def test_a_port_that_is_taken_is_told_or_passed_over() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ChunkwiseError, match=f"port {port} .* cannot be used"):
            bound_socket("127.0.0.1", port)
    with bound_socket("127.0.0.1", None) as first, bound_socket("127.0.0.1", None) as second:
        ports = first.getsockname()[1], second.getsockname()[1]
        assert ports[0] != ports[1]
        assert min(ports) >= USUAL_PORT
        assert first.getsockname()[0] == "127.0.0.1"


def test_sources_are_sorted_by_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("A lamp at the end of the mole.", "utf-8")
    (tmp_path / "run.json").write_text('{"format": "chunkwise results", "version": 1}', "utf-8")
    index(str(tmp_path / "docs"), into=tmp_path / "kb", vectors="none")
    docs, kb, run = (str(tmp_path / name) for name in ("docs", "kb", "run.json"))
    assert sort_sources([docs, run]) == ((docs,), "", (run,))
    assert sort_sources([kb, run]) == ((), kb, (run,))
    with pytest.raises(InvalidParameter, match="own documents"):
        sort_sources([kb, docs])
    with pytest.raises(InvalidParameter, match="both indexes"):
        sort_sources([kb, "postgresql://user@host/database"])


def test_an_index_is_shown_without_reading_its_documents_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # sweeps of the working folder are shown, too
    (tmp_path / "docs").mkdir()
    for number in range(3):
        text = f"Lamp {number} stands at the end of the mole, and is lit at dusk.\n" * 3
        (tmp_path / "docs" / f"{number}.txt").write_text(text, "utf-8")
    index(str(tmp_path / "docs"), "sentences(max_tokens=30)", into=tmp_path / "kb", vectors="none")
    (tmp_path / "damaged.json").write_text('{"format": "chunkwise results", "version": 1}', "utf-8")
    project = read_project(
        ProjectSources(index=str(tmp_path / "kb"), runs=(str(tmp_path / "damaged.json"),))
    )
    client = client_of(project)
    listed = client.get("/api/documents").json()
    assert listed["total"] == 3
    assert listed["strategy"] == "sentences(max_tokens=30, overlap=7)"
    found = client.get("/api/search?q=lamp 2&retriever=bm25&budget=40").json()["sides"][0]
    assert found["hits"][0]["why"]["rank_by_words"] == 1
    assert "chunkwise.open_index" in found["code"]
    assert project.runs == []
    assert "damaged" in client.get("/api/state").json()["problems"][0]


def test_what_is_wrong_with_the_documents_is_on_the_page(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    project = read_project(ProjectSources(documents=(str(tmp_path / "docs"),)))
    steps = client_of(project).get("/api/state").json()["steps"]
    assert "no document could be read" in steps[0]["problem"]
    assert all(step["finished"] for step in steps)


def test_events_tell_the_state_until_all_is_done(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A lamp at the end of the mole.", "utf-8")
    project = read_project(ProjectSources(documents=(str(tmp_path / "a.txt"),)))
    told = client_of(project).get("/api/events")
    assert told.headers["content-type"].startswith("text/event-stream")
    assert told.text.startswith('data: {"title": "a.txt", "working": false')
    assert told.text.endswith("event: done\ndata: {}\n\n")


def test_stopping_ends_what_is_being_made(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number}.txt").write_text("A lamp at the end of the mole. " * 20, "utf-8")
    project = Project(ProjectSources(documents=(str(tmp_path),)))
    project.stop()
    project.start()
    project.wait()
    assert not project.working
    assert len(project.corpus) == 0


@pytest.mark.usefixtures("processes")
def test_the_first_page_of_a_folder_needs_nothing_heavy(tmp_path: Path) -> None:
    """What reads and cuts documents is loaded behind it: a studio is there in a moment."""
    (tmp_path / "leave.md").write_text("# Leave", "utf-8")
    program = (
        "import sys\n"
        "from chunkwise.cli.main import group\n"
        "from chunkwise.studio import server\n"
        "from starlette.testclient import TestClient\n"
        "def first_page(sources, listening, *, page, token, on_ready):\n"
        "    app = server.server_app(server.Project(sources), access=server.TokenAccess('t', 8420), port=8420)\n"
        "    asked = TestClient(app, base_url='http://127.0.0.1:8420', headers={'authorization': 'Bearer t'})\n"
        "    assert '<title>' in asked.get(page).raise_for_status().text\n"
        "server.serve = first_page\n"
        "group(['studio', sys.argv[1], '--no-browser'], standalone_mode=False)\n"
        "heavy = {'numpy', 'regex', 'lxml', 'chunkwise.documents', 'chunkwise.chunkers'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, timeout=HANG,
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("processes")
def test_the_rate_that_was_asked_for_is_that_of_a_studio_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A lamp at the end of the mole.", "utf-8")
    command = [sys.executable, "-m", "chunkwise", "studio", str(tmp_path / "a.txt"), "--rate", "1"]
    command += ["--no-browser", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as studio:
        try:
            assert studio.stdout is not None
            address = studio.stdout.readline().strip()
            root, token = address.partition("/documents")[0], address.rpartition("token=")[2]
            search = Request(f"{root}/api/search?q=lamp&retriever=bm25")
            search.add_header("authorization", f"Bearer {token}")
            with suppress(HTTPError):  # it may still be indexing
                urlopen(search, timeout=HANG).close()
            with pytest.raises(HTTPError, match="429") as refused:
                urlopen(search, timeout=HANG)
            assert "1 unit" in refused.value.read().decode()
        finally:
            studio.terminate()
