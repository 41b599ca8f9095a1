"""An index that somebody else may have written: nothing that it names is run, and no server that it names is asked."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise import ChunkwiseError
from chunkwise.base import allow_hosts_and_code_from_files
from chunkwise.base.allow_hosts_and_code_from_files import ALLOW
from chunkwise.base.errors import NotAllowed
from chunkwise.mcp_server.workspace import WorkspaceSources
from chunkwise.studio.project_sources import ProjectSources
from mcp_server.made_workspace import call, text_of
from models.endpoint_server import Answer, Seen, Server, serving, vector
from studio.made_studio import client_of, read_project
from studio.test_serve_endpoints import served

CODE = """
open({trace!r}, "w").close()
from retrieval.tiny_embedder import Tiny
from chunkwise.chunkers.sentences import SentenceChunker
class Model(Tiny):
    pass
class Cutter:
    def split(self, document):
        return [(0, len(document.text))]
"""


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Is there once the code beside the index was run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHUNKWISE_API_KEY", "sk-of-the-one-who-searches")
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Herons\n\nA heron stands in the reeds.\n")
    ran = tmp_path / "ran"
    (tmp_path / "m.py").write_text(CODE.format(trace=str(ran)))
    return ran


def _change(change: Callable[[dict[str, Any]], object]) -> None:
    path = Path("kb/.index.json")
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))


def _sent() -> None:
    """Whoever goes on has got the index from somebody else: what its maker named they have not."""
    allow_hosts_and_code_from_files._trusted.clear()


def _answer(number: int, seen: Seen) -> Answer:
    texts = seen.body["input"]
    return Answer({"data": [{"embedding": vector(text)} for text in texts]})


def test_searching_runs_no_code_that_the_index_names(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunkwise.index("docs", into="kb", embedder="m.py:Model")
    trace.unlink()
    (Path("evil.py")).write_text(CODE.format(trace=str(trace)))
    _change(lambda values: values["settings"].update(embedder="evil.py:Model"))
    with pytest.raises(NotAllowed, match=r"the index kb names code .*evil\.py:Model.*--allow"):
        chunkwise.open_index("kb").search("heron")
    assert not trace.exists()
    assert chunkwise.open_index("kb", embedder="evil.py:Model").search("heron")
    monkeypatch.setenv(ALLOW, "evil.py:Model")
    assert chunkwise.open_index("kb").search("heron")


@pytest.mark.smoke
@pytest.mark.usefixtures("processes")
def test_updating_runs_no_code_that_the_index_names(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunkwise.index("docs", "m.py:Cutter", into="kb", vectors="none")
    trace.unlink()
    Path("evil.py").write_text(CODE.format(trace=str(trace)))
    _change(lambda values: values["settings"].update(strategy="evil.py:Cutter"))
    for rebuild in (False, True):
        with pytest.raises(NotAllowed, match=r"names code that would run, evil\.py:Cutter"):
            chunkwise.index("docs", into="kb", rebuild=rebuild)
    with pytest.raises(NotAllowed):
        chunkwise.open_index("kb").update("docs")
    assert not trace.exists()
    chunkwise.index("docs", "evil.py:Cutter", into="kb", rebuild=True)
    assert trace.exists()


def _asked(server: Server, ask: Callable[[], object]) -> int:
    before = len(server.seen)
    with pytest.raises(NotAllowed, match=r"names a server .*127\.0\.0\.1"):
        ask()
    return len(server.seen) - before


def test_a_server_that_only_the_index_names_is_sent_nothing(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(_answer) as server:
        name = f"{server.url}/v1#m"
        chunkwise.index("docs", into="kb", embedder=name)
        keys = {seen.headers.get("authorization") for seen in server.seen}
        assert keys == {"Bearer sk-of-the-one-who-searches"}  # the user named it

        _sent()
        assert _asked(server, lambda: chunkwise.open_index("kb").search("heron")) == 0
        Path("docs/b.md").write_text("An otter.")
        assert _asked(server, lambda: chunkwise.index("docs", into="kb")) == 0
        assert _asked(server, lambda: chunkwise.open_index("kb").update("docs")) == 0
        assert chunkwise.open_index("kb").search("heron", retriever="bm25")

        before = len(server.seen)
        assert chunkwise.open_index("kb", embedder=name).search("where is a heron")
        monkeypatch.setenv(ALLOW, server.url)
        assert chunkwise.open_index("kb").search("who stands in reeds")
        assert len(server.seen) > before


def test_contexts_are_written_by_no_server_that_only_the_index_names(trace: Path) -> None:
    def says(number: int, seen: Seen) -> Answer:
        message = {"message": {"content": "It is about birds."}, "finish_reason": "stop"}
        return Answer({"choices": [message], "usage": {}})

    with serving(says) as server:
        name = f"{server.url}/v1#m"
        made = {"into": "kb", "vectors": "none"}
        chunkwise.index("docs", context="neighbors", llm=name, **made)
        Path("docs/b.md").write_text("# Otters\n\nAn otter swims.")
        _sent()
        assert _asked(server, lambda: chunkwise.index("docs", into="kb")) == 0
        chunkwise.index("docs", into="kb", llm=name)


def test_links_in_an_index_lead_nowhere(trace: Path, tmp_path: Path) -> None:
    outside = tmp_path / "precious"
    outside.write_text("not to be touched")
    chunkwise.index("docs", "sentences", into="kb", vectors="none")
    Path("kb/.index.lock").unlink()
    os.symlink(outside, "kb/.index.lock")
    with pytest.raises(ChunkwiseError, match=r"index\.lock is a symbolic link"):
        chunkwise.index("docs", into="kb")
    Path("kb/.index.lock").unlink()

    (file,) = Path("kb").glob(".generation-*/chunk.start")
    file.rename(tmp_path / "chunk.start")
    os.symlink(tmp_path / "chunk.start", file)
    with pytest.raises(ChunkwiseError, match=r"chunk\.start is a symbolic link"):
        chunkwise.open_index("kb")
    (tmp_path / "chunk.start").replace(file)

    Path("kb/.index.json").rename(outside)
    os.symlink(outside, "kb/.index.json")
    text = outside.read_text()
    for ask in (lambda: chunkwise.open_index("kb"), lambda: chunkwise.index("docs", into="kb")):
        with pytest.raises(ChunkwiseError, match=r"index\.json is a symbolic link"):
            ask()
    assert outside.read_text() == text
    os.unlink("kb/.index.json")
    outside.rename("kb/.index.json")

    (home,) = Path("kb").glob(".generation-*")
    home.rename(tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", home)
    with pytest.raises(ChunkwiseError, match="is a symbolic link"):
        chunkwise.open_index("kb")


def test_a_manifest_with_other_values_is_an_error_of_one_line(trace: Path) -> None:
    hostile: tuple[Callable[[dict[str, Any]], object], ...] = (
        lambda values: values.update(generation="../elsewhere"),
        lambda values: values.update(generation="/etc"),
        lambda values: values["files"].update({"../x": values["files"]["chunk.start"]}),
        lambda values: values["files"]["chunk.start"].update(shape=[2**62, 8]),
        lambda values: values["files"]["chunk.start"].update(shape=[-1]),
        lambda values: values["files"]["chunk.start"].update(dtype="O"),
        lambda values: values["settings"].update(dimensions=2**62),
        lambda values: values["settings"].update(embedder=["m.py:Model"]),
    )
    for change in hostile:
        chunkwise.index("docs", "sentences", into="kb", vectors="none", rebuild=True)
        _change(change)
        with pytest.raises(ChunkwiseError, match=r"index\.json is damaged|expected") as told:
            chunkwise.open_index("kb")
        assert "chunkwise index --rebuild (rebuild=True in Python)" in str(told.value)


@pytest.mark.parametrize("key", ["embedder", "strategy"])
def test_no_server_runs_or_asks_what_the_index_that_it_serves_names(trace: Path, key: str) -> None:
    """The studio, `chunkwise serve` and the tools of assistants."""
    question = {"query": "heron", "relevant_text": "A heron"}
    with serving(_answer) as server:
        chunkwise.index("docs", into="kb", embedder=f"{server.url}/v1#m")
        before = len(server.seen)
        _sent()
        for name in (
            ("m.py:Model", "http://127.0.0.1:9/v1#m") if key == "embedder" else ("m.py:Cutter",)
        ):
            _change(lambda values, name=name: values["settings"].update({key: name}))  # type: ignore[misc]
            try:
                project = read_project(ProjectSources(index="kb"))
            except NotAllowed:
                pass  # nothing is served at all
            else:
                for client in (client_of(project), served(project)):
                    for path in (
                        "documents",
                        "search?q=heron&retriever=dense",
                        "ask?q=heron&retriever=dense",
                        "strategies",
                    ):
                        client.get(f"/api/{path}")
                    client.post("/api/chunk", json={"text": "A heron."})
                    client.post(
                        "/api/evaluate", json={"questions": [question], "retriever": "dense"}
                    )
            for tool, given in (
                ("search", {"query": "heron", "retriever": "dense"}), ("lint", {}),
                ("evaluate", {"questions": [question], "retriever": "dense"}), ("chunk", {"document": "a.md"}),
            ):  # fmt: skip
                told = text_of(call(WorkspaceSources(index="kb", project=Path()), tool, **given))
                assert "sk-of" not in told
        assert not trace.exists()
        assert len(server.seen) == before
