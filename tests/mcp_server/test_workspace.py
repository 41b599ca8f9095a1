"""Nothing outside of what a server was given is opened, however it is named."""

import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, NotAllowed
from chunkwise.mcp_server.workspace import Stopped, ToolCall, Workspace, WorkspaceSources
from chunkwise.retrieval import index
from tables import cases


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project beside a secret, and every kind of link that leads to it."""
    folder = tmp_path_factory.mktemp("tree")
    (folder / "secret.txt").write_text("the secret", "utf-8")
    project = folder / "project"
    (project / "a" / "b").mkdir(parents=True)
    (project / "a" / "c.txt").write_text("a lamp", "utf-8")
    (project / "file-link.txt").symlink_to(folder / "secret.txt")
    (project / "folder-link").symlink_to(folder)
    (project / "a" / "up").symlink_to("../..")
    (project / "inside.txt").symlink_to("a/c.txt")
    os.mkfifo(project / "pipe")
    return project


_parts = st.sampled_from(
    ["a", "b", "c.txt", "..", ".", "", "folder-link", "file-link.txt", "up", "inside.txt", "secret.txt", "pipe",
     "project"]
)  # fmt: skip
_paths = st.one_of(st.lists(_parts, max_size=6).map("/".join), st.text(max_size=12))


@given(_paths)
@example("/etc/passwd")
@example("../secret.txt")
@example("folder-link/secret.txt")
@example("a/up/secret.txt")
@example("file-link.txt")
@example("a\0b")
@example("\ud800")
def test_a_path_is_inside_and_no_link_or_refused(tree: Path, name: str) -> None:
    workspace = Workspace(WorkspaceSources(project=tree))
    try:
        found = workspace.path(name)
    except ChunkwiseError:
        return
    assert found == Path(os.path.realpath(found))
    assert found == tree or tree in found.parents
    assert found.is_file() or found.is_dir()


@cases("name", ["file-link.txt", "inside.txt", "a/up/secret.txt", "folder-link"])
def test_links_are_refused_with_the_reason(tree: Path, name: str) -> None:
    with pytest.raises(NotAllowed, match="symbolic link"):
        Workspace(WorkspaceSources(project=tree)).path(name)


def test_outside_and_without_a_project_it_says_what_is_allowed(tree: Path) -> None:
    with pytest.raises(NotAllowed, match="outside of the project folder"):
        Workspace(WorkspaceSources(project=tree)).path("../secret.txt")
    with pytest.raises(NotAllowed, match="--project FOLDER"):
        Workspace(WorkspaceSources()).path("a/c.txt")
    with pytest.raises(NotAllowed, match="neither a file nor a folder"):
        Workspace(WorkspaceSources(project=tree)).path("pipe")
    with pytest.raises(InvalidParameter, match=r"a/none\.txt"):
        Workspace(WorkspaceSources(project=tree)).path("a/none.txt")


def test_files_whose_neighbors_lead_out_are_refused(tree: Path, tmp_path: Path) -> None:
    workspace = Workspace(WorkspaceSources(project=tree))
    (tree / "q.json").write_text("[]", "utf-8")
    with pytest.raises(
        NotAllowed,
        match="contains a link out of the project folder; move the file to a folder without such links",
    ):
        workspace.file("q.json")
    assert workspace.path("q.json").name == "q.json"


def test_a_history_behind_a_link_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".chunkwise").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotAllowed, match="--history"):
        Workspace(WorkspaceSources(project=tmp_path / "project")).history()


def test_what_another_process_wrote_is_seen_with_the_next_call(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A lamp.", "utf-8")
    index([str(tmp_path / "a.txt")], vectors="none", into=tmp_path / "kb")
    workspace = Workspace(WorkspaceSources(index=str(tmp_path / "kb")))
    with workspace.index(ToolCall()) as first, workspace.index(ToolCall()) as same:
        assert first is same
    (tmp_path / "b.txt").write_text("A bell.", "utf-8")
    index([str(tmp_path / "a.txt"), str(tmp_path / "b.txt")], into=tmp_path / "kb")
    with workspace.index(ToolCall()) as found:
        assert len(found) == 2


def test_an_index_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match="chunkwise index DOCUMENTS"):
        Workspace(WorkspaceSources(index=str(tmp_path)))


def test_a_call_that_is_stopped_ends_at_its_next_step_and_reports_few_times() -> None:
    told: list[float] = []
    call = ToolCall(lambda done, total, note: told.append(done))
    with call.stages("counting", 100_000) as advance:
        for _ in range(100_000):
            advance(1, "")
    assert len(told) <= 102
    assert told[-1] == 100_000
    call.stop()
    with pytest.raises(Stopped), call.stages("again", 0):
        raise AssertionError
