"""An assistant's tools over an index on PostgreSQL: the same answers as over the folder, from the server that runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from chunkwise.mcp_server.workspace import Workspace, WorkspaceSources
from chunkwise.retrieval import index
from chunkwise.retrieval.postgres.connection import ServerProblem
from mcp_server.made_workspace import asking, values, write_project
from retrieval.postgres_server import new_url
from tables import cases


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[WorkspaceSources, WorkspaceSources]:
    """One project, its index in a folder and on a server."""
    folder = write_project(Path(tmp_path_factory.mktemp("mcp") / "project"))
    assert folder.project is not None
    url = new_url()
    index([str(folder.project / "docs")], vectors="none", into=url)
    return folder, replace(folder, index=url)


@pytest.mark.usefixtures("postgres")
@cases(
    "tool, arguments",
    [
        ("search", {"query": "who decides about leave?", "budget": 60}),
        ("search", {"query": "lamps of the pier", "k": 10, "where": ["year>=2023", "lang in en"]}),
        ("search", {"query": "lamps of the pier", "k": 10, "where": ["not (year=2022) and lang exists"]}),
        ("read", {"document": "leave.md", "start": 0, "end": 40}),
        ("evaluate", {"test_queries": "questions.json", "k": 3}),
    ],
)  # fmt: skip
def test_a_server_answers_as_the_folder_does(
    both: tuple[WorkspaceSources, WorkspaceSources], tool: str, arguments: dict[str, object]
) -> None:
    folder, server = (values(each, tool, **arguments) for each in both)
    for found in (folder, server):  # what is said of the place itself
        for own in ("index", "source", "seconds", "timing", "took_ms"):
            found.pop(own, None)
    assert server == folder


def test_documents_are_listed_without_the_password_of_the_server(
    both: tuple[WorkspaceSources, WorkspaceSources],
) -> None:
    listed = [asking(each, lambda client: client.list_resources()) for each in both]
    folder, server = ({str(one.uri) for one in each.resources} for each in listed)
    assert server == folder
    assert "leave.md" in " ".join(server)


@pytest.mark.usefixtures("postgres")
def test_an_update_reaches_the_server(tmp_path: Path) -> None:
    folder = write_project(tmp_path / "project")
    assert folder.project is not None
    url = new_url()
    index([str(folder.project / "docs")], vectors="none", into=url)
    writing = replace(folder, index=url, allow_write=True)
    (folder.project / "docs" / "new.md").write_text("The zebra waits at the pier.", "utf-8")
    assert values(writing, "search", query="zebra", k=3)["passages"] == []
    values(writing, "update_index", paths=["docs"])
    assert [
        each["doc_id"] for each in values(writing, "search", query="zebra", k=3)["passages"]
    ] == ["new.md"]


@pytest.mark.usefixtures("postgres")
def test_a_server_that_is_gone_is_told_before_anybody_is_served(
    both: tuple[WorkspaceSources, WorkspaceSources],
) -> None:
    gone = replace(both[1], index="postgresql://someone:secret@127.0.0.1:1/nowhere")
    with pytest.raises(ServerProblem, match=r"127\.0\.0\.1") as told:
        Workspace(gone)
    assert "secret" not in str(told.value)
